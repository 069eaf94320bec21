// The pipelines of the single phases, one after the other, are the whole road.
//
// RUN: attn-opt %s --attn-set-target --attn-phase-input --attn-phase-core \
// RUN:   --attn-phase-schedule --attn-phase-tiles --attn-phase-linalg \
// RUN:   --attn-phase-vectors --attn-phase-buffers --attn-phase-llvm \
// RUN:   --attn-verify-phase=phase=llvm | FileCheck %s

// CHECK: llvm.func @attention_apply
func.func @attention(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>,
                     %v: tensor<1x2x?x16xf32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>,
    tensor<1x2x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
