// RUN: attn-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s

// The dimensions of the output come from the operands, by what they are in each
// layout; lse has its own order.
//
// CHECK-LABEL: func.func @sdpa
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x?x?x16xf32>, %[[K:[a-z0-9]+]]: tensor<?x2x?x16xf32>, %[[V:[a-z0-9]+]]: tensor<?x2x?x?xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[B:.*]] = tensor.dim %[[Q]], %[[C0]]
// CHECK-DAG: %[[H:.*]] = tensor.dim %[[Q]], %[[C1]]
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[Q]], %[[C2]]
// CHECK-DAG: %[[E:.*]] = tensor.dim %[[V]], %[[C3]]
// CHECK: return %[[B]], %[[M]], %[[H]], %[[E]], %[[B]], %[[H]], %[[M]]
func.func @sdpa(%q: tensor<?x?x?x16xf32>, %k: tensor<?x2x?x16xf32>,
    %v: tensor<?x2x?x?xf32>)
    -> (index, index, index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %o, %l = attn.sdpa %q, %k, %v layout = <output = bshd>
    : tensor<?x?x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x?xf32>
    -> tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
  %o0 = tensor.dim %o, %c0 : tensor<?x?x?x?xf32>
  %o1 = tensor.dim %o, %c1 : tensor<?x?x?x?xf32>
  %o2 = tensor.dim %o, %c2 : tensor<?x?x?x?xf32>
  %o3 = tensor.dim %o, %c3 : tensor<?x?x?x?xf32>
  %l0 = tensor.dim %l, %c0 : tensor<?x?x?xf32>
  %l1 = tensor.dim %l, %c1 : tensor<?x?x?xf32>
  %l2 = tensor.dim %l, %c2 : tensor<?x?x?xf32>
  return %o0, %o1, %o2, %o3, %l0, %l1, %l2
    : index, index, index, index, index, index, index
}

// A batch that only the value states is known all the same.
//
// CHECK-LABEL: func.func @stated_elsewhere
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: return %[[C3]]
func.func @stated_elsewhere(%q: tensor<?x2x?x16xf32>, %v: tensor<3x2x?x16xf32>)
    -> index {
  %c0 = arith.constant 0 : index
  %o = attn.sdpa %q, %q, %v
    : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<3x2x?x16xf32>
    -> tensor<?x2x?x16xf32>
  %d = tensor.dim %o, %c0 : tensor<?x2x?x16xf32>
  return %d : index
}

// What the present cache holds is the past and the new keys.
//
// CHECK-LABEL: func.func @mha
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x?x8xf32>
// CHECK-SAME: %[[WK:[a-z0-9]+]]: tensor<?x8xf32>, %[[WO:[a-z0-9]+]]: tensor<?x8xf32>, %[[PAST:[a-z0-9]+]]: tensor<1x2x?x?xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %[[C1]]
// CHECK-DAG: %[[F:.*]] = tensor.dim %[[WO]], %[[C0]]
// CHECK-DAG: %[[P:.*]] = tensor.dim %[[PAST]], %[[C2]]
// CHECK-DAG: %[[ALL:.*]] = affine.apply {{.*}}[%[[P]], %[[M]]]
// CHECK-DAG: %[[W:.*]] = tensor.dim %[[WK]], %[[C0]]
// CHECK-DAG: %[[D:.*]] = affine.apply {{.*}}[%[[W]]]
// CHECK: return %[[M]], %[[F]], %[[ALL]], %[[D]], %[[M]]
func.func @mha(%x: tensor<1x?x8xf32>, %w: tensor<?x8xf32>, %wo: tensor<?x8xf32>,
    %past: tensor<1x2x?x?xf32>) -> (index, index, index, index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %y, %k, %v, %l = attn.mha %x query(%w : tensor<?x8xf32>)
    key(%w : tensor<?x8xf32>) value(%w : tensor<?x8xf32>)
    output(%wo : tensor<?x8xf32>)
    past(%past : tensor<1x2x?x?xf32>, %past : tensor<1x2x?x?xf32>) heads = 2
    : tensor<1x?x8xf32> -> tensor<1x?x?xf32>
    present(tensor<1x2x?x?xf32>, tensor<1x2x?x?xf32>) lse(tensor<1x2x?xf32>)
  %y1 = tensor.dim %y, %c1 : tensor<1x?x?xf32>
  %y2 = tensor.dim %y, %c2 : tensor<1x?x?xf32>
  %k2 = tensor.dim %k, %c2 : tensor<1x2x?x?xf32>
  %k3 = tensor.dim %k, %c3 : tensor<1x2x?x?xf32>
  %l2 = tensor.dim %l, %c2 : tensor<1x2x?xf32>
  return %y1, %y2, %k2, %k3, %l2 : index, index, index, index, index
}

// CHECK-LABEL: func.func @rope_and_merge
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x2x?x8xf32>, %{{.*}}: tensor<1x?x4xf32>, %[[L:[a-z0-9]+]]: tensor<1x2x?xf32>
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[X]], %[[C2]]
// CHECK-DAG: %[[R:.*]] = tensor.dim %[[L]], %[[C2]]
// CHECK: return %[[S]], %[[R]]
func.func @rope_and_merge(%x: tensor<1x2x?x8xf32>, %t: tensor<1x?x4xf32>,
    %l: tensor<1x2x?xf32>) -> (index, index) {
  %c2 = arith.constant 2 : index
  %y = attn.rope %x, %t, %t
    : tensor<1x2x?x8xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>
  %o, %m = attn.merge_outputs outputs(%y) lses(%l)
    : tensor<1x2x?x8xf32>, tensor<1x2x?xf32>
  %o2 = tensor.dim %o, %c2 : tensor<1x2x?x8xf32>
  %m2 = tensor.dim %m, %c2 : tensor<1x2x?xf32>
  return %o2, %m2 : index, index
}

// States have the extents of keys and values, in their own order.
//
// CHECK-LABEL: func.func @linear_attention
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x?x4x?xf32>, %[[K:[a-z0-9]+]]: tensor<1x?x2x?xf32>, %[[V:[a-z0-9]+]]: tensor<1x?x2x?xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[T:.*]] = tensor.dim %[[Q]], %[[C1]]
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[Q]], %[[C3]]
// CHECK-DAG: %[[E:.*]] = tensor.dim %[[V]], %[[C3]]
// CHECK: return %[[T]], %[[D]], %[[E]], %[[D]]
func.func @linear_attention(%q: tensor<1x?x4x?xf32>, %k: tensor<1x?x2x?xf32>,
    %v: tensor<1x?x2x?xf32>) -> (index, index, index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %o, %s, %z = attn.linear_attention %q, %k, %v rule = linear feature_map = relu
    normalize layout = bshd
    : tensor<1x?x4x?xf32>, tensor<1x?x2x?xf32>, tensor<1x?x2x?xf32>
    -> tensor<1x?x4x?xf32> state(tensor<1x2x?x?xf32>)
    normalizer(tensor<1x2x?xf32>)
  %o1 = tensor.dim %o, %c1 : tensor<1x?x4x?xf32>
  %s2 = tensor.dim %s, %c2 : tensor<1x2x?x?xf32>
  %s3 = tensor.dim %s, %c3 : tensor<1x2x?x?xf32>
  %z2 = tensor.dim %z, %c2 : tensor<1x2x?xf32>
  return %o1, %s2, %s3, %z2 : index, index, index, index
}
