// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// Transposes of all inputs become layouts.
//
// CHECK-LABEL: func.func @transposed_inputs
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x8x4x16xf32>, %[[K:[a-z0-9]+]]: tensor<1x10x2x16xf32>
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<1x?x2x32xf32>
// CHECK-NOT: linalg.transpose
// CHECK: attn.sdpa %[[Q]], %[[K]], %[[V]]
// CHECK-SAME: layout = <query = bshd, key = bshd, value = bshd, output = bhsd>
// CHECK-SAME: tensor<1x8x4x16xf32>, tensor<1x10x2x16xf32>, tensor<1x?x2x32xf32> -> tensor<1x4x8x32xf32>
func.func @transposed_inputs(%q: tensor<1x8x4x16xf32>, %k: tensor<1x10x2x16xf32>,
    %v: tensor<1x?x2x32xf32>, %qe: tensor<1x4x8x16xf32>, %ke: tensor<1x2x10x16xf32>,
    %ve: tensor<1x2x?x32xf32>) -> tensor<1x4x8x32xf32> {
  %qt = linalg.transpose ins(%q : tensor<1x8x4x16xf32>)
    outs(%qe : tensor<1x4x8x16xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<1x10x2x16xf32>)
    outs(%ke : tensor<1x2x10x16xf32>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<1x?x2x32xf32>)
    outs(%ve : tensor<1x2x?x32xf32>) permutation = [0, 2, 1, 3]
  %o = attn.sdpa %qt, %kt, %vt
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x?x32xf32>
    -> tensor<1x4x8x32xf32>
  return %o : tensor<1x4x8x32xf32>
}

// -----

// A transpose into a layout that it undoes leaves no layout, and the one of the
// output goes into the op too.
//
// CHECK-LABEL: func.func @transposed_twice
// CHECK-NOT: linalg.transpose
// CHECK: attn.sdpa
// CHECK-NOT: layout
// CHECK-SAME: -> tensor<1x4x8x16xf32>
func.func @transposed_twice(%q: tensor<1x4x8x16xf32>, %e: tensor<1x8x4x16xf32>,
    %oe: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %qt = linalg.transpose ins(%q : tensor<1x4x8x16xf32>)
    outs(%e : tensor<1x8x4x16xf32>) permutation = [0, 2, 1, 3]
  %o = attn.sdpa %qt, %qt, %qt layout = bshd
    : tensor<1x8x4x16xf32>, tensor<1x8x4x16xf32>, tensor<1x8x4x16xf32>
    -> tensor<1x8x4x16xf32>
  %t = linalg.transpose ins(%o : tensor<1x8x4x16xf32>)
    outs(%oe : tensor<1x4x8x16xf32>) permutation = [0, 2, 1, 3]
  return %t : tensor<1x4x8x16xf32>
}

// -----

// An output that is needed in both orders stays.
//
// CHECK-LABEL: func.func @output_with_two_users
// CHECK: attn.sdpa
// CHECK-NOT: layout
// CHECK: linalg.transpose
func.func @output_with_two_users(%q: tensor<1x4x8x16xf32>, %e: tensor<1x8x4x16xf32>)
    -> (tensor<1x4x8x16xf32>, tensor<1x8x4x16xf32>) {
  %o = attn.sdpa %q, %q, %q
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
    -> tensor<1x4x8x16xf32>
  %t = linalg.transpose ins(%o : tensor<1x4x8x16xf32>)
    outs(%e : tensor<1x8x4x16xf32>) permutation = [0, 2, 1, 3]
  return %o, %t : tensor<1x4x8x16xf32>, tensor<1x8x4x16xf32>
}

// -----

// A transpose that overwrites the output is no transpose of it.
//
// CHECK-LABEL: func.func @output_as_destination
// CHECK: attn.sdpa
// CHECK-NOT: layout
// CHECK: linalg.transpose
func.func @output_as_destination(%q: tensor<1x4x4x16xf32>, %x: tensor<1x4x4x16xf32>)
    -> tensor<1x4x4x16xf32> {
  %o = attn.sdpa %q, %q, %q
    : tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>
    -> tensor<1x4x4x16xf32>
  %t = linalg.transpose ins(%x : tensor<1x4x4x16xf32>)
    outs(%o : tensor<1x4x4x16xf32>) permutation = [0, 2, 1, 3]
  return %t : tensor<1x4x4x16xf32>
}

// -----

// Channels moved to another place are not a layout.
//
// CHECK-LABEL: func.func @another_permutation
// CHECK: linalg.transpose
// CHECK: attn.sdpa
// CHECK-NOT: layout
func.func @another_permutation(%k: tensor<1x4x16x8xf32>, %q: tensor<1x4x8x16xf32>,
    %e: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %kt = linalg.transpose ins(%k : tensor<1x4x16x8xf32>)
    outs(%e : tensor<1x4x8x16xf32>) permutation = [0, 1, 3, 2]
  %o = attn.sdpa %q, %kt, %q
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
    -> tensor<1x4x8x16xf32>
  return %o : tensor<1x4x8x16xf32>
}

// -----

// One layout for all tensors that is the default is not written.
//
// CHECK-LABEL: func.func @plain_layout
// CHECK: attn.sdpa
// CHECK-NOT: layout
func.func @plain_layout(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  %o = attn.sdpa %q, %q, %q layout = bhsd
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
    -> tensor<1x4x8x16xf32>
  return %o : tensor<1x4x8x16xf32>
}
