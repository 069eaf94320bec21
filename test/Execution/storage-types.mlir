// Keys and values in smaller types than the query's.
//
// RUN: split-file %s %t
// RUN: %python %S/Inputs/make-bytes.py %t/codes.npy
// RUN: attn-run %t/codes.mlir --verify --input=1x1x1x8xf32 --input=1x1x40x8xf32 --input=1x1x1x8xf8E4M3FN \
// RUN:   --input=@%t/codes.npy --input=1x1x1x8xf8E5M2 --input=@%t/codes.npy | FileCheck %s --check-prefix=EXACT
// RUN: attn-run %t/scaled.mlir --verify | FileCheck %s
// RUN: attn-opt %t/codes.mlir --convert-attn-to-linalg -o %t/plain-codes.mlir
// RUN: attn-run %t/plain-codes.mlir --verify --input=1x1x1x8xf32 --input=1x1x40x8xf32 --input=1x1x1x8xf8E4M3FN \
// RUN:   --input=@%t/codes.npy --input=1x1x1x8xf8E5M2 --input=@%t/codes.npy | FileCheck %s --check-prefix=EXACT
// RUN: attn-opt %t/scaled.mlir --convert-attn-to-linalg -o %t/plain-scaled.mlir
// RUN: attn-run %t/plain-scaled.mlir --verify | FileCheck %s

// Of one key the result is the value: each of the 256 codes becomes its very number, read in a stream or packed.
//
// EXACT: pass: largest error 0 {{.*}}, 0 elements beyond it
//
// A scale for each token and head of keys, one for each head of values.
//
// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- codes.mlir

func.func @codes(%few: tensor<1x1x1x8xf32>, %many: tensor<1x1x40x8xf32>, %k4: tensor<1x1x1x8xf8E4M3FN>,
                 %v4: tensor<1x1x1x256xf8E4M3FN>, %k5: tensor<1x1x1x8xf8E5M2>, %v5: tensor<1x1x1x256xf8E5M2>)
    -> (tensor<1x1x1x256xf32>, tensor<1x1x1x256xf32>, tensor<1x1x40x256xf32>, tensor<1x1x40x256xf32>) {
  %a = attn.sdpa %few, %k4, %v4
    : tensor<1x1x1x8xf32>, tensor<1x1x1x8xf8E4M3FN>, tensor<1x1x1x256xf8E4M3FN> -> tensor<1x1x1x256xf32>
  %b = attn.sdpa %few, %k5, %v5
    : tensor<1x1x1x8xf32>, tensor<1x1x1x8xf8E5M2>, tensor<1x1x1x256xf8E5M2> -> tensor<1x1x1x256xf32>
  %c = attn.sdpa %many, %k4, %v4
    : tensor<1x1x40x8xf32>, tensor<1x1x1x8xf8E4M3FN>, tensor<1x1x1x256xf8E4M3FN> -> tensor<1x1x40x256xf32>
  %d = attn.sdpa %many, %k5, %v5
    : tensor<1x1x40x8xf32>, tensor<1x1x1x8xf8E5M2>, tensor<1x1x1x256xf8E5M2> -> tensor<1x1x40x256xf32>
  return %a, %b, %c, %d
    : tensor<1x1x1x256xf32>, tensor<1x1x1x256xf32>, tensor<1x1x40x256xf32>, tensor<1x1x40x256xf32>
}

//--- scaled.mlir

func.func @scaled(%q: tensor<2x6x1x40xbf16>, %k: tensor<2x3x300x40xi8>, %v: tensor<2x3x300x24xi8>,
                  %n: tensor<2xi32>, %ks: tensor<2x3x300xf32>, %vs: tensor<3x1xf16>) -> tensor<2x6x1x24xbf16> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) key_scale(%ks : tensor<2x3x300xf32>)
    value_scale(%vs : tensor<3x1xf16>)
    : tensor<2x6x1x40xbf16>, tensor<2x3x300x40xi8>, tensor<2x3x300x24xi8> -> tensor<2x6x1x24xbf16>
  return %o : tensor<2x6x1x24xbf16>
}
