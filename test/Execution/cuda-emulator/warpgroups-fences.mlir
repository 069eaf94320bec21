// Between what a thread does with sums and the next product with them there is a fence.
//
// RUN: attn-emulate %s --seeds=1 | FileCheck %s

// BUFFER out f32 128 zero

!sums = !llvm.struct<(f32, f32, f32, f32)>

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Writes ones to A, 64x16 numbers at byte 0, and to B, 8x16 numbers at byte 2048, for all to see.
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
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    llvm.return
  }

  // A product that adds 16 to each sum: no swizzle, 128 bytes between neighbours along k, 256 along the rows.
  llvm.func @product(%c: !sums) -> !sums {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %four = llvm.mlir.constant(4 : i32) : i32
    %behind = llvm.mlir.constant(128 : i64) : i64
    %strides = llvm.mlir.constant(0x1000080000 : i64) : i64
    %number = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
    %low = llvm.lshr %number, %four : i32
    %start = llvm.zext %low : i32 to i64
    %a = llvm.or %start, %strides : i64
    %b = llvm.add %a, %behind : i64
    %d = nvvm.wgmma.mma_async %a, %b, %c, <m = 64, n = 8, k = 16>, D [<f32>, <one>], A [<f16>, <one>, <row>], B [<f16>, <one>, <col>] : !sums -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    llvm.return %d : !sums
  }
  llvm.func @store(%d: !sums, %out: !llvm.ptr<1>) {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = llvm.extractvalue %d[3] : !sums
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %x, %to : f32, !llvm.ptr<1>
    llvm.return
  }
  // Half of each sum.
  llvm.func @halve(%d: !sums) -> !sums {
    %half = llvm.mlir.constant(0.5 : f32) : f32
    %x0 = llvm.extractvalue %d[0] : !sums
    %x1 = llvm.extractvalue %d[1] : !sums
    %x2 = llvm.extractvalue %d[2] : !sums
    %x3 = llvm.extractvalue %d[3] : !sums
    %y0 = llvm.fmul %x0, %half : f32
    %y1 = llvm.fmul %x1, %half : f32
    %y2 = llvm.fmul %x2, %half : f32
    %y3 = llvm.fmul %x3, %half : f32
    %e0 = llvm.insertvalue %y0, %d[0] : !sums
    %e1 = llvm.insertvalue %y1, %e0[1] : !sums
    %e2 = llvm.insertvalue %y2, %e1[2] : !sums
    %e3 = llvm.insertvalue %y3, %e2[3] : !sums
    llvm.return %e3 : !sums
  }

  // Sums that were read, and then added to: with a fence between, and without.
  //
  // CHECK-LABEL: {{^}}reads_and_adds: 0 reports
  // CHECK-NEXT: out = 32
  // CHECK-LABEL: {{^}}reads_and_adds_without_fence: 1 reports
  // CHECK-NEXT: missing wgmma.fence: {{.*}} (nvvm.wgmma.mma_async at {{.*}}) starts a product with no wgmma.fence since the thread has used its sums
  //
  // LAUNCH reads_and_adds grid 1 block 128 shared 2560 with out
  // PRINT out 1
  // LAUNCH reads_and_adds_without_fence grid 1 block 128 shared 2560 with out
  llvm.func @reads_and_adds(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    nvvm.wgmma.fence.aligned
    %e = llvm.call @product(%d) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%e, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @reads_and_adds_without_fence(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %out) : (!sums, !llvm.ptr<1>) -> ()
    %e = llvm.call @product(%d) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return
  }

  // Sums that were scaled in a loop: a fence in front of the loop is one for its first round.
  //
  // CHECK-LABEL: {{^}}scales: 0 reports
  // CHECK-NEXT: out = 28
  // CHECK-LABEL: {{^}}scales_without_fence: 1 reports
  // CHECK-NEXT: missing wgmma.fence: {{.*}} (nvvm.wgmma.mma_async at {{.*}}) starts a product with no wgmma.fence since the thread has used its sums
  //
  // LAUNCH scales grid 1 block 128 shared 2560 with out
  // PRINT out 1
  // LAUNCH scales_without_fence grid 1 block 128 shared 2560 with out
  llvm.func @scales(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(3 : i32) : i32
    llvm.call @write() : () -> ()
    llvm.br ^next(%zero, %c : i32, !sums)
  ^next(%i: i32, %old: !sums):
    %half = llvm.call @halve(%old) : (!sums) -> !sums
    nvvm.wgmma.fence.aligned
    %new = llvm.call @product(%half) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %count : i32
    llvm.cond_br %more, ^next(%j, %new : i32, !sums), ^done
  ^done:
    llvm.call @store(%new, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @scales_without_fence(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(3 : i32) : i32
    llvm.call @write() : () -> ()
    %first = llvm.call @halve(%c) : (!sums) -> !sums
    nvvm.wgmma.fence.aligned
    llvm.br ^next(%zero, %first : i32, !sums)
  ^next(%i: i32, %old: !sums):
    %new = llvm.call @product(%old) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    %half = llvm.call @halve(%new) : (!sums) -> !sums
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %count : i32
    llvm.cond_br %more, ^next(%j, %half : i32, !sums), ^done
  ^done:
    llvm.call @store(%half, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // Sums of one product are scaled while a chain of others, which nobody else uses, goes on.
  //
  // CHECK-LABEL: {{^}}two_chains: 0 reports
  // CHECK-NEXT: out = 32
  //
  // LAUNCH two_chains grid 1 block 128 shared 2560 with out
  // PRINT out 1
  llvm.func @two_chains(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    llvm.call @write() : () -> ()
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    %e0 = llvm.call @product(%c) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 1
    %half = llvm.call @halve(%d) : (!sums) -> !sums
    %e1 = llvm.call @product(%e0) : (!sums) -> !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%e1, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // Sums that are not there yet cannot be changed, either.
  //
  // CHECK-LABEL: {{^}}changes_too_early: {{[1-9]}} reports
  // CHECK: product not waited for: {{.*}} (llvm.insertvalue at {{.*}}) uses sums of a product
  //
  // LAUNCH changes_too_early grid 1 block 128 shared 2560 with out
  llvm.func @changes_too_early(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !sums
    %x = llvm.mlir.constant(0.0 : f32) : f32
    llvm.call @write() : () -> ()
    nvvm.wgmma.fence.aligned
    %d = llvm.call @product(%c) : (!sums) -> !sums
    %e = llvm.insertvalue %x, %d[0] : !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%e, %out) : (!sums, !llvm.ptr<1>) -> ()
    llvm.return
  }
}
