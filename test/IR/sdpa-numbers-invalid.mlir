// RUN: attn-opt %s --split-input-file --verify-diagnostics

// sdpa-C14
func.func @infinite_scale(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'scale' to be a finite number, got an infinity}}
  attn.sdpa %q, %k, %v scale = 0x7FF0000000000000
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C14
func.func @scale_is_nan(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'scale' to be a finite number, got NaN}}
  attn.sdpa %q, %k, %v scale = 0x7FF8000000000000
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C15
func.func @infinite_softcap(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'softcap' to be a finite number, got an infinity}}
  attn.sdpa %q, %k, %v softcap = 0x7FF0000000000000
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C15
func.func @softcap_of_zero(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'softcap' to be above 0, got 0.000000e+00}}
  attn.sdpa %q, %k, %v softcap = 0.0
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C15
func.func @negative_softcap(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'softcap' to be above 0, got -2.000000e+01}}
  attn.sdpa %q, %k, %v softcap = -20.0
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// The layout of lse is always batch, heads, rows.
//
// sdpa-C16
func.func @lse_in_layout(%q: tensor<1x8x4x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 2 of 'query' and dimension 1 of 'lse' to agree, got 4 and 8}}
  attn.sdpa %q, %k, %v layout = <query = bshd, output = bshd>
    : tensor<1x8x4x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x8x4x32xf32>, tensor<1x8x4xf32>
  return
}

// -----

// sdpa-C16
func.func @lse_rank(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'lse' of rank 3, got 'tensor<4x8xf32>'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>, tensor<4x8xf32>
  return
}

// -----

// sdpa-C17
func.func @f64_lse(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'lse' of 'f32' under 'query' of 'f32', got 'f64'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>, tensor<1x4x8xf64>
  return
}
