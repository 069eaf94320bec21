// What barriers in shared memory are not made for.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

// BUFFER in f32 128 iota
// BUFFER out f32 32 zero

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // The bytes of a barrier are no number that can be read or written, until the barrier is taken back.
  //
  // CHECK-LABEL: {{^}}reads_barrier: 1 reports
  // CHECK-NEXT: misuse: {{.*}} thread (0,0,0) (llvm.load at {{.*}}) reads byte 0 of shared memory, where an mbarrier lies (nvvm.mbarrier.init at {{.*}})
  // CHECK-LABEL: {{^}}overwrites_barrier: 1 reports
  // CHECK-NEXT: misuse: {{.*}} thread (0,0,0) (llvm.store at {{.*}}) writes byte 4 of shared memory, where an mbarrier lies (nvvm.mbarrier.init at {{.*}})
  // CHECK-LABEL: {{^}}takes_back: 0 reports
  //
  // LAUNCH reads_barrier grid 1 block 1 shared 64 with
  // LAUNCH overwrites_barrier grid 1 block 1 shared 64 with
  // LAUNCH takes_back grid 1 block 1 shared 64 with
  llvm.func @reads_barrier() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    %x = llvm.load %bar : !llvm.ptr<3> -> i64
    llvm.return
  }
  llvm.func @overwrites_barrier() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    %half = llvm.getelementptr %bar[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %one, %half : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @takes_back() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.inval %bar : !llvm.ptr<3>
    llvm.store %one, %bar : i32, !llvm.ptr<3>
    %x = llvm.load %bar : !llvm.ptr<3> -> i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}no_arrivals: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} (nvvm.mbarrier.init at {{.*}}) initializes an mbarrier for 0 arrivals, not for 1 to 1048575
  // CHECK-LABEL: {{^}}too_many_bytes: 1 reports
  // CHECK-NEXT: misuse: {{.*}} (nvvm.mbarrier.arrive.expect_tx at {{.*}}) lets an mbarrier wait for 1048576 bytes, it can count 1048575
  //
  // LAUNCH no_arrivals grid 1 block 1 shared 64 with
  // LAUNCH too_many_bytes grid 1 block 1 shared 64 with
  llvm.func @no_arrivals() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    nvvm.mbarrier.init %bar, %zero : !llvm.ptr<3>, i32
    llvm.return
  }
  llvm.func @too_many_bytes() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(0x100000 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
    llvm.return
  }

  // Copies arrive: at a barrier that is gone; one more than it waits for, where bytes are still on their way; and when
  // nobody is left to see it.
  //
  // CHECK-LABEL: {{^}}copies_come_late: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} copies (nvvm.cp.async.mbarrier.arrive at {{.*}}) arrive at an mbarrier that is gone
  // CHECK-LABEL: {{^}}copies_too_many: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} copies (nvvm.cp.async.mbarrier.arrive at {{.*}}) arrive at an mbarrier that waits for nobody
  //
  // CHECK-LABEL: {{^}}copies_for_nobody: 1 reports
  // CHECK-NEXT: copy not waited for: {{.*}} the block ends before copies are done and arrive (nvvm.cp.async.mbarrier.arrive at
  //
  // LAUNCH copies_come_late grid 1 block 1 shared 64 with in
  // LAUNCH copies_too_many grid 1 block 1 shared 64 with in
  // LAUNCH copies_for_nobody grid 1 block 1 shared 64 with in
  llvm.func @copies_come_late(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %data, %in, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>
    nvvm.cp.async.commit.group
    nvvm.mbarrier.inval %bar : !llvm.ptr<3>
    nvvm.cp.async.wait.group 0
    llvm.return
  }
  llvm.func @copies_too_many(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(16 : i32) : i32
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %data, %in, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>
    llvm.return
  }

  llvm.func @copies_for_nobody(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.cp.async.shared.global %data, %in, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>
    llvm.return
  }

  // A kernel may make more barriers, one after the other, than there are numbers of 16 bits.
  //
  // CHECK-LABEL: {{^}}makes_many: 0 reports
  // CHECK-NEXT: out = 1
  //
  // LAUNCH makes_many grid 1 block 64 shared 64 with out
  // PRINT out 1
  llvm.func @makes_many(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %last = llvm.mlir.constant(70000 : i32) : i32
    %x = llvm.mlir.constant(1.0 : f32) : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %is, ^make(%zero : i32), ^made
  ^make(%i: i32):
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.inval %bar : !llvm.ptr<3>
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %next, %last : i32
    llvm.cond_br %more, ^make(%next : i32), ^last
  ^last:
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    llvm.br ^made
  ^made:
    nvvm.barrier0
    llvm.cond_br %is, ^write, ^others
  ^write:
    llvm.store %x, %data : f32, !llvm.ptr<3>
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.return
  ^others:
    %reads = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %reads, ^read, ^done
  ^read:
    nvvm.mbarrier.try_wait.parity %bar, %zero, %ticks : !llvm.ptr<3>, i32, i32
    %y = llvm.load %data : !llvm.ptr<3> -> f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }
}
