// RUN: attn-opt %s --attn-select-schedule --split-input-file --verify-diagnostics

// All heads of a group share a tile.
func.func @heads(%q: tensor<1x16x2x16xf32>, %k: tensor<1x1x10x16xf32>) -> tensor<1x16x2x16xf32> {
  // expected-error @below {{'attn.sdpa' op expects 'block_m' of a schedule with 'fold_heads' to be at least the 16 heads of a group, got 8}}
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16, fold_heads = true>
    : tensor<1x16x2x16xf32>, tensor<1x1x10x16xf32>, tensor<1x1x10x16xf32> -> tensor<1x16x2x16xf32>
  return %o : tensor<1x16x2x16xf32>
}

// -----

// So do all their rows, where keys are split.
func.func @rows(%q: tensor<1x8x37x16xf32>, %k: tensor<1x2x277x16xf32>) -> tensor<1x8x37x16xf32> {
  // expected-error @below {{'attn.sdpa' op expects a schedule with 'chunk' for at most 16 rows of 4 heads, as 'block_m' says, got 37}}
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64, fold_heads = true>
    : tensor<1x8x37x16xf32>, tensor<1x2x277x16xf32>, tensor<1x2x277x16xf32> -> tensor<1x8x37x16xf32>
  return %o : tensor<1x8x37x16xf32>
}

// -----

// How many rows each sequence has is known late.
func.func @sequences(%q: tensor<?x2x16xf32>, %c: tensor<4xi32>) -> tensor<?x2x16xf32> {
  // expected-error @below {{'attn.sdpa' op expects no 'chunk' in a schedule where sizes are not known when the function is called, got 64}}
  %o = attn.sdpa %q, %q, %q cu_seqlens_q(%c : tensor<4xi32>) cu_seqlens_k(%c : tensor<4xi32>)
    schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 64>
    : tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32> -> tensor<?x2x16xf32>
  return %o : tensor<?x2x16xf32>
}
