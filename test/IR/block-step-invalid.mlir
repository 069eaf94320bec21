// RUN: attn-opt %s --split-input-file --verify-diagnostics

// Sums of f16 products are kept in f32.
//
// block_step-C1
func.func @state_of_f16(%q: tensor<8x16xf16>,
    %k: tensor<10x16xf16>,
    %v: tensor<10x32xf16>,
    %r: tensor<8xf16>,
    %s: tensor<8xf16>,
    %a: tensor<8x32xf16>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'reference' of 'f32' under 'query' of 'f16', got 'f16'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf16>, tensor<10x16xf16>, tensor<10x32xf16>
    -> tensor<8xf16>, tensor<8xf16>, tensor<8x32xf16>
  return
}

// -----

// block_step-C1
func.func @acc_of_another_type(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf64>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'reference' and 'acc' to agree on the element type, got 'f32' and 'f64'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf64>
  return
}

// -----

// block_step-C1
func.func @acc_of_rank_3(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<2x8x16xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'acc' of rank 2, got 'tensor<2x8x16xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<2x8x16xf32>
  return
}

// -----

// block_step-C1
func.func @state_of_rank_0(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<f32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'reference' of rank 1, got 'tensor<f32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<f32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C2
func.func @infinite_scale(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'scale' to be a finite number, got an infinity}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 0xFFF0000000000000
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C2
func.func @softcap_of_zero(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'softcap' to be above 0, got 0.000000e+00}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0 softcap = 0.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C3
func.func @rows_of_query_and_state(%q: tensor<9x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'acc' and 'query' to agree on dimension 0, got 8 and 9}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<9x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C3
func.func @value_size(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x33xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'acc' and 'value' to agree on dimension 1, got 32 and 33}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x33xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C4
func.func @f64_key(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf64>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'key' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf64>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C5
func.func @mask_without_heads(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index,
    %m: tensor<8x10xi1>) {
  // expected-error @below {{'attn.block_step' op expects 'mask' of rank 3, got 'tensor<8x10xi1>'}}
  attn.block_step %q, %k, %v mask(%m : tensor<8x10xi1>) state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C5
func.func @f64_bias(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index,
    %b: tensor<1x8x10xf64>) {
  // expected-error @below {{'attn.block_step' op expects 'bias' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.block_step %q, %k, %v bias(%b : tensor<1x8x10xf64>) state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C8
func.func @channels_of_plain_value(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'value' of rank 4 where 'channels' is given, got 'tensor<10x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    channels = 32
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C12
func.func @scales_of_other_keys(%q: tensor<8x16xf32>,
    %k: tensor<10x16xi8>,
    %v: tensor<10x32xi8>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %f: tensor<9xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 0 of 'value_scale' to be 1 or 10, got 9}}
  attn.block_step %q, %k, %v value_scale(%f : tensor<9xf32>) state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xi8>, tensor<10x32xi8>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C13
func.func @exponent_of_packed_state(%q: tensor<2x8x16xf32>,
    %k: tensor<3x16x4xf32>,
    %v: tensor<5x3x4x4xf32>,
    %r: tensor<2x8xf32>,
    %s: tensor<2x8x4xf32>,
    %a: tensor<2x5x8x4xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects a plain state with 'products' or 'exponent', got 'acc' 'tensor<2x5x8x4xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    exponent = 15
    : tensor<2x8x16xf32>, tensor<3x16x4xf32>, tensor<5x3x4x4xf32>
    -> tensor<2x8xf32>, tensor<2x8x4xf32>, tensor<2x5x8x4xf32>
  return
}

// -----

// block_step-C13
func.func @capped_products(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects nothing that changes scores with 'products'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    softcap = 8.0 products
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C13
func.func @products_of_no_sign(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'scale' to be above 0 with 'products', got 0}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 0.0
    products
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}
