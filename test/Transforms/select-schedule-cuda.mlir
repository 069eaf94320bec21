// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-select-schedule | FileCheck %s
// RUN: attn-opt %s --attn-set-target=target=sm_86 --attn-select-schedule | FileCheck %s --check-prefix=SMALL

// A warp of 32 rows has registers for 64 keys of 64 channels.
//
// CHECK-LABEL: func.func @narrow
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 128, block_n = 64, rows = 32, columns = 8, lanes = 2, warps = 4, stages = 2>
func.func @narrow(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>,
    %v: tensor<1x8x?x64xf16>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>
    -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}

// Of 128 channels it has some for 32 keys; where shared memory has no room for two such blocks, eight warps have 16 rows
// each.
//
// CHECK-LABEL: func.func @wide
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 128, block_n = 32, rows = 32, columns = 8, lanes = 2, warps = 4, stages = 2>
// SMALL-LABEL: func.func @wide
// SMALL: attn.sdpa
// SMALL-SAME: schedule = <block_m = 128, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 8, stages = 2>
func.func @wide(%q: tensor<1x8x1024x128xbf16>, %k: tensor<1x8x1024x128xbf16>,
    %v: tensor<1x8x1024x128xbf16>) -> tensor<1x8x1024x128xbf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x128xbf16>, tensor<1x8x1024x128xbf16>,
      tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x128xbf16>
  return %o : tensor<1x8x1024x128xbf16>
}

// More channels take warps of 16 rows everywhere.
//
// CHECK-LABEL: func.func @wider
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 128, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 8, stages = 2>
func.func @wider(%q: tensor<1x8x1024x144xf16>, %k: tensor<1x8x1024x144xf16>) -> tensor<1x8x1024x144xf16> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x8x1024x144xf16>, tensor<1x8x1024x144xf16>, tensor<1x8x1024x144xf16> -> tensor<1x8x1024x144xf16>
  return %o : tensor<1x8x1024x144xf16>
}

// A single row: the heads of a group share a tile, and keys are split over blocks of one warp.
//
// CHECK-LABEL: func.func @single_row
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 16, block_n = 64, rows = 16, columns = 8, lanes = 2, chunk = 256, fold_heads = true, warps = 1, stages = 2>
func.func @single_row(%q: tensor<4x8x1x128xf16>, %k: tensor<4x2x4096x128xf16>,
    %v: tensor<4x2x4096x128xf16>) -> tensor<4x8x1x128xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<4x8x1x128xf16>, tensor<4x2x4096x128xf16>,
      tensor<4x2x4096x128xf16> -> tensor<4x8x1x128xf16>
  return %o : tensor<4x8x1x128xf16>
}

// Rows that are not known may be few or many.
//
// CHECK-LABEL: func.func @rows_unknown
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c16
// CHECK: scf.if %[[FEW]]
// CHECK: attn.sdpa
// CHECK-SAME: warps = 1
// CHECK: else
// CHECK: attn.sdpa
// CHECK-SAME: warps = 4
func.func @rows_unknown(%q: tensor<1x8x?x64xf16>, %k: tensor<1x8x?x64xf16>,
    %v: tensor<1x8x?x64xf16>) -> tensor<1x8x?x64xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>
    -> tensor<1x8x?x64xf16>
  return %o : tensor<1x8x?x64xf16>
}

// Products of f32 have no matrix instruction that is as exact. A thread reads four columns at once.
//
// CHECK-LABEL: func.func @single_precision
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 128, block_n = 32, rows = 32, columns = 16, lanes = 4, warps = 4, stages = 2>
func.func @single_precision(%q: tensor<1x8x1024x64xf32>,
    %k: tensor<1x8x1024x64xf32>, %v: tensor<1x8x1024x64xf32>)
    -> tensor<1x8x1024x64xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>,
      tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
  return %o : tensor<1x8x1024x64xf32>
}

// With products of tf32 it is block by block as for 16 bits: two blocks share a multiprocessor, or there are as many keys as
// registers. Three products for each take more of these.
//
// CHECK-LABEL: func.func @tf32
// CHECK: schedule = <block_m = 128, block_n = 32, rows = 32, columns = 16, lanes = 4, warps = 4, stages = 2, precision = tf32>
// CHECK: schedule = <block_m = 128, block_n = 32, rows = 32, columns = 16, lanes = 4, warps = 4, stages = 2, precision = tf32>
// CHECK: schedule = <block_m = 128, block_n = 16, rows = 32, columns = 16, lanes = 4, warps = 4, stages = 2, precision = tf32x3>
// SMALL-LABEL: func.func @tf32
// SMALL: schedule = <block_m = 128, block_n = 64, rows = 32, columns = 16, lanes = 4, warps = 4, stages = 2, precision = tf32>
func.func @tf32(%q: tensor<1x8x1024x64xf32>, %w: tensor<1x8x1024x128xf32>)
    -> (tensor<1x8x1024x64xf32>, tensor<1x8x1024x128xf32>, tensor<1x8x1024x128xf32>) {
  %o = attn.sdpa %q, %q, %q precision = tf32
    : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
  %p = attn.sdpa %w, %w, %w precision = tf32
    : tensor<1x8x1024x128xf32>, tensor<1x8x1024x128xf32>, tensor<1x8x1024x128xf32> -> tensor<1x8x1024x128xf32>
  %r = attn.sdpa %w, %w, %w precision = tf32x3
    : tensor<1x8x1024x128xf32>, tensor<1x8x1024x128xf32>, tensor<1x8x1024x128xf32> -> tensor<1x8x1024x128xf32>
  return %o, %p, %r : tensor<1x8x1024x64xf32>, tensor<1x8x1024x128xf32>, tensor<1x8x1024x128xf32>
}

