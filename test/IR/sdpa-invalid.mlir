// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Tensors of one head must be expanded to rank 4.
//
// sdpa-C1
func.func @query_of_rank_3(%q: tensor<4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' of rank 4, got 'tensor<4x8x16xf32>'}}
  attn.sdpa %q, %k, %v
    : tensor<4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C1
func.func @output_of_rank_0(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'output' of rank 4, got 'tensor<f32>'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<f32>
  return
}

// -----

// Only what is smaller is stored under a query.
//
// sdpa-C2
func.func @key_of_another_type(%q: tensor<1x4x8x16xf16>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'key' of 'f16', or of a type that is stored under it, got 'f32'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf16>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf16>
  return
}

// -----

// sdpa-C2
func.func @bytes_under_f64(%q: tensor<1x4x8x16xf64>,
    %k: tensor<1x2x10x16xi8>,
    %v: tensor<1x2x10x32xi8>) {
  // expected-error @below {{'attn.sdpa' op expects 'key' of 'f64', or of a type that is stored under it, got 'i8'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf64>, tensor<1x2x10x16xi8>, tensor<1x2x10x32xi8>
    -> tensor<1x4x8x32xf64>
  return
}

// -----

// sdpa-C2
func.func @value_of_another_type(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf16>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'key' and 'value' to agree on the element type, got 'f16' and 'f32'}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf16>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C3
func.func @head_size_of_key(%q: tensor<1x4x8x64xf32>,
    %k: tensor<1x2x10x32xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' and 'key' to agree on dimension 3, got 64 and 32}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x64xf32>, tensor<1x2x10x32xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C3
func.func @keys_and_values(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x11x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'key' and 'value' to agree on dimension 2, got 10 and 11}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x11x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// Dimensions are compared by what they are, not by where they stand.
//
// sdpa-C3
func.func @keys_in_layouts(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x10x2x16xf32>,
    %v: tensor<1x2x11x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 1 of 'key' and dimension 2 of 'value' to agree, got 10 and 11}}
  attn.sdpa %q, %k, %v layout = <key = bshd>
    : tensor<1x4x8x16xf32>, tensor<1x10x2x16xf32>, tensor<1x2x11x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// A dynamic extent lets the next tensor state it.
//
// sdpa-C3
func.func @batch_behind_dynamic(%q: tensor<?x4x8x16xf32>,
    %k: tensor<2x2x10x16xf32>,
    %v: tensor<3x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'key' and 'value' to agree on dimension 0, got 2 and 3}}
  attn.sdpa %q, %k, %v
    : tensor<?x4x8x16xf32>, tensor<2x2x10x16xf32>, tensor<3x2x10x32xf32>
    -> tensor<?x4x8x32xf32>
  return
}

// -----

// sdpa-C4
func.func @output_rows(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' and 'output' to agree on dimension 2, got 8 and 9}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x9x32xf32>
  return
}

// -----

// sdpa-C4
func.func @output_in_layout(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 2 of 'query' and dimension 1 of 'output' to agree, got 8 and 4}}
  attn.sdpa %q, %k, %v layout = <output = bshd>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C5
func.func @heads_not_a_multiple(%q: tensor<1x33x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects the heads of 'query' to be a multiple of those of 'key', got 33 and 2}}
  attn.sdpa %q, %k, %v
    : tensor<1x33x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x33x8x32xf32>
  return
}

// -----

// Heads cannot read key heads that are not there.
//
// sdpa-C5
func.func @no_key_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x0x10x16xf32>,
    %v: tensor<1x0x10x32xf32>) {
  // expected-error @below {{'attn.sdpa' op expects the heads of 'query' to be a multiple of those of 'key', got 4 and 0}}
  attn.sdpa %q, %k, %v
    : tensor<1x4x8x16xf32>, tensor<1x0x10x16xf32>, tensor<1x0x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}
