// What ptxas and the machine code say of the kernels of one example: no spills, and
// what the loop issues.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 --report | FileCheck %s
// RUN: attnc %root/docs/examples/prefill-f16-d128.mlir --target=sm_80,sm_90 --report | FileCheck %s --check-prefix=TWO
//
// CHECK: prefill_k{{[0-9]+}} (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, {{[0-9]+}} of shared memory, {{[1-9][0-9]*}} blocks of {{32|128|256}} threads
// CHECK-NEXT: loop: {{[0-9]+}} instructions, {{[0-9]+}} matrix products ({{[0-9.]+}} for each), {{[0-9]+}} matrix loads,
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions
// TWO: (sm_80):
// TWO: (sm_90):
