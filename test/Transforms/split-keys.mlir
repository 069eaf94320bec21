// RUN: attn-opt %s --attn-split-keys --canonicalize --cse --split-input-file | FileCheck %s

// 256 keys in chunks of 64: a task for each of the 4 chunks of an entry's group of
// heads gives a state, and a task for each group merges them in order, the first
// with the second, and so on.
//
// CHECK-LABEL: func.func @decode
// CHECK: %[[PARTS:.*]]:3 = scf.forall (%[[B:.*]], %[[G:.*]], %[[C:.*]]) in (3, 2, 4)
// CHECK: arith.muli %[[C]], %c64
// CHECK: attn.block_step
// CHECK-NOT: attn.finish
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[G]], %[[C]], 0, 0]
// CHECK: scf.forall (%[[B2:.*]], %[[G2:.*]]) in (3, 2)
// CHECK: tensor.extract_slice %[[PARTS]]#0[%[[B2]], %[[G2]], 0, 0, 0]
// CHECK: %[[STATE:.*]]:3 = scf.for %[[NEXT:.*]] = %c1 to %c4 step %c1 iter_args(%[[R:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}})
// CHECK: tensor.extract_slice %[[PARTS]]#0[%[[B2]], %[[G2]], %[[NEXT]], 0, 0]
// CHECK: attn.merge(%[[R]], %[[S]], %[[A]]),
// CHECK: attn.finish %[[STATE]]#0, %[[STATE]]#1, %[[STATE]]#2
// CHECK-NOT: attn.sdpa
func.func @decode(%q: tensor<3x8x1x8xf32>, %k: tensor<3x2x256x8xf32>)
    -> tensor<3x8x1x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 4, block_n = 32, rows = 4,
       columns = 16, lanes = 8, chunk = 64, fold_heads = true>
    : tensor<3x8x1x8xf32>, tensor<3x2x256x8xf32>, tensor<3x2x256x8xf32>
    -> tensor<3x8x1x8xf32>
  return %o : tensor<3x8x1x8xf32>
}

// -----

// The sink joins once, when all chunks are merged.
//
// CHECK-LABEL: func.func @sinks
// CHECK-NOT: sinks
// CHECK: attn.merge
// CHECK: attn.finish {{.*}} sinks(
// CHECK-NOT: sinks
func.func @sinks(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x256x8xf32>,
    %sink: tensor<2xf32>) -> tensor<1x2x1x8xf32> {
  %o = attn.sdpa %q, %k, %k sinks(%sink : tensor<2xf32>)
       schedule = <block_m = 1, block_n = 32, rows = 1, columns = 16,
       lanes = 8, chunk = 64, fold_heads = true>
    : tensor<1x2x1x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>
    -> tensor<1x2x1x8xf32>
  return %o : tensor<1x2x1x8xf32>
}

// -----

// Where keys are not known, the chunk of the schedule is the least: it grows with
// the keys when there would be more than 16. No key is one chunk too, whose state
// is the empty one.
//
// CHECK: #[[$MOST:.*]] = affine_map<()[s0] -> (16, (s0 - 1) floordiv 64 + 1)>
// CHECK: #[[$SIZE:.*]] = affine_map<()[s0] -> (64, ((s0 ceildiv 16) ceildiv 32) * 32)>
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[K:[a-z0-9]+]]: tensor<1x2x?x8xf32>
// CHECK: %[[KEYS:.*]] = tensor.dim %[[K]], %c2
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[KEYS]], %c1
// CHECK: %[[MOST:.*]] = affine.min #[[$MOST]]()[%[[POSITIVE]]]
// CHECK: %[[SIZE:.*]] = affine.max #[[$SIZE]]()[%[[KEYS]]]
// CHECK: %[[CHUNKS:.*]] = arith.ceildivui %[[POSITIVE]], %[[SIZE]]
// CHECK: tensor.empty(%[[MOST]]) : tensor<1x2x?x1x1xf32>
// CHECK: scf.forall (%{{.*}}, %[[C:.*]]) in (2, %[[CHUNKS]])
// CHECK: arith.muli %[[C]], %[[SIZE]]
// CHECK: scf.for %{{.*}} = %c1 to %[[CHUNKS]] step %c1
// CHECK: attn.merge
func.func @dynamic(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x1x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 1, block_n = 32, rows = 1,
       columns = 16, lanes = 8, chunk = 64, fold_heads = true>
    : tensor<1x2x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
    -> tensor<1x2x1x8xf32>
  return %o : tensor<1x2x1x8xf32>
}

