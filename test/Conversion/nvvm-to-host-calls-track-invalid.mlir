// RUN: attn-opt %s --convert-nvvm-to-host-calls=track --verify-diagnostics

// No access goes by the tracker: what it does not know is refused.
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<3>, %n: i32) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(dense<true> : vector<4xi1>) : vector<4xi1>
    // expected-error @below {{'llvm.intr.vp.load' op accesses memory in a way that the tracker of the emulator does not know}}
    %x = "llvm.intr.vp.load"(%p, %all, %n) : (!llvm.ptr<3>, vector<4xi1>, i32) -> vector<4xf32>
    llvm.return
  }
}
