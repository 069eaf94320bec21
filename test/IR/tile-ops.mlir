// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @block_step
// CHECK: attn.block_step %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} bias(%{{[a-z0-9_]+}} : tensor<1x?x?xf32>) mask(%{{[a-z0-9_]+}} : tensor<4x1x?xi1>)
// CHECK-SAME: state(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) at(batch %[[I:.*]], head %[[I]], row %[[I]] per %[[I]],
// CHECK-SAME: position %[[I]], key %[[I]] of %[[I]]) scale = 1.250000e-01 causal
// CHECK-SAME: window = <left = 3> softcap = 2.000000e+01 bounded
// CHECK-SAME: schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16>
// CHECK-SAME: : tensor<?x16xf16>, tensor<?x16xf16>, tensor<?x32xf16> -> tensor<?xf32>, tensor<?xf32>, tensor<?x32xf32>
func.func @block_step(%q: tensor<?x16xf16>, %v: tensor<?x32xf16>,
    %b: tensor<1x?x?xf32>, %m: tensor<4x1x?xi1>, %r: tensor<?xf32>,
    %a: tensor<?x32xf32>, %i: index) -> tensor<?x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %q, %v bias(%b : tensor<1x?x?xf32>)
    mask(%m : tensor<4x1x?xi1>) state(%r, %r, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 0.125 causal window = <left = 3> softcap = 20.0 bounded
    schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<?x16xf16>, tensor<?x16xf16>, tensor<?x32xf16>
    -> tensor<?xf32>, tensor<?xf32>, tensor<?x32xf32>
  return %a1 : tensor<?x32xf32>
}

// Strips of 8 rows and panels of 16 keys or channels.
//
// CHECK-LABEL: func.func @packed_block_step
// CHECK: attn.block_step
// CHECK-SAME: key %[[I:.*]] of %[[I]]) skip_zeros(%{{.*}}) scale = 1.000000e+00 bounded first channels = 24
// CHECK-SAME: -> tensor<?x8xf32>, tensor<?x8x16xf32>, tensor<?x2x8x16xf32>
func.func @packed_block_step(%q: tensor<?x8x64xf32>, %k: tensor<?x64x16xf32>,
    %v: tensor<2x?x16x16xf32>, %r: tensor<?x8xf32>, %s: tensor<?x8x16xf32>,
    %a: tensor<?x2x8x16xf32>, %i: index, %skip: i1) -> tensor<?x2x8x16xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) skip_zeros(%skip) scale = 1.0 bounded first channels = 24
    : tensor<?x8x64xf32>, tensor<?x64x16xf32>, tensor<2x?x16x16xf32>
    -> tensor<?x8xf32>, tensor<?x8x16xf32>, tensor<?x2x8x16xf32>
  return %a1 : tensor<?x2x8x16xf32>
}

// CHECK-LABEL: func.func @merge
// CHECK: attn.merge(%[[R:.*]], %[[S:.*]], %[[A:.*]]), (%[[R]], %[[S]], %[[A]]) : tensor<8xf64>, tensor<8x4xf64>, tensor<8x32xf64>
func.func @merge(%r: tensor<8xf64>, %s: tensor<8x4xf64>, %a: tensor<8x32xf64>)
    -> tensor<8x32xf64> {
  %r1, %s1, %a1 = attn.merge (%r, %s, %a), (%r, %s, %a)
    : tensor<8xf64>, tensor<8x4xf64>, tensor<8x32xf64>
  return %a1 : tensor<8x32xf64>
}

// CHECK-LABEL: func.func @finish
// CHECK: attn.finish %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} sinks(%{{[a-z0-9_]+}} : tensor<4xf16>, row %[[I:.*]] per %[[I]])
// CHECK-SAME: : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<8x32xbf16>, tensor<8xf32>
func.func @finish(%r: tensor<8xf32>, %a: tensor<8x32xf32>, %h: tensor<4xf16>,
    %i: index) -> tensor<8x32xbf16> {
  %o, %l = attn.finish %r, %r, %a sinks(%h : tensor<4xf16>, row %i per %i)
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
    -> tensor<8x32xbf16>, tensor<8xf32>
  return %o : tensor<8x32xbf16>
}

// Plain, and in strips of 8 rows and panels of 16 keys.
//
// CHECK-LABEL: func.func @block_weights
// CHECK: attn.block_weights %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<1x8x?xi1>) rows(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>) at(batch %[[I:.*]], head %[[I]], row %[[I]] per %[[I]], position %[[I]], key %[[I]] of %[[I]]) scale = 5.000000e-01 causal window = <left = 4> softcap = 2.000000e+00 bounded : tensor<8x16xf16>, tensor<?x16xf16> -> tensor<8x?xf16>
// CHECK: attn.block_weights %{{.*}}, %{{.*}} rows(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8x16xf32>) {{.*}} : tensor<?x8x64xf32>, tensor<?x64x16xf32> -> tensor<?x?x8x16xf32>
func.func @block_weights(%q: tensor<8x16xf16>, %k: tensor<?x16xf16>, %m: tensor<1x8x?xi1>, %l: tensor<8xf32>,
    %qp: tensor<?x8x64xf32>, %kp: tensor<?x64x16xf32>, %lp: tensor<?x8xf32>, %lpf: tensor<?x8x16xf32>, %i: index)
    -> (tensor<8x?xf16>, tensor<?x?x8x16xf32>) {
  %w = attn.block_weights %q, %k mask(%m : tensor<1x8x?xi1>) rows(%l, %l : tensor<8xf32>, tensor<8xf32>)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 0.5 causal window = <left = 4> softcap = 2.0 bounded
    : tensor<8x16xf16>, tensor<?x16xf16> -> tensor<8x?xf16>
  %wp = attn.block_weights %qp, %kp rows(%lp, %lpf : tensor<?x8xf32>, tensor<?x8x16xf32>)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<?x8x64xf32>, tensor<?x64x16xf32> -> tensor<?x?x8x16xf32>
  return %w, %wp : tensor<8x?xf16>, tensor<?x?x8x16xf32>
}

// CHECK-LABEL: func.func @threads
// CHECK: attn.threads
func.func @threads() -> index {
  %n = attn.threads
  return %n : index
}

// CHECK-LABEL: func.func @call
// CHECK: %[[Y:.*]] = attn.call @shared(%{{.*}}, %{{.*}} : tensor<8xf32>, index) outs(%{{.*}} : tensor<8xf32>) -> tensor<8xf32>
// CHECK: attn.call @nothing() outs(%[[Y]] : tensor<8xf32>) -> tensor<8xf32>
func.func @call(%x: tensor<8xf32>, %n: index, %to: tensor<8xf32>) -> tensor<8xf32> {
  %y = attn.call @shared(%x, %n : tensor<8xf32>, index) outs(%to : tensor<8xf32>) -> tensor<8xf32>
  %z = attn.call @nothing() outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
func.func private @shared(tensor<8xf32>, index, tensor<8xf32>) -> tensor<8xf32>
func.func private @nothing(tensor<8xf32>) -> tensor<8xf32>
