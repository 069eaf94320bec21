// RUN: attn-opt %s --attn-select-schedule --attn-outline-packing --split-input-file | FileCheck %s --enable-var-scope

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>

// The function packs and works; its new entries do one of the two each.
//
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: tensor<1x40x24xf32>, %[[W:.*]]: tensor<100x24xf32>
// CHECK: %[[P:.*]] = call @f.pack(%[[W]])
// CHECK: %[[Y:.*]] = call @f.work(%[[X]], %[[P]]) {attn.dense = 1 : i64}
// CHECK: return %[[Y]]
//
// The block is a mark and panels of 16 outputs: 16 + 7 * 24 * 16 elements.
//
// CHECK-LABEL: func.func private @f.pack(
// CHECK-SAME: -> tensor<2704xf32> attributes {attn.outputs}
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0] [16] [1]
// CHECK: scf.forall (%{{.*}}) in (7)
//
// CHECK-LABEL: func.func private @f.work(
// CHECK-SAME: tensor<1x40x24xf32>, %{{.*}}: tensor<2704xf32> {attn.dense})
// CHECK: tensor.extract_slice %{{.*}}[16] [2688] [1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x40x24xf32>, tensor<7x24x16xf32>)
//
// CHECK-LABEL: func.func @f_pack(
// CHECK-SAME: -> (tensor<2704xf32> {attn.name = "packed"})
//
// CHECK-LABEL: func.func private @f_packed.check(
// CHECK: tensor.extract %{{.*}}[%c1] : tensor<2704xf32>
// CHECK: arith.bitcast
//
// CHECK-LABEL: func.func @f_packed(
// CHECK-SAME: %{{.*}}: tensor<2704xf32> {attn.name = "packed"}
func.func @f(%x: tensor<1x40x24xf32>, %w: tensor<100x24xf32>) -> tensor<1x40x100xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x40x100xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x40x100xf32>) -> tensor<1x40x100xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x40x24xf32>, tensor<100x24xf32>) outs(%start : tensor<1x40x100xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x40x100xf32>
  return %r : tensor<1x40x100xf32>
}
func.func private @f.shape(%x: tensor<1x40x24xf32>, %w: tensor<100x24xf32>) -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %c100 = arith.constant 100 : index
  return %c1, %c40, %c100 : index, index, index
}

// -----

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>

// Where the rows are dynamic, few of them read the weights in place, and nothing is packed for them.
//
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<1x?x24xf32>, %[[W:.*]]: tensor<64x24xf32>
// CHECK: %[[FEW:.*]] = call @dynamic.few(%[[X]], %[[W]])
// CHECK: %[[P:.*]] = call @dynamic.pack(%[[W]], %[[FEW]])
// CHECK: call @dynamic.work(%[[X]], %[[P]], %[[W]], %[[FEW]])
//
// CHECK-LABEL: func.func private @dynamic.pack(
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %c0, %c4
// CHECK: scf.forall (%{{.*}}) in (%[[COUNT]])
//
// CHECK-LABEL: func.func private @dynamic.work(
// CHECK-SAME: %[[PACKED:[a-z0-9]*]]: tensor<1552xf32> {attn.dense}, %[[PLACE:[a-z0-9]*]]: tensor<64x24xf32>, %[[IS:[a-z0-9]*]]: i64
// CHECK: %[[TEST:.*]] = arith.cmpi ne, %[[IS]]
// CHECK: scf.if %[[TEST]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[PLACE]] : {{.*}}streams = 1
// CHECK: else
// CHECK: linalg.generic {{.*}} tensor<4x24x16xf32>
//
// CHECK-LABEL: func.func private @dynamic.few(
// CHECK-NOT: linalg.generic
// CHECK: return %{{.*}} : i64
//
// CHECK-LABEL: func.func @dynamic_packed(
// CHECK: %[[NONE:.*]] = tensor.empty() : tensor<64x24xf32>
// CHECK: call @dynamic.work(%{{.*}}, %{{.*}}, %[[NONE]], %c0_i64)
func.func @dynamic(%x: tensor<1x?x24xf32>, %w: tensor<64x24xf32>) -> tensor<1x?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c1 : tensor<1x?x24xf32>
  %empty = tensor.empty(%rows) : tensor<1x?x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x?x64xf32>) -> tensor<1x?x64xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x?x24xf32>, tensor<64x24xf32>) outs(%start : tensor<1x?x64xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x?x64xf32>
  return %r : tensor<1x?x64xf32>
}
func.func private @dynamic.shape(%x: tensor<1x?x24xf32>, %w: tensor<64x24xf32>) -> index {
  %c1 = arith.constant 1 : index
  return %c1 : index
}

// -----

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>

// A weight that is something else as well is not packed by the caller.
//
// CHECK-LABEL: func.func @also(
// CHECK-NOT: call
// CHECK-NOT: also_pack
func.func @also(%x: tensor<1x40x24xf32>, %w: tensor<24x24xf32>) -> (tensor<1x40x24xf32>, tensor<24x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x40x24xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x40x24xf32>) -> tensor<1x40x24xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x40x24xf32>, tensor<24x24xf32>) outs(%start : tensor<1x40x24xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x40x24xf32>
  return %r, %w : tensor<1x40x24xf32>, tensor<24x24xf32>
}
