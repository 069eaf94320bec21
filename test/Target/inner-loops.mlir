// What becomes of register tiles on processors that the tests do not run on: all accumulators stay in registers, and
// nothing in the innermost loops reads or writes the stack.
//
// REQUIRES: attnc
// RUN: split-file %s %t
// RUN: attnc %t/prefill.mlir --target=x86_64-linux-gnu:haswell --emit=asm | %python %S/Inputs/inner-loops.py \
// RUN:   | FileCheck %s --check-prefixes=PREFILL,PREFILL-AVX2
// RUN: attnc %t/prefill.mlir --target=x86_64-linux-gnu:icelake-server --emit=asm | %python %S/Inputs/inner-loops.py \
// RUN:   | FileCheck %s --check-prefixes=PREFILL,PREFILL-AVX512
// RUN: attnc %t/prefill.mlir --target=aarch64-linux-gnu:neoverse-n1 --emit=asm | %python %S/Inputs/inner-loops.py \
// RUN:   | FileCheck %s --check-prefixes=PREFILL,PREFILL-NEON
// RUN: attnc %t/decode.mlir --target=x86_64-linux-gnu:haswell --emit=asm | %python %S/Inputs/inner-loops.py \
// RUN:   | FileCheck %s --check-prefix=DECODE-AVX2
// RUN: attnc %t/decode.mlir --target=x86_64-linux-gnu:icelake-server --emit=asm | %python %S/Inputs/inner-loops.py \
// RUN:   | FileCheck %s --check-prefix=DECODE-AVX512
// RUN: attnc %t/decode.mlir --target=aarch64-linux-gnu:neoverse-n1 --emit=asm | %python %S/Inputs/inner-loops.py \
// RUN:   | FileCheck %s --check-prefix=DECODE-NEON

//--- prefill.mlir

// Scores, weights, and the product with the values: 4 rows by 2 vectors on AVX2, 8 by 2 where there are 32 registers. One
// channel or key takes the vectors of a panel, and each row a broadcast or, on NEON, a quarter of a vector.
//
// PREFILL-AVX2:   attend.body{{.*}}: 8 multiply-adds, 6 loads, 0 stores, stack 0
// PREFILL-AVX512: attend.body{{.*}}: 16 multiply-adds, 10 loads, 0 stores, stack 0
// PREFILL-NEON:   attend.body{{.*}}: 16 multiply-adds, {{[1-9]|10}} loads, 0 stores, stack 0
// PREFILL-NEXT:   attend.body{{.*}}: 14 multiply-adds, {{.*}} stores, stack 0
// PREFILL-AVX2-NEXT:   attend.body{{.*}}: 8 multiply-adds, 6 loads, 0 stores, stack 0
// PREFILL-AVX512-NEXT: attend.body{{.*}}: 16 multiply-adds, 10 loads, 0 stores, stack 0
// PREFILL-NEON-NEXT:   attend.body{{.*}}: 16 multiply-adds, {{[1-9]|10}} loads, 0 stores, stack 0
func.func @attend(%q: tensor<1x8x512x64xf32>, %k: tensor<1x8x512x64xf32>,
                  %v: tensor<1x8x512x64xf32>) -> tensor<1x8x512x64xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>
    -> tensor<1x8x512x64xf32>
  return %o : tensor<1x8x512x64xf32>
}

//--- decode.mlir

// Scores of one key of each stream, weights, and the product with the values: 4 rows by 4 streams of keys, or 2 on AVX2,
// then 4 rows by 4 vectors of channels, or 2.
//
// DECODE-AVX2:        step.body{{.*}}: 8 multiply-adds, 6 loads, 0 stores, stack 0
// DECODE-AVX2-NEXT:   step.body{{.*}}: 14 multiply-adds, {{.*}} stores, stack 0
// DECODE-AVX2-NEXT:   step.body{{.*}}: 8 multiply-adds, 6 loads, 0 stores, stack 0
// DECODE-AVX512:      step.body{{.*}}: 16 multiply-adds, 8 loads, 0 stores, stack 0
// DECODE-AVX512-NEXT: step.body{{.*}}: 28 multiply-adds, {{.*}} stores, stack 0
// DECODE-AVX512-NEXT: step.body{{.*}}: 16 multiply-adds, 8 loads, 0 stores, stack 0
// DECODE-NEON:        step.body{{.*}}: 16 multiply-adds, {{[1-8]}} loads, 0 stores, stack 0
// DECODE-NEON-NEXT:   step.body{{.*}}: 28 multiply-adds, {{.*}} stores, stack 0
// DECODE-NEON-NEXT:   step.body{{.*}}: 16 multiply-adds, {{[1-8]}} loads, 0 stores, stack 0
func.func @step(%q: tensor<1x32x1x128xf32>, %k: tensor<1x8x2048x128xf32>,
                %v: tensor<1x8x2048x128xf32>) -> tensor<1x32x1x128xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x32x1x128xf32>, tensor<1x8x2048x128xf32>,
      tensor<1x8x2048x128xf32> -> tensor<1x32x1x128xf32>
  return %o : tensor<1x32x1x128xf32>
}
