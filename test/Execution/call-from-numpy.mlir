// numpy calls a library with its arrays as they are: strided views, booleans, results of NAME_shape.
//
// REQUIRES: attnc, cc, numpy
// RUN: attnc %s -o %t.so
// RUN: %numpy %S/Inputs/call_from_numpy.py %t.so %S/../../tools/dev/demo | FileCheck %s

// CHECK: shape (1, 4, 7, 16)
// CHECK: largest error below 1e-5: True
// CHECK: empty rows are 0: True
// CHECK: 4 'attn.sdpa' op expects 'mask' and 'query' to agree on dimension 2, got 6 and 7
func.func @attention(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>,
                     %v: tensor<1x2x?x16xf32>, %mask: tensor<1x1x?x?xi1>)
    -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v mask(%mask : tensor<1x1x?x?xi1>) scale = 0.3
    : tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>
    -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
