// Threads that ask again and again are stuck when none of them gets on, and not before.
//
// RUN: attn-emulate %s --seeds=1 | FileCheck %s

// BUFFER out i32 1 zero

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // The barrier lies at byte 0, a flag with 0 in it at byte 8. Whether this is thread 0.
  llvm.func @init() -> i1 {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %flag = llvm.getelementptr %bar[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.icmp "eq" %tid, %zero : i32
    nvvm.mbarrier.init %bar, %one, predicate = %is : !llvm.ptr<3>, i32, i1
    llvm.cond_br %is, ^init, ^go
  ^init:
    llvm.store %zero, %flag : i32, !llvm.ptr<3>
    llvm.br ^go
  ^go:
    nvvm.barrier0
    llvm.return %is : i1
  }

  // One thread tests a barrier, the other looks 300000 times at a flag before it arrives.
  //
  // CHECK-LABEL: {{^}}looks_long: 0 reports
  // CHECK-NEXT: out = 300000
  //
  // LAUNCH looks_long grid 1 block 2 shared 64 with out
  // PRINT out
  llvm.func @looks_long(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %flag = llvm.getelementptr %bar[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %last = llvm.mlir.constant(300000 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^test, ^look(%zero : i32)
  ^test:
    %done = nvvm.mbarrier.test.wait %bar, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %done, ^end, ^test
  ^look(%i: i32):
    %x = llvm.load volatile %flag : !llvm.ptr<3> -> i32
    %j = llvm.add %i, %one : i32
    %next = llvm.add %j, %x : i32
    %more = llvm.icmp "ult" %next, %last : i32
    llvm.cond_br %more, ^look(%next : i32), ^arrive
  ^arrive:
    llvm.store %next, %out : i32, !llvm.ptr<1>
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.return
  ^end:
    llvm.return
  }

  // Two threads hand a flag to and fro, 120000 times.
  //
  // CHECK-LABEL: {{^}}hands_to_and_fro: 0 reports
  // CHECK-NEXT: out = 120000
  //
  // LAUNCH hands_to_and_fro grid 1 block 2 shared 64 with out
  // PRINT out
  llvm.func @hands_to_and_fro(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %flag = llvm.getelementptr %bar[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %last = llvm.mlir.constant(120000 : i32) : i32
    %is = llvm.call @init() : () -> i1
    %mine = llvm.zext %is : i1 to i32
    %theirs = llvm.sub %one, %mine : i32
    llvm.br ^ask(%zero : i32)
  ^ask(%i: i32):
    %x = llvm.load volatile %flag : !llvm.ptr<3> -> i32
    %is_mine = llvm.icmp "eq" %x, %mine : i32
    llvm.cond_br %is_mine, ^give, ^ask(%i : i32)
  ^give:
    llvm.store volatile %theirs, %flag : i32, !llvm.ptr<3>
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %last : i32
    llvm.cond_br %more, ^ask(%j : i32), ^done
  ^done:
    llvm.store %j, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // A thread that tries a number of times and then gives up is not stuck.
  //
  // CHECK-LABEL: {{^}}gives_up: 0 reports
  // CHECK-NEXT: out = 150000
  //
  // LAUNCH gives_up grid 1 block 1 shared 64 with out
  // PRINT out
  llvm.func @gives_up(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %last = llvm.mlir.constant(150000 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.br ^ask(%zero : i32)
  ^ask(%i: i32):
    %done = nvvm.mbarrier.test.wait %bar, %zero : !llvm.ptr<3>, i32 -> i1
    %j = llvm.add %i, %one : i32
    %last_one = llvm.icmp "eq" %j, %last : i32
    %ends = llvm.or %done, %last_one : i1
    llvm.cond_br %ends, ^end, ^ask(%j : i32)
  ^end:
    llvm.store %j, %out : i32, !llvm.ptr<1>
    llvm.return
  }

  // Two threads that wait for each other are, whatever else their loops do.
  //
  // CHECK-LABEL: {{^}}both_wait: 1 reports
  // CHECK-NEXT: deadlock: {{.*}} no thread can go on: 1 from thread ({{.}},0,0) on wait for a condition, asking again and again (llvm.cond_br at {{.*}}), 1 from thread ({{.}},0,0) on wait for a condition, asking again and again (nvvm.mbarrier.test.wait at {{.*}})
  //
  // LAUNCH both_wait grid 1 block 2 shared 64 with
  llvm.func @both_wait() attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %flag = llvm.getelementptr %bar[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %last = llvm.mlir.constant(4 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^test, ^look
  ^test:
    %done = nvvm.mbarrier.test.wait %bar, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %done, ^raise, ^count(%zero : i32)
  ^count(%i: i32):
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %last : i32
    llvm.cond_br %more, ^count(%j : i32), ^test
  ^raise:
    llvm.store volatile %one, %flag : i32, !llvm.ptr<3>
    llvm.return
  ^look:
    %x = llvm.load volatile %flag : !llvm.ptr<3> -> i32
    %is_raised = llvm.icmp "eq" %x, %one : i32
    llvm.cond_br %is_raised, ^arrive, ^look
  ^arrive:
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.return
  }

  // And one that counts how often it has asked.
  //
  // CHECK-LABEL: {{^}}counts_in_vain: 1 reports
  // CHECK-NEXT: endless loop: {{.*}} threads ask again and again, and nobody else can go on: 1 from thread (0,0,0) on wait for a condition, asking again and again (llvm.cond_br at {{.*}})
  //
  // LAUNCH counts_in_vain grid 1 block 1 shared 64 with out
  llvm.func @counts_in_vain(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %flag = llvm.getelementptr %bar[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.br ^look(%zero : i32)
  ^look(%i: i32):
    %x = llvm.load volatile %flag : !llvm.ptr<3> -> i32
    %is_raised = llvm.icmp "eq" %x, %one : i32
    %j = llvm.add %i, %one : i32
    llvm.cond_br %is_raised, ^end, ^look(%j : i32)
  ^end:
    llvm.store %j, %out : i32, !llvm.ptr<1>
    llvm.return
  }
}
