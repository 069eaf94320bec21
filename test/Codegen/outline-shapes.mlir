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

// No step of a loop changes them.
//
// CHECK-LABEL: func.func private @steps.shape
// CHECK-SAME:    (%[[Q:.*]]: tensor<1x2x?x16xf16>, %{{.*}}: tensor<1x2x?x16xf16>)
// CHECK-NOT:   scf.for
// CHECK:       %[[M:.*]] = tensor.dim %[[Q]], %c2
// CHECK:       return %c1, %c2, %[[M]], %c16
func.func @steps(%q: tensor<1x2x?x16xf16>, %k: tensor<1x2x?x16xf16>) -> tensor<1x2x?x16xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %q) -> tensor<1x2x?x16xf16> {
    %o = attn.sdpa %a, %k, %k : tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16>, tensor<1x2x?x16xf16> -> tensor<1x2x?x16xf16>
    scf.yield %o : tensor<1x2x?x16xf16>
  }
  return %r : tensor<1x2x?x16xf16>
}
