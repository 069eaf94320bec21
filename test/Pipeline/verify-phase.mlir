// RUN: attn-opt %s --attn-verify-phase=phase=input
// RUN: not attn-opt %s --attn-verify-phase=phase=core 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CORE
// RUN: not attn-opt %s --attn-verify-phase=phase=linalg 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LINALG
// RUN: not attn-opt %s --attn-verify-phase=phase=buffers 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BUFFERS
// RUN: not attn-opt %s --attn-verify-phase=phase=llvm 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LLVM
// RUN: not attn-opt %s --attn-verify-phase=phase=lingal 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// CORE: error: 'attn.rope' op expects to be gone after phase 'core'
// LINALG: error: 'attn.rope' op expects to be gone after phase 'linalg'
// BUFFERS: error: 'attn.rope' op expects no tensor after phase 'buffers'
// LLVM: error: 'attn.rope' op expects to be gone after phase 'llvm'
// UNKNOWN: error: expects the name of a phase, got 'lingal'; known: input, core, schedule, tiles, linalg, vectors, buffers, kernels, nvvm, llvm, object; nearest: linalg
func.func @rope(%x: tensor<1x2x4x8xf32>, %c: tensor<1x4x4xf32>)
    -> tensor<1x2x4x8xf32> {
  %y = attn.rope %x, %c, %c
    : tensor<1x2x4x8xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>
  return %y : tensor<1x2x4x8xf32>
}
