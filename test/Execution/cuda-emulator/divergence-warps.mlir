// Barriers count whole warps, and the lanes of a warp come together.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

gpu.module @m {
  // Half of each of two warps for a barrier of 32 threads: as many as it waits for, and yet no whole warp. One warp is.
  //
  // CHECK-LABEL: {{^}}halves: {{[1-9]}} reports
  // CHECK: divergent barrier: {{.*}} only 16 threads of warp {{[01]}} arrive at nvvm.barrier at
  // CHECK-LABEL: {{^}}whole: 0 reports
  //
  // LAUNCH halves grid 1 block 64 shared 0 with
  // LAUNCH whole grid 1 block 64 shared 0 with
  llvm.func @halves() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %half = llvm.mlir.constant(16 : i32) : i32
    %count = llvm.mlir.constant(32 : i32) : i32
    %bit = llvm.and %tid, %half : i32
    %is = llvm.icmp "eq" %bit, %zero : i32
    llvm.cond_br %is, ^meet, ^done
  ^meet:
    nvvm.barrier id = %one number_of_threads = %count
    llvm.br ^done
  ^done:
    nvvm.barrier0
    llvm.return
  }
  llvm.func @whole() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(32 : i32) : i32
    %is = llvm.icmp "ult" %tid, %count : i32
    llvm.cond_br %is, ^meet, ^done
  ^meet:
    nvvm.barrier id = %one number_of_threads = %count
    llvm.br ^done
  ^done:
    nvvm.barrier0
    llvm.return
  }

  // A count that is no multiple of 32, and a barrier that there is not.
  //
  // CHECK-LABEL: {{^}}odd_count: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} waits for 48 threads, which are no whole warps
  // CHECK-LABEL: {{^}}no_such_barrier: 1 reports
  // CHECK-NEXT: misuse: {{.*}} names barrier 16, there are 16
  //
  // LAUNCH odd_count grid 1 block 64 shared 0 with
  // LAUNCH no_such_barrier grid 1 block 32 shared 0 with
  llvm.func @odd_count() attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(48 : i32) : i32
    nvvm.barrier id = %one number_of_threads = %count
    llvm.return
  }
  llvm.func @no_such_barrier() attributes {nvvm.kernel} {
    %id = llvm.mlir.constant(16 : i32) : i32
    %count = llvm.mlir.constant(32 : i32) : i32
    nvvm.barrier id = %id number_of_threads = %count
    llvm.return
  }
}
