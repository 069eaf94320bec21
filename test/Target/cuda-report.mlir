// What ptxas and the machine code say of the kernels of one example: no spills, and
// what the loop issues.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 --report | FileCheck %s
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_86,sm_89,sm_90a --report \
// RUN:   | FileCheck %s --check-prefix=MORE --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/prefill-f16-d128.mlir --target=sm_80,sm_86,sm_89,sm_90,sm_90a --report \
// RUN:   | FileCheck %s --check-prefix=WIDE --implicit-check-not="{{[1-9][0-9]*}} of spills"
// RUN: attnc %root/docs/examples/gqa-decode.mlir --target=sm_80 --report -o %t.ptx \
// RUN:   | FileCheck %s --check-prefix=ONCE --implicit-check-not="decode_k0 (sm_80)"
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: attnc %root/docs/examples/gqa-decode.mlir --target=sm_80 --report=json | %python -m json.tool | FileCheck %s --check-prefix=JSON
//
// The kernel of many rows, its copies of 16 bytes at once: at most 4.6 instructions
// for each matrix product where no maximum grows.
//
// CHECK: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 49152 of shared memory, 2 blocks of 128 threads
// CHECK-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products ({{[0-9.]+}} for each), 32 matrix loads, 8 copies
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{3[.][0-9]+|4[.][0-6][0-9]*}} for each), 32 matrix loads, 8 copies
//
// Every architecture's assembler takes them; on twice as many channels, at most 3.2.
//
// MORE: prefill_k2 (sm_86)
// MORE: prefill_k2 (sm_89)
// MORE: prefill_k2 (sm_90a)
// WIDE: prefill_k2 (sm_80): {{[0-9]+}} instructions, {{[0-9]+}} registers, 0 bytes of stack, 0 of spills, 98304 of shared memory, 1 blocks of 256 threads
// WIDE-NEXT: loop: {{[0-9]+}} instructions, 128 matrix products
// WIDE-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{[12][.][0-9]+|3[.][01][0-9]}} for each), 64 matrix loads, 8 copies
// WIDE: prefill_k2 (sm_86)
// WIDE: prefill_k2 (sm_89)
// WIDE: prefill_k2 (sm_90)
// WIDE: prefill_k2 (sm_90a)
//
// What is written is made and reported once; JSON is that of attention alone.
//
// ONCE: decode_k0 (sm_80): {{[0-9]+}} instructions
// PTX: .visible .entry
// JSON: [
// JSON: "op": "attn.sdpa"
// JSON: ]
