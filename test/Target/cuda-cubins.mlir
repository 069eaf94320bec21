// ptxas takes every kernel, for each architecture; a library holds them all.
//
// REQUIRES: attnc, ptxas, cc
// RUN: attnc %s --target=sm_80 -o %t.80.cubin
// RUN: attnc %s --target=sm_86 -o %t.86.cubin
// RUN: attnc %s --target=sm_89 -o %t.89.cubin
// RUN: attnc %s --target=sm_90 -o %t.90.cubin
// RUN: attnc %s --target=sm_90a -o %t.90a.cubin
// RUN: attnc %s --target=sm_80,sm_90a -o %t.so --header=%t.h
// RUN: llvm-nm -D --defined-only %t.so | FileCheck %s --implicit-check-not=attn_cuda --implicit-check-not=attn_rt
//
// CHECK-DAG: T attention
// CHECK-DAG: T attention_apply
// CHECK-DAG: T attention_shape
// CHECK-DAG: T attention_status
// CHECK-DAG: T attention_workspace
//
// Where there is no GPU, calls say so.
//
// RUN: %python %S/Inputs/call-without-gpu.py %t.so | FileCheck %s --check-prefix=CALL
// CALL: workspace: 0 {{[0-9]+}}
// CALL: call: {{11 'attention' expects a GPU|0}}
func.func @attention(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>,
                     %v: tensor<1x2x?x16xf32>, %lengths: tensor<1xi32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%lengths : tensor<1xi32>) : tensor<1x4x?x16xf32>,
    tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
