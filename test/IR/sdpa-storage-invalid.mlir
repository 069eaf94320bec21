// RUN: attn-opt %s --split-input-file --verify-diagnostics

// What is stored as it is needs no scale.
//
// sdpa-C23
func.func @scale_of_halves(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf16>, %v: tensor<1x2x10x32xf16>, %s: tensor<f32>) {
  // expected-error @below {{'attn.sdpa' op expects 'key_scale' with keys and values of i8, f8E4M3FN or f8E5M2, got 'f16'}}
  attn.sdpa %q, %k, %v key_scale(%s : tensor<f32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf16>, tensor<1x2x10x32xf16>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C23
func.func @scale_of_f64(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xi8>, %v: tensor<1x2x10x32xi8>, %s: tensor<f64>) {
  // expected-error @below {{'attn.sdpa' op expects 'value_scale' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.sdpa %q, %k, %v value_scale(%s : tensor<f64>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xi8>, tensor<1x2x10x32xi8>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C23
func.func @scale_for_query_heads(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xi8>, %v: tensor<1x2x10x32xi8>, %s: tensor<4x1xf32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 0 of 'key_scale' to be 1 or 2, got 4}}
  attn.sdpa %q, %k, %v key_scale(%s : tensor<4x1xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xi8>, tensor<1x2x10x32xi8>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// sdpa-C24
func.func @table_for_other_batch(%q: tensor<2x4x8x16xf32>,
    %k: tensor<9x2x16x16xf32>, %v: tensor<9x2x16x32xf32>, %t: tensor<3x4xi32>) {
  // expected-error @below {{'attn.sdpa' op expects 'query' and 'page_table' to agree on dimension 0, got 2 and 3}}
  attn.sdpa %q, %k, %v page_table(%t : tensor<3x4xi32>)
    : tensor<2x4x8x16xf32>, tensor<9x2x16x16xf32>, tensor<9x2x16x32xf32>
    -> tensor<2x4x8x32xf32>
  return
}

// -----

// sdpa-C24
func.func @table_of_i64(%q: tensor<2x4x8x16xf32>,
    %k: tensor<9x2x16x16xf32>, %v: tensor<9x2x16x32xf32>, %t: tensor<2x4xi64>) {
  // expected-error @below {{'attn.sdpa' op expects 'page_table' of 'i32', got 'i64'}}
  attn.sdpa %q, %k, %v page_table(%t : tensor<2x4xi64>)
    : tensor<2x4x8x16xf32>, tensor<9x2x16x16xf32>, tensor<9x2x16x32xf32>
    -> tensor<2x4x8x32xf32>
  return
}

// -----

// sdpa-C25
func.func @pages_of_sequences(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>,
    %v: tensor<9x2x32xf32>, %t: tensor<2x4xi32>, %n: tensor<3xi32>) {
  // expected-error @below {{'attn.sdpa' op expects no 'page_table' with 'cu_seqlens_k'}}
  attn.sdpa %q, %k, %v page_table(%t : tensor<2x4xi32>)
    cu_seqlens_q(%n : tensor<3xi32>) cu_seqlens_k(%n : tensor<3xi32>)
    : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<8x4x32xf32>
  return
}

// -----

// sdpa-C26
func.func @ends_of_other_sequences(%q: tensor<8x4x16xf32>,
    %k: tensor<9x2x16xf32>, %v: tensor<9x2x32xf32>, %n: tensor<3xi32>,
    %m: tensor<4xi32>) {
  // expected-error @below {{'attn.sdpa' op expects 'cu_seqlens_q' and 'cu_seqlens_k' to agree on dimension 0, got 3 and 4}}
  attn.sdpa %q, %k, %v
    cu_seqlens_q(%n : tensor<3xi32>) cu_seqlens_k(%m : tensor<4xi32>)
    : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<8x4x32xf32>
  return
}

// -----

// sdpa-C26
func.func @ends_of_nothing(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>,
    %v: tensor<9x2x32xf32>, %n: tensor<0xi32>) {
  // expected-error @below {{'attn.sdpa' op expects 'cu_seqlens_q' of at least 1 element, got 0}}
  attn.sdpa %q, %k, %v
    cu_seqlens_q(%n : tensor<0xi32>) cu_seqlens_k(%n : tensor<0xi32>)
    : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<8x4x32xf32>
  return
}

// -----

// sdpa-C26
func.func @ends_of_index(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>,
    %v: tensor<9x2x32xf32>, %n: tensor<3xindex>) {
  // expected-error @below {{'attn.sdpa' op expects 'cu_seqlens_q' of 'i32' or 'i64', got 'index'}}
  attn.sdpa %q, %k, %v
    cu_seqlens_q(%n : tensor<3xindex>) cu_seqlens_k(%n : tensor<3xindex>)
    : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<8x4x32xf32>
  return
}

// -----

// sdpa-C27
func.func @only_keys_packed(%q: tensor<2x4x8x16xf32>, %k: tensor<9x2x16xf32>,
    %v: tensor<9x2x32xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{'attn.sdpa' op expects 'cu_seqlens_k' with 'cu_seqlens_q'}}
  attn.sdpa %q, %k, %v cu_seqlens_k(%n : tensor<3xi32>)
    : tensor<2x4x8x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<2x4x8x32xf32>
  return
}

// -----

// A mask of all rows by all keys would be as large as what packing saves.
//
// sdpa-C28
func.func @mask_of_sequences(%q: tensor<8x4x16xf32>, %k: tensor<9x2x16xf32>,
    %v: tensor<9x2x32xf32>, %n: tensor<3xi32>, %m: tensor<8x9xi1>) {
  // expected-error @below {{'attn.sdpa' op expects no 'mask' with 'cu_seqlens_q'}}
  attn.sdpa %q, %k, %v mask(%m : tensor<8x9xi1>)
    cu_seqlens_q(%n : tensor<3xi32>) cu_seqlens_k(%n : tensor<3xi32>)
    : tensor<8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<8x4x32xf32>
  return
}

// -----

// sdpa-C29
func.func @batch_of_sequences(%q: tensor<2x8x4x16xf32>, %k: tensor<9x2x16xf32>,
    %v: tensor<9x2x32xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{'attn.sdpa' op expects dimension 0 of 'query' to be 1 by 'cu_seqlens_q', got 2}}
  attn.sdpa %q, %k, %v
    cu_seqlens_q(%n : tensor<3xi32>) cu_seqlens_k(%n : tensor<3xi32>) layout = bshd
    : tensor<2x8x4x16xf32>, tensor<9x2x16xf32>, tensor<9x2x32xf32>
    -> tensor<2x8x4x32xf32>
  return
}
