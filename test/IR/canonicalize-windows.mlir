// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// With as many rows as keys both corners are the same.
//
// CHECK-LABEL: func.func @square
// CHECK: attn.sdpa
// CHECK-SAME: causal = top_left
func.func @square(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k causal = bottom_right
    : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// Lengths move the lower corner.
//
// CHECK-LABEL: func.func @square_with_lengths
// CHECK: attn.sdpa
// CHECK-SAME: causal = bottom_right
func.func @square_with_lengths(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>,
    %n: tensor<1xi32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k kv_lengths(%n : tensor<1xi32>) causal = bottom_right
    : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// Rows that may be fewer than keys stand elsewhere.
//
// CHECK-LABEL: func.func @not_square
// CHECK: attn.sdpa
// CHECK-SAME: causal = bottom_right
func.func @not_square(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %k causal = bottom_right
    : tensor<1x2x?x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// The last of 4 rows has 3 keys before it; the first of 6 keys has 5 behind it.
//
// CHECK-LABEL: func.func @idle_window
// CHECK: attn.sdpa
// CHECK-NOT: window
func.func @idle_window(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k window = <left = 3, right = 5>
    : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// One less may cut.
//
// CHECK-LABEL: func.func @tight_window
// CHECK: attn.sdpa
// CHECK-SAME: window = <left = 2, right = 4>
func.func @tight_window(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k window = <left = 2, right = 4>
    : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// Each side is dropped for itself.
//
// CHECK-LABEL: func.func @one_side
// CHECK: attn.sdpa
// CHECK-SAME: window = <right = 4>
func.func @one_side(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k window = <left = 3, right = 4>
    : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// What is right of the diagonal is excluded already.
//
// CHECK-LABEL: func.func @right_of_diagonal
// CHECK: attn.sdpa
// CHECK-SAME: window = <left = 1>
func.func @right_of_diagonal(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>,
    %n: i64)
    -> tensor<1x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %k query_offset(%n : i64) causal = top_left window = <left = 1, right = 0>
    : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// Without a diagonal the right side cuts.
//
// CHECK-LABEL: func.func @right_without_causal
// CHECK: attn.sdpa
// CHECK-SAME: window = <right = 0>
func.func @right_without_causal(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k window = <right = 0>
    : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// An offset may stand far behind the keys.
//
// CHECK-LABEL: func.func @window_with_offset
// CHECK: attn.sdpa
// CHECK-SAME: window = <left = 9, right = 9>
func.func @window_with_offset(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>,
    %n: i64)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k query_offset(%n : i64) window = <left = 9, right = 9>
    : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// The last row stands at the last key that counts, however many rows there are.
//
// CHECK-LABEL: func.func @window_at_bottom
// CHECK: attn.sdpa
// CHECK-NOT: window
func.func @window_at_bottom(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x6x8xf32>,
    %n: tensor<1xi32>)
    -> tensor<1x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %k kv_lengths(%n : tensor<1xi32>) causal = bottom_right
    window = <left = 5>
    : tensor<1x2x?x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// Rows are not keys: 4 rows may stand at keys 2 to 5.
//
// CHECK-LABEL: func.func @tight_window_at_bottom
// CHECK: attn.sdpa
// CHECK-SAME: window = <left = 3>
func.func @tight_window_at_bottom(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x6x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k causal = bottom_right window = <left = 3>
    : tensor<1x2x4x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// -----

// Keys are not rows: 6 rows may stand behind 4 keys.
//
// CHECK-LABEL: func.func @window_at_top
// CHECK: attn.sdpa
// CHECK-SAME: window = <left = 4>
func.func @window_at_top(%q: tensor<1x2x6x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x6x8xf32> {
  %o = attn.sdpa %q, %k, %k causal = top_left window = <left = 4>
    : tensor<1x2x6x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x6x8xf32>
  return %o : tensor<1x2x6x8xf32>
}

// -----

// Of unknown sizes nothing is known.
//
// CHECK-LABEL: func.func @dynamic_window
// CHECK: attn.sdpa
// CHECK-SAME: window = <left = 1000, right = 1000>
func.func @dynamic_window(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %k window = <left = 1000, right = 1000>
    : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// A window without sides is none.
//
// CHECK-LABEL: func.func @window_without_sides
// CHECK: attn.sdpa
// CHECK-NOT: window
func.func @window_without_sides(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %k window = <>
    : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// The scale is left alone, also where it is the default.
//
// CHECK-LABEL: func.func @default_scale
// CHECK: attn.sdpa
// CHECK-SAME: scale = 0.35355339059327379
func.func @default_scale(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k scale = 0.35355339059327379
    : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}
