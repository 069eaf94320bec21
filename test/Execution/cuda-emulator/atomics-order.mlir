// What atomic accesses and fences order.
//
// RUN: attn-emulate %s | FileCheck %s

// BUFFER out i32 1 zero

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

  // A flag hands a word over from one warp to another.
  //
  // CHECK-LABEL: {{^}}release_and_acquire: 0 reports
  // CHECK-NEXT: out = 1
  //
  // LAUNCH release_and_acquire grid 1 block 64 shared 64 with out
  // PRINT out
  llvm.func @release_and_acquire(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %data = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %is_writer = llvm.call @init() : () -> i1
    llvm.cond_br %is_writer, ^writer, ^others
  ^others:
    %is_reader = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %is_reader, ^ask, ^done
  ^writer:
    llvm.store %one, %data : i32, !llvm.ptr<3>
    llvm.store %one, %tile atomic release {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  ^ask:
    %x = llvm.load %tile atomic acquire {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %again, ^ask, ^read
  ^read:
    %y = llvm.load %data : !llvm.ptr<3> -> i32
    llvm.store %y, %out : i32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }

  // With fences round relaxed and volatile accesses it does so, too.
  //
  // CHECK-LABEL: {{^}}fences: 0 reports
  // CHECK-NEXT: out = 1
  //
  // LAUNCH fences grid 1 block 64 shared 64 with out
  // PRINT out
  llvm.func @fences(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %data = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %is_writer = llvm.call @init() : () -> i1
    llvm.cond_br %is_writer, ^writer, ^others
  ^others:
    %is_reader = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %is_reader, ^ask, ^done
  ^writer:
    llvm.store %one, %data : i32, !llvm.ptr<3>
    nvvm.memory.barrier #nvvm.mem_scope<cta>
    llvm.store %one, %tile atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  ^ask:
    %x = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %again, ^ask, ^read
  ^read:
    nvvm.memory.barrier #nvvm.mem_scope<cta>
    %y = llvm.load %data : !llvm.ptr<3> -> i32
    llvm.store %y, %out : i32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }

  // CHECK-LABEL: {{^}}fences_and_volatile: 0 reports
  // CHECK-NEXT: out = 1
  //
  // LAUNCH fences_and_volatile grid 1 block 64 shared 64 with out
  // PRINT out
  llvm.func @fences_and_volatile(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %data = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %is_writer = llvm.call @init() : () -> i1
    llvm.cond_br %is_writer, ^writer, ^others
  ^others:
    %is_reader = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %is_reader, ^ask, ^done
  ^writer:
    llvm.store %one, %data : i32, !llvm.ptr<3>
    llvm.fence seq_cst
    llvm.store volatile %one, %tile : i32, !llvm.ptr<3>
    llvm.return
  ^ask:
    %x = llvm.load volatile %tile : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %again, ^ask, ^read
  ^read:
    llvm.fence seq_cst
    %y = llvm.load %data : !llvm.ptr<3> -> i32
    llvm.store %y, %out : i32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }

  // It does not without a release, an acquire or a fence on both sides.
  //
  // CHECK-LABEL: {{^}}relaxed: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH relaxed grid 1 block 64 shared 64 with out
  llvm.func @relaxed(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %data = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %is_writer = llvm.call @init() : () -> i1
    llvm.cond_br %is_writer, ^writer, ^others
  ^others:
    %is_reader = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %is_reader, ^ask, ^done
  ^writer:
    llvm.store %one, %data : i32, !llvm.ptr<3>
    llvm.store %one, %tile atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  ^ask:
    %x = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %again, ^ask, ^read
  ^read:
    %y = llvm.load %data : !llvm.ptr<3> -> i32
    llvm.store %y, %out : i32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }

  // CHECK-LABEL: {{^}}only_release: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH only_release grid 1 block 64 shared 64 with out
  llvm.func @only_release(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %data = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %is_writer = llvm.call @init() : () -> i1
    llvm.cond_br %is_writer, ^writer, ^others
  ^others:
    %is_reader = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %is_reader, ^ask, ^done
  ^writer:
    llvm.store %one, %data : i32, !llvm.ptr<3>
    llvm.store %one, %tile atomic release {alignment = 4 : i64} : i32, !llvm.ptr<3>
    llvm.return
  ^ask:
    %x = llvm.load %tile atomic monotonic {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %again, ^ask, ^read
  ^read:
    %y = llvm.load %data : !llvm.ptr<3> -> i32
    llvm.store %y, %out : i32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }

  // CHECK-LABEL: {{^}}one_fence: {{[1-9]}} reports
  // CHECK: race: {{.*}} and nothing orders the two
  //
  // LAUNCH one_fence grid 1 block 64 shared 64 with out
  llvm.func @one_fence(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %data = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %is_writer = llvm.call @init() : () -> i1
    llvm.cond_br %is_writer, ^writer, ^others
  ^others:
    %is_reader = llvm.icmp "eq" %tid, %warp : i32
    llvm.cond_br %is_reader, ^ask, ^done
  ^writer:
    llvm.store %one, %data : i32, !llvm.ptr<3>
    llvm.store volatile %one, %tile : i32, !llvm.ptr<3>
    llvm.return
  ^ask:
    %x = llvm.load volatile %tile : !llvm.ptr<3> -> i32
    %again = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %again, ^ask, ^read
  ^read:
    nvvm.memory.barrier #nvvm.mem_scope<cta>
    %y = llvm.load %data : !llvm.ptr<3> -> i32
    llvm.store %y, %out : i32, !llvm.ptr<1>
    llvm.return
  ^done:
    llvm.return
  }
}
