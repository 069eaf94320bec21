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
  // expected-error @below {{'attn.block_step' op expects 'reference' and 'query' to agree on dimension 0, got 8 and 9}}
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
func.func @key_of_another_type(%q: tensor<8x16xf32>,
    %k: tensor<10x16xbf16>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'query' and 'key' to agree on the element type, got 'f32' and 'bf16'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<8x16xf32>, tensor<10x16xbf16>, tensor<10x32xf32>
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

// Packed: rows are the last dimension of both.
//
// block_step-C6
func.func @packed_rows(%q: tensor<16x8xf32>,
    %k: tensor<1x16x16xf32>,
    %v: tensor<2x1x16x16xf32>,
    %r: tensor<6xf32>,
    %s: tensor<6x16xf32>,
    %a: tensor<2x6x16xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 1 of 'query' and dimension 0 of 'reference' to agree, got 8 and 6}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<16x8xf32>, tensor<1x16x16xf32>, tensor<2x1x16x16xf32>
    -> tensor<6xf32>, tensor<6x16xf32>, tensor<2x6x16xf32>
  return
}

// -----

// block_step-C6
func.func @packed_query_of_rank_1(%q: tensor<16xf32>,
    %k: tensor<1x16x16xf32>,
    %v: tensor<2x1x16x16xf32>,
    %r: tensor<6xf32>,
    %s: tensor<6x16xf32>,
    %a: tensor<2x6x16xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects a packed 'query' of rank 2 or 3, got 'tensor<16xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<16xf32>, tensor<1x16x16xf32>, tensor<2x1x16x16xf32>
    -> tensor<6xf32>, tensor<6x16xf32>, tensor<2x6x16xf32>
  return
}

// -----

// block_step-C6
func.func @packed_strips(%q: tensor<3x16x8xf32>,
    %k: tensor<1x16x16xf32>,
    %v: tensor<2x1x16x16xf32>,
    %r: tensor<4x8xf32>,
    %s: tensor<4x8x16xf32>,
    %a: tensor<4x2x8x16xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'query' and 'reference' to agree on dimension 0, got 3 and 4}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<3x16x8xf32>, tensor<1x16x16xf32>, tensor<2x1x16x16xf32>
    -> tensor<4x8xf32>, tensor<4x8x16xf32>, tensor<4x2x8x16xf32>
  return
}

// -----

// merge-C1
func.func @merged_rows(%r: tensor<8xf32>,
    %s: tensor<9xf32>,
    %a: tensor<8x32xf32>) {
  // expected-error @below {{'attn.merge' op expects 'reference' and 'sum' to agree on dimension 0, got 8 and 9}}
  attn.merge (%r, %s, %a), (%r, %s, %a)
    : tensor<8xf32>, tensor<9xf32>, tensor<8x32xf32>
  return
}

// -----

// finish-C1
func.func @finished_state_of_f16(%r: tensor<8xf16>,
    %s: tensor<8xf16>,
    %a: tensor<8x32xf16>) {
  // expected-error @below {{'attn.finish' op expects 'reference' of 'f32' or 'f64', got 'f16'}}
  attn.finish %r, %s, %a
    : tensor<8xf16>, tensor<8xf16>, tensor<8x32xf16> -> tensor<8x32xf32>, tensor<8xf32>
  return
}

// -----

// finish-C2
func.func @output_rows(%r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>) {
  // expected-error @below {{'attn.finish' op expects 'reference' and 'output' to agree on dimension 0, got 8 and 9}}
  attn.finish %r, %s, %a
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<9x32xf32>, tensor<8xf32>
  return
}

// -----

// finish-C2
func.func @lse_type(%r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>) {
  // expected-error @below {{'attn.finish' op expects 'reference' and 'lse' to agree on the element type, got 'f32' and 'f64'}}
  attn.finish %r, %s, %a
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<8x32xf32>, tensor<8xf64>
  return
}

// -----

// finish-C3
func.func @sinks_of_rank_2(%r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %h: tensor<1x2xf32>,
    %i: index) {
  // expected-error @below {{'attn.finish' op expects 'sinks' of rank 1, got 'tensor<1x2xf32>'}}
  attn.finish %r, %s, %a sinks(%h : tensor<1x2xf32>, row %i per %i)
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<8x32xf32>, tensor<8xf32>
  return
}
