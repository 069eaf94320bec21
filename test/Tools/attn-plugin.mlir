// A stock mlir-opt knows the dialect and the passes once the plugin is loaded.
//
// REQUIRES: AttnPlugin
// UNSUPPORTED: sanitize
// RUN: mlir-opt %s --load-dialect-plugin=%lib/AttnPlugin.so \
// RUN:   --load-pass-plugin=%lib/AttnPlugin.so \
// RUN:   --pass-pipeline='builtin.module(convert-attn-to-linalg)' \
// RUN:   | FileCheck %s

// CHECK-LABEL: func.func @attention
// CHECK-NOT: attn.
// CHECK: linalg.generic
func.func @attention(%q: tensor<1x2x8x16xf32>, %k: tensor<1x2x4x16xf32>,
                     %v: tensor<1x2x4x16xf32>) -> tensor<1x2x8x16xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x2x8x16xf32>, tensor<1x2x4x16xf32>,
    tensor<1x2x4x16xf32> -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}
