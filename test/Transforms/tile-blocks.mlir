// RUN: attn-opt %s --attn-tile-blocks --canonicalize --cse --split-input-file | FileCheck %s

// A task is an entry of the batch, a head and block_m rows. All blocks of keys are
// whole and nothing excludes a key: there is one loop, without code for masking.
//
// CHECK-LABEL: func.func @full
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[M:.*]]) = (0, 0, 0) to (2, 3, 32) step (1, 1, 16)
// CHECK: tensor.expand_shape {{.*}} : tensor<16x8xf32> into tensor<2x8x8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: linalg.pack {{.*}} inner_tiles = [16]
// CHECK: linalg.pack {{.*}} inner_tiles = [16, 16]
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: attn.block_step
// CHECK-NOT: bounded
// CHECK-SAME: schedule =
// CHECK-NOT: attn.block_step
// CHECK: attn.finish
// CHECK: linalg.unpack
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[H]], %[[M]], 0]
// CHECK: } {attn.schedule = #attn.schedule<block_m = 16, block_n = 32, rows = 8, columns = 16, lanes = 8>}
func.func @full(%q: tensor<2x3x32x8xf32>, %k: tensor<2x3x64x8xf32>)
    -> tensor<2x3x32x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<2x3x32x8xf32>, tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>
    -> tensor<2x3x32x8xf32>
  return %o : tensor<2x3x32x8xf32>
}

// -----

// The rows of the last task and the keys of the last block are fewer: 40 rows in
// tasks of 16, 70 keys in blocks of 32, whose panels are padded.
//
// CHECK-LABEL: func.func @tails
// CHECK: scf.forall (%[[M:.*]]) = (0) to (40) step (16)
// CHECK: %[[FEWER:.*]] = affine.min #{{.*}}(%[[M]])
// CHECK: tensor.extract_slice %{{.*}}[{{.*}}] [1, 1, %[[FEWER]], 8]
// CHECK: scf.for %[[J:.*]] = %c0 to %c70 step %c32
// CHECK: %[[KEYS:.*]] = affine.min #{{.*}}(%[[J]])
// CHECK: tensor.extract_slice %{{.*}}[%[[J]], 0] [%[[KEYS]], 8]
// CHECK: linalg.pack {{.*}} padding_value({{.*}}) {{.*}} : tensor<?x8xf32> -> tensor<?x8x16xf32>
// CHECK: attn.block_step {{.*}} bounded
// CHECK-NOT: attn.block_step
// CHECK: attn.finish
func.func @tails(%q: tensor<1x1x40x8xf32>, %k: tensor<1x1x70x8xf32>)
    -> tensor<1x1x40x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x40x8xf32>, tensor<1x1x70x8xf32>, tensor<1x1x70x8xf32>
    -> tensor<1x1x40x8xf32>
  return %o : tensor<1x1x40x8xf32>
}

// -----

// Causal: keys after the last row of a task are outside the loop, which ends at
// m + 16. Within a block a strip works on the panels that its last row can see.
//
// CHECK-LABEL: func.func @causal
// CHECK: scf.forall (%[[M:.*]]) =
// CHECK: %[[END:.*]] = arith.addi %[[M]], %c16
// CHECK: arith.minsi %[[END]], %c64
// CHECK: scf.for
// CHECK: linalg.pack
// CHECK: scf.for
// CHECK: tensor.extract_slice %{{.*}} : tensor<?x8x16xf32> to tensor<?x8x16xf32>
// CHECK: attn.block_step {{.*}} causal bounded
// CHECK-NOT: attn.block_step
// CHECK: attn.finish
func.func @causal(%x: tensor<1x1x64x8xf32>) -> tensor<1x1x64x8xf32> {
  %o = attn.sdpa %x, %x, %x causal = top_left schedule = <block_m = 16,
       block_n = 32, rows = 8, columns = 16, lanes = 8>
    : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x64x8xf32>
  return %o : tensor<1x1x64x8xf32>
}

// -----

// A window to the left: the loop starts at m - 40.
//
// CHECK-LABEL: func.func @window
// CHECK: scf.forall (%[[M:.*]]) =
// CHECK: %[[START:.*]] = arith.addi %[[M]], %c-40
// CHECK: arith.maxsi %[[START]], %c0
// CHECK: attn.block_step {{.*}} causal window = <left = 40> bounded
// CHECK-NOT: attn.block_step
// CHECK: attn.finish
func.func @window(%x: tensor<1x1x64x8xf32>) -> tensor<1x1x64x8xf32> {
  %o = attn.sdpa %x, %x, %x causal = top_left window = <left = 40>
       schedule = <block_m = 16, block_n = 32, rows = 8, columns = 16, lanes = 8>
    : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x64x8xf32>
  return %o : tensor<1x1x64x8xf32>
}

