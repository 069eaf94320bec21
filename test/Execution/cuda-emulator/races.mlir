// Accesses to shared memory that nothing orders are found under every schedule; with a barrier between there are none.
//
// RUN: attn-emulate %s | FileCheck %s

// BUFFER out f32 64 zero

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Each thread reads what another warp wrote: too early, or while it is written.
  //
  // CHECK-LABEL: read_too_early: 3 reports
  // CHECK-NEXT: uninitialized: kernel 'read_too_early', block (0,0,0): thread (0,0,0) (llvm.load at {{.*}}races.mlir:[[# @LINE + 16]]:10) reads byte 128 of shared memory, which nobody has written (32 times)
  // CHECK-NEXT: race: kernel 'read_too_early', block (0,0,0): thread (32,0,0) (llvm.store at {{.*}}races.mlir:[[# @LINE + 14]]:5) writes byte 128 of shared memory, thread (0,0,0) (llvm.load at {{.*}}races.mlir:[[# @LINE + 15]]:10) reads it, and nothing orders the two (32 times)
  // CHECK-NEXT: race: kernel 'read_too_early', block (0,0,0): thread (32,0,0) (llvm.load at {{.*}}races.mlir:[[# @LINE + 14]]:10) reads byte 0 of shared memory, thread (0,0,0) (llvm.store at {{.*}}races.mlir:[[# @LINE + 13]]:5) writes it, and nothing orders the two (32 times)
  // CHECK-NEXT: values depend on the schedule
  //
  // LAUNCH read_too_early grid 1 block 64 shared 256 with out
  llvm.func @read_too_early(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %half = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %other = llvm.xor %tid, %half : i32
    %value = llvm.sitofp %tid : i32 to f32
    %mine = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %value, %mine : f32, !llvm.ptr<3>
    %x = llvm.load %theirs : !llvm.ptr<3> -> f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: read_in_time: 0 reports
  // CHECK-NEXT: out = 32 33 34
  //
  // LAUNCH read_in_time grid 1 block 64 shared 256 with out
  // PRINT out 3
  llvm.func @read_in_time(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %half = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %other = llvm.xor %tid, %half : i32
    %value = llvm.sitofp %tid : i32 to f32
    %mine = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %value, %mine : f32, !llvm.ptr<3>
    nvvm.barrier0
    %x = llvm.load %theirs : !llvm.ptr<3> -> f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }

  // A second round without a barrier behind the reads: a write after a read.
  //
  // CHECK-LABEL: write_too_early: 2 reports
  // CHECK-NEXT: race: {{.*}} (llvm.{{load|store}} at {{.*}}) {{reads|writes}} byte {{.*}}, and nothing orders the two
  //
  // LAUNCH write_too_early grid 1 block 64 shared 256 with out
  //
  // CHECK-LABEL: write_in_time: 0 reports
  //
  // LAUNCH write_in_time grid 1 block 64 shared 256 with out
  llvm.func @write_too_early(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %half = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %other = llvm.xor %tid, %half : i32
    %mine = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3>
    nvvm.barrier0
    %x = llvm.load %theirs : !llvm.ptr<3> -> i32
    llvm.store %x, %mine : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @write_in_time(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %half = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %other = llvm.xor %tid, %half : i32
    %mine = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3>
    nvvm.barrier0
    %x = llvm.load %theirs : !llvm.ptr<3> -> i32
    nvvm.barrier0
    llvm.store %x, %mine : i32, !llvm.ptr<3>
    llvm.return
  }

  // All threads write one word.
  //
  // CHECK-LABEL: write_write: 1 reports
  // CHECK-NEXT: race: {{.*}} (llvm.store at {{.*}}:[[# @LINE + 6]]:5) writes byte 0 of shared memory, {{.*}} (llvm.store at {{.*}}:[[# @LINE + 6]]:5) writes it, and nothing orders the two (31 times)
  //
  // LAUNCH write_write grid 1 block 32 shared 256 with out
  llvm.func @write_write(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %tid, %tile : i32, !llvm.ptr<3>
    llvm.return
  }

  // Atomic updates need no order among each other, but the first value does, and so does the last.
  //
  // CHECK-LABEL: count_with_atomics: 0 reports
  // CHECK-NEXT: out = 64
  // CHECK-LABEL: atomics_too_early: 1 reports
  // CHECK-NEXT: race: {{.*}}(llvm.atomicrmw at
  //
  // LAUNCH count_with_atomics grid 1 block 64 shared 256 with out
  // PRINT out 1
  // LAUNCH atomics_too_early grid 1 block 64 shared 256 with out
  llvm.func @count_with_atomics(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %first = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.icmp "eq" %tid, %first : i32
    llvm.cond_br %is, ^init, ^go
  ^init:
    llvm.store %zero, %tile : f32, !llvm.ptr<3>
    llvm.br ^go
  ^go:
    nvvm.barrier0
    %old = llvm.atomicrmw fadd %tile, %one monotonic : !llvm.ptr<3>, f32
    nvvm.barrier0
    %sum = llvm.load %tile : !llvm.ptr<3> -> f32
    llvm.store %sum, %out : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @atomics_too_early(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %first = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.icmp "eq" %tid, %first : i32
    llvm.cond_br %is, ^init, ^go
  ^init:
    llvm.store %zero, %tile : f32, !llvm.ptr<3>
    llvm.br ^go
  ^go:
    %all = llvm.mlir.constant(-1 : i32) : i32
    nvvm.bar.warp.sync %all : i32
    %old = llvm.atomicrmw fadd %tile, %one monotonic : !llvm.ptr<3>, f32
    llvm.return
  }
}
