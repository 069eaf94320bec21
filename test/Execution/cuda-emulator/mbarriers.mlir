// Barriers in shared memory: not waited for, not initialized, arrived at too often, and the right way.
//
// RUN: attn-emulate %s | FileCheck %s

// BUFFER in f32 256 iota
// BUFFER out f32 64 zero

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Whether this thread is number `which`.
  llvm.func @is_thread(%which: i32) -> i1 {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "eq" %tid, %which : i32
    llvm.return %is : i1
  }

  // Initializes the barrier at byte 0 for `count` arrivals, by thread 0, and lets all know.
  llvm.func @init(%count: i32) {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %is = llvm.call @is_thread(%zero) : (i32) -> i1
    nvvm.mbarrier.init %bar, %count, predicate = %is : !llvm.ptr<3>, i32, i1
    nvvm.fence.mbarrier.init
    nvvm.barrier0
    llvm.return
  }

  // Warp 0 writes, and arrives: 32 arrivals. Warp 1 reads behind its wait.
  //
  // CHECK-LABEL: {{^}}hands_over: 0 reports
  // CHECK-NEXT: out = 31 30 29
  // CHECK-LABEL: hands_over_without_wait: {{[1-9]}} reports
  // CHECK: race: {{.*}} (llvm.{{load|store}} at
  //
  // LAUNCH hands_over grid 1 block 64 shared 1024 with out
  // PRINT out 3
  // LAUNCH hands_over_without_wait grid 1 block 64 shared 1024 with out
  llvm.func @write_and_arrive() {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = llvm.sitofp %tid : i32 to f32
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %mine = llvm.getelementptr %data[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %x, %mine : f32, !llvm.ptr<3>
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.return
  }
  llvm.func @read(%out: !llvm.ptr<1>) {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %last = llvm.mlir.constant(63 : i32) : i32
    %first = llvm.mlir.constant(32 : i32) : i32
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %other = llvm.sub %last, %tid : i32
    %theirs = llvm.getelementptr %data[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %x = llvm.load %theirs : !llvm.ptr<3> -> f32
    %at = llvm.sub %tid, %first : i32
    %to = llvm.getelementptr %out[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @hands_over(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.call @init(%warp) : (i32) -> ()
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^writer, ^reader
  ^writer:
    llvm.call @write_and_arrive() : () -> ()
    llvm.return
  ^reader:
    nvvm.mbarrier.try_wait.parity %bar, %zero, %ticks : !llvm.ptr<3>, i32, i32
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @hands_over_without_wait(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %warp = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.call @init(%warp) : (i32) -> ()
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^writer, ^reader
  ^writer:
    llvm.call @write_and_arrive() : () -> ()
    llvm.return
  ^reader:
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    llvm.return
  }

  // The same with a loop that tests the state of an arrival, and with one that tests and does not look at the answer.
  //
  // CHECK-LABEL: tests_in_a_loop: 0 reports
  // CHECK-NEXT: out = 31 30 29
  // CHECK-LABEL: tests_once: {{[1-9]}} reports
  // CHECK: race: {{.*}} (llvm.{{load|store}} at
  //
  // LAUNCH tests_in_a_loop grid 1 block 64 shared 1024 with out
  // PRINT out 3
  // LAUNCH tests_once grid 1 block 64 shared 1024 with out
  llvm.func @tests_in_a_loop(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %warp = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.call @init(%all) : (i32) -> ()
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^writer, ^reader
  ^writer:
    llvm.call @write_and_arrive() : () -> ()
    llvm.return
  ^reader:
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.br ^test
  ^test:
    %done = nvvm.mbarrier.try_wait %bar, %state : !llvm.ptr<3>, i64 -> i1
    llvm.cond_br %done, ^read, ^test
  ^read:
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @tests_once(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %warp = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.call @init(%all) : (i32) -> ()
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^writer, ^reader
  ^writer:
    llvm.call @write_and_arrive() : () -> ()
    llvm.return
  ^reader:
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    %done = nvvm.mbarrier.test.wait %bar, %state : !llvm.ptr<3>, i64 -> i1
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    llvm.return
  }

  // CHECK-LABEL: not_initialized: 1 reports
  // CHECK-NEXT: misuse: {{.*}} thread (0,0,0) (nvvm.mbarrier.arrive at {{.*}}) uses an mbarrier at byte 0 of shared memory that nobody has initialized
  //
  // LAUNCH not_initialized grid 1 block 1 shared 1024 with
  llvm.func @not_initialized() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.return
  }

  // Initialized by one thread, used by another one with no barrier between.
  //
  // CHECK-LABEL: initialized_for_others: {{[1-9]}} reports
  // CHECK: {{misuse|race}}: {{.*}} (nvvm.mbarrier.arrive at
  //
  // LAUNCH initialized_for_others grid 1 block 64 shared 1024 with
  llvm.func @initialized_for_others() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %count = llvm.mlir.constant(64 : i32) : i32
    %is = llvm.call @is_thread(%zero) : (i32) -> i1
    nvvm.mbarrier.init %bar, %count, predicate = %is : !llvm.ptr<3>, i32, i1
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.return
  }

  // Two arrive where one is waited for in each phase, and together: five for two. That phases pass is no mistake.
  //
  // CHECK-LABEL: too_many: 1 reports
  // CHECK-NEXT: misuse: {{.*}} (nvvm.mbarrier.arrive at {{.*}}) arrives 5 times at an mbarrier that waits for 2 of 2 arrivals
  // CHECK-LABEL: phases_pass: 0 reports
  //
  // LAUNCH too_many grid 1 block 1 shared 1024 with
  // LAUNCH phases_pass grid 1 block 64 shared 1024 with
  llvm.func @too_many() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %two = llvm.mlir.constant(2 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    nvvm.mbarrier.init %bar, %two : !llvm.ptr<3>, i32
    %state = nvvm.mbarrier.arrive %bar, %five : !llvm.ptr<3> -> i64
    llvm.return
  }
  llvm.func @phases_pass() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(64 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %last = llvm.mlir.constant(5 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    llvm.call @init(%count) : (i32) -> ()
    llvm.br ^phase(%zero : i32)
  ^phase(%i: i32):
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    %parity = llvm.and %i, %one : i32
    nvvm.mbarrier.try_wait.parity %bar, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %next = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %next, %last : i32
    llvm.cond_br %more, ^phase(%next : i32), ^done
  ^done:
    nvvm.barrier0
    %is = llvm.call @is_thread(%zero) : (i32) -> i1
    llvm.cond_br %is, ^inval, ^end
  ^inval:
    nvvm.mbarrier.inval %bar : !llvm.ptr<3>
    llvm.br ^end
  ^end:
    llvm.return
  }

  // Nobody arrives: a deadlock, and no hang, also where a loop asks again and again.
  //
  // CHECK-LABEL: never_arrives: 1 reports
  // CHECK-NEXT: deadlock: {{.*}} no thread can go on: 1 from thread (0,0,0) on wait for an mbarrier (nvvm.mbarrier.try_wait.parity at {{.*}})
  // CHECK-LABEL: asks_forever: 1 reports
  // CHECK-NEXT: deadlock: {{.*}} no thread can go on: 1 from thread (0,0,0) on wait for a condition, asking again and again (nvvm.mbarrier.test.wait at {{.*}})
  //
  // LAUNCH never_arrives grid 1 block 1 shared 1024 with
  // LAUNCH asks_forever grid 1 block 1 shared 1024 with
  llvm.func @never_arrives() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.mbarrier.try_wait.parity %bar, %zero, %one : !llvm.ptr<3>, i32, i32
    llvm.return
  }
  llvm.func @asks_forever() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    llvm.br ^ask
  ^ask:
    %done = nvvm.mbarrier.test.wait %bar, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %done, ^end, ^ask
  ^end:
    llvm.return
  }

  // Copies of a thread arrive for it. Whoever waits knows that they are done.
  //
  // CHECK-LABEL: copies_arrive: 0 reports
  // CHECK-NEXT: out = 0 4 12 20 28
  //
  // LAUNCH copies_arrive grid 1 block 64 shared 4096 with in out
  // PRINT out 5
  llvm.func @copies_arrive(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %count = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.call @init(%count) : (i32) -> ()
    %data = llvm.getelementptr %bar[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %at = llvm.mul %tid, %four : i32
    %to = llvm.getelementptr %data[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %in[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.mbarrier.arrive %bar {noinc = true} : !llvm.ptr<3>
    nvvm.mbarrier.try_wait.parity %bar, %zero, %ticks : !llvm.ptr<3>, i32, i32
    %other = llvm.mul %tid, %seven : i32
    %mask = llvm.mlir.constant(0xfc : i32) : i32
    %theirs = llvm.and %other, %mask : i32
    %x = llvm.getelementptr %data[%theirs] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %y = llvm.load %x : !llvm.ptr<3> -> f32
    %z = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %y, %z : f32, !llvm.ptr<1>
    llvm.return
  }
}
