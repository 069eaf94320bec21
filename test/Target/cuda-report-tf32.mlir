// What the machine code of kernels on f32 issues where its products are those of tf32: matrix products of 8 channels or keys,
// what rounding and splitting numbers takes beside them, and no spills.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %root/docs/examples/prefill-f32-d64.mlir --target=sm_80,sm_90a --precision=tf32 --report \
// RUN:   | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/prefill-f32-d128.mlir --target=sm_80 --precision=tf32 --report \
// RUN:   | FileCheck %s --check-prefix=WIDE --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/prefill-f32-d64.mlir --target=sm_80 --precision=tf32x3 --report \
// RUN:   | FileCheck %s --check-prefix=THREE --implicit-check-not="{{[1-9][0-9]*}} of spills"
//
// CHECK: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// CHECK-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products ({{[78]\.[0-9]+}} for each), 32 matrix loads
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products (6.{{[0-9]+}} for each), 32 matrix loads
// CHECK: prefill_k2 (sm_90a)
//
// WIDE: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 131072 of shared memory, 1 blocks of 128 threads
// WIDE-NEXT: loop: {{[0-9]+}} instructions, 256 matrix products ({{[67]\.[0-9]+}} for each), 64 matrix loads
// WIDE-NEXT: shortest way: {{[0-9]+}} instructions, 256 matrix products ({{5\.[0-9]+|6\.0[0-9]}} for each), 64 matrix loads
//
// THREE: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// THREE-NEXT: loop: {{[0-9]+}} instructions, 384 matrix products ({{7\.[0-9]+|8\.0[0-9]}} for each), 32 matrix loads
// THREE-NEXT: shortest way: {{[0-9]+}} instructions, 384 matrix products (7.{{[0-4][0-9]}} for each), 32 matrix loads
