// Memory that is filled again while something that runs behind the threads' backs still reads it.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

// BUFFER ones f16 64x16 one
// BUFFER words f32 256 iota
// BUFFER sink f32 16x32 zero
// BUFFER out f32 128 zero
// MAP a ones swizzle 32 box 64 16
// MAP b ones swizzle 32 box 8 16
// MAP target sink swizzle 0 box 16 32

!sums = !llvm.struct<(f32, f32, f32, f32)>

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Barriers: "full" at byte 0 for one arrival and the bytes of a stage, "empty" at byte 8 for 128 arrivals.
  llvm.func @init() {
    %full = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %empty = llvm.getelementptr %full[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %all = llvm.mlir.constant(128 : i32) : i32
    %is = llvm.icmp "eq" %tid, %zero : i32
    nvvm.mbarrier.init %full, %one, predicate = %is : !llvm.ptr<3>, i32, i1
    nvvm.mbarrier.init %empty, %all, predicate = %is : !llvm.ptr<3>, i32, i1
    nvvm.fence.mbarrier.init
    nvvm.barrier0
    llvm.return
  }

  // The descriptor of what lies at `offset`: rows of 32 bytes, swizzled, 256 bytes between groups of 8 rows.
  llvm.func @describe(%offset: i32) -> i64 {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %at = llvm.getelementptr %shared[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %number = llvm.ptrtoint %at : !llvm.ptr<3> to i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %low = llvm.lshr %number, %four : i32
    %start = llvm.zext %low : i32 to i64
    %layout = llvm.mlir.constant(0xc000001000010000 : i64) : i64
    %descriptor = llvm.or %start, %layout : i64
    llvm.return %descriptor : i64
  }

  // Fills the stage, A at byte 1024 and B at byte 3072, when it is empty, in round `i`.
  llvm.func @fill(%a: !llvm.ptr, %b: !llvm.ptr, %i: i32) {
    %full = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %empty = llvm.getelementptr %full[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %to_a = llvm.getelementptr %full[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %to_b = llvm.getelementptr %full[3072] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %bytes = llvm.mlir.constant(2304 : i32) : i32
    %parity = llvm.and %i, %one : i32
    %other = llvm.xor %parity, %one : i32
    nvvm.mbarrier.try_wait.parity %empty, %other, %ticks : !llvm.ptr<3>, i32, i32
    nvvm.mbarrier.arrive.expect_tx %full, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to_a, %a, %full, box[%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to_b, %b, %full, box[%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.return
  }

  // Multiplies what is in the stage in round `i`, and says that it is empty: with `early` before that is true.
  llvm.func @multiply(%c: !sums, %i: i32, %early: i32) -> !sums {
    %full = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %empty = llvm.getelementptr %full[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %at_a = llvm.mlir.constant(1024 : i32) : i32
    %at_b = llvm.mlir.constant(3072 : i32) : i32
    %parity = llvm.and %i, %one : i32
    nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %a = llvm.call @describe(%at_a) : (i32) -> i64
    %b = llvm.call @describe(%at_b) : (i32) -> i64
    nvvm.wgmma.fence.aligned
    %d = nvvm.wgmma.mma_async %a, %b, %c, <m = 64, n = 8, k = 16>, D [<f32>, <one>], A [<f16>, <one>, <row>], B [<f16>, <one>, <col>] : !sums -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    %is_early = llvm.icmp "ne" %early, %zero : i32
    llvm.cond_br %is_early, ^early, ^late
  ^early:
    %state = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return %d : !sums
  ^late:
    nvvm.wgmma.wait.group.sync.aligned 0
    %states = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
    llvm.return %d : !sums
  }

  // One warpgroup multiplies three times what a thread of another one fetches.
  //
  // CHECK-LABEL: {{^}}ring: 0 reports
  // CHECK-NEXT: out = 48 48
  // CHECK-LABEL: {{^}}ring: {{[1-9]}} reports
  // CHECK: race: {{.*}} what thread (128,0,0) started (nvvm.cp.async.bulk.tensor.shared.cluster.global at {{.*}}) writes byte {{.*}}, what thread ({{.*}},0,0) started (nvvm.wgmma.mma_async at {{.*}}) reads it, and nothing orders the two
  //
  // LAUNCH ring grid 1 block 256 shared 4096 with a b out 0
  // PRINT out 2
  // LAUNCH ring grid 1 block 256 shared 4096 with a b out 1
  llvm.func @ring(%a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %b: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %out: !llvm.ptr<1>, %early: i32) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(3 : i32) : i32
    %group = llvm.mlir.constant(128 : i32) : i32
    llvm.call @init() : () -> ()
    %multiplies = llvm.icmp "ult" %tid, %group : i32
    llvm.cond_br %multiplies, ^multiply(%zero, %c : i32, !sums), ^other
  ^other:
    %fills = llvm.icmp "eq" %tid, %group : i32
    llvm.cond_br %fills, ^fill(%zero : i32), ^end
  ^fill(%i: i32):
    llvm.call @fill(%a, %b, %i) : (!llvm.ptr, !llvm.ptr, i32) -> ()
    %i1 = llvm.add %i, %one : i32
    %fill_more = llvm.icmp "ult" %i1, %count : i32
    llvm.cond_br %fill_more, ^fill(%i1 : i32), ^end
  ^multiply(%j: i32, %old: !sums):
    %new = llvm.call @multiply(%old, %j, %early) : (!sums, i32, i32) -> !sums
    %j1 = llvm.add %j, %one : i32
    %more = llvm.icmp "ult" %j1, %count : i32
    llvm.cond_br %more, ^multiply(%j1, %new : i32, !sums), ^store
  ^store:
    %x = llvm.extractvalue %new[0] : !sums
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  ^end:
    llvm.return
  }

  // A thread fills a box, has it stored, and fills it again: behind a wait, and with `early` before it.
  //
  // CHECK-LABEL: {{^}}stores_and_refills: 0 reports
  // CHECK-LABEL: {{^}}stores_and_refills: 1 reports
  // CHECK-NEXT: race: {{.*}} thread (0,0,0) (llvm.intr.memset at {{.*}}) writes byte 1024 of shared memory, what thread (0,0,0) started (nvvm.cp.async.bulk.tensor.global.shared.cta at {{.*}}) reads it
  //
  // LAUNCH stores_and_refills grid 1 block 1 shared 4096 with target 0
  // LAUNCH stores_and_refills grid 1 block 1 shared 4096 with target 1
  llvm.func @fill_box() {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i8) : i8
    %bytes = llvm.mlir.constant(2048 : i64) : i64
    "llvm.intr.memset"(%box, %zero, %bytes) <{isVolatile = false}> : (!llvm.ptr<3>, i8, i64) -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    llvm.return
  }
  llvm.func @stores_and_refills(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %early: i32) attributes {nvvm.kernel} {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %box = llvm.getelementptr %shared[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.call @fill_box() : () -> ()
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %box, box[%zero, %zero] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    %is_early = llvm.icmp "ne" %early, %zero : i32
    llvm.cond_br %is_early, ^early, ^late
  ^early:
    llvm.call @fill_box() : () -> ()
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.return
  ^late:
    nvvm.cp.async.bulk.wait_group 0 {read}
    llvm.call @fill_box() : () -> ()
    llvm.return
  }

  // Warp 0 loads a matrix, and warp 1 copies the next one to its place: behind a barrier, and with `early` without one.
  //
  // CHECK-LABEL: {{^}}loads_and_copies: 0 reports
  // CHECK-LABEL: {{^}}loads_and_copies: {{[1-9]}} reports
  // CHECK: race: {{.*}} (nvvm.{{ldmatrix|cp.async.shared.global}} at {{.*}}) {{reads|writes}} byte {{.*}} (nvvm.{{ldmatrix|cp.async.shared.global}} at {{.*}}) {{reads|writes}} it
  //
  // LAUNCH loads_and_copies grid 1 block 64 shared 512 with words 0
  // LAUNCH loads_and_copies grid 1 block 64 shared 512 with words 1
  llvm.func @copy(%in: !llvm.ptr<1>) {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %units = llvm.mlir.constant(31 : i32) : i32
    %words = llvm.mlir.constant(4 : i32) : i32
    %unit = llvm.and %tid, %units : i32
    %word = llvm.mul %unit, %words : i32
    %to = llvm.getelementptr %shared[%word] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %from = llvm.getelementptr %in[%word] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    llvm.return
  }
  llvm.func @loads_and_copies(%in: !llvm.ptr<1>, %early: i32) attributes {nvvm.kernel} {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %units = llvm.mlir.constant(4 : i32) : i32
    %low = llvm.icmp "ult" %tid, %warp : i32
    %is_late = llvm.icmp "eq" %early, %zero : i32
    llvm.cond_br %low, ^first, ^meet
  ^first:
    llvm.call @copy(%in) : (!llvm.ptr<1>) -> ()
    llvm.br ^meet
  ^meet:
    nvvm.barrier0
    llvm.cond_br %low, ^load, ^order
  ^load:
    %word = llvm.mul %tid, %units : i32
    %row = llvm.getelementptr %shared[%word] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = nvvm.ldmatrix %row {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.br ^order
  ^order:
    llvm.cond_br %is_late, ^barrier, ^next
  ^barrier:
    nvvm.barrier0
    llvm.br ^next
  ^next:
    llvm.cond_br %low, ^end, ^second
  ^second:
    llvm.call @copy(%in) : (!llvm.ptr<1>) -> ()
    llvm.br ^end
  ^end:
    llvm.return
  }
}
