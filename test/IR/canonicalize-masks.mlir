// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s

// A mask that lets everything pass is dropped.
//
// CHECK-LABEL: func.func @all_true
// CHECK: attn.sdpa
// CHECK-NOT: mask
func.func @all_true(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<true> : tensor<2x3xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x3xi1>)
    : tensor<1x2x2x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// In memory a boolean is a byte; each that is not zero attends.
//
// CHECK-LABEL: func.func @all_true_bytes
// CHECK: attn.sdpa
// CHECK-NOT: mask
func.func @all_true_bytes(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[1, -1, 7]> : tensor<3xi8>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<3xi8>)
    : tensor<1x2x2x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// A mask that excludes one key stays.
//
// CHECK-LABEL: func.func @one_false
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @one_false(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[true, true, false]> : tensor<3xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<3xi1>)
    : tensor<1x2x2x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// Without the mask nobody would notice that there are not 2 rows.
//
// CHECK-LABEL: func.func @all_true_states_rows
// CHECK: attn.sdpa
// CHECK-SAME: mask(
func.func @all_true_states_rows(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %m = arith.constant dense<true> : tensor<2x3xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<2x3xi1>)
    : tensor<1x2x?x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// A mask that broadcasts says nothing about the sizes.
//
// CHECK-LABEL: func.func @all_true_broadcast
// CHECK: attn.sdpa
// CHECK-NOT: mask
func.func @all_true_broadcast(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x?x8xf32> {
  %m = arith.constant dense<true> : tensor<1x1xi1>
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<1x1xi1>)
    : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}

// -----

// Adding zeros of either sign changes nothing.
//
// CHECK-LABEL: func.func @zero_bias
// CHECK: attn.sdpa
// CHECK-NOT: bias
func.func @zero_bias(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[0.0, -0.0, 0.0]> : tensor<3xf32>
  %o = attn.sdpa %q, %k, %k bias(%m : tensor<3xf32>)
    : tensor<1x2x2x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// A bias of -inf excludes its key.
//
// CHECK-LABEL: func.func @infinite_bias
// CHECK: attn.sdpa
// CHECK-SAME: bias(
func.func @infinite_bias(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x3x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<[0.0, 0xFF800000, 0.0]> : tensor<3xf32>
  %o = attn.sdpa %q, %k, %k bias(%m : tensor<3xf32>)
    : tensor<1x2x2x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}

// -----

// Without the bias nobody would notice that there are not 3 keys.
//
// CHECK-LABEL: func.func @zero_bias_states_keys
// CHECK: attn.sdpa
// CHECK-SAME: bias(
func.func @zero_bias_states_keys(%q: tensor<1x2x2x8xf32>, %k: tensor<1x2x?x8xf32>)
    -> tensor<1x2x2x8xf32> {
  %m = arith.constant dense<0.0> : tensor<3xf32>
  %o = attn.sdpa %q, %k, %k bias(%m : tensor<3xf32>)
    : tensor<1x2x2x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x2x2x8xf32>
  return %o : tensor<1x2x2x8xf32>
}
