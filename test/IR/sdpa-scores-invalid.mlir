// RUN: attn-opt %s --split-input-file --verify-diagnostics

// sdpa-C6
func.func @bias_of_rank_5(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %b: tensor<1x1x1x1x1xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'bias' of rank 1 to 4, got 'tensor<1x1x1x1x1xf32>'}}
  attn.sdpa %q, %k, %v bias(%b : tensor<1x1x1x1x1xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C6
func.func @bias_of_rank_0(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %b: tensor<f32>) {
  // expected-error @below {{'attn.sdpa' op expects 'bias' of rank 1 to 4, got 'tensor<f32>'}}
  attn.sdpa %q, %k, %v bias(%b : tensor<f32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C6
func.func @bias_keys(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %b: tensor<8x8xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 1 of 'bias' to be 1 or 10, got 8}}
  attn.sdpa %q, %k, %v bias(%b : tensor<8x8xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// A bias is given for query heads; key heads are not repeated.
//
// sdpa-C6
func.func @bias_for_key_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %b: tensor<2x8x10xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 0 of 'bias' to be 1 or 4, got 2}}
  attn.sdpa %q, %k, %v bias(%b : tensor<2x8x10xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C7
func.func @f64_bias(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %b: tensor<8x10xf64>) {
  // expected-error @below {{'attn.sdpa' op expects 'bias' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.sdpa %q, %k, %v bias(%b : tensor<8x10xf64>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C8
func.func @mask_rows(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %m: tensor<1x1x4x10xi1>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 2 of 'mask' to be 1 or 8, got 4}}
  attn.sdpa %q, %k, %v mask(%m : tensor<1x1x4x10xi1>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// A static extent other than 1 is the full one, also where only the bias states it.
//
// sdpa-C8
func.func @bias_and_mask_keys(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x?x16xf32>,
    %v: tensor<1x2x?x32xf32>,
    %b: tensor<8x10xf32>,
    %m: tensor<8x11xi1>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 1 of 'mask' to be 1 or 10, got 11}}
  attn.sdpa %q, %k, %v bias(%b : tensor<8x10xf32>)
    mask(%m : tensor<8x11xi1>)
    : tensor<1x4x8x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C9
func.func @lengths_of_another_batch(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %n: tensor<2xi32>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' and 'kv_lengths' to agree on dimension 0, got 1 and 2}}
  attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C9
func.func @length_without_batch(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %n: tensor<i32>) {
  // expected-error @below {{'attn.sdpa' op expects 'kv_lengths' of rank 1, got 'tensor<i32>'}}
  attn.sdpa %q, %k, %v kv_lengths(%n : tensor<i32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C10
func.func @offset_of_another_batch(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %n: tensor<2xi64>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' and 'query_offset' to agree on dimension 0, got 1 and 2}}
  attn.sdpa %q, %k, %v query_offset(%n : tensor<2xi64>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C10
func.func @offset_in_a_tensor_of_rank_0(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %n: tensor<i64>) {
  // expected-error @below {{'attn.sdpa' op expects 'query_offset' of rank 1, got 'tensor<i64>'}}
  attn.sdpa %q, %k, %v query_offset(%n : tensor<i64>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C11
func.func @two_offsets(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %n: i64) {
  // expected-error @below {{'attn.sdpa' op expects no 'query_offset' with 'causal = bottom_right', which is an offset itself}}
  attn.sdpa %q, %k, %v query_offset(%n : i64) causal = bottom_right
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C12
func.func @sinks_for_key_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %s: tensor<2xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 1 of 'query' and dimension 0 of 'sinks' to agree, got 4 and 2}}
  attn.sdpa %q, %k, %v sinks(%s : tensor<2xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C13
func.func @f64_sinks(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>,
    %s: tensor<4xf64>) {
  // expected-error @below {{'attn.sdpa' op expects 'sinks' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.sdpa %q, %k, %v sinks(%s : tensor<4xf64>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}
