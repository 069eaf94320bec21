// A function that a GPU would not get is none here either.
//
// RUN: echo "// LAUNCH k grid 1 block 1 shared 0 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s
// CHECK: error: expects functions that kernels have, got a call of '__nv_lgammaf'
// CHECK: attn-emulate: no machine code could be made of kernels
gpu.module @m {
  llvm.func @__nv_lgammaf(f32) -> f32
  llvm.func @k() attributes {nvvm.kernel} {
    %x = llvm.mlir.constant(2.0 : f32) : f32
    %y = llvm.call @__nv_lgammaf(%x) : (f32) -> f32
    llvm.return
  }
}