// -----

// The loops end at the length of the batch entry, clamped to [0, 64].
//
// CHECK-LABEL: func.func @lengths
// CHECK-SAME: %[[LENGTHS:[a-z0-9]+]]: tensor<2xindex>
// CHECK: scf.forall (%[[B:.*]], %{{.*}}) =
// CHECK: tensor.extract_slice %[[LENGTHS]][%[[B]]] [1]
// CHECK: %[[LENGTH:.*]] = tensor.extract %{{.*}} : tensor<{{.*}}xindex>
// CHECK: %[[POSITIVE:.*]] = arith.maxsi %[[LENGTH]], %c0
// CHECK: arith.minsi %[[POSITIVE]], %c64
// CHECK: attn.block_step {{.*}} bounded
// CHECK: attn.finish
func.func @lengths(%x: tensor<2x1x64x8xf32>, %n: tensor<2xindex>)
    -> tensor<2x1x64x8xf32> {
  %o = attn.sdpa %x, %x, %x kv_lengths(%n : tensor<2xindex>)
       schedule = <block_m = 16, block_n = 32, rows = 8, columns = 16, lanes = 8>
    : tensor<2x1x64x8xf32>, tensor<2x1x64x8xf32>, tensor<2x1x64x8xf32>
    -> tensor<2x1x64x8xf32>
  return %o : tensor<2x1x64x8xf32>
}

// -----

// Folded: a task has the 4 query heads that share a key head, one row of each.
//
// CHECK-LABEL: func.func @folded
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (2, 8) step (1, 4)
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: tensor.expand_shape {{.*}} : tensor<4x8xf32> into tensor<1x4x8xf32>
// CHECK: attn.block_step {{.*}} row %{{.*}} per %c1
// CHECK: attn.finish
func.func @folded(%q: tensor<2x8x1x8xf32>, %k: tensor<2x2x64x8xf32>)
    -> tensor<2x8x1x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 4, block_n = 32, rows = 4,
       columns = 16, lanes = 8, fold_heads = true>
    : tensor<2x8x1x8xf32>, tensor<2x2x64x8xf32>, tensor<2x2x64x8xf32>
    -> tensor<2x8x1x8xf32>
  return %o : tensor<2x8x1x8xf32>
}

// -----

// Tensors of layout bshd are read and written where they lie.
//
// CHECK-LABEL: func.func @bshd
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x32x3x8xf32>
// CHECK-NOT: linalg.transpose
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[M:.*]]) =
// CHECK: tensor.extract_slice %[[X]][%[[B]], %[[M]], %[[H]], 0] [1, 16, 1, 8]
// CHECK-NOT: linalg.transpose
// CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%[[B]], %[[M]], %[[H]], 0] [1, 16, 1, 8]
func.func @bshd(%x: tensor<2x32x3x8xf32>) -> tensor<2x32x3x8xf32> {
  %o = attn.sdpa %x, %x, %x layout = bshd schedule = <block_m = 16,
       block_n = 32, rows = 8, columns = 16, lanes = 8>
    : tensor<2x32x3x8xf32>, tensor<2x32x3x8xf32>, tensor<2x32x3x8xf32>
    -> tensor<2x32x3x8xf32>
  return %o : tensor<2x32x3x8xf32>
}

// -----

// Sizes that are not known are the loops' bounds; what a task holds has the size
// of a whole block all the same.
//
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x3x?x8xf32>
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[Q]], %c2
// CHECK: scf.forall {{.*}} to (%[[BATCH]], 3, %[[ROWS]]) step (1, 1, 16)
// CHECK-NOT: bufferization.alloc_tensor(%
// CHECK: return
func.func @dynamic(%q: tensor<?x3x?x8xf32>, %k: tensor<?x3x?x8xf32>)
    -> tensor<?x3x?x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>
    -> tensor<?x3x?x8xf32>
  return %o : tensor<?x3x?x8xf32>
}

// -----

// With streams keys and values stay where they are; the rows of the 4 heads of a
// group are one strip, and a state has one panel of channels.
//
// CHECK-LABEL: func.func @streamed
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<1x8x1x8xf32>, %[[K:[a-z0-9]+]]: tensor<1x2x?x8xf32>
// CHECK-NOT: linalg.pack
// CHECK: scf.for {{.*}} step %c64
// CHECK-NOT: linalg.pack
// CHECK: attn.block_step {{.*}} bounded schedule = {{.*}} streams = 4> : tensor<1x4x8xf32>, tensor<?x8xf32>, tensor<?x8xf32> -> tensor<1x4xf32>, tensor<1x4x16xf32>, tensor<1x1x4x8xf32>
// CHECK: attn.finish
// CHECK-NOT: linalg.unpack
// CHECK: return
func.func @streamed(%q: tensor<1x8x1x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x8x1x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 4, block_n = 64, rows = 4,
       columns = 16, lanes = 8, fold_heads = true, streams = 4>
    : tensor<1x8x1x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>
    -> tensor<1x8x1x8xf32>
  return %o : tensor<1x8x1x8xf32>
}

