// RUN: attn-opt %s --split-input-file --verify-diagnostics

// linear-C9
func.func @delta_without_beta(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x2x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects a 'beta' with 'rule = gated_delta', got none}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x8xf32>)
    rule = gated_delta
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C9
func.func @linear_with_beta(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %b: tensor<1x2x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects no 'beta' with 'rule = linear', got one}}
  attn.linear_attention %q, %k, %v beta(%b : tensor<1x2x8xf32>)
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C10
func.func @beta_of_rank_4(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %b: tensor<1x2x8x16xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'beta' of rank 3, got 'tensor<1x2x8x16xf32>'}}
  attn.linear_attention %q, %k, %v beta(%b : tensor<1x2x8x16xf32>)
    rule = delta
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C10
func.func @beta_of_query_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %b: tensor<1x4x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'key' and 'beta' to agree on dimension 1, got 2 and 4}}
  attn.linear_attention %q, %k, %v beta(%b : tensor<1x4x8xf32>)
    rule = delta
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C11
func.func @wide_decay(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x2x8xf64>) {
  // expected-error @below {{'attn.linear_attention' op expects 'decay' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x8xf64>)
    rule = gated
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C11
func.func @wide_beta(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %b: tensor<1x2x8xf64>) {
  // expected-error @below {{'attn.linear_attention' op expects 'beta' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.linear_attention %q, %k, %v beta(%b : tensor<1x2x8xf64>)
    rule = delta
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C12
func.func @transposed_state(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %s: tensor<1x2x32x16xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects dimension 3 of 'query' and dimension 2 of 'state' to agree, got 16 and 32}}
  attn.linear_attention %q, %k, %v state(%s : tensor<1x2x32x16xf32>)
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C12
func.func @new_state_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'key' and 'new_state' to agree on dimension 1, got 2 and 4}}
  attn.linear_attention %q, %k, %v
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32> state(tensor<1x4x16x32xf32>)
  return
}

// -----

// linear-C13
func.func @normalizer_of_values(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %z: tensor<1x2x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects dimension 3 of 'query' and dimension 2 of 'normalizer' to agree, got 16 and 32}}
  attn.linear_attention %q, %k, %v normalizer(%z : tensor<1x2x32xf32>)
    rule = linear feature_map = relu normalize
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C14
func.func @wide_state(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %s: tensor<1x2x16x32xf64>) {
  // expected-error @below {{'attn.linear_attention' op expects 'state' of 'f32' under 'query' of 'f32', got 'f64'}}
  attn.linear_attention %q, %k, %v state(%s : tensor<1x2x16x32xf64>)
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C14
func.func @narrow_new_normalizer(%q: tensor<1x4x8x16xf64>,
    %k: tensor<1x2x8x16xf64>,
    %v: tensor<1x2x8x32xf64>) {
  // expected-error @below {{'attn.linear_attention' op expects 'new_normalizer' of 'f64' under 'query' of 'f64', got 'f32'}}
  attn.linear_attention %q, %k, %v
    rule = linear feature_map = relu normalize
    : tensor<1x4x8x16xf64>, tensor<1x2x8x16xf64>, tensor<1x2x8x32xf64>
    -> tensor<1x4x8x32xf64> normalizer(tensor<1x2x16xf32>)
  return
}

// -----

// linear-C15
func.func @normalizer_alone(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %z: tensor<1x2x16xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects no 'normalizer' without 'normalize', got one}}
  attn.linear_attention %q, %k, %v normalizer(%z : tensor<1x2x16xf32>)
    rule = linear
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C16
func.func @normalized_delta(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %b: tensor<1x2x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'normalize' with 'rule = linear' or 'rule = gated', got 'delta'}}
  attn.linear_attention %q, %k, %v beta(%b : tensor<1x2x8xf32>)
    rule = delta feature_map = elu1 normalize
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// Products of numbers of both signs may add up to anything.
//
// linear-C16
func.func @normalized_identity(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'normalize' with 'feature_map = elu1', 'relu' or 'exp', got 'identity'}}
  attn.linear_attention %q, %k, %v
    rule = linear normalize
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C17
func.func @scale_of_infinity(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'scale' to be a finite number, got an infinity}}
  attn.linear_attention %q, %k, %v
    rule = linear scale = 0x7FF0000000000000
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C17
func.func @scaled_mean(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects no 'scale' with 'normalize', got 2}}
  attn.linear_attention %q, %k, %v
    rule = linear scale = 2.0 feature_map = elu1 normalize
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// linear-C18
func.func @gated_encoder(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x8x16xf32>,
    %v: tensor<1x2x8x32xf32>,
    %g: tensor<1x2x8xf32>) {
  // expected-error @below {{'attn.linear_attention' op expects 'non_causal' with 'rule = linear', got 'gated'}}
  attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x8xf32>)
    rule = gated non_causal
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}
