// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// The triangle at the top is `causal = top_left`, also with fewer rows than keys.
//
// CHECK-LABEL: func.func @top_left
// CHECK: attn.sdpa
// CHECK-NOT: mask
// CHECK-SAME: causal = top_left
func.func @top_left(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[true, false, false, false], [true, true, false, false]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>)
    : tensor<1x2x2x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// The same triangle for each head is one triangle.
//
// CHECK-LABEL: func.func @top_left_everywhere
// CHECK: attn.sdpa
// CHECK-NOT: mask
// CHECK-SAME: causal = top_left
func.func @top_left_everywhere(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x2x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[[[1, 0], [1, 1]], [[1, 0], [1, 1]]]]> : tensor<1x2x2x2xi8>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<1x2x2x2xi8>)
    : tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// Another mask for the second head is not one triangle.
//
// CHECK-LABEL: func.func @not_everywhere
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @not_everywhere(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x2x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[[true, false], [true, true]], [[true, true], [true, true]]]> : tensor<2x2x2xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x2x2xi1>)
    : tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// Lengths cut the same keys as before, and the window stays where it was: with and
// without `causal = top_left` row i stands at position i.
//
// CHECK-LABEL: func.func @top_left_with_lengths_and_window
// CHECK: attn.sdpa
// CHECK-NOT: mask
// CHECK-SAME: kv_lengths
// CHECK-SAME: causal = top_left window = <left = 1>
func.func @top_left_with_lengths_and_window(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x4x8xf32>,
    %n: tensor<1xi32>)
    -> tensor<1x2x3x8xf32> {
  %m = arith.constant dense<[[true, false, false, false], [true, true, false, false], [true, true, true, false]]> : tensor<3x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<3x4xi1>) kv_lengths(%n : tensor<1xi32>) window = <left = 1>
    : tensor<1x2x3x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// -----

// The triangle at the bottom is `causal = bottom_right`.
//
// CHECK-LABEL: func.func @bottom_right
// CHECK: attn.sdpa
// CHECK-NOT: mask
// CHECK-SAME: causal = bottom_right
func.func @bottom_right(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[true, true, true, false], [true, true, true, true]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>)
    : tensor<1x2x2x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// With more rows than keys the first rows have no key.
//
// CHECK-LABEL: func.func @bottom_right_empty_rows
// CHECK: attn.sdpa
// CHECK-NOT: mask
// CHECK-SAME: causal = bottom_right
func.func @bottom_right_empty_rows(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x2x8xf32>)
    -> tensor<1x2x3x8xf32> {
  %m = arith.constant dense<[[false, false], [true, false], [true, true]]> : tensor<3x2xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<3x2xi1>)
    : tensor<1x2x3x8xf32>, tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32> -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// -----

// `bottom_right` would move the corner to the last key that counts.
//
// CHECK-LABEL: func.func @bottom_right_with_lengths
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @bottom_right_with_lengths(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x4x8xf32>,
    %n: tensor<1xi32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[true, true, true, false], [true, true, true, true]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>) kv_lengths(%n : tensor<1xi32>)
    : tensor<1x2x2x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// `bottom_right` would move the window, which lies at position i.
//
// CHECK-LABEL: func.func @bottom_right_with_window
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @bottom_right_with_window(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[true, true, true, false], [true, true, true, true]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>) window = <left = 0>
    : tensor<1x2x2x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// `causal` would follow the offset; the mask does not.
//
// CHECK-LABEL: func.func @top_left_with_offset
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @top_left_with_offset(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x4x8xf32>,
    %n: i32)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[true, false, false, false], [true, true, false, false]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>) query_offset(%n : i32)
    : tensor<1x2x2x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// Two triangles are not one.
//
// CHECK-LABEL: func.func @triangle_and_causal
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @triangle_and_causal(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[[true, false, false, false], [true, true, false, false]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>) causal = bottom_right
    : tensor<1x2x2x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// A row that does not see its own key is not causal.
//
// CHECK-LABEL: func.func @strict_triangle
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @strict_triangle(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x3x8xf32> {
  %m = arith.constant dense<[[false, false, false], [true, false, false], [true, true, false]]> : tensor<3x3xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<3x3xi1>)
    : tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// -----

// Without the mask nobody would notice that there are not 2 rows.
//
// CHECK-LABEL: func.func @triangle_states_sizes
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @triangle_states_sizes(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x4x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %m = arith.constant dense<[[true, false, false, false], [true, true, false, false]]> : tensor<2x4xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x4xi1>)
    : tensor<1x2x?x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}
