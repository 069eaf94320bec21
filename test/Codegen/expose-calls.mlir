// RUN: attn-opt %s --pass-pipeline="builtin.module(func.func(attn-expose-buffers))" | FileCheck %s --enable-var-scope

func.func private @f.pack(%w: tensor<4x4xf32>) -> tensor<32xf32> attributes {attn.outputs} {
  %p = tensor.empty() : tensor<32xf32>
  return %p : tensor<32xf32>
}
func.func private @f.work(%x: tensor<?xf32>, %p: tensor<32xf32> {attn.dense}, %w: tensor<4x4xf32>, %few: i64)
    -> tensor<?xf32> attributes {attn.outputs} {
  return %x : tensor<?xf32>
}

// A result that another call reads is scratch, one that is returned is an output, and the first status counts.
//
// CHECK-LABEL: func.func @packs(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?xf32, strided<[?], offset: ?>>{{.*}}, %[[W:[a-z0-9]*]]: memref<4x4xf32, strided<[?, ?], offset: ?>>{{.*}}, %[[Y:[a-z0-9]*]]: memref<?xf32, strided<[1], offset: ?>>) -> i32
// CHECK: %[[P:.*]] = memref.alloc() : memref<32xf32>
// CHECK: %[[OUT:.*]] = memref.cast %[[P]]
// CHECK: %[[S0:.*]] = call @f.pack(%[[W]], %[[OUT]])
// CHECK: %[[WORST0:.*]] = arith.maxsi %{{.*}}, %[[S0]]
// CHECK: memref.store %{{.*}} : memref<i64>
// CHECK: %[[S1:.*]] = call @f.work(%[[X]], %{{.*}}, %[[W]], %{{.*}}, %[[Y]])
// CHECK: %[[WORST1:.*]] = arith.maxsi %[[WORST0]], %[[S1]]
// CHECK: return %[[WORST1]] : i32
func.func @packs(%x: tensor<?xf32>, %w: tensor<4x4xf32>) -> tensor<?xf32> {
  %few = arith.constant 1 : i64
  %p = call @f.pack(%w) : (tensor<4x4xf32>) -> tensor<32xf32>
  %y = call @f.work(%x, %p, %w, %few) {attn.dense = 1 : i64}
    : (tensor<?xf32>, tensor<32xf32>, tensor<4x4xf32>, i64) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// A block of the caller's must be dense, else the status is that of strides. A weight that is not read is one element
// over and over.
//
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[P:[a-z0-9]*]]: memref<32xf32, strided<[?], offset: ?>>
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 4], strides: [0, 0]
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[STRIDE:.*]] = memref.extract_strided_metadata %[[P]]
// CHECK: %[[DENSE:.*]] = arith.cmpi eq, %[[STRIDE]], %c1
// CHECK: scf.if %[[DENSE]] -> (i32)
// CHECK: func.call @f.work
// CHECK: else
// CHECK: scf.yield %c6_i32
func.func @packed(%x: tensor<?xf32>, %p: tensor<32xf32>) -> tensor<?xf32> {
  %few = arith.constant 0 : i64
  %w = tensor.empty() : tensor<4x4xf32>
  %y = call @f.work(%x, %p, %w, %few) {attn.dense = 1 : i64}
    : (tensor<?xf32>, tensor<32xf32>, tensor<4x4xf32>, i64) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
