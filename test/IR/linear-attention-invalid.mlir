// RUN: attn-opt %s --split-input-file --verify-diagnostics

// linear-C1
func.func @query_of_rank_3(%q: tensor<4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'query' of rank 4, got 'tensor<4x8x16xf32>'}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C2
func.func @value_of_another_type(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf16>) {
  // expected-error @below {{'attn.linear_attention' op expects 'query' and 'value' to agree on the element type, got 'f32' and 'f16'}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf16>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C3
func.func @head_size_of_key(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x8xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'query' and 'key' to agree on dimension 3, got 16 and 8}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// Dimensions are compared by what they are, not by where they stand.
//
// linear-C3
func.func @steps_of_value(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x9x2x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects dimension 2 of 'query' and dimension 1 of 'value' to agree, got 8 and 9}}
  attn.linear_attention %q, %k, %v
    rule = linear layout = <value = bshd>
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x9x2x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// Causal, every step has its query.
//
// linear-C4
func.func @steps_of_query(%q: tensor<1x4x7x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'query' and 'key' to agree on dimension 2, got 7 and 8}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<1x4x7x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x7x32xf32>
  return
}

// -----

// linear-C5
func.func @output_width(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'value' and 'output' to agree on dimension 3, got 32 and 16}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x16xf32>
  return
}

// -----

// linear-C6
func.func @uneven_groups(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x3x8x16xf32>,
    %v: tensor<1x3x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects the heads of 'query' to be a multiple of those of 'key', got 4 and 3}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C7
func.func @gated_without_decay(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects a 'decay' with 'rule = gated', got none}}
  attn.linear_attention %q, %k, %v
    rule = gated
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C7
func.func @delta_with_decay(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x2x8xf32>,
    %b: tensor<1x2x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects no 'decay' with 'rule = delta', got one}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x8xf32>) beta(%b : tensor<1x2x8xf32>)
    rule = delta
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// A decay is that of a state, and so of a key head.
//
// linear-C8
func.func @decay_of_query_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x4x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'key' and 'decay' to agree on dimension 1, got 2 and 4}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x4x8xf32>)
    rule = gated
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C8
func.func @decay_of_values(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'query' and 'decay' to agree on dimension 3, got 16 and 32}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x8x32xf32>)
    rule = gated
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C8
func.func @decay_of_rank_2(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'decay' of rank 3, got 'tensor<1x8xf32>'}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x8xf32>)
    rule = gated
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}
