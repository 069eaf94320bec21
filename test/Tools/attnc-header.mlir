// The header declares what the source calls its tensors, and compiles as C99 and as C++.
//
// REQUIRES: attnc, cc
// RUN: attnc %s --header=%t.h
// RUN: FileCheck %s --input-file=%t.h
// RUN: cc -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c %t.h
// RUN: cc -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ %t.h

// CHECK: #ifndef DLPACK_DLPACK_H_
// CHECK: } DLTensor;
// CHECK: ATTN_OK = 0
// CHECK: extern "C" {
// CHECK: * attention
// CHECK: *   query: f32 [1, 8, ?, 64]
// CHECK: *   key: f32 [1, 2, ?, 64]
// CHECK: *   mask: bool [?, ?]
// CHECK: *   argument3: i32 []
// CHECK: * gives
// CHECK: *   output: f32 [1, 8, ?, 64]
// CHECK: *   lse: f32 [1, 8, ?]
// CHECK: int attention(const DLTensor *query, const DLTensor *key, const DLTensor *mask, const DLTensor *argument3, DLTensor *output, DLTensor *lse, char *message,
// CHECK: int attention_shape(
// CHECK: int attention_apply(DLTensor *const *tensors, char *message,
func.func @attention(%query: tensor<1x8x?x64xf32>, %key: tensor<1x2x?x64xf32>,
                     %mask: tensor<?x?xi1>, %int: i32)
    -> (tensor<1x8x?x64xf32>, tensor<1x8x?xf32>) {
  %output, %lse = attn.sdpa %query, %key, %key
    mask(%mask : tensor<?x?xi1>) query_offset(%int : i32)
    : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
    -> tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
  return %output, %lse : tensor<1x8x?x64xf32>, tensor<1x8x?xf32>
}

// A cache that rows are written into, and nothing else reads, may be its own result.
//
// CHECK: * append
// CHECK: *   cache: f32 [1, 2, 64, 16]
// CHECK: * gives
// CHECK: *   output: f32 [1, 2, 1, 16]{{$}}
// CHECK: *   grown: f32 [1, 2, 64, 16], may be cache{{$}}
func.func @append(%rows: tensor<1x2x1x16xf32>, %cache: tensor<1x2x64x16xf32>, %at: tensor<1xi32>)
    -> (tensor<1x2x1x16xf32>, tensor<1x2x64x16xf32>) {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<1xi32>)
    : tensor<1x2x1x16xf32> into tensor<1x2x64x16xf32>
  %output = attn.sdpa %rows, %grown, %grown
    : tensor<1x2x1x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32> -> tensor<1x2x1x16xf32>
  return %output, %grown : tensor<1x2x1x16xf32>, tensor<1x2x64x16xf32>
}

// What somebody else noted of arguments that there are not is not believed.
//
// CHECK: * noted
// CHECK: *   grown: f32 [1, 2, 64, 16], may be cache{{$}}
func.func @noted(%rows: tensor<1x2x1x16xf32>, %cache: tensor<1x2x64x16xf32>, %at: tensor<1xi32>)
    -> tensor<1x2x64x16xf32> attributes {attn.in_place = array<i64: 123456789>} {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<1xi32>)
    : tensor<1x2x1x16xf32> into tensor<1x2x64x16xf32>
  return %grown : tensor<1x2x64x16xf32>
}

// Only what is public is declared.
//
// CHECK-NOT: hidden
func.func private @hidden(%x: f32) -> f32 {
  return %x : f32
}
