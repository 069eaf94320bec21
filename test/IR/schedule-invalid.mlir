// RUN: attn-opt %s --split-input-file --verify-diagnostics

// schedule-C1
func.func @no_keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'block_n' to be positive, got -64}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = -64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_many_rows(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'block_m' to be at most 16777216, got 9223372036854775800}}
  attn.sdpa %q, %k, %k schedule = <block_m = 9223372036854775800, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_many_keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'block_n' to be at most 16777216, got 9223372036854775776}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 9223372036854775776, rows = 8, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_long_a_tile(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'rows' to be at most 1024, got 2048}}
  attn.sdpa %q, %k, %k schedule = <block_m = 2048, block_n = 64, rows = 2048, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_large_a_tile(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'rows' times 'columns' to be at most 16384, got 1024 and 32}}
  attn.sdpa %q, %k, %k schedule = <block_m = 1024, block_n = 64, rows = 1024, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_many_streams(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'streams' to be at most 1024, got 1099511627776}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, streams = 1099511627776>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_many_warps(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'warps' to be at most 32, got 33}}
  attn.sdpa %q, %k, %k schedule = <block_m = 528, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 33>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C13
func.func @too_many_stages(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'stages' to be at most 16, got 1000}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 1000>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C14
func.func @three_vectors(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'columns' to be a power of two without 'streams', got 48}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 96, rows = 8, columns = 48, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// schedule-C15
func.func @too_many_sums(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'rows' times 'block_n' of a warp to be at most 8160, got 16 and 1024}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 1024, rows = 16, columns = 8, lanes = 2, warps = 4>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}