// -----

// A schedule without a chunk is left to tile-blocks.
//
// CHECK-LABEL: func.func @whole
// CHECK-NOT: scf.forall
// CHECK: attn.sdpa {{.*}} schedule =
func.func @whole(%q: tensor<1x2x1x8xf32>, %k: tensor<1x2x256x8xf32>)
    -> tensor<1x2x1x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 1, block_n = 32, rows = 1,
       columns = 16, lanes = 8, fold_heads = true>
    : tensor<1x2x1x8xf32>, tensor<1x2x256x8xf32>, tensor<1x2x256x8xf32>
    -> tensor<1x2x1x8xf32>
  return %o : tensor<1x2x1x8xf32>
}

// -----

// Keys that are a slice: there is room for the chunks of all that it is taken from.
//
// CHECK-LABEL: func.func @slice
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[SIZE:.*]] = affine.max {{.*}}[%[[N]]]
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[N]], %c1
// CHECK: %[[CHUNKS:.*]] = arith.ceildivui %[[POSITIVE]], %[[SIZE]]
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<1x2x16x1x1xf32>
// CHECK: tensor.extract_slice %[[ALL]][0, 0, 0, 0, 0] [1, 2, %[[CHUNKS]], 1, 1]
// CHECK: scf.forall {{.*}} in (2, %[[CHUNKS]])
func.func @slice(%q: tensor<1x2x1x8xf32>, %cache: tensor<1x2x1024x8xf32>, %n: index)
    -> tensor<1x2x1x8xf32> {
  %k = tensor.extract_slice %cache[0, 0, 0, 0] [1, 2, %n, 8] [1, 1, 1, 1]
    : tensor<1x2x1024x8xf32> to tensor<1x2x?x8xf32>
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 1, block_n = 32, rows = 1,
       columns = 16, lanes = 8, chunk = 64, fold_heads = true>
    : tensor<1x2x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
    -> tensor<1x2x1x8xf32>
  return %o : tensor<1x2x1x8xf32>
}

// -----

// 64 tiles with 16 states of 33 KiB each are too many for memory: as many are done
// at once as their states may take, for each thread 1.5 MiB.
//
// CHECK: #[[$COUNT:.*]] = affine_map<()[s0] -> (1, (s0 * 128) floordiv 43)>
// CHECK: #[[$LEFT:.*]] = affine_map<(d0)[s0] -> (-d0 + 64, 64, s0)>
// CHECK-LABEL: func.func @groups
// CHECK: %[[THREADS:.*]] = attn.threads
// CHECK: %[[MOST:.*]] = affine.max #[[$COUNT]]()[%[[THREADS]]]
// CHECK: %[[ROOM:.*]] = affine.min {{.*}}[%[[MOST]]]
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c64 step %{{.*}} iter_args(%[[SO:.*]] = %{{.*}})
// CHECK: %[[COUNT:.*]] = affine.min #[[$LEFT]](%[[FIRST]])[%[[MOST]]]
// CHECK: tensor.empty(%[[ROOM]]) : tensor<?x16x16x4xf32>
// CHECK: scf.forall (%[[T:.*]], %{{.*}}) in (%[[COUNT]], 16)
// CHECK: %[[TILE:.*]] = arith.addi %[[FIRST]], %[[T]]
// CHECK: arith.divui %[[TILE]], %c8
// CHECK: arith.remui %[[TILE]], %c8
// CHECK: attn.block_step
// CHECK: %[[ALL:.*]] = scf.forall (%{{.*}}) in (%[[COUNT]]) shared_outs(%{{.*}} = %[[SO]])
// CHECK: attn.finish
// CHECK: scf.yield %[[ALL]]
func.func @groups(%q: tensor<8x32x16x64xf32>, %k: tensor<8x8x1024x64xf32>)
    -> tensor<8x32x16x64xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 64, rows = 4,
       columns = 64, lanes = 16, chunk = 64, fold_heads = true, streams = 4>
    : tensor<8x32x16x64xf32>, tensor<8x8x1024x64xf32>,
      tensor<8x8x1024x64xf32> -> tensor<8x32x16x64xf32>
  return %o : tensor<8x32x16x64xf32>
}
