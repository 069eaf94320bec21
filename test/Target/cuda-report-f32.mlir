// What the machine code of kernels on f32 issues: no spills, and without matrix instructions at most 1.15 instructions
// for a fused multiply-add, on scores and on values.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %root/docs/examples/prefill-f32-d64.mlir --target=sm_80,sm_86,sm_90a --report \
// RUN:   | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/prefill-f32-d128.mlir --target=sm_80,sm_86,sm_90a --report \
// RUN:   | FileCheck %s --check-prefix=WIDE --implicit-check-not="{{[1-9][0-9]*}} of spills"
//
// CHECK: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// CHECK-NEXT: exact loop: {{[0-9]+}} instructions, 1024 multiply-adds (1.{{0[0-9]|1[0-5]}} for each), 96 loads of shared memory, 0 shuffles, 0 of local memory
// CHECK-NEXT: exact loop: {{[0-9]+}} instructions, 512 multiply-adds (1.{{0[0-9]|1[0-5]}} for each), 32 loads of shared memory, 32 shuffles, 0 of local memory
// CHECK: prefill_k2 (sm_86)
// CHECK: prefill_k2 (sm_90a)
// WIDE: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 98304 of shared memory, 1 blocks of 128 threads
// WIDE-NEXT: exact loop: {{[0-9]+}} instructions, 512 multiply-adds (1.{{0[0-9]|1[0-5]}} for each), 64 loads of shared memory, 0 shuffles, 0 of local memory
// WIDE-NEXT: exact loop: {{[0-9]+}} instructions, 512 multiply-adds (1.{{0[0-9]|1[0-5]}} for each), 32 loads of shared memory, 16 shuffles, 0 of local memory
// WIDE: prefill_k2 (sm_86)
// WIDE: prefill_k2 (sm_90a)
