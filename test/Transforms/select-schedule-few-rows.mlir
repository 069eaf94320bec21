// RUN: attn-opt %s --attn-select-schedule | FileCheck %s

// Few rows: the 4 query heads of a group are the rows of one task, keys are read
// where they are as 4 streams of 512 rows of 256 bytes, and long ones are split in
// chunks of whole blocks.
//
// CHECK-LABEL: func.func @decode
// CHECK: schedule = <block_m = 4, block_n = 2048, rows = 4, columns = 16, lanes = 8, chunk = 4096, fold_heads = true, streams = 4>
func.func @decode(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x8192x64xf32>)
    -> tensor<1x8x1x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x8x1x64xf32>, tensor<1x2x8192x64xf32>, tensor<1x2x8192x64xf32>
    -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}

// There are at most 16 chunks, whose states take memory.
//
// CHECK-LABEL: func.func @decode_long
// CHECK: block_n = 2048, {{.*}} chunk = 16384, fold_heads = true, streams = 4>
func.func @decode_long(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x262144x64xf32>)
    -> tensor<1x8x1x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x8x1x64xf32>, tensor<1x2x262144x64xf32>,
      tensor<1x2x262144x64xf32> -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}

// A chunk would hold all of 1024 keys: they are not split.
//
// CHECK-LABEL: func.func @decode_short
// CHECK: schedule = <block_m = 4, block_n = 1024,
// CHECK-NOT: chunk
// CHECK-SAME: fold_heads = true, streams = 4>
func.func @decode_short(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x1024x64xf32>)
    -> tensor<1x8x1x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x8x1x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>
    -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}

// 16 rows of 4 heads are few, 17 of 4 are not. So many few rows have their keys packed.
//
// CHECK-LABEL: func.func @limit
// CHECK: block_m = 64, {{.*}} lanes = 8, fold_heads = true>
// CHECK: block_m = 20,
// CHECK-NOT: fold_heads
// CHECK-NOT: streams
// CHECK: return
func.func @limit(%q: tensor<1x8x16x64xf32>, %r: tensor<1x8x17x64xf32>,
    %k: tensor<1x2x64x64xf32>)
    -> (tensor<1x8x16x64xf32>, tensor<1x8x17x64xf32>) {
  %0 = attn.sdpa %q, %k, %k
    : tensor<1x8x16x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>
    -> tensor<1x8x16x64xf32>
  %1 = attn.sdpa %r, %k, %k
    : tensor<1x8x17x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>
    -> tensor<1x8x17x64xf32>
  return %0, %1 : tensor<1x8x16x64xf32>, tensor<1x8x17x64xf32>
}

// Where heads share no keys, 32 rows are few, 33 are not.
//
// CHECK-LABEL: func.func @limit_alone
// CHECK: block_m = 32, {{.*}} lanes = 8, fold_heads = true>
// CHECK: block_m = 36,
// CHECK-NOT: fold_heads
// CHECK-NOT: streams
// CHECK: return
func.func @limit_alone(%q: tensor<1x2x32x64xf32>, %r: tensor<1x2x33x64xf32>)
    -> (tensor<1x2x32x64xf32>, tensor<1x2x33x64xf32>) {
  %0 = attn.sdpa %q, %q, %q
    : tensor<1x2x32x64xf32>, tensor<1x2x32x64xf32>, tensor<1x2x32x64xf32>
    -> tensor<1x2x32x64xf32>
  %1 = attn.sdpa %r, %r, %r
    : tensor<1x2x33x64xf32>, tensor<1x2x33x64xf32>, tensor<1x2x33x64xf32>
    -> tensor<1x2x33x64xf32>
  return %0, %1 : tensor<1x2x32x64xf32>, tensor<1x2x33x64xf32>
}

// One row alone leaves most registers to its channels: eight vectors of them.
//
// CHECK-LABEL: func.func @single_row
// CHECK: block_m = 1, {{.*}} rows = 1, columns = 64, lanes = 8,
func.func @single_row(%q: tensor<1x2x1x64xf32>, %k: tensor<1x2x64x64xf32>)
    -> tensor<1x2x1x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>
    -> tensor<1x2x1x64xf32>
  return %o : tensor<1x2x1x64xf32>
}

