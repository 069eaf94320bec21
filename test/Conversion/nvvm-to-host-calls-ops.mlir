// RUN: attn-opt %s --convert-nvvm-to-host-calls | FileCheck %s

// Each instruction of a GPU that the emulator knows, once. What is left are calls and plain LLVM.
//
// CHECK-NOT: = nvvm.
// CHECK-NOT: {{^ *}}nvvm.
// CHECK: llvm.func @m.registers.launch

!words = !llvm.struct<(i32, i32, i32, i32)>
!sums = !llvm.struct<(f32, f32, f32, f32)>

module attributes {} {
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.func @registers(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = nvvm.read.ptx.sreg.tid.y : i32
    %2 = nvvm.read.ptx.sreg.tid.z : i32
    %3 = nvvm.read.ptx.sreg.ntid.x : i32
    %4 = nvvm.read.ptx.sreg.ntid.y : i32
    %5 = nvvm.read.ptx.sreg.ntid.z : i32
    %6 = nvvm.read.ptx.sreg.ctaid.x : i32
    %7 = nvvm.read.ptx.sreg.ctaid.y : i32
    %8 = nvvm.read.ptx.sreg.ctaid.z : i32
    %9 = nvvm.read.ptx.sreg.nctaid.x : i32
    %10 = nvvm.read.ptx.sreg.nctaid.y : i32
    %11 = nvvm.read.ptx.sreg.nctaid.z : i32
    %12 = nvvm.read.ptx.sreg.laneid : i32
    %13 = nvvm.read.ptx.sreg.warpid : i32
    %14 = nvvm.read.ptx.sreg.nwarpid : i32
    %15 = nvvm.read.ptx.sreg.warpsize : i32
    %16 = nvvm.read.ptx.sreg.lanemask.eq : i32
    %17 = nvvm.read.ptx.sreg.lanemask.lt : i32
    %18 = nvvm.read.ptx.sreg.clusterid.x : i32
    %19 = nvvm.read.ptx.sreg.nclusterid.x : i32
    %20 = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    %21 = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
    %22 = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %23 = nvvm.read.ptx.sreg.dynamic.smem.size : i32
    %24 = nvvm.read.ptx.sreg.clock : i32
    %25 = nvvm.read.ptx.sreg.clock64 : i64
    llvm.return
  }

  llvm.func @barriers(%id: i32, %count: i32, %mask: i32) attributes {nvvm.kernel} {
    nvvm.barrier0
    nvvm.barrier
    nvvm.barrier id = %id
    nvvm.barrier id = %id number_of_threads = %count
    %0 = nvvm.barrier #nvvm.reduction<popc> %mask -> i32
    nvvm.barrier.arrive id = %id number_of_threads = %count
    nvvm.bar.warp.sync %mask : i32
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.arrive.relaxed
    nvvm.cluster.wait {aligned}
    nvvm.memory.barrier #nvvm.mem_scope<cta>
    nvvm.fence.sc.cluster
    nvvm.fence.mbarrier.init
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.setmaxregister decrease 40
    nvvm.setmaxregister increase 232
    nvvm.griddepcontrol wait
    nvvm.griddepcontrol launch_dependents
    nvvm.nanosleep %count
    "llvm.intr.trap"() : () -> ()
    nvvm.exit
    llvm.return
  }

