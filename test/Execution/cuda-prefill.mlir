// Attention, on tensor cores and by fused multiply-adds, in the emulator, with every access watched and threads in
// two orders.
//
// REQUIRES: attn-run
// RUN: attn-run %root/docs/examples/prefill-f16-d64.mlir --device=cuda-emulated --verify --input=1x8x40x64xf16 --input=1x8x72x64xf16 --input=1x8x72x64xf16 | FileCheck %s
// RUN: attn-run %root/docs/examples/prefill-f16-d128.mlir --device=cuda-emulated --verify --emulator-seed=5 --input=1x8x33x128xf16 --input=1x8x65x128xf16 --input=1x8x65x128xf16 | FileCheck %s
// RUN: attn-run %root/docs/examples/prefill-bf16-d64.mlir --device=cuda-emulated --verify --input=1x8x40x64xbf16 --input=1x8x72x64xbf16 --input=1x8x72x64xbf16 | FileCheck %s
// RUN: attn-run %root/docs/examples/prefill-f32-d64.mlir --device=cuda-emulated --verify --input=1x8x40x64xf32 --input=1x8x72x64xf32 --input=1x8x72x64xf32 | FileCheck %s
// RUN: attn-run %root/docs/examples/prefill-f32-d128.mlir --device=cuda-emulated --verify --input=1x8x3x128xf32 --input=1x8x65x128xf32 --input=1x8x65x128xf32 | FileCheck %s
//
// CHECK: pass: largest error
