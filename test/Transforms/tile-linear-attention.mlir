// RUN: attn-opt %s --attn-tile-linear-attention --canonicalize --cse --split-input-file | FileCheck %s

// A task is an entry of the batch, a key head and columns of its state. A chunk is
// a strip of rows after the other, then the state is changed. Without a decay
// nothing is multiplied by one.
//
// CHECK-LABEL: func.func @linear
// CHECK: scf.forall (%[[B:.*]], %[[G:.*]], %[[E:.*]]) = (0, 0, 0) to (2, 3, 32) step (1, 1, 16)
// CHECK: %[[S0:.*]] = linalg.fill {{.*}} : tensor<8x1x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16 iter_args(%[[S:.*]] = %[[S0]],
// CHECK: linalg.pack {{.*}} inner_tiles = [16] {{.*}} : tensor<16x8xf32> -> tensor<1x8x16xf32>
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16 step %c8
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[S]] : tensor<8x8xf32>, tensor<8x1x16xf32>)
// CHECK: arith.cmpi sle
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<?x1x16xf32>)
// CHECK: tensor.insert_slice
// CHECK-NOT: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16x1x8xf32>, tensor<16x1x16xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[G]], 0, %[[E]]] [1, 1, 64, 16]
// CHECK: } {attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 8, columns = 16, lanes = 8>}
func.func @linear(%q: tensor<2x3x64x8xf32>, %v: tensor<2x3x64x32xf32>)
    -> tensor<2x3x64x32xf32> {
  %o = attn.linear_attention %q, %q, %v rule = linear schedule = <block_m = 16,
       block_n = 16, rows = 8, columns = 16, lanes = 8>
    : tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x32xf32>
    -> tensor<2x3x64x32xf32>
  return %o : tensor<2x3x64x32xf32>
}

// -----

// The only exponentials are those of decays, and of arguments that are not
// positive; what lies between two steps is a product of them.
//
// CHECK-LABEL: func.func @gated
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt
// CHECK: %[[HALF:.*]] = arith.mulf %{{.*}}, %cst
// CHECK: %[[BELOW:.*]] = arith.select %[[POSITIVE]], %[[HALF]], %
// CHECK: math.exp %[[BELOW]] {attn.nonpositive}
// CHECK-NOT: math.exp
// CHECK: scf.for %[[T:.*]] = %c0 to %c16 step %c1
// CHECK: %[[FACTOR:.*]] = tensor.extract
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: arith.cmpi eq, %{{.*}}, %[[T]]
// CHECK-NOT: math.exp
// CHECK: return
func.func @gated(%q: tensor<2x3x64x8xf32>, %g: tensor<2x3x64xf32>)
    -> tensor<2x3x64x8xf32> {
  %o = attn.linear_attention %q, %q, %q decay(%g : tensor<2x3x64xf32>)
    rule = gated schedule = <block_m = 16, block_n = 16, rows = 8, columns = 16,
    lanes = 8>
    : tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>
    -> tensor<2x3x64x8xf32>
  return %o : tensor<2x3x64x8xf32>
}

// -----

// Values of a delta rule are solved for, a strip after the other: within a strip
// by an inverse of rows by rows.
//
// CHECK-LABEL: func.func @delta
// CHECK: %[[V:.*]] = scf.for %[[ROW:.*]] = %c0 to %c16 step %c8
// CHECK: arith.cmpi slt
// CHECK: arith.negf
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [%[[ROW]], 1, 16]
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK: %[[INVERSE:.*]] = tensor.insert_slice {{.*}} into tensor<8x8xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[ROW]], 0, 0] [8, 1, 16]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[V]] : tensor<16x1x8xf32>, tensor<16x1x16xf32>)
func.func @delta(%q: tensor<2x3x64x8xf32>, %b: tensor<2x3x64xf32>)
    -> tensor<2x3x8x8xf32> {
  %o, %s = attn.linear_attention %q, %q, %q beta(%b : tensor<2x3x64xf32>)
    rule = delta schedule = <block_m = 16, block_n = 16, rows = 8, columns = 16,
    lanes = 8>
    : tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>
    -> tensor<2x3x64x8xf32> state(tensor<2x3x8x8xf32>)
  return %s : tensor<2x3x8x8xf32>
}

// -----

// A single step has no weights: the state is changed, then read by all heads of the
// group.
//
// CHECK-LABEL: func.func @step
// CHECK: scf.forall
// CHECK-NOT: linalg.pack
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x1x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<8x1x16xf32>)
func.func @step(%q: tensor<2x6x1x8xf32>, %k: tensor<2x3x1x8xf32>)
    -> tensor<2x6x1x8xf32> {
  %o = attn.linear_attention %q, %k, %k rule = linear schedule = <block_m = 1,
       block_n = 16, rows = 1, columns = 16, lanes = 8, streams = 1>
    : tensor<2x6x1x8xf32>, tensor<2x3x1x8xf32>, tensor<2x3x1x8xf32>
    -> tensor<2x6x1x8xf32>
  return %o : tensor<2x6x1x8xf32>
}