  llvm.func @warps(%mask: i32, %x: i32, %f: f32, %long: i64, %p: i1) attributes {nvvm.kernel} {
    %0 = nvvm.shfl.sync bfly %mask, %x, %x, %x : i32 -> i32
    %1 = nvvm.shfl.sync up %mask, %f, %x, %x : f32 -> f32
    %2 = nvvm.shfl.sync down %mask, %x, %x, %x {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
    %3 = nvvm.shfl.sync idx %mask, %f, %x, %x : f32 -> f32
    %4 = nvvm.vote.sync any %mask, %p -> i1
    %5 = nvvm.vote.sync all %mask, %p -> i1
    %6 = nvvm.vote.sync uni %mask, %p -> i1
    %7 = nvvm.vote.sync ballot %mask, %p -> i32
    %8 = nvvm.redux.sync add %x, %mask : i32 -> i32
    %9 = nvvm.redux.sync umax %x, %mask : i32 -> i32
    %10 = nvvm.match.sync any %mask, %x : i32 -> i32
    %11 = nvvm.match.sync all %mask, %long : i64 -> !llvm.struct<(i32, i1)>
    %12 = nvvm.elect.sync -> i1
    llvm.return
  }

  llvm.func @copies(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %map: !llvm.ptr, %bytes: i32, %p: i1) attributes {nvvm.kernel} {
    nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    nvvm.cp.async.mbarrier.arrive %to : !llvm.ptr<3>
    %cluster = llvm.addrspacecast %to : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %to, box[%bytes, %bytes] predicate = %p : !llvm.ptr<7>, !llvm.ptr
    nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %to, box[%bytes, %bytes, %bytes] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %to, box[%bytes, %bytes] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.shared.cluster.global %to, %from, %to, %bytes : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.bulk.global.shared.cta %from, %to, %bytes : !llvm.ptr<1>, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    nvvm.cp.async.bulk.wait_group 1 {read}
    nvvm.prefetch tensormap, %map : !llvm.ptr
    %remote = nvvm.mapa %to, %bytes : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.return
  }

  llvm.func @mbarriers(%bar: !llvm.ptr<3>, %n: i32, %p: i1) attributes {nvvm.kernel} {
    nvvm.mbarrier.init %bar, %n : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %bar, %n, predicate = %p : !llvm.ptr<3>, i32, i1
    %0 = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    %1 = nvvm.mbarrier.arrive %bar, %n : !llvm.ptr<3> -> i64
    %2 = nvvm.mbarrier.arrive.nocomplete %bar, %n : !llvm.ptr<3>, i32 -> i64
    %3 = nvvm.mbarrier.arrive_drop %bar : !llvm.ptr<3> -> i64
    nvvm.mbarrier.arrive.expect_tx %bar, %n : !llvm.ptr<3>, i32
    nvvm.mbarrier.arrive.expect_tx %bar, %n, predicate = %p : !llvm.ptr<3>, i32, i1
    nvvm.mbarrier.expect_tx %bar, %n : !llvm.ptr<3>, i32
    nvvm.mbarrier.complete_tx %bar, %n : !llvm.ptr<3>, i32
    %4 = nvvm.mbarrier.test.wait %bar, %0 : !llvm.ptr<3>, i64 -> i1
    %5 = nvvm.mbarrier.try_wait %bar, %n : !llvm.ptr<3>, i32 -> i1
    nvvm.mbarrier.try_wait.parity %bar, %n, %n : !llvm.ptr<3>, i32, i32
    nvvm.mbarrier.inval %bar : !llvm.ptr<3>
    llvm.return
  }

  llvm.func @matrices(%row: !llvm.ptr<3>, %w: i32, %h: vector<2xf16>, %f: f32, %d: f64) attributes {nvvm.kernel} {
    %0 = nvvm.ldmatrix %row {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
    %1 = nvvm.ldmatrix %row {num = 4 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !words
    nvvm.stmatrix %row, %w, %w {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32
    %2 = nvvm.mma.sync A[%h, %h] B[%h] C[%h, %h]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
    %3 = nvvm.mma.sync A[%w, %w, %w, %w] B[%w, %w] C[%f, %f, %f, %f]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>,
       multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>} : (i32, i32, f32) -> !sums
    %4 = nvvm.mma.sync A[%w, %w, %w, %w] B[%w, %w] C[%f, %f, %f, %f]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>,
       multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>} : (i32, i32, f32) -> !sums
    %5 = nvvm.mma.sync A[%w, %w, %w, %w] B[%w, %w] C[%w, %w, %w, %w]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 32>,
       multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>, intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>} : (i32, i32, i32) -> !words
    %6 = nvvm.mma.sync A[%d] B[%d] C[%d, %d]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64, f64)>
    llvm.return
  }

  llvm.func @warpgroups(%a: i64, %b: i64, %w: i32, %c: !sums) attributes {nvvm.kernel} {
    nvvm.wgmma.fence.aligned
    %0 = nvvm.wgmma.mma_async %a, %b, %c, <m = 64, n = 8, k = 16>, D [<f32>, <zero>], A [<bf16>, <one>, <row>], B [<bf16>, <one>, <row>] : !sums -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    %1 = attn_gpu.wgmma %0, a(%w, %w, %w, %w) b(%b) transpose_b bf16 : !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return
  }

  llvm.func @arithmetic(%x: f32, %w: i32) attributes {nvvm.kernel} {
    %0 = attn_gpu.exp2 %x
    %1 = nvvm.rcp.approx.ftz.f %x : f32
    %2 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32
    %3 = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%x) : (f32) -> f32
    %4 = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%x) : (f32) -> f32
    %5 = llvm.call_intrinsic "llvm.nvvm.tanh.approx.f32"(%x) : (f32) -> f32
    %6 = nvvm.prmt #nvvm.permute_mode<default> %w, %w, %w : i32
    %7 = nvvm.convert.float.to.tf32 %x {rnd = #nvvm.fp_rnd_mode<rna>}
    %8 = nvvm.convert.f32x2.to.f16x2 %x, %x {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xf16>
    %9 = nvvm.convert.f32x2.to.bf16x2 %x, %x {rnd = #nvvm.fp_rnd_mode<rn>, relu = true} : vector<2xbf16>
    llvm.return
  }
}
}
