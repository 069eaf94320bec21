// Launches that a GPU would refuse.
//
// RUN: echo "// LAUNCH none grid 1 block 32 shared 0 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: attn-emulate: no kernel is called 'none'
//
// RUN: echo "// LAUNCH k grid 1 block 32x33 shared 0 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: attn-emulate: kernel 'k' expects 1 to 1024 threads a block, got 1056
//
// RUN: echo "// LAUNCH k grid 1x0 block 32 shared 0 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: attn-emulate: kernel 'k' expects a grid of at least one block
//
// RUN: echo "// LAUNCH k grid 1 block 32 shared 4194304000 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: attn-emulate: kernel 'k' expects up to 232448 bytes of shared memory, got 4194304000
//
// RUN: echo "// LAUNCH sized grid 1 block 32 shared 0 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=SIZED
// SIZED: attn-emulate: kernel 'sized' expects blocks of 64 threads on axis 0, got 32

// Kernels of two modules may have one name: it alone names none of them.
//
// RUN: echo "// LAUNCH twice grid 1 block 1 shared 0 with" > %t
// RUN: not attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: attn-emulate: kernels of several modules are called 'twice', expects 'module::twice'
//
// RUN: echo "// BUFFER out i32 1 zero" > %t
// RUN: echo "// LAUNCH m::twice grid 1 block 1 shared 0 with out" >> %t
// RUN: echo "// PRINT out" >> %t
// RUN: echo "// LAUNCH n::twice grid 1 block 1 shared 0 with out" >> %t
// RUN: echo "// PRINT out" >> %t
// RUN: attn-emulate %s --script=%t 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: m::twice: 0 reports
// EACH-NEXT: out = 1
// EACH-NEXT: n::twice: 0 reports
// EACH-NEXT: out = 2

gpu.module @n {
  llvm.func @twice(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %two = llvm.mlir.constant(2 : i32) : i32
    llvm.store %two, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}

gpu.module @m {
  llvm.func @twice(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.store %one, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
  llvm.func @sized() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    llvm.return
  }
}