// -----

// Three rows in strips of two: what only fills the last strip is 0.
//
// CHECK-LABEL: func.func @streamed_rows
// CHECK: %[[ALL:.*]] = bufferization.alloc_tensor() : tensor<4x8xf32>
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[ALL]][3, 0] [1, 8]
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[REST]]
// CHECK: %[[FILLED:.*]] = tensor.insert_slice %[[ZEROS]] into %[[ALL]][3, 0] [1, 8]
// CHECK: %[[SOME:.*]] = tensor.extract_slice %[[FILLED]][0, 0] [3, 8]
// CHECK: linalg.generic {{.*}} outs(%[[SOME]]
// CHECK: tensor.insert_slice {{.*}} into %[[FILLED]]
// CHECK: tensor.expand_shape {{.*}} : tensor<4x8xf32> into tensor<2x2x8xf32>
// CHECK: attn.block_step
func.func @streamed_rows(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x64x8xf32>)
    -> tensor<1x2x3x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 4, block_n = 64, rows = 2,
       columns = 16, lanes = 8, fold_heads = true, streams = 4>
    : tensor<1x2x3x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>
    -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// -----

// Without a schedule nothing is done.
//
// CHECK-LABEL: func.func @unscheduled
// CHECK-NOT: scf.forall
// CHECK: attn.sdpa
func.func @unscheduled(%x: tensor<1x1x64x8xf32>) -> tensor<1x1x64x8xf32> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x64x8xf32>
  return %o : tensor<1x1x64x8xf32>
}

// -----

// One block holds all keys: they are packed once, one strip after the other is
// finished, and no state is read. The last strip has fewer rows. What is packed
// next is asked for where the schedule says so.
//
// CHECK-LABEL: func.func @one_block
// CHECK: scf.forall
// CHECK: %[[K:.*]] = linalg.pack {{.*}} inner_tiles = [16]
// CHECK: %[[V:.*]] = linalg.pack {{.*}} inner_tiles = [16, 16]
// CHECK: scf.for %[[I:.*]] = %c0 to %c20 step %c8
// CHECK: %[[ROWS:.*]] = affine.min #{{.*}}(%[[I]])
// CHECK: scf.while
// CHECK-NOT: linalg.fill
// CHECK: attn.block_step %{{.*}}, %[[K]], %[[V]] {{.*}} bounded first
// CHECK: attn.finish
// CHECK: linalg.unpack
// CHECK: } {attn.ahead = 32 : index}
func.func @one_block(%q: tensor<2x3x20x8xf32>, %k: tensor<2x3x30x8xf32>)
    -> tensor<2x3x20x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 24, block_n = 32, rows = 8,
       columns = 16, lanes = 8, prefetch = 2048>
    : tensor<2x3x20x8xf32>, tensor<2x3x30x8xf32>, tensor<2x3x30x8xf32>
    -> tensor<2x3x20x8xf32>
  return %o : tensor<2x3x20x8xf32>
}

// -----

// Values in place are not packed, nor is a query in whole strips: keys have its scale.
//
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x3x21x16xf32>, %[[X:[a-z0-9]+]]: tensor<2x3x30x16xf32>
// CHECK: scf.forall
// CHECK: %[[K:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: %[[PACKED:.*]] = linalg.pack %[[K]] {{.*}} inner_tiles = [16]
// CHECK-NOT: linalg.pack
// CHECK: scf.for %[[I:.*]] = %c0 to %c21 step %c7
// CHECK-NOT: linalg.generic
// CHECK: %[[ROWS:.*]] = tensor.expand_shape %{{.*}} : tensor<7x16xf32> into tensor<1x7x16xf32>
// CHECK: attn.block_step %[[ROWS]], %[[PACKED]], %{{.*}} {{.*}} : tensor<1x7x16xf32>, tensor<2x16x16xf32>, tensor<30x16xf32>
func.func @in_place(%q: tensor<2x3x21x16xf32>, %k: tensor<2x3x30x16xf32>)
    -> tensor<2x3x21x16xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 21, block_n = 32, rows = 7,
       columns = 16, lanes = 8, in_place = true>
    : tensor<2x3x21x16xf32>, tensor<2x3x30x16xf32>, tensor<2x3x30x16xf32>
    -> tensor<2x3x21x16xf32>
  return %o : tensor<2x3x21x16xf32>
}
