// Copies by the copy engine: boxes of tensors and runs of bytes, in both directions, and what goes wrong with them.
//
// RUN: attn-emulate %s | FileCheck %s

// BUFFER in f32 20x32 iota
// BUFFER out f32 16x32 zero
// BUFFER small f32 32 zero
// MAP whole in swizzle 0 box 16 32
// MAP swizzled in swizzle 128 box 16 32
// MAP target out swizzle 0 box 16 32

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // The barrier lies at byte 0, the box at byte 1024.
  llvm.func @box() -> !llvm.ptr<3> {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %box = llvm.getelementptr %bar[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.return %box : !llvm.ptr<3>
  }

  // Initializes the barrier for one arrival.
  llvm.func @init() -> i1 {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.icmp "eq" %tid, %zero : i32
    nvvm.mbarrier.init %bar, %one, predicate = %is : !llvm.ptr<3>, i32, i1
    nvvm.fence.mbarrier.init
    nvvm.barrier0
    llvm.return %is : i1
  }

  // Expects the bytes of the box, starts the copy, and arrives, all by one thread.
  llvm.func @load(%map: !llvm.ptr, %row: i32, %is: i1) {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %box = llvm.call @box() : () -> !llvm.ptr<3>
    %bytes = llvm.mlir.constant(2048 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    nvvm.mbarrier.arrive.expect_tx %bar, %bytes, predicate = %is : !llvm.ptr<3>, i32, i1
    %target = llvm.addrspacecast %box : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %target, %map, %bar, box[%zero, %row] predicate = %is : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
  llvm.func @wait(%parity: i32) {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    nvvm.mbarrier.try_wait.parity %bar, %parity, %ticks : !llvm.ptr<3>, i32, i32
    llvm.return
  }

  // Writes to global memory the number at `index` + thread of the box.
  llvm.func @read(%out: !llvm.ptr<1>, %index: i32) {
    %box = llvm.call @box() : () -> !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %i = llvm.add %tid, %index : i32
    %from = llvm.getelementptr %box[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %from : !llvm.ptr<3> -> f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }

  // Row 3 of a box that starts at row 8 is row 11. Rows behind the tensor are zeros.
  //
  // CHECK-LABEL: loads_box: 0 reports
  // CHECK-NEXT: small = 352 353 354
  // CHECK-LABEL: loads_box: 0 reports
  // CHECK-NEXT: small = 0 0 0
  //
  // LAUNCH loads_box grid 1 block 32 shared 4096 with whole small 8 96
  // PRINT small 3
  // LAUNCH loads_box grid 1 block 32 shared 4096 with whole small 18 96
  // PRINT small 3
  llvm.func @loads_box(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>, %row: i32, %index: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.call @load(%map, %row, %is) : (!llvm.ptr, i32, i1) -> ()
    llvm.call @wait(%zero) : (i32) -> ()
    llvm.call @read(%out, %index) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // With a swizzle of 128 bytes, the units of row 3 are exchanged by 3: the unit at place 0 is unit 3, with 4 numbers.
  //
  // CHECK-LABEL: loads_box: 0 reports
  // CHECK-NEXT: small = 108 109 110 111 104
  //
  // LAUNCH loads_box grid 1 block 32 shared 4096 with swizzled small 0 96
  // PRINT small 5

  // CHECK-LABEL: does_not_wait: 1 reports
  // CHECK-NEXT: race: {{.*}} thread ([[#]],0,0) (llvm.load at {{.*}}) reads byte {{.*}} of shared memory, what thread ([[#]],0,0) started (nvvm.cp.async.bulk.tensor.shared.cluster.global at {{.*}}) writes it, and nothing orders the two
  // CHECK-NEXT: values depend on the schedule
  //
  // LAUNCH does_not_wait grid 1 block 32 shared 4096 with whole small 8
  llvm.func @does_not_wait(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>, %row: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.call @load(%map, %row, %is) : (!llvm.ptr, i32, i1) -> ()
    nvvm.barrier0
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    nvvm.barrier0
    llvm.call @wait(%zero) : (i32) -> ()
    llvm.return
  }

  // The barrier is told of too few bytes, or of none: late copies are then not done when it says so.
  //
  // CHECK-LABEL: expects_nothing: {{[1-9]}} reports
  // CHECK: copy not expected: {{.*}} an mbarrier's phase is complete (nvvm.mbarrier.arrive at {{.*}}) while 2048 bytes of copies to it are on their way
  //
  // LAUNCH expects_nothing grid 1 block 32 shared 4096 with whole small 8
  llvm.func @expects_nothing(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>, %row: i32) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.call @init() : () -> i1
    %box = llvm.call @box() : () -> !llvm.ptr<3>
    llvm.cond_br %is, ^load, ^wait
  ^load:
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %map, %bar, box[%zero, %row] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.br ^wait
  ^wait:
    llvm.call @wait(%zero) : (i32) -> ()
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // A second box goes where others still read the first one.
  //
  // CHECK-LABEL: overwrites_box: {{[1-9]}} reports
  // CHECK: race: {{.*}} what thread (0,0,0) started (nvvm.cp.async.bulk.tensor.shared.cluster.global at {{.*}}) writes byte {{.*}}, thread ({{.*}},0,0) (llvm.load at {{.*}}) reads it
  // CHECK-LABEL: overwrites_box_in_time: 0 reports
  //
  // LAUNCH overwrites_box grid 1 block 32 shared 4096 with whole small
  // LAUNCH overwrites_box_in_time grid 1 block 32 shared 4096 with whole small
  llvm.func @overwrites_box(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.call @load(%map, %zero, %is) : (!llvm.ptr, i32, i1) -> ()
    llvm.call @wait(%zero) : (i32) -> ()
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    llvm.call @load(%map, %one, %is) : (!llvm.ptr, i32, i1) -> ()
    llvm.call @wait(%one) : (i32) -> ()
    llvm.return
  }
  llvm.func @overwrites_box_in_time(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %is = llvm.call @init() : () -> i1
    llvm.call @load(%map, %zero, %is) : (!llvm.ptr, i32, i1) -> ()
    llvm.call @wait(%zero) : (i32) -> ()
    llvm.call @read(%out, %zero) : (!llvm.ptr<1>, i32) -> ()
    nvvm.barrier0
    llvm.call @load(%map, %one, %is) : (!llvm.ptr, i32, i1) -> ()
    llvm.call @wait(%one) : (i32) -> ()
    llvm.return
  }

  // What threads wrote is stored by the copy engine: with a fence between, and a wait before the end.
  //
  // CHECK-LABEL: stores_box: 0 reports
  // CHECK-NEXT: out = 0 0 0
  // CHECK-LABEL: stores_box_without_fence: 1 reports
  // CHECK-NEXT: missing fence.proxy: {{.*}} what thread (0,0,0) started (nvvm.cp.async.bulk.tensor.global.shared.cta at {{.*}}) reads byte 1024 of shared memory through the asynchronous proxy, thread (0,0,0) (llvm.store at {{.*}}) has written it through the generic proxy
  // CHECK-LABEL: stores_box_and_ends: 1 reports
  // CHECK-NEXT: copy not waited for: {{.*}} thread (0,0,0) ends before its copy has read shared memory (nvvm.cp.async.bulk.tensor.global.shared.cta at {{.*}})
  //
  // LAUNCH stores_box grid 1 block 32 shared 4096 with target
  // PRINT out 3
  // LAUNCH stores_box_without_fence grid 1 block 32 shared 4096 with target
  // LAUNCH stores_box_and_ends grid 1 block 32 shared 4096 with target
  llvm.func @write() {
    %box = llvm.call @box() : () -> !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %end = llvm.mlir.constant(512 : i32) : i32
    llvm.br ^row(%zero : i32)
  ^row(%i: i32):
    %j = llvm.add %i, %tid : i32
    %x = llvm.sitofp %i : i32 to f32
    %to = llvm.getelementptr %box[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %x, %to : f32, !llvm.ptr<3>
    %next = llvm.add %i, %step : i32
    %more = llvm.icmp "ult" %next, %end : i32
    llvm.cond_br %more, ^row(%next : i32), ^done
  ^done:
    llvm.return
  }
  llvm.func @store(%map: !llvm.ptr) {
    %box = llvm.call @box() : () -> !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "eq" %tid, %zero : i32
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %box, box[%zero, %zero], predicate = %is : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    llvm.return
  }
  llvm.func @stores_box(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    llvm.call @store(%map) : (!llvm.ptr) -> ()
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.return
  }
  llvm.func @stores_box_without_fence(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.call @write() : () -> ()
    nvvm.barrier0
    llvm.call @store(%map) : (!llvm.ptr) -> ()
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.return
  }
  llvm.func @stores_box_and_ends(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    llvm.call @store(%map) : (!llvm.ptr) -> ()
    llvm.return
  }

  // CHECK-LABEL: barrier_without_fence: 1 reports
  // CHECK-NEXT: missing fence.proxy: {{.*}} starts a copy to an mbarrier with no fence.mbarrier.init behind its initialization
  // CHECK-LABEL: misaligned_box: 1 reports
  // CHECK-NEXT: misaligned: {{.*}} (nvvm.cp.async.bulk.tensor.shared.cluster.global at {{.*}}) needs the target of a copy aligned to 1024 bytes, it is at byte 128
  //
  // LAUNCH barrier_without_fence grid 1 block 1 shared 4096 with whole
  // LAUNCH misaligned_box grid 1 block 1 shared 4096 with swizzled
  llvm.func @barrier_without_fence(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    llvm.call @load(%map, %zero, %true) : (!llvm.ptr, i32, i1) -> ()
    llvm.call @wait(%zero) : (i32) -> ()
    llvm.return
  }
  llvm.func @misaligned_box(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %is = llvm.call @init() : () -> i1
    %box = llvm.getelementptr %bar[128] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %map, %bar, box[%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.return
  }

  // Runs of bytes, there and back.
  //
  // CHECK-LABEL: moves_bytes: 0 reports
  // CHECK-NEXT: small = 0 1 2 3
  //
  // LAUNCH moves_bytes grid 1 block 1 shared 4096 with in small
  // PRINT small 4
  llvm.func @moves_bytes(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %is = llvm.call @init() : () -> i1
    %box = llvm.call @box() : () -> !llvm.ptr<3>
    nvvm.mbarrier.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.shared.cluster.global %box, %in, %bar, %bytes : !llvm.ptr<3>, !llvm.ptr<1>
    %state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    llvm.call @wait(%zero) : (i32) -> ()
    nvvm.cp.async.bulk.global.shared.cta %out, %box, %bytes : !llvm.ptr<1>, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.return
  }
}
