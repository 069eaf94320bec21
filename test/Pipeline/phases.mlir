// What each phase makes of one attention, and that each keeps its promise.
//
// RUN: attn-opt %s --attn-cpu-pipeline="target=x86_64-linux-gnu:x86-64-v3 stop-after=core" \
// RUN:   | FileCheck %s --check-prefix=CORE
// RUN: attn-opt %s --attn-cpu-pipeline="target=x86_64-linux-gnu:x86-64-v3 stop-after=linalg" \
// RUN:   | FileCheck %s --check-prefix=LINALG
// RUN: attn-opt %s --attn-cpu-pipeline="target=x86_64-linux-gnu:x86-64-v3 stop-after=buffers" \
// RUN:   | FileCheck %s --check-prefix=BUFFERS
// RUN: attn-opt %s --attn-cpu-pipeline="target=x86_64-linux-gnu:x86-64-v3" \
// RUN:   | FileCheck %s --check-prefix=LLVM
// RUN: not attn-opt %s --attn-cpu-pipeline="stop-after=core2" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: expects the name of a phase, got 'core2'; known: input, core,

// CORE: attn.target
// CORE-LABEL: func.func @attention
// CORE: attn.sdpa
// CORE: func.func private @attention.shape
// CORE: func.func private @attention.check

// LINALG-LABEL: func.func @attention
// LINALG-NOT: attn.{{[a-z]+}} %

// BUFFERS-LABEL: func.func @attention
// BUFFERS-NOT: tensor.
// BUFFERS-NOT: linalg.

// LLVM-DAG: llvm.func internal @attention.body
// LLVM-DAG: llvm.func internal @attention.check
// LLVM-DAG: llvm.func internal @attention.shape
// LLVM-DAG: llvm.func @attention(
// LLVM-DAG: llvm.func @attention_apply(
// LLVM-DAG: llvm.func @attention_shape(
func.func @attention(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>,
                     %v: tensor<1x2x?x16xf32>) -> tensor<1x4x?x16xf32> {
  %o = call @inner(%q, %k, %v) : (tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>,
    tensor<1x2x?x16xf32>) -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}

// A private function becomes a part of those that call it.
//
// CORE-NOT: @inner
func.func private @inner(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>,
                         %v: tensor<1x2x?x16xf32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>,
    tensor<1x2x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
