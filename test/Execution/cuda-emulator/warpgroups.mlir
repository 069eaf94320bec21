// Products of a warpgroup: right values, and what goes wrong with operands in shared memory and with sums.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

// BUFFER out f32 128 zero

!sums = !llvm.struct<(f32, f32, f32, f32)>

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Writes ones to A, 64x16 numbers at byte 0, and to B, 8x16 numbers at byte 2048.
  llvm.func @write() {
    %a = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %ones = llvm.mlir.constant(0x3c003c00 : i32) : i32
    %step = llvm.mlir.constant(128 : i32) : i32
    %end = llvm.mlir.constant(640 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.br ^next(%tid : i32)
  ^next(%i: i32):
    %to = llvm.getelementptr %a[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %ones, %to : i32, !llvm.ptr<3>
    %j = llvm.add %i, %step : i32
    %more = llvm.icmp "ult" %j, %end : i32
    llvm.cond_br %more, ^next(%j : i32), ^done
  ^done:
    llvm.return
  }

  // The descriptor of a matrix at `offset`: no swizzle, 128 bytes between neighbours along k, 256 along the rows.
  llvm.func @describe(%offset: i32) -> i64 {
    %a = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %at = llvm.getelementptr %a[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %number = llvm.ptrtoint %at : !llvm.ptr<3> to i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %low = llvm.lshr %number, %four : i32
    %start = llvm.zext %low : i32 to i64
    %strides = llvm.mlir.constant(0x1000080000 : i64) : i64
    %descriptor = llvm.or %start, %strides : i64
    llvm.return %descriptor : i64
  }

  llvm.func @product(%c: !sums) -> !sums {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %behind = llvm.mlir.constant(2048 : i32) : i32
    %a = llvm.call @describe(%zero) : (i32) -> i64
    %b = llvm.call @describe(%behind) : (i32) -> i64
    %d = nvvm.wgmma.mma_async %a, %b, %c, <m = 64, n = 8, k = 16>, D [<f32>, <one>], A [<f16>, <one>, <row>], B [<f16>, <one>, <col>] : !sums -> !sums
    llvm.return %d : !sums
  }
  llvm.func @product_of_registers(%c: !sums) -> !sums {
    %ones = llvm.mlir.constant(0x3c003c00 : i32) : i32
    %behind = llvm.mlir.constant(2048 : i32) : i32
    %b = llvm.call @describe(%behind) : (i32) -> i64
    %d = attn_gpu.wgmma %c, a(%ones, %ones, %ones, %ones, %ones, %ones, %ones, %ones) b(%b, %b) f16 : !sums
    llvm.return %d : !sums
  }
  llvm.func @store(%d: !sums, %out: !llvm.ptr<1>) {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = llvm.extractvalue %d[3] : !sums
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: {{^}}right: 0 reports
  // CHECK-NEXT: out = 16 16 16
  //
  // LAUNCH right grid 1 block 128 shared 2560 with out
  // PRINT out 3
  llvm.func @right(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // A in registers: two steps, and B twice.
  //
  // CHECK-LABEL: {{^}}registers: 0 reports
  // CHECK-NEXT: out = 32 32 32
  //
  // LAUNCH registers grid 1 block 128 shared 2560 with out
  // PRINT out 3
  llvm.func @registers(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    %d = llvm.call @product_of_registers(%c) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // What threads wrote is not seen through the other proxy, with a barrier or without.
  //
  // CHECK-LABEL: no_fence: {{[1-9]}} reports
  // CHECK: missing fence.proxy: {{.*}} what thread ({{.*}}) started (nvvm.wgmma.mma_async at {{.*}}) reads byte 0 of shared memory through the asynchronous proxy, thread ({{.*}}) (llvm.store at {{.*}}) has written it through the generic proxy
  //
  // LAUNCH no_fence grid 1 block 128 shared 2560 with out
  llvm.func @no_fence(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // The fence is there, and the barrier is not: what other warps wrote is not ordered.
  //
  // CHECK-LABEL: no_barrier: {{[1-9]}} reports
  // CHECK: race: {{.*}} what thread ({{.*}}) started (nvvm.wgmma.mma_async at {{.*}}) reads byte 0 of shared memory, thread (0,0,0) (llvm.store at {{.*}}) writes it, and nothing orders the two
  //
  // LAUNCH no_barrier grid 1 block 128 shared 2560 with out
  llvm.func @no_barrier(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // Sums are used before they are there.
  //
  // CHECK-LABEL: no_wait: 1 reports
  // CHECK-NEXT: product not waited for: {{.*}} thread ({{.*}}) (llvm.extractvalue at {{.*}}) uses sums of a product (nvvm.wgmma.mma_async at {{.*}}) before it has waited for it
  //
  // LAUNCH no_wait grid 1 block 128 shared 2560 with out
  llvm.func @no_wait(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return
  }

  // Waits for all groups but one, where there is one.
  //
  // CHECK-LABEL: wait_too_weak: 1 reports
  // CHECK-NEXT: product not waited for: {{.*}} (llvm.extractvalue at
  //
  // LAUNCH wait_too_weak grid 1 block 128 shared 2560 with out
  llvm.func @wait_too_weak(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 1
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return
  }

  // A wait does not cover what is in no group.
  //
  // CHECK-LABEL: not_committed: 2 reports
  // CHECK-DAG: product not waited for: {{.*}} uses sums of a product
  // CHECK-DAG: product not waited for: {{.*}} ends before its product is done
  //
  // LAUNCH not_committed grid 1 block 128 shared 2560 with out
  llvm.func @not_committed(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // CHECK-LABEL: no_wgmma_fence: 1 reports
  // CHECK-NEXT: missing wgmma.fence: {{.*}} (nvvm.wgmma.mma_async at {{.*}}) starts a product with no wgmma.fence before it
  //
  // LAUNCH no_wgmma_fence grid 1 block 128 shared 2560 with out
  llvm.func @no_wgmma_fence(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // The operands are written again while the product may still read them.
  //
  // CHECK-LABEL: overwrites_operand: 1 reports
  // CHECK-NEXT: race: {{.*}} thread ({{.*}}) (llvm.store at {{.*}}) writes byte {{.*}} of shared memory, what thread ({{.*}}) started (nvvm.wgmma.mma_async at {{.*}}) reads it
  //
  // LAUNCH overwrites_operand grid 1 block 128 shared 2560 with out
  llvm.func @overwrites_operand(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    llvm.call @write() : () -> ()
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // After its own wait a thread may write: the product is one for the warpgroup.
  //
  // CHECK-LABEL: overwrites_operand_in_time: 0 reports
  //
  // LAUNCH overwrites_operand_in_time grid 1 block 128 shared 2560 with out
  llvm.func @overwrites_operand_in_time(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @write() : () -> ()
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // Another product may add to sums that are not there yet; a loop that carries them is no use.
  //
  // CHECK-LABEL: goes_on_adding: 0 reports
  // CHECK-NEXT: out = 48 48 48
  //
  // LAUNCH goes_on_adding grid 1 block 128 shared 2560 with out
  // PRINT out 3
  llvm.func @goes_on_adding(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(3 : i32) : i32
    llvm.br ^next(%zero, %c : i32, !sums)
  ^next(%i: i32, %old: !sums):
    %new = llvm.call @product(%old) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %count : i32
    llvm.cond_br %more, ^next(%j, %new : i32, !sums), ^done
  ^done:
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%new, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // Sums of one product may be used while the next one runs.
  //
  // CHECK-LABEL: uses_older_sums: 0 reports
  // LAUNCH uses_older_sums grid 1 block 128 shared 2560 with out
  llvm.func @uses_older_sums(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    %e = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 1
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return
  }
}
