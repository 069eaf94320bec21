// RUN: attn-opt %s --convert-nvvm-to-host-calls --split-input-file --verify-diagnostics

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.inline_asm' op has no counterpart on the host}}
    llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> ()
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<3>) attributes {nvvm.kernel} {
    %size = llvm.mlir.constant(64 : i64) : i64
    // expected-error @below {{'nvvm.st.bulk' op has no counterpart on the host}}
    nvvm.st.bulk %p, size = %size : !llvm.ptr<3>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%a: i32, %c: i32) attributes {nvvm.kernel} {
    // expected-error @below {{'nvvm.mma.sync' op of this shape and these types has no counterpart on the host}}
    %d = nvvm.mma.sync A[%a, %a] B[%a] C[%c, %c, %c, %c]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 32>,
       multiplicandAPtxType = #nvvm.mma_type<s4>, multiplicandBPtxType = #nvvm.mma_type<s4>, intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>}
      : (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @k(%p: !llvm.ptr) attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.call' op of 'vprintf' has no counterpart on the host}}
    %n = llvm.call @vprintf(%p, %p) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: f32) attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.call_intrinsic' op of 'llvm.nvvm.ex3' has no counterpart on the host}}
    %y = llvm.call_intrinsic "llvm.nvvm.ex3"(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'func.func' op is not expected in a gpu.module that goes to the host, only llvm.func and llvm.mlir.global are}}
  func.func @k() {
    return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'llvm.mlir.global' op expects a shared variable of no size to be external}}
  llvm.mlir.global internal @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
}
