// RUN: attn-opt %s --convert-attn-to-linalg --canonicalize --cse | FileCheck %s

// Whole-tensor attention is a product, scores, a softmax and a product; no attn
// op is left.
//
// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: {{[^,]*}}, %[[K:[a-z0-9]+]]: {{[^,]*}}, %[[V:[a-z0-9]+]]:
// CHECK-NOT: attn.
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %[[K]] :
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}%[[V]] :
// CHECK: arith.divf
// CHECK-NOT: attn.
// CHECK: return
func.func @plain(%q: tensor<1x2x8x64xf32>, %k: tensor<1x2x16x64xf32>,
                 %v: tensor<1x2x16x64xf32>) -> tensor<1x2x8x64xf32> {
  %o = attn.sdpa %q, %k, %v scale = 0.125
    : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
    -> tensor<1x2x8x64xf32>
  return %o : tensor<1x2x8x64xf32>
}

// Keys of a group are indexed by the group and never repeated: the query's heads
// are split instead.
//
// CHECK-LABEL: func.func @groups
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: {{[^,]*}}, %[[K:[a-z0-9]+]]: {{[^,]*}},
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<1x2x3x8x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[SPLIT]], %[[K]] : tensor<1x2x3x8x4xf32>, tensor<1x2x16x4xf32>)
func.func @groups(%q: tensor<1x6x8x4xf32>, %k: tensor<1x2x16x4xf32>,
                  %v: tensor<1x2x16x4xf32>) -> tensor<1x6x8x4xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x6x8x4xf32>, tensor<1x2x16x4xf32>, tensor<1x2x16x4xf32>
    -> tensor<1x6x8x4xf32>
  return %o : tensor<1x6x8x4xf32>
}

// With a dynamic number of key heads no dimension is split into two dynamic
// ones, which memrefs cannot do: keys are read by their computed head.
//
// CHECK-LABEL: func.func @dynamic_groups
// CHECK-NOT: tensor.expand_shape
// CHECK: arith.divui
// CHECK: tensor.extract
func.func @dynamic_groups(%q: tensor<1x?x8x4xf32>, %k: tensor<1x?x16x4xf32>,
                          %v: tensor<1x?x16x4xf32>) -> tensor<1x?x8x4xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x?x8x4xf32>, tensor<1x?x16x4xf32>, tensor<1x?x16x4xf32>
    -> tensor<1x?x8x4xf32>
  return %o : tensor<1x?x8x4xf32>
}

// Half-precision products are added up in f32, and rounded once, at the end.
//
// CHECK-LABEL: func.func @half
// CHECK: linalg.fill {{.*}} tensor<1x1x8x16xf32>
// CHECK: arith.extf {{.*}} f16 to f32
// CHECK-COUNT-1: arith.truncf
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @half(%q: tensor<1x1x8x4xf16>, %k: tensor<1x1x16x4xf16>,
                %v: tensor<1x1x16x4xf16>) -> tensor<1x1x8x4xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x1x8x4xf16>, tensor<1x1x16x4xf16>, tensor<1x1x16x4xf16>
    -> tensor<1x1x8x4xf16>
  return %o : tensor<1x1x8x4xf16>
}

// The default factor of a dynamic head size is computed when it runs.
//
// CHECK-LABEL: func.func @dynamic_head_size
// CHECK: math.sqrt
func.func @dynamic_head_size(
    %q: tensor<1x1x8x?xf32>, %k: tensor<1x1x16x?xf32>,
    %v: tensor<1x1x16x4xf32>) -> tensor<1x1x8x4xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x1x8x?xf32>, tensor<1x1x16x?xf32>, tensor<1x1x16x4xf32>
    -> tensor<1x1x8x4xf32>
  return %o : tensor<1x1x8x4xf32>
}

// Merging selects where a part is empty: infinity is never taken from infinity.
//
// CHECK-LABEL: func.func @merge
// CHECK-SAME: %[[L0:[a-z0-9]+]]: tensor<4xf32>, %[[L1:[a-z0-9]+]]: tensor<4xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[L0]], %[[L1]] :
// CHECK: arith.select
// CHECK: linalg.generic {{.*}} ins(%[[L0]], %[[L1]] :
// CHECK: math.log
func.func @merge(%o0: tensor<4x8xf32>, %o1: tensor<4x8xf32>,
                 %l0: tensor<4xf32>, %l1: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>) {
  %o, %l = attn.merge_outputs outputs(%o0, %o1) lses(%l0, %l1)
    : tensor<4x8xf32>, tensor<4xf32>
  return %o, %l : tensor<4x8xf32>, tensor<4xf32>
}

// A key whose number loses bits may be a negative index: what of it is read is moved to the first element, too.
//
// CHECK-LABEL: func.func @short_index
// CHECK: %[[SHORT:.*]] = arith.index_cast %{{.*}} : index to i8
// CHECK: %[[LEAST:.*]] = arith.minsi %[[SHORT]], %{{.*}} : i8
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[LEAST]] : i8 to index
// CHECK: %[[SMALLER:.*]] = arith.minsi %[[INDEX]]
// CHECK: %[[INSIDE:.*]] = arith.maxsi %[[SMALLER]]
// CHECK: tensor.extract %{{.*}}[%[[INSIDE]]] : tensor<200xi1>
func.func @short_index(%q: tensor<1x1x8x4xf32>, %k: tensor<1x1x200x4xf32>, %t: tensor<200xi1>) -> tensor<1x1x8x4xf32> {
  %o = attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %short = arith.index_cast %j : index to i8
      %c100 = arith.constant 100 : i8
      %least = arith.minsi %short, %c100 : i8
      %index = arith.index_cast %least : i8 to index
      %m = tensor.extract %t[%index] : tensor<200xi1>
      attn.yield %m : i1
    }
    : tensor<1x1x8x4xf32>, tensor<1x1x200x4xf32>, tensor<1x1x200x4xf32> -> tensor<1x1x8x4xf32>
  return %o : tensor<1x1x8x4xf32>
}
