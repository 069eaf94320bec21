// RUN: attn-opt %s --attn-outline-shapes | FileCheck %s

// Extents are read off the arguments; the attention itself is gone.
//
// CHECK-LABEL: func.func private @attention.shape
// CHECK-SAME:    (%[[Q:.*]]: tensor<?x8x?x64xf32>, %{{.*}}: tensor<?x2x?x64xf32>, %{{.*}}: tensor<?x2x?x32xf32>)
// CHECK-SAME:    -> (index, index, index, index)
// CHECK-NOT:   attn.sdpa
// CHECK-DAG:   %[[E:.*]] = arith.constant 32 : index
// CHECK-DAG:   %[[H:.*]] = arith.constant 8 : index
// CHECK-DAG:   %[[B:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG:   %[[M:.*]] = tensor.dim %[[Q]], %c2
// CHECK:       return %[[B]], %[[H]], %[[M]], %[[E]]
func.func @attention(%q: tensor<?x8x?x64xf32>, %k: tensor<?x2x?x64xf32>,
                     %v: tensor<?x2x?x32xf32>) -> tensor<?x8x?x32xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<?x8x?x64xf32>, tensor<?x2x?x64xf32>,
    tensor<?x2x?x32xf32> -> tensor<?x8x?x32xf32>
  return %o : tensor<?x8x?x32xf32>
}

// A scalar has no extents.
//
// CHECK-LABEL: func.func private @scalar.shape
// CHECK-SAME:    (%{{.*}}: f32) {
// CHECK:       return
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// Only what C can call has shapes.
//
// CHECK-NOT: @hidden.shape
func.func private @hidden(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// Those of a branch's result are asked for in the branch.
//
// CHECK-LABEL: func.func private @branch.shape
// CHECK-SAME:    (%{{.*}}: i1, %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>) -> index
// CHECK:       %[[EXTENT:.*]] = scf.if %{{.*}} -> (index) {
// CHECK-NEXT:    tensor.dim %[[X]]
// CHECK:       } else {
// CHECK-NEXT:    tensor.dim %[[Y]]
// CHECK:       return %[[EXTENT]] : index
func.func @branch(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.if %c -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
