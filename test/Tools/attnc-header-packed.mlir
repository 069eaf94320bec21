// The header declares the entries for packed weights where a function has weights that are nothing else, and compiles
// as C99 and as C++.
//
// REQUIRES: attnc, cc
// RUN: attnc %s --header=%t.h
// RUN: FileCheck %s --input-file=%t.h
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c %t.h
// RUN: cc -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ %t.h

// CHECK: NAME_pack packs the weights of a layer into one block
// CHECK: int layer(const DLTensor *x, const DLTensor *wq, const DLTensor *shared, const DLTensor *wo, const DLTensor *bias, DLTensor *y, char *message,
// CHECK: * layer_pack
// CHECK-NEXT: *   wq: bf16 [32, 16]
// CHECK-NEXT: *   shared: bf16 [32, 16]
// CHECK-NEXT: *   wo: bf16 [16, 32]
// CHECK-NEXT: * gives
// CHECK-NEXT: *   packed: f32 [{{[0-9]+}}]
// CHECK: int layer_pack(const DLTensor *wq, const DLTensor *shared, const DLTensor *wo, DLTensor *packed, char *message,
// CHECK: int layer_pack_shape(
// CHECK: * layer_packed
// CHECK: *   packed: f32 [{{[0-9]+}}]
// CHECK: int layer_packed(const DLTensor *x, const DLTensor *packed, const DLTensor *bias, DLTensor *y, char *message,
// CHECK: int layer_packed_shape(
func.func @layer(%x: tensor<2x24x16xbf16>, %wq: tensor<32x16xbf16>,
                 %shared: tensor<32x16xbf16>, %wo: tensor<16x32xbf16>,
                 %bias: tensor<16xbf16>) -> tensor<2x24x16xbf16> {
  %y = attn.mha %x query(%wq : tensor<32x16xbf16>)
    key(%shared : tensor<32x16xbf16>) value(%shared : tensor<32x16xbf16>)
    output(%wo : tensor<16x32xbf16>, %bias : tensor<16xbf16>) heads = 2
    : tensor<2x24x16xbf16> -> tensor<2x24x16xbf16>
  return %y : tensor<2x24x16xbf16>
}

// Few rows: weights are read where they are.
//
// CHECK: int few(
// CHECK-NOT: few_pack
func.func @few(%x: tensor<2x8x16xf32>, %w: tensor<16x16xf32>)
    -> tensor<2x8x16xf32> {
  %y = attn.mha %x query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 2
    : tensor<2x8x16xf32> -> tensor<2x8x16xf32>
  return %y : tensor<2x8x16xf32>
}
