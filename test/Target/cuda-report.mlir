// What ptxas and the machine code say of the kernels of one example: no spills, and
// what the loop issues.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 --report | FileCheck %s
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_86,sm_89,sm_90a --report \
// RUN:   | FileCheck %s --check-prefix=MORE --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/prefill-f16-d128.mlir --target=sm_80 --report | FileCheck %s --check-prefix=WIDE
// RUN: attnc %root/docs/examples/prefill-f16-d128.mlir --target=sm_86,sm_89,sm_90,sm_90a --report \
// RUN:   | FileCheck %s --check-prefix=SMALL --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/gqa-decode.mlir --target=sm_80 --report -o %t.ptx \
// RUN:   | FileCheck %s --check-prefix=ONCE --implicit-check-not="decode_k0 (sm_80)"
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: attnc %root/docs/examples/gqa-decode.mlir --target=sm_80 --report=json | %python -m json.tool | FileCheck %s --check-prefix=JSON
//
// The kernel of many rows, its copies of 16 bytes at once: less than 4.0
// instructions for each matrix product where no maximum grows, and 2.9 of twice as many channels.
//
// CHECK: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products ({{[0-9.]+}} for each), 32 matrix loads, 8 copies
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{3[.][0-9]+}} for each), 32 matrix loads, 8 copies, 64 special, 0 shuffles, 1 barriers, 0 of local memory
// WIDE: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 65536 of shared memory, 2 blocks of 128 threads
// WIDE-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products ({{[0-9.]+}} for each), 48 matrix loads, 8 copies
// WIDE-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{2[.][0-8][0-9]*}} for each), 48 matrix loads, 8 copies, 32 special, 0 shuffles, 1 barriers, 0 of local memory
//
// Every architecture's assembler takes them. Shared memory of sm_86 has room for one block of 128 channels.
//
// MORE: prefill_k2 (sm_86): {{.*}} 49152 of shared memory, 2 blocks of 128 threads
// MORE: prefill_k2 (sm_89)
// MORE: prefill_k2 (sm_90a)
// SMALL: prefill_k2 (sm_86): {{.*}} 98304 of shared memory, 1 blocks of 256 threads
// SMALL-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products
// SMALL-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{2[.][0-9]+|3[.]00}} for each), 64 matrix loads, 8 copies
// SMALL: prefill_k2 (sm_89)
// SMALL: prefill_k2 (sm_90)
// SMALL: prefill_k2 (sm_90a)
//
// What is written is made and reported once; JSON is that of attention alone.
//
// ONCE: decode_k0 (sm_80): {{[0-9]+}} instructions
// PTX: .visible .entry
// JSON: [
// JSON: "op": "attn.sdpa"
// JSON: ]
