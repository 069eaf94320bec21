// Copies by cp.async: what is read before they were waited for, what they overwrite, and what nobody waits for.
//
// RUN: attn-emulate %s | FileCheck %s

// BUFFER in f32 256 iota
// BUFFER out f32 128 zero

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Copies the 16 bytes of this thread from `from` on in global memory to `to` in shared memory, as a group.
  llvm.func @copy(%in: !llvm.ptr<1>, %from: i32, %to: i32) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %mine = llvm.mul %tid, %four : i32
    %i = llvm.add %mine, %from : i32
    %j = llvm.add %mine, %to : i32
    %source = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %target = llvm.getelementptr %tile[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    nvvm.cp.async.shared.global %target, %source, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    llvm.return
  }

  // Writes to global memory the number of shared memory that lies `offset` behind what this thread has copied first.
  llvm.func @read(%out: !llvm.ptr<1>, %offset: i32) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %mine = llvm.mul %tid, %four : i32
    %i = llvm.add %mine, %offset : i32
    %from = llvm.getelementptr %tile[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %from : !llvm.ptr<3> -> f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: waits: 0 reports
  // CHECK-NEXT: out = 0 4 8 12
  //
  // LAUNCH waits grid 1 block 32 shared 1024 with in out
  // PRINT out 4
  llvm.func @waits(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %next = llvm.mlir.constant(128 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.call @copy(%in, %next, %next) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 1
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    nvvm.cp.async.wait.group 0
    llvm.return
  }

  // Waits for all but two groups where only one may be left: the copy may not be done.
  //
  // CHECK-LABEL: waits_too_little: 1 reports
  // CHECK-NEXT: race: {{.*}} thread (0,0,0) (llvm.load at {{.*}}:[[# @LINE - 24]]:10) reads byte 0 of shared memory, what thread (0,0,0) started (nvvm.cp.async.shared.global at {{.*}}copies.mlir:[[# @LINE - 38]]:5) writes it, and nothing orders the two
  // CHECK-NEXT: values depend on the schedule
  //
  // LAUNCH waits_too_little grid 1 block 32 shared 1024 with in out
  llvm.func @waits_too_little(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %next = llvm.mlir.constant(128 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.call @copy(%in, %next, %next) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 2
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    nvvm.cp.async.wait.group 0
    llvm.return
  }

  // A thread that has waited for its own copies knows nothing of those of others: a barrier is missing.
  //
  // CHECK-LABEL: reads_of_others: 3 reports
  // CHECK: race: {{.*}} (llvm.load at {{.*}}) reads byte {{.*}}, what thread ({{.*}},0,0) started (nvvm.cp.async.shared.global at {{.*}}) writes it
  // CHECK-LABEL: reads_of_others_behind_barrier: 0 reports
  //
  // LAUNCH reads_of_others grid 1 block 32 shared 1040 with in out
  // LAUNCH reads_of_others_behind_barrier grid 1 block 32 shared 1040 with in out
  llvm.func @reads_of_others(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %next = llvm.mlir.constant(128 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.call @copy(%in, %next, %next) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 0
    llvm.call @read(%out, %four) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }
  llvm.func @reads_of_others_behind_barrier(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %next = llvm.mlir.constant(128 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.call @copy(%in, %next, %next) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    llvm.call @read(%out, %four) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // The next copy goes where another thread still reads: seen when it starts, early or late.
  //
  // CHECK-LABEL: overwrites_stage: 2 reports
  // CHECK: race: {{.*}} what thread ({{.*}}) started (nvvm.cp.async.shared.global at {{.*}}) writes byte {{.*}}, thread ({{.*}}) (llvm.load at {{.*}}) reads it
  // CHECK-LABEL: overwrites_stage_in_time: 0 reports
  //
  // LAUNCH overwrites_stage grid 1 block 32 shared 1040 with in out
  // LAUNCH overwrites_stage_in_time grid 1 block 32 shared 1040 with in out
  llvm.func @overwrites_stage(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %next = llvm.mlir.constant(128 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.call @copy(%in, %next, %next) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    llvm.call @read(%out, %four) : (!llvm.ptr<1>, i32) -> ()
    llvm.call @copy(%in, %next, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 0
    llvm.return
  }
  llvm.func @overwrites_stage_in_time(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %next = llvm.mlir.constant(128 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.call @copy(%in, %next, %next) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    llvm.call @read(%out, %four) : (!llvm.ptr<1>, i32) -> ()
    nvvm.barrier0
    llvm.call @copy(%in, %next, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    nvvm.cp.async.wait.group 0
    llvm.return
  }

  // CHECK-LABEL: never_waits: 1 reports
  // CHECK-NEXT: copy not waited for: {{.*}} thread (0,0,0) ends before its copy is done (nvvm.cp.async.shared.global at {{.*}}copies.mlir:{{.*}})
  //
  // LAUNCH never_waits grid 1 block 32 shared 1024 with in
  llvm.func @never_waits(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.call @copy(%in, %zero, %zero) : (!llvm.ptr<1>, i32, i32) -> ()
    llvm.return
  }

  // Rows beyond the end are filled with zeros, and their addresses do not matter.
  //
  // CHECK-LABEL: fills_with_zeros: 0 reports
  // CHECK-NEXT: out = 0 0 0
  //
  // LAUNCH fills_with_zeros grid 1 block 32 shared 1024 with in out
  // PRINT out 3
  llvm.func @fills_with_zeros(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %mine = llvm.mul %tid, %four : i32
    %source = llvm.getelementptr %in[4096] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %target = llvm.getelementptr %tile[%mine] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    nvvm.cp.async.shared.global %target, %source, 16, cache = cg, %zero : !llvm.ptr<3>, !llvm.ptr<1>, i32
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // Copies 16 rows of 64 bytes, unit `unit` of 16 bytes by this thread, and reads the words at the start of the units.
  llvm.func @copy_rows(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %unit: i32) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %i = llvm.mul %tid, %four : i32
    %j = llvm.mul %unit, %four : i32
    %source = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %target = llvm.getelementptr %tile[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    nvvm.cp.async.shared.global %target, %source, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // A row of 64 bytes has 4 units, which every second row exchanges in another way.
  //
  // CHECK-LABEL: swizzle: 0 reports
  // CHECK-NEXT: out = 0 4 8 12 16 20 24 28 36 32
  //
  // LAUNCH swizzle grid 1 block 64 shared 2048 with in out
  // PRINT out 10
  llvm.func @swizzle(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %three = llvm.mlir.constant(3 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %pair = llvm.lshr %tid, %three : i32
    %swizzle = llvm.and %pair, %three : i32
    %unit = llvm.xor %tid, %swizzle : i32
    llvm.call @copy_rows(%in, %out, %unit) : (!llvm.ptr<1>, !llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // The swizzle of rows of 128 bytes leaves rows of 64: what one row has left is never written, what it has gone to is
  // also another's.
  //
  // CHECK-LABEL: wrong_swizzle: 2 reports
  // CHECK-DAG: race: {{.*}} what thread ({{.*}}) started (nvvm.cp.async.shared.global at {{.*}}) writes byte {{.*}} of shared memory, what thread ({{.*}}) started (nvvm.cp.async.shared.global at {{.*}}) writes it, and nothing orders the two
  // CHECK-DAG: uninitialized: {{.*}} (llvm.load at {{.*}}) reads byte 256 of shared memory, which nobody has written
  //
  // LAUNCH wrong_swizzle grid 1 block 64 shared 2048 with in out
  llvm.func @wrong_swizzle(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %two = llvm.mlir.constant(2 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = llvm.lshr %tid, %two : i32
    %start = llvm.shl %row, %two : i32
    %place = llvm.and %tid, %three : i32
    %swizzle = llvm.and %row, %seven : i32
    %swizzled = llvm.xor %place, %swizzle : i32
    %unit = llvm.add %start, %swizzled : i32
    llvm.call @copy_rows(%in, %out, %unit) : (!llvm.ptr<1>, !llvm.ptr<1>, i32) -> ()
    llvm.return
  }
}
