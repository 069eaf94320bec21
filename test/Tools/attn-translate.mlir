// The C declarations of what attnc would compile.
//
// REQUIRES: attn-translate
// RUN: attn-translate %s --attn-to-c-header | FileCheck %s

// CHECK: } DLTensor;
// CHECK: int attention(const DLTensor *query, const DLTensor *key, DLTensor *o,
func.func @attention(%query: tensor<1x2x?x16xf32>, %key: tensor<1x2x?x16xf32>)
    -> tensor<1x2x?x16xf32> {
  %o = attn.sdpa %query, %key, %key
    : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>
    -> tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}