// What blocks of threads do not do yet is left to its definition.
//
// CHECK-LABEL: func.func @double_precision
// CHECK: attn.sdpa
// CHECK-NOT: schedule
func.func @double_precision(%q: tensor<1x8x64x64xf64>,
    %k: tensor<1x8x64x64xf64>, %v: tensor<1x8x64x64xf64>)
    -> tensor<1x8x64x64xf64> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x64x64xf64>, tensor<1x8x64x64xf64>, tensor<1x8x64x64xf64>
    -> tensor<1x8x64x64xf64>
  return %o : tensor<1x8x64x64xf64>
}

// A schedule without warps is one of a processor.
//
// CHECK-LABEL: func.func @given
// CHECK: attn.sdpa
// CHECK-SAME: block_m = 128, block_n = 64, {{.*}} warps = 4
func.func @given(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>,
    %v: tensor<1x8x?x64xf16>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v schedule = <block_m = 4, block_n = 32, rows = 4, columns = 32, lanes = 16>
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16>
    -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}

// So is one for sequences of few rows.
//
// CHECK-LABEL: func.func @given_for_few
// CHECK-NOT: schedule
// CHECK: return
func.func @given_for_few(%q: tensor<1x?x8x64xf32>, %k: tensor<1x?x2x64xf32>, %e: tensor<?xi32>) -> tensor<1x?x8x64xf32> {
  %o = attn.sdpa %q, %k, %k cu_seqlens_q(%e : tensor<?xi32>) cu_seqlens_k(%e : tensor<?xi32>) layout = bshd
    schedule = <block_m = 256, block_n = 256, rows = 4, columns = 16, lanes = 8>
    {attn.few_schedule = #attn.schedule<block_m = 64, block_n = 2048, rows = 4, columns = 16, lanes = 8,
                                        fold_heads = true, streams = 4>}
    : tensor<1x?x8x64xf32>, tensor<1x?x2x64xf32>, tensor<1x?x2x64xf32> -> tensor<1x?x8x64xf32>
  return %o : tensor<1x?x8x64xf32>
}

// Few rows of all heads of a group share a tile, so that keys are read once, where they are split; not with a mask.
//
// CHECK-LABEL: func.func @several_rows
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 48, block_n = 64, rows = 16, columns = 8, lanes = 2, chunk = 256, fold_heads = true, warps = 3, stages = 2>
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 16, block_n = 64, rows = 16, columns = 8, lanes = 2, chunk = 256, warps = 1, stages = 2>
func.func @several_rows(%q: tensor<1x8x12x64xf16>, %k: tensor<1x2x4096x64xf16>,
    %v: tensor<1x2x4096x64xf16>, %m: tensor<12x4096xi1>) -> (tensor<1x8x12x64xf16>, tensor<1x8x12x64xf16>) {
  %0 = attn.sdpa %q, %k, %v
    : tensor<1x8x12x64xf16>, tensor<1x2x4096x64xf16>, tensor<1x2x4096x64xf16> -> tensor<1x8x12x64xf16>
  %1 = attn.sdpa %q, %k, %v mask(%m : tensor<12x4096xi1>)
    : tensor<1x8x12x64xf16>, tensor<1x2x4096x64xf16>, tensor<1x2x4096x64xf16> -> tensor<1x8x12x64xf16>
  return %0, %1 : tensor<1x8x12x64xf16>, tensor<1x8x12x64xf16>
}

// Of rows that are not known, as many are few as share a tile.
//
// CHECK-LABEL: func.func @folded_rows_unknown
// CHECK: %[[MOST:.*]] = arith.constant 8 : index
// CHECK: arith.cmpi sle, %{{.*}}, %[[MOST]]
// CHECK: schedule = <block_m = 128, {{.*}} chunk = 256, fold_heads = true, warps = 8, stages = 2>
func.func @folded_rows_unknown(%q: tensor<1x16x?x64xf16>, %k: tensor<1x1x4096x64xf16>,
    %v: tensor<1x1x4096x64xf16>) -> tensor<1x16x?x64xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x16x?x64xf16>, tensor<1x1x4096x64xf16>, tensor<1x1x4096x64xf16> -> tensor<1x16x?x64xf16>
  return %o : tensor<1x16x?x64xf16>
}

