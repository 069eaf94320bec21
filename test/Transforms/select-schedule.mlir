// RUN: attn-opt %s --attn-select-schedule --split-input-file | FileCheck %s

// AVX-512: vectors of 16 floats, and 8 rows as its 32 registers allow. All keys are
// one block where the caches hold their panels and a strip's scores.
//
// CHECK-LABEL: func.func @wide
// CHECK: schedule = <block_m = 256, block_n = 1024, rows = 8, columns = 32, lanes = 16>
module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "", vector_bits = 512,
    vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {
func.func @wide(%x: tensor<1x2x1024x64xf32>) -> tensor<1x2x1024x64xf32> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>
    -> tensor<1x2x1024x64xf32>
  return %o : tensor<1x2x1024x64xf32>
}

// Tasks of twice the rows where heads are enough for 16 of them, and a row is not
// too long for the cache.
//
// CHECK-LABEL: func.func @many_heads
// CHECK: schedule = <block_m = 512, block_n = 1024,
// CHECK: schedule = <block_m = 256, block_n = 256,
func.func @many_heads(%x: tensor<1x8x1024x64xf32>, %y: tensor<1x8x1024x512xf32>)
    -> (tensor<1x8x1024x64xf32>, tensor<1x8x1024x512xf32>) {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
    -> tensor<1x8x1024x64xf32>
  %p = attn.sdpa %y, %y, %y
    : tensor<1x8x1024x512xf32>, tensor<1x8x1024x512xf32>,
      tensor<1x8x1024x512xf32> -> tensor<1x8x1024x512xf32>
  return %o, %p : tensor<1x8x1024x64xf32>, tensor<1x8x1024x512xf32>
}

// Blocks of keys that are not known are as long as a quarter of the cache allows.
//
// CHECK-LABEL: func.func @unknown_keys
// CHECK: schedule = <block_m = 64, block_n = 512,
// CHECK: schedule = <block_m = 64, block_n = 256,
func.func @unknown_keys(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x?x64xf32>,
                        %y: tensor<1x2x64x256xf32>, %z: tensor<1x2x?x256xf32>)
    -> (tensor<1x2x64x64xf32>, tensor<1x2x64x256xf32>) {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x2x64x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32>
    -> tensor<1x2x64x64xf32>
  %p = attn.sdpa %y, %z, %z
    : tensor<1x2x64x256xf32>, tensor<1x2x?x256xf32>, tensor<1x2x?x256xf32>
    -> tensor<1x2x64x256xf32>
  return %o, %p : tensor<1x2x64x64xf32>, tensor<1x2x64x256xf32>
}

// A mask may take whole blocks: they stay small.
//
// CHECK-LABEL: func.func @masked
// CHECK: schedule = <block_m = 256, block_n = 256,
func.func @masked(%x: tensor<1x2x1024x64xf32>, %m: tensor<1024x1024xi1>)
    -> tensor<1x2x1024x64xf32> {
  %o = attn.sdpa %x, %x, %x mask(%m : tensor<1024x1024xi1>)
    : tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>
    -> tensor<1x2x1024x64xf32>
  return %o : tensor<1x2x1024x64xf32>
}

// Of 77 rows strips of 7 have none too many. Values that stay in L1 are not packed,
// unless they are converted.
//
// CHECK-LABEL: func.func @few_keys
// CHECK: schedule = <block_m = 77, block_n = 96, rows = 7, columns = 32, lanes = 16, in_place = true>
// CHECK: schedule = <block_m = 200, block_n = 224, rows = 8, columns = 32, lanes = 16>
// CHECK: schedule = <block_m = 77, block_n = 96, rows = 7, columns = 32, lanes = 16>
func.func @few_keys(%x: tensor<1x2x77x64xf32>, %y: tensor<1x2x197x64xf32>,
                    %z: tensor<1x2x77x64xf16>)
    -> (tensor<1x2x77x64xf32>, tensor<1x2x197x64xf32>, tensor<1x2x77x64xf16>) {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x2x77x64xf32>, tensor<1x2x77x64xf32>, tensor<1x2x77x64xf32>
    -> tensor<1x2x77x64xf32>
  %p = attn.sdpa %y, %y, %y
    : tensor<1x2x197x64xf32>, tensor<1x2x197x64xf32>, tensor<1x2x197x64xf32>
    -> tensor<1x2x197x64xf32>
  %r = attn.sdpa %z, %z, %z
    : tensor<1x2x77x64xf16>, tensor<1x2x77x64xf16>, tensor<1x2x77x64xf16>
    -> tensor<1x2x77x64xf16>
  return %o, %p, %r : tensor<1x2x77x64xf32>, tensor<1x2x197x64xf32>, tensor<1x2x77x64xf16>
}

// Half the lanes for f64.
//
// CHECK-LABEL: func.func @wide_double
// CHECK: rows = 8, columns = 16, lanes = 8>
func.func @wide_double(%x: tensor<1x2x1024x64xf64>) -> tensor<1x2x1024x64xf64> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x2x1024x64xf64>, tensor<1x2x1024x64xf64>, tensor<1x2x1024x64xf64>
    -> tensor<1x2x1024x64xf64>
  return %o : tensor<1x2x1024x64xf64>
}

