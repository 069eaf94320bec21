// RUN: attn-opt %s --split-input-file --verify-diagnostics

// schedule-C10
func.func @lanes_of_no_instruction(%q: tensor<1x4x8x16xf16>,
    %k: tensor<1x2x10x16xf16>) {
  // expected-error @below {{expects 'lanes' of a thread to be 2 or 4 and 'columns' to be those of 4 threads, got 8 and 32}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 64, rows = 16, columns = 32, lanes = 8, warps = 4>
    : tensor<1x4x8x16xf16>, tensor<1x2x10x16xf16>, tensor<1x2x10x16xf16>
    -> tensor<1x4x8x16xf16>
  return
}

// -----

// schedule-C11
func.func @precision_of_short_lanes(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{expects 'warps' and 4 'lanes' with a 'precision' of tf32x3, got 4 and 2}}
  attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, precision = tf32x3>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32>
    -> tensor<1x4x8x16xf32>
  return
}

// -----

// sdpa-C31
func.func @precision_of_f16(%q: tensor<1x4x8x16xf16>,
    %k: tensor<1x2x10x16xf16>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' of f32 with a 'precision' of tf32, got 'f16'}}
  attn.sdpa %q, %k, %k precision = tf32
    : tensor<1x4x8x16xf16>, tensor<1x2x10x16xf16>, tensor<1x2x10x16xf16>
    -> tensor<1x4x8x16xf16>
  return
}

// -----

// sdpa-C31
func.func @precision_of_schedule(%q: tensor<1x4x8x16xf64>,
    %k: tensor<1x2x10x16xf64>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' of f32 with a 'precision' of tf32x3, got 'f64'}}
  attn.sdpa %q, %k, %k precision = exact schedule = <block_m = 64, block_n = 64, rows = 16, columns = 16, lanes = 4, warps = 4, precision = tf32x3>
    : tensor<1x4x8x16xf64>, tensor<1x2x10x16xf64>, tensor<1x2x10x16xf64>
    -> tensor<1x4x8x16xf64>
  return
}

// -----

// mha-C24
func.func @precision_of_layer(%x: tensor<1x8x16xbf16>, %w: tensor<16x16xbf16>) {
  // expected-error @below {{'attn.mha' op expects 'x' of f32 with a 'precision' of tf32, got 'bf16'}}
  attn.mha %x query(%w : tensor<16x16xbf16>) key(%w : tensor<16x16xbf16>)
    value(%w : tensor<16x16xbf16>) output(%w : tensor<16x16xbf16>) heads = 2 precision = tf32
    : tensor<1x8x16xbf16> -> tensor<1x8x16xbf16>
  return
}