// Keys in pages: a block of keys is one or several whole pages, or a part of one; pages of which no copy takes whole rows
// have no schedule.
//
// CHECK-LABEL: func.func @pages
// CHECK: attn.sdpa {{.*}} schedule = <block_m = 64, block_n = 64, {{.*}} tensor<9x2x16x64xf16>
// CHECK: attn.sdpa {{.*}} schedule = <block_m = 64, block_n = 32, {{.*}} tensor<9x2x96x64xf16>
// CHECK-NOT: schedule
// CHECK: return
func.func @pages(%q: tensor<1x4x64x64xf16>, %s: tensor<9x2x16x64xf16>, %m: tensor<9x2x96x64xf16>, %o: tensor<9x2x12x64xf16>,
                 %t: tensor<1x4xi32>) -> (tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>) {
  %0 = attn.sdpa %q, %s, %s page_table(%t : tensor<1x4xi32>)
    : tensor<1x4x64x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> -> tensor<1x4x64x64xf16>
  %1 = attn.sdpa %q, %m, %m page_table(%t : tensor<1x4xi32>)
    : tensor<1x4x64x64xf16>, tensor<9x2x96x64xf16>, tensor<9x2x96x64xf16> -> tensor<1x4x64x64xf16>
  %2 = attn.sdpa %q, %o, %o page_table(%t : tensor<1x4xi32>)
    : tensor<1x4x64x64xf16>, tensor<9x2x12x64xf16>, tensor<9x2x12x64xf16> -> tensor<1x4x64x64xf16>
  return %0, %1, %2 : tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>, tensor<1x4x64x64xf16>
}

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>

// A projection of many rows has blocks of 128 outputs where these are still enough for a GPU, else of 64; one of few rows
// has blocks of one warp, and more stages.
//
// CHECK-LABEL: func.func @projections
// CHECK: linalg.generic
// CHECK-SAME: attn.schedule = #attn.schedule<block_m = 128, block_n = 128, rows = 32, columns = 8, lanes = 2, warps = 4, stages = 2>
// CHECK: linalg.generic
// CHECK-SAME: attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 4>
func.func @projections(%many: tensor<1x2048x512xf16>, %few: tensor<16x1x512xf16>, %w: tensor<1024x512xf16>,
    %a: tensor<1x2048x1024xf32>, %b: tensor<16x1x1024xf32>) -> (tensor<1x2048x1024xf32>, tensor<16x1x1024xf32>) {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%many, %w : tensor<1x2048x512xf16>, tensor<1024x512xf16>) outs(%a : tensor<1x2048x1024xf32>) {
  ^bb0(%token: f16, %weight: f16, %sum: f32):
    %t = arith.extf %token : f16 to f32
    %v = arith.extf %weight : f16 to f32
    %product = arith.mulf %t, %v : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x2048x1024xf32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%few, %w : tensor<16x1x512xf16>, tensor<1024x512xf16>) outs(%b : tensor<16x1x1024xf32>) {
  ^bb0(%token: f16, %weight: f16, %sum: f32):
    %t = arith.extf %token : f16 to f32
    %v = arith.extf %weight : f16 to f32
    %product = arith.mulf %t, %v : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<16x1x1024xf32>
  return %0, %1 : tensor<1x2048x1024xf32>, tensor<16x1x1024xf32>
}

// How often a loop runs must be known before kernels are launched: blocks of threads do
// not work where a number in memory says it.
//
// CHECK-LABEL: func.func @counted_by_data
// CHECK-NOT: schedule
// CHECK: return
func.func @counted_by_data(%q: tensor<1x8x64x64xf16>, %n: index) -> tensor<1x8x64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %q) -> tensor<1x8x64x64xf16> {
    %o = attn.sdpa %a, %q, %q : tensor<1x8x64x64xf16>, tensor<1x8x64x64xf16>, tensor<1x8x64x64xf16> -> tensor<1x8x64x64xf16>
    scf.yield %o : tensor<1x8x64x64xf16>
  }
  return %r : tensor<1x8x64x64xf16>
}

// Extents are known, and numbers that steps make of them.
//
// CHECK-LABEL: func.func @counted_by_extents
// CHECK: attn.sdpa
// CHECK-SAME: warps = 4
func.func @counted_by_extents(%q: tensor<1x8x64x64xf16>, %k: tensor<1x8x?x64xf16>) -> tensor<1x8x64x64xf16> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %k, %c2 : tensor<1x8x?x64xf16>
  %r:2 = scf.for %i = %c1 to %n step %c2 iter_args(%a = %q, %m = %c1) -> (tensor<1x8x64x64xf16>, index) {
    %next = arith.addi %m, %i : index
    %few = arith.cmpi slt, %next, %n : index
    %b = scf.if %few -> tensor<1x8x64x64xf16> {
      %o = attn.sdpa %a, %k, %k : tensor<1x8x64x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x64x64xf16>
      scf.yield %o : tensor<1x8x64x64xf16>
    } else {
      scf.yield %a : tensor<1x8x64x64xf16>
    }
    scf.yield %b, %next : tensor<1x8x64x64xf16>, index
  }
  return %r#0 : tensor<1x8x64x64xf16>
}
