// Static extents of 0 are gone after the pass.
//
// RUN: attn-opt %s --attn-normalize-operands | FileCheck %s

// Rows without keys are 0, and their lse is the sink.
//
// CHECK-LABEL: func.func @no_keys
// CHECK-NOT: attn.sdpa
// CHECK: %[[O:.*]] = linalg.fill {{.*}} -> tensor<1x2x8x4xf32>
// CHECK: %[[L:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2xf16>)
// CHECK: return %[[O]], %[[L]]
func.func @no_keys(%q: tensor<1x2x8x16xf32>, %k: tensor<1x2x0x16xf32>, %v: tensor<1x2x0x4xf32>, %s: tensor<2xf16>) -> (tensor<1x2x8x4xf32>, tensor<1x2x8xf32>) {
  %o, %l = attn.sdpa %q, %k, %v sinks(%s : tensor<2xf16>) : tensor<1x2x8x16xf32>, tensor<1x2x0x16xf32>, tensor<1x2x0x4xf32> -> tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
  return %o, %l : tensor<1x2x8x4xf32>, tensor<1x2x8xf32>
}

// Without channels all products are 0, as those of one channel of zeros.
//
// CHECK-LABEL: func.func @no_channels
// CHECK: attn.sdpa {{.*}} scale = 1.0{{.*}} : tensor<1x2x8x1xf32>, tensor<1x2x9x1xf32>, tensor<1x2x9x4xf32>
func.func @no_channels(%q: tensor<1x2x8x0xf32>, %k: tensor<1x2x9x0xf32>, %v: tensor<1x2x9x4xf32>) -> tensor<1x2x8x4xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x2x8x0xf32>, tensor<1x2x9x0xf32>, tensor<1x2x9x4xf32> -> tensor<1x2x8x4xf32>
  return %o : tensor<1x2x8x4xf32>
}

// The lse does not need values.
//
// CHECK-LABEL: func.func @no_values
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x2x8x0xf32>
// CHECK: %{{.*}}, %[[L:.*]] = attn.sdpa {{.*}} -> tensor<1x2x8x1xf32>, tensor<1x2x8xf32>
// CHECK: return %[[E]], %[[L]]
func.func @no_values(%q: tensor<1x2x8x4xf32>, %k: tensor<1x2x9x4xf32>, %v: tensor<1x2x9x0xf32>) -> (tensor<1x2x8x0xf32>, tensor<1x2x8xf32>) {
  %o, %l = attn.sdpa %q, %k, %v : tensor<1x2x8x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x0xf32> -> tensor<1x2x8x0xf32>, tensor<1x2x8xf32>
  return %o, %l : tensor<1x2x8x0xf32>, tensor<1x2x8xf32>
}

// An extent of 0 is seen behind a cast.
//
// CHECK-LABEL: func.func @cast
// CHECK-NOT: attn.sdpa
// CHECK: return
func.func @cast(%q: tensor<1x2x8x16xf32>, %none: tensor<1x2x0x16xf32>) -> tensor<1x2x8x16xf32> {
  %k = tensor.cast %none : tensor<1x2x0x16xf32> to tensor<1x2x?x16xf32>
  %o = attn.sdpa %q, %k, %k : tensor<1x2x8x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// A mask for no keys says that there are none, and so do no pages.
//
// CHECK-LABEL: func.func @no_keys_in_mask
// CHECK-NOT: attn.sdpa
// CHECK: linalg.fill
func.func @no_keys_in_mask(%q: tensor<1x2x8x4xf32>, %k: tensor<1x2x?x4xf32>, %m: tensor<8x0xi1>) -> tensor<1x2x8x4xf32> {
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<8x0xi1>)
    : tensor<1x2x8x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32> -> tensor<1x2x8x4xf32>
  return %o : tensor<1x2x8x4xf32>
}

// CHECK-LABEL: func.func @no_pages
// CHECK-NOT: attn.sdpa
// CHECK: linalg.fill
func.func @no_pages(%q: tensor<1x2x8x4xf32>, %k: tensor<9x2x?x4xf32>, %t: tensor<1x0xi32>) -> tensor<1x2x8x4xf32> {
  %o = attn.sdpa %q, %k, %k page_table(%t : tensor<1x0xi32>)
    : tensor<1x2x8x4xf32>, tensor<9x2x?x4xf32>, tensor<9x2x?x4xf32> -> tensor<1x2x8x4xf32>
  return %o : tensor<1x2x8x4xf32>
}
