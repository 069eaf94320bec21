// What ptxas and the machine code say of the kernels of one example: no spills, and
// what the loop issues.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 --report | FileCheck %s
// RUN: attnc %root/docs/examples/prefill-f16-d128.mlir --target=sm_80,sm_90 --report | FileCheck %s --check-prefix=TWO
//
// The kernel of many rows, its copies of 16 bytes at once: at most 4.6 instructions
// for each matrix product where no maximum grows.
//
// CHECK: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products ({{[0-9.]+}} for each), 32 matrix loads, 8 copies
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{3[.][0-9]+|4[.][0-6][0-9]*}} for each), 32 matrix loads, 8 copies
// TWO: (sm_80):
// TWO: (sm_90):
