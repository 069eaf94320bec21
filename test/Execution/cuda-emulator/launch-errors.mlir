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

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
  llvm.func @sized() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    llvm.return
  }
}
