// RUN: attn-opt %s --split-input-file --verify-diagnostics

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

// Values that stay where they are have the channels of all panels but the last, and
// some of that.
//
// block_step-C14
func.func @plain_value_of_few_channels(%q: tensor<3x8x16xf32>,
    %k: tensor<5x16x32xf32>,
    %v: tensor<150x32xf32>,
    %r: tensor<3x8xf32>,
    %s: tensor<3x8x32xf32>,
    %a: tensor<3x2x8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects channels of a plain 'value' to be those of the panels of 'acc', got 'tensor<150x32xf32>' and 'tensor<3x2x8x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x8x16xf32>, tensor<5x16x32xf32>, tensor<150x32xf32>
    -> tensor<3x8xf32>, tensor<3x8x32xf32>, tensor<3x2x8x32xf32>
  return
}
