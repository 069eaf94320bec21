// RUN: attn-opt %s --attn-booleans-to-bytes | FileCheck %s

// What reads an element compares it with zero.
//
// CHECK-LABEL: func.func @read
// CHECK-SAME:    (%[[MASK:.*]]: tensor<8xi8>, %[[I:.*]]: index) -> i1
// CHECK:       %[[BYTE:.*]] = tensor.extract %[[MASK]][%[[I]]] : tensor<8xi8>
// CHECK:       %[[X:.*]] = arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
// CHECK:       return %[[X]]
func.func @read(%mask: tensor<8xi1>, %i: index) -> i1 {
  %x = tensor.extract %mask[%i] : tensor<8xi1>
  return %x : i1
}

// A body works on i1 as before, and yields a byte.
//
// CHECK-LABEL: func.func @both
// CHECK:       linalg.generic
// CHECK:       ^bb0(%[[A:.*]]: i8, %[[B:.*]]: i8, %{{.*}}: i8):
// CHECK-DAG:     %[[X:.*]] = arith.cmpi ne, %[[A]]
// CHECK-DAG:     %[[Y:.*]] = arith.cmpi ne, %[[B]]
// CHECK:         %[[AND:.*]] = arith.andi %[[X]], %[[Y]] : i1
// CHECK:         %[[BYTE:.*]] = arith.extui %[[AND]] : i1 to i8
// CHECK:         linalg.yield %[[BYTE]] : i8
#id = affine_map<(d0) -> (d0)>
func.func @both(%a: tensor<8xi1>, %b: tensor<8xi1>) -> tensor<8xi1> {
  %e = tensor.empty() : tensor<8xi1>
  %c = linalg.generic {indexing_maps = [#id, #id, #id],
                       iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xi1>, tensor<8xi1>) outs(%e : tensor<8xi1>) {
  ^bb0(%x: i1, %y: i1, %z: i1):
    %and = arith.andi %x, %y : i1
    linalg.yield %and : i1
  } -> tensor<8xi1>
  return %c : tensor<8xi1>
}

// What only moves elements looks at none.
//
// CHECK-LABEL: func.func @move
// CHECK:       linalg.transpose
// CHECK-SAME:    ins(%{{.*}} : tensor<4x8xi8>)
// CHECK-NOT:   arith.cmpi
// CHECK:       tensor.extract_slice {{.*}} : tensor<8x4xi8> to tensor<2x4xi8>
func.func @move(%a: tensor<4x8xi1>) -> tensor<2x4xi1> {
  %e = tensor.empty() : tensor<8x4xi1>
  %t = linalg.transpose ins(%a : tensor<4x8xi1>) outs(%e : tensor<8x4xi1>)
    permutation = [1, 0]
  %s = tensor.extract_slice %t[0, 0] [2, 4] [1, 1]
    : tensor<8x4xi1> to tensor<2x4xi1>
  return %s : tensor<2x4xi1>
}

// CHECK-LABEL: func.func @constants
// CHECK:       arith.constant dense<[1, 0, 1]> : tensor<3xi8>
// CHECK:       arith.extui %true : i1 to i8
// CHECK:       linalg.fill ins(%{{.*}} : i8) outs(%{{.*}} : tensor<3xi8>)
func.func @constants() -> (tensor<3xi1>, tensor<3xi1>) {
  %a = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %true = arith.constant true
  %e = tensor.empty() : tensor<3xi1>
  %b = linalg.fill ins(%true : i1) outs(%e : tensor<3xi1>) -> tensor<3xi1>
  return %a, %b : tensor<3xi1>, tensor<3xi1>
}

// The op takes bytes as they are.
//
// CHECK-LABEL: func.func @mask
// CHECK:       attn.sdpa {{.*}} mask(%{{.*}} : tensor<8x8xi8>)
func.func @mask(%q: tensor<1x1x8x4xf32>, %m: tensor<8x8xi1>)
    -> tensor<1x1x8x4xf32> {
  %o = attn.sdpa %q, %q, %q mask(%m : tensor<8x8xi1>) : tensor<1x1x8x4xf32>,
    tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32> -> tensor<1x1x8x4xf32>
  return %o : tensor<1x1x8x4xf32>
}