// A number of rows that is not known chooses at run time: up to 64 / 4 rows a
// head are few.
//
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[QUERY:[a-z0-9]+]]: tensor<1x8x?x64xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[QUERY]], %c2
// CHECK: %[[LIMIT:.*]] = arith.constant 16 : index
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[ROWS]], %[[LIMIT]]
// CHECK: scf.if %[[FEW]]
// CHECK: attn.sdpa {{.*}} fold_heads = true, streams = 4>
// CHECK: else
// CHECK: attn.sdpa {{.*}} schedule = <block_m = 512,
// CHECK-NOT: fold_heads
// CHECK: return
func.func @dynamic(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>)
    -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
    -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// Heads that are not known cannot be folded.
//
// CHECK-LABEL: func.func @dynamic_heads
// CHECK-NOT: scf.if
// CHECK: schedule = <block_m = 256,
// CHECK-NOT: fold_heads
// CHECK: return
func.func @dynamic_heads(%x: tensor<1x?x?x64xf32>) -> tensor<1x?x?x64xf32> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x?x?x64xf32>, tensor<1x?x?x64xf32>, tensor<1x?x?x64xf32>
    -> tensor<1x?x?x64xf32>
  return %o : tensor<1x?x?x64xf32>
}

// The states of chunks need memory before any loop runs: as much as for all keys of
// what the loop slices, here those of the cache.
//
// CHECK-LABEL: func.func @slices
// CHECK: attn.sdpa {{.*}} chunk =
func.func @slices(%q: tensor<1x2x1x64xf32>, %cache: tensor<1x2x?x64xf32>, %n: index)
    -> tensor<1x2x1x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q) -> (tensor<1x2x1x64xf32>) {
    %k = tensor.extract_slice %cache[0, 0, 0, 0] [1, 2, %i, 64] [1, 1, 1, 1]
      : tensor<1x2x?x64xf32> to tensor<1x2x?x64xf32>
    %o = attn.sdpa %x, %k, %k
      : tensor<1x2x1x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
      -> tensor<1x2x1x64xf32>
    scf.yield %o : tensor<1x2x1x64xf32>
  }
  return %r : tensor<1x2x1x64xf32>
}

// Keys that a loop makes may be any number: they stay in one piece.
//
// CHECK-LABEL: func.func @made_in_a_loop
// CHECK: attn.sdpa
// CHECK-NOT: chunk =
// CHECK: return
func.func @made_in_a_loop(%q: tensor<1x2x1x64xf32>, %n: index) -> tensor<1x2x1x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q) -> (tensor<1x2x1x64xf32>) {
    %e = tensor.empty(%i) : tensor<1x2x?x64xf32>
    %k = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x?x64xf32>) -> tensor<1x2x?x64xf32>
    %o = attn.sdpa %x, %k, %k
      : tensor<1x2x1x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
      -> tensor<1x2x1x64xf32>
    scf.yield %o : tensor<1x2x1x64xf32>
  }
  return %r : tensor<1x2x1x64xf32>
}

// Of packed sequences each has its own number of rows: there is a schedule for those of few rows, too.
//
// CHECK-LABEL: func.func @packed
// CHECK: attn.sdpa {{.*}} schedule = <block_m = 512, {{.*}} {attn.few_schedule = #attn.schedule<block_m = 64, {{.*}} fold_heads = true, streams = 4>}
func.func @packed(%q: tensor<1x?x8x64xf32>, %k: tensor<1x?x2x64xf32>, %e: tensor<?xi32>) -> tensor<1x?x8x64xf32> {
  %o = attn.sdpa %q, %k, %k cu_seqlens_q(%e : tensor<?xi32>) cu_seqlens_k(%e : tensor<?xi32>) layout = bshd
    : tensor<1x?x8x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32> -> tensor<1x?x8x64xf32>
  return %o : tensor<1x?x8x64xf32>
}
