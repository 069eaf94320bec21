// A thread that computes for ever ends its block, and the launch.
//
// RUN: attn-emulate %s --seeds=1 | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: endless: 1 reports
  // CHECK-NEXT: endless loop: {{.*}} thread (0,0,0) has gone round loops 268435456 times, the last time at llvm.br at {{.*}}endless.mlir:[[# @LINE + 8]]:5
  //
  // LAUNCH endless grid 1 block 1 shared 0 with
  llvm.func @endless() attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^next(%one : i32)
  ^next(%i: i32):
    %j = llvm.add %i, %one : i32
    llvm.br ^next(%j : i32)
  }
}
