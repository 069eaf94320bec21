// Atomic accesses are never at odds with each other, but with plain ones.
//
// RUN: attn-emulate %s | FileCheck %s

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Writes 0 to the first two words, by thread 0, and lets all know; whether this is thread 0.
  llvm.func @init() -> i1 {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %next = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %is, ^init, ^go
  ^init:
    llvm.store %zero, %tile : i32, !llvm.ptr<3>
    llvm.store %zero, %next : i32, !llvm.ptr<3>
    llvm.br ^go
  ^go:
    nvvm.barrier0
    llvm.return %is : i1
  }

  // Two atomic accesses need no order.
  //
  // CHECK-LABEL: {{^}}stores_and_loads: 0 reports
  //
  // LAUNCH stores_and_loads grid 1 block 64 shared 64 with
  llvm.func @stores_and_loads() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    llvm.store %one, %tile atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  ^others:
    %y = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}updates_and_loads: 0 reports
  //
  // LAUNCH updates_and_loads grid 1 block 64 shared 64 with
  llvm.func @updates_and_loads() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    %x = llvm.atomicrmw add %tile, %one monotonic : !llvm.ptr<3>, i32
    llvm.return
  ^others:
    %y = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}compares_and_stores: 0 reports
  //
  // LAUNCH compares_and_stores grid 1 block 64 shared 64 with
  llvm.func @compares_and_stores() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    %x = llvm.cmpxchg %tile, %one, %one monotonic monotonic : !llvm.ptr<3>, i32
    llvm.return
  ^others:
    llvm.store %one, %tile atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  }

  // A volatile access is as strong as a relaxed one.
  //
  // CHECK-LABEL: {{^}}volatile_pair: 0 reports
  //
  // LAUNCH volatile_pair grid 1 block 64 shared 64 with
  llvm.func @volatile_pair() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    llvm.store volatile %one, %tile : i32, !llvm.ptr<3>
    llvm.return
  ^others:
    %y = llvm.load volatile %tile : !llvm.ptr<3> -> i32
    llvm.return
  }

  // An atomic access and a plain one do.
  //
  // CHECK-LABEL: {{^}}plain_load: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH plain_load grid 1 block 64 shared 64 with
  llvm.func @plain_load() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    llvm.store %one, %tile atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  ^others:
    %y = llvm.load %tile : !llvm.ptr<3> -> i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}plain_store: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH plain_store grid 1 block 64 shared 64 with
  llvm.func @plain_store() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    llvm.store %one, %tile : i32, !llvm.ptr<3>
    llvm.return
  ^others:
    %y = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}plain_load_of_update: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH plain_load_of_update grid 1 block 64 shared 64 with
  llvm.func @plain_load_of_update() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    %x = llvm.atomicrmw add %tile, %one monotonic : !llvm.ptr<3>, i32
    llvm.return
  ^others:
    %y = llvm.load %tile : !llvm.ptr<3> -> i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}plain_store_and_compare: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH plain_store_and_compare grid 1 block 64 shared 64 with
  llvm.func @plain_store_and_compare() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    llvm.store %one, %tile : i32, !llvm.ptr<3>
    llvm.return
  ^others:
    %y = llvm.cmpxchg %tile, %one, %one monotonic monotonic : !llvm.ptr<3>, i32
    llvm.return
  }

  // CHECK-LABEL: {{^}}plain_load_of_volatile: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH plain_load_of_volatile grid 1 block 64 shared 64 with
  llvm.func @plain_load_of_volatile() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    llvm.store volatile %one, %tile : i32, !llvm.ptr<3>
    llvm.return
  ^others:
    %y = llvm.load %tile : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Unless both only read.
  //
  // CHECK-LABEL: {{^}}two_plain_loads: 0 reports
  //
  // LAUNCH two_plain_loads grid 1 block 64 shared 64 with
  llvm.func @two_plain_loads() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.cond_br %is, ^first, ^others
  ^first:
    %x = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    llvm.return
  ^others:
    %y = llvm.load %tile : !llvm.ptr<3> -> i32
    llvm.return
  }

  // The first value of a word may be an atomic one; reading it is no less a mistake before that.
  //
  // CHECK-LABEL: {{^}}first_value: 0 reports
  // CHECK-LABEL: {{^}}no_first_value: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} (llvm.atomicrmw at
  //
  // LAUNCH first_value grid 1 block 64 shared 64 with
  // LAUNCH no_first_value grid 1 block 1 shared 64 with
  llvm.func @first_value() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.store %one, %tile atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.barrier0
    %x = llvm.load %tile : !llvm.ptr<3> -> i32
    llvm.return
  }
  llvm.func @no_first_value() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %one = llvm.mlir.constant(1 : i32) : i32
    %x = llvm.atomicrmw add %tile, %one monotonic : !llvm.ptr<3>, i32
    llvm.return
  }
}
