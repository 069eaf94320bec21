// RUN: attn-opt %s --split-input-file --verify-diagnostics

// sdpa-C18
func.func @keys(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>, %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 2 of 'key' and dimension 3 of 'weights' to agree, got 10 and 11}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32> weights(tensor<1x4x8x11xf32>)
  return
}

// -----

// sdpa-C18
func.func @rank(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>, %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'weights' of rank 4, got 'tensor<4x8x10xf32>'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32> weights(tensor<4x8x10xf32>)
  return
}

// -----

// sdpa-C19
func.func @type(%q: tensor<1x4x8x16xf16>, %k: tensor<1x2x10x16xf16>, %v: tensor<1x2x10x32xf16>) {
  // expected-error @below {{'attn.sdpa' op expects 'weights' of 'f32' under 'query' of 'f16', got 'bf16'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf16>, tensor<1x2x10x16xf16>, tensor<1x2x10x32xf16>
    -> tensor<1x4x8x32xf16> weights(tensor<1x4x8x10xbf16>)
  return
}

// -----

// sdpa-C20
func.func @chunks(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>, %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects a 'schedule' without 'chunk', 'streams' and 'fold_heads' with 'weights', got #attn.schedule<block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64>}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32> weights(tensor<1x4x8x10xf32>)
  return
}

// -----

// sdpa-C30
func.func @pages(%q: tensor<1x4x8x16xf32>, %k: tensor<5x2x16x16xf32>, %v: tensor<5x2x16x16xf32>, %t: tensor<1x2xi32>) {
  // expected-error @below {{'attn.sdpa' op expects no 'weights' with 'page_table' or 'cu_seqlens_q'}}
  attn.sdpa %q, %k, %v page_table(%t : tensor<1x2xi32>)
    : tensor<1x4x8x16xf32>, tensor<5x2x16x16xf32>, tensor<5x2x16x16xf32>
    -> tensor<1x4x8x16xf32> weights(tensor<1x4x8x32xf32>)
  return
}

// -----

// sdpa-C30
func.func @sequences(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>, %v: tensor<9x2x16xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{'attn.sdpa' op expects no 'weights' with 'page_table' or 'cu_seqlens_q'}}
  attn.sdpa %q, %k, %v cu_seqlens_q(%n : tensor<3xi32>) cu_seqlens_k(%n : tensor<3xi32>)
    : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x16xf32>
    -> tensor<8x4x16xf32> weights(tensor<2x4x?x?xf32>)
  return
}
