// RUN: attn-opt %s --split-input-file --verify-diagnostics

// rope-C1
func.func @input_of_rank_3(%x: tensor<2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'input' of rank 4, got 'tensor<2x8x16xf32>'}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>)
    : tensor<2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// With positions the tables have one row a position.
//
// rope-C2
func.func @tables_of_rank_3(%x: tensor<1x2x8x16xf32>,
    %c: tensor<1x8x8xf32>,
    %s: tensor<1x8x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'cos' of rank 2, got 'tensor<1x8x8xf32>'}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>)
    : tensor<1x2x8x16xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>
  return
}

// -----

// Without positions they have one row a token.
//
// rope-C2
func.func @tables_of_rank_2(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>) {
  // expected-error @below {{'attn.rope' op expects 'cos' of rank 3, got 'tensor<32x8xf32>'}}
  attn.rope %x, %c, %s
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// rope-C2
func.func @tables_differ(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<33x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'cos' and 'sin' to agree on dimension 0, got 32 and 33}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>)
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<33x8xf32>
  return
}

// -----

// rope-C2
func.func @positions_of_another_length(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x9xi32>) {
  // expected-error @below {{'attn.rope' op expects dimension 2 of 'input' and dimension 1 of 'positions' to agree, got 8 and 9}}
  attn.rope %x, %c, %s positions(%p : tensor<1x9xi32>)
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// rope-C3
func.func @tables_of_two_types(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf16>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'cos' and 'sin' to agree on the element type, got 'f32' and 'f16'}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>)
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf16>
  return
}

// -----

// rope-C3
func.func @f64_tables(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf64>,
    %s: tensor<32x8xf64>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'cos' of 'f64' only under 'input' of 'f64', got 'f32'}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>)
    : tensor<1x2x8x16xf32>, tensor<32x8xf64>, tensor<32x8xf64>
  return
}

// -----

// rope-C4
func.func @odd_rotary_dim(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'rotary_dim' to be even and at least 0 and at most 16, got 7}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>) rotary_dim = 7
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// rope-C4
func.func @rotary_dim_above_head_size(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'rotary_dim' to be even and at least 0 and at most 16, got 18}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>) rotary_dim = 18
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// rope-C4
func.func @negative_rotary_dim(%x: tensor<1x2x8x?xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'rotary_dim' to be even and at least 0, got -2}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>) rotary_dim = -2
    : tensor<1x2x8x?xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// All channels rotate by default, and three do not pair.
//
// rope-C4
func.func @odd_head_size(%x: tensor<1x2x8x3xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'rotary_dim' to be even and at least 0 and at most 3, got 3}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>)
    : tensor<1x2x8x3xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}

// -----

// rope-C5
func.func @width_of_tables(%x: tensor<1x2x8x16xf32>,
    %c: tensor<32x8xf32>,
    %s: tensor<32x8xf32>,
    %p: tensor<1x8xi32>) {
  // expected-error @below {{'attn.rope' op expects 'cos' to have 4 columns for 8 rotated channels, got 8}}
  attn.rope %x, %c, %s positions(%p : tensor<1x8xi32>) rotary_dim = 8
    : tensor<1x2x8x16xf32>, tensor<32x8xf32>, tensor<32x8xf32>
  return
}
