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

// A sum has lanes only where rows are packed.
//
// block_step-C1
func.func @plain_sum_in_lanes(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8x4xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'sum' of rank 1, got 'tensor<8x4xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8x4xf32>, tensor<8x32xf32>
  return
}

// -----

// Packed: strips of rows, panels of channels.
//
// block_step-C1
func.func @packed_reference(%q: tensor<3x8x16xf32>,
    %k: tensor<5x16x32xf32>,
    %v: tensor<2x5x32x32xf32>,
    %r: tensor<3x6xf32>,
    %s: tensor<3x8x32xf32>,
    %a: tensor<3x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 2 of 'acc' and dimension 1 of 'reference' to agree, got 8 and 6}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x8x16xf32>, tensor<5x16x32xf32>, tensor<2x5x32x32xf32>
    -> tensor<3x6xf32>, tensor<3x8x32xf32>, tensor<3x2x8x32xf32>
  return
}

// -----

// block_step-C3
func.func @packed_rows(%q: tensor<3x6x16xf32>,
    %k: tensor<5x16x32xf32>,
    %v: tensor<2x5x32x32xf32>,
    %r: tensor<3x8xf32>,
    %s: tensor<3x8x32xf32>,
    %a: tensor<3x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 2 of 'acc' and dimension 1 of 'query' to agree, got 8 and 6}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x6x16xf32>, tensor<5x16x32xf32>, tensor<2x5x32x32xf32>
    -> tensor<3x8xf32>, tensor<3x8x32xf32>, tensor<3x2x8x32xf32>
  return
}

// -----

// block_step-C3
func.func @packed_head_size(%q: tensor<3x8x16xf32>,
    %k: tensor<5x24x32xf32>,
    %v: tensor<2x5x32x32xf32>,
    %r: tensor<3x8xf32>,
    %s: tensor<3x8x32xf32>,
    %a: tensor<3x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 2 of 'query' and dimension 1 of 'key' to agree, got 16 and 24}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x8x16xf32>, tensor<5x24x32xf32>, tensor<2x5x32x32xf32>
    -> tensor<3x8xf32>, tensor<3x8x32xf32>, tensor<3x2x8x32xf32>
  return
}

// -----

// block_step-C3
func.func @packed_value(%q: tensor<3x8x16xf32>,
    %k: tensor<5x16x32xf32>,
    %v: tensor<3x5x32x32xf32>,
    %r: tensor<3x8xf32>,
    %s: tensor<3x8x32xf32>,
    %a: tensor<3x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 1 of 'acc' and dimension 0 of 'value' to agree, got 2 and 3}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x8x16xf32>, tensor<5x16x32xf32>, tensor<3x5x32x32xf32>
    -> tensor<3x8xf32>, tensor<3x8x32xf32>, tensor<3x2x8x32xf32>
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

// block_step-C6
func.func @strips_of_unknown_size(%q: tensor<3x?x16xf32>,
    %k: tensor<5x16x32xf32>,
    %v: tensor<2x5x32x32xf32>,
    %r: tensor<3x?xf32>,
    %s: tensor<3x?x32xf32>,
    %a: tensor<3x2x?x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 1 of a packed 'reference' to be static, got 'tensor<3x?xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x?x16xf32>, tensor<5x16x32xf32>, tensor<2x5x32x32xf32>
    -> tensor<3x?xf32>, tensor<3x?x32xf32>, tensor<3x2x?x32xf32>
  return
}

// -----

// block_step-C6
func.func @panels_of_unknown_size(%q: tensor<3x8x16xf32>,
    %k: tensor<5x16x?xf32>,
    %v: tensor<2x5x32x32xf32>,
    %r: tensor<3x8xf32>,
    %s: tensor<3x8x32xf32>,
    %a: tensor<3x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 2 of a packed 'key' to be static, got 'tensor<5x16x?xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x8x16xf32>, tensor<5x16x?xf32>, tensor<2x5x32x32xf32>
    -> tensor<3x8xf32>, tensor<3x8x32xf32>, tensor<3x2x8x32xf32>
  return
}

// -----

// block_step-C8
func.func @channels_beyond_value(%q: tensor<1x8x16xf32>,
    %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>,
    %r: tensor<1x8xf32>,
    %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'channels' to be above 0 and at most those of 'value', got 65 and 'tensor<2x2x32x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    channels = 65
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return
}

// -----

// block_step-C8
func.func @no_channels(%q: tensor<1x8x16xf32>,
    %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>,
    %r: tensor<1x8xf32>,
    %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'channels' to be above 0 and at most those of 'value', got 0 and 'tensor<2x2x32x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    channels = 0
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
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
func.func @scale_of_packed_keys(%q: tensor<1x8x16xf32>,
    %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>,
    %r: tensor<1x8xf32>,
    %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>,
    %f: tensor<1xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects no 'key_scale' for keys that are packed}}
  attn.block_step %q, %k, %v key_scale(%f : tensor<1xf32>) state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
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