// Half floats are computed in f32, and get its lanes.
//
// CHECK-LABEL: func.func @wide_half
// CHECK: rows = 8, columns = 32, lanes = 16>
func.func @wide_half(%x: tensor<1x2x1024x64xf16>) -> tensor<1x2x1024x64xf16> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16>
    -> tensor<1x2x1024x64xf16>
  return %o : tensor<1x2x1024x64xf16>
}
}

// -----

// Where the processor gains from it, memory is asked for before few rows read it,
// and before it is packed for many.
//
// CHECK-LABEL: func.func @ahead
// CHECK: streams = 4, prefetch = 2048>
// CHECK: schedule = <block_m = 64,
// CHECK-SAME: prefetch = 2048
// CHECK: return
module attributes {attn.target = {prefetch_bytes = 2048, vector_bits = 512,
    vector_registers = 32}} {
func.func @ahead(%q: tensor<1x2x1x64xf32>, %x: tensor<1x2x64x64xf32>)
    -> (tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>) {
  %0 = attn.sdpa %q, %x, %x
    : tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>
    -> tensor<1x2x1x64xf32>
  %1 = attn.sdpa %x, %x, %x
    : tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>
    -> tensor<1x2x64x64xf32>
  return %0, %1 : tensor<1x2x1x64xf32>, tensor<1x2x64x64xf32>
}
}

// -----

// AVX2, the default: vectors of 8 floats, and 4 rows as its 16 registers allow.
//
// CHECK-LABEL: func.func @narrow
// CHECK: rows = 4, columns = 16, lanes = 8>
func.func @narrow(%x: tensor<1x2x1024x64xf32>) -> tensor<1x2x1024x64xf32> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>
    -> tensor<1x2x1024x64xf32>
  return %o : tensor<1x2x1024x64xf32>
}

// The batch, the heads and their groups leave the schedule as it is: an entry
// gives the same bits alone and among others.
//
// CHECK-LABEL: func.func @batches_and_heads
// CHECK: schedule = [[SCHEDULE:<.*>]] : tensor<1x1x100x64xf32>
// CHECK: schedule = [[SCHEDULE]] : tensor<17x8x100x64xf32>
// CHECK: schedule = [[SCHEDULE]] : tensor<?x8x100x64xf32>
func.func @batches_and_heads(%x: tensor<1x1x100x64xf32>,
    %y: tensor<17x8x100x64xf32>, %z: tensor<?x8x100x64xf32>,
    %k: tensor<?x2x100x64xf32>) -> (tensor<1x1x100x64xf32>,
    tensor<17x8x100x64xf32>, tensor<?x8x100x64xf32>) {
  %0 = attn.sdpa %x, %x, %x
    : tensor<1x1x100x64xf32>, tensor<1x1x100x64xf32>, tensor<1x1x100x64xf32>
    -> tensor<1x1x100x64xf32>
  %1 = attn.sdpa %y, %y, %y
    : tensor<17x8x100x64xf32>, tensor<17x8x100x64xf32>, tensor<17x8x100x64xf32>
    -> tensor<17x8x100x64xf32>
  %2 = attn.sdpa %z, %k, %k
    : tensor<?x8x100x64xf32>, tensor<?x2x100x64xf32>, tensor<?x2x100x64xf32>
    -> tensor<?x8x100x64xf32>
  return %0, %1, %2 : tensor<1x1x100x64xf32>, tensor<17x8x100x64xf32>,
    tensor<?x8x100x64xf32>
}

// Blocks are cut evenly: 257 rows and keys are one block of 260 and of 272, not
// 256 and one more.
//
// CHECK-LABEL: func.func @one_more
// CHECK: schedule = <block_m = 260, block_n = 272,
func.func @one_more(%x: tensor<1x1x257x64xf32>) -> tensor<1x1x257x64xf32> {
  %o = attn.sdpa %x, %x, %x
    : tensor<1x1x257x64xf32>, tensor<1x1x257x64xf32>, tensor<1x1x257x64xf32>
    -> tensor<1x1x257x64xf32>
  return %o : tensor<1x1x257x64xf32>
}

// Blocks do not exceed what there is by more than a register tile.
//
// CHECK-LABEL: func.func @short
// CHECK: schedule = <block_m = 20, block_n = 48,
func.func @short(%q: tensor<1x1x20x64xf32>, %k: tensor<1x1x48x64xf32>)
    -> tensor<1x1x20x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x1x20x64xf32>, tensor<1x1x48x64xf32>, tensor<1x1x48x64xf32>
    -> tensor<1x1x20x64xf32>
  return %o : tensor<1x1x20x64xf32>
}

// What somebody has chosen stays.
//
// CHECK-LABEL: func.func @chosen
// CHECK: schedule = <block_m = 8, block_n = 16, rows = 4, columns = 8, lanes = 4>
func.func @chosen(%x: tensor<1x1x257x64xf32>) -> tensor<1x1x257x64xf32> {
  %o = attn.sdpa %x, %x, %x schedule = <block_m = 8, block_n = 16, rows = 4,
       columns = 8, lanes = 4>
    : tensor<1x1x257x64xf32>, tensor<1x1x257x64xf32>, tensor<1x1x257x64xf32>
    -> tensor<1x1x257x64xf32>
  return %o : tensor<1x1x257x64xf32>
}
