// Upstream's own products of warpgroups (nvgpu.warpgroup, TMA with a swizzle of 128 bytes, B by its columns) give what
// loops give: descriptors, swizzle and accumulators are what upstream believes them to be.
//
// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-nvgpu-to-nvvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-arith-to-llvm, convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true}, canonicalize, cse, reconcile-unrealized-casts))' \
// RUN: | attn-emulate - --script=%s --seeds=2 | FileCheck %s

// BUFFER a f16 64x64 mod7
// BUFFER b f16 64x64 mod9
// BUFFER d f32 64x64 zero
// BUFFER e f32 64x64 zero
// MAP ma a swizzle 128 box 64 64
// MAP mb b swizzle 128 box 64 64
// MAP plain b swizzle 0 box 64 64

!tile = memref<64x64xf16, #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = !tile, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!operand = !nvgpu.warpgroup.descriptor<tensor = !tile>
!sums = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>

module attributes {gpu.container_module} {
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: warpgroup: 0 reports
  // CHECK-LABEL: loops: 0 reports
  // CHECK-NEXT: d and e: same, not all 0
  //
  // LAUNCH warpgroup grid 1 block 128 shared 0 with &ma &mb d
  // LAUNCH loops grid 64 block 64 shared 0 with a b e
  // SAME d e
  //
  // A box that lies without the swizzle that the descriptor names: only the values are wrong.
  //
  // CHECK-LABEL: warpgroup: 0 reports
  // CHECK-NEXT: d and e: {{[1-9][0-9]*}} of 4096 differ
  //
  // LAUNCH warpgroup grid 1 block 128 shared 0 with &ma &plain d
  // SAME d e
  gpu.func @warpgroup(%ma: !llvm.ptr, %mb: !llvm.ptr, %out: memref<64x64xf32>)
      workgroup(%sa: !tile {llvm.align = 1024 : i64}, %sb: !tile {llvm.align = 1024 : i64}) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %bytes = arith.constant 16384 : index
    %ticks = arith.constant 1000 : index
    %phase = arith.constant false
    %mapa = builtin.unrealized_conversion_cast %ma : !llvm.ptr to !map
    %mapb = builtin.unrealized_conversion_cast %mb : !llvm.ptr to !map
    %tid = gpu.thread_id x
    %is = arith.cmpi eq, %tid, %zero : index
    %bar = nvgpu.mbarrier.create -> !bar
    nvgpu.mbarrier.init %bar[%zero], %one, predicate = %is : !bar
    nvvm.fence.mbarrier.init
    gpu.barrier
    nvgpu.mbarrier.arrive.expect_tx %bar[%zero], %bytes, predicate = %is : !bar
    nvgpu.tma.async.load %mapa[%zero, %zero], %bar[%zero] to %sa, predicate = %is : !map, !bar -> !tile
    nvgpu.tma.async.load %mapb[%zero, %zero], %bar[%zero] to %sb, predicate = %is : !map, !bar -> !tile
    nvgpu.mbarrier.try_wait.parity %bar[%zero], %phase, %ticks : !bar
    %a = nvgpu.warpgroup.generate.descriptor %sa, %mapa : !tile, !map -> !operand
    %b = nvgpu.warpgroup.generate.descriptor %sb, %mapb : !tile, !map -> !operand
    %c = nvgpu.warpgroup.mma.init.accumulator -> !sums
    %d = nvgpu.warpgroup.mma %a, %b, %c {transposeB, waitGroup = 0 : i64} : !operand, !operand, !sums -> !sums
    nvgpu.warpgroup.mma.store %d, %out : !sums to memref<64x64xf32>
    gpu.return
  }
  gpu.func @loops(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %d: memref<64x64xf32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %depth = arith.constant 64 : index
    %start = arith.constant 0.0 : f32
    %row = gpu.block_id x
    %column = gpu.thread_id x
    %sum = scf.for %k = %zero to %depth step %one iter_args(%old = %start) -> f32 {
      %x = memref.load %a[%row, %k] : memref<64x64xf16>
      %y = memref.load %b[%k, %column] : memref<64x64xf16>
      %xx = arith.extf %x : f16 to f32
      %yy = arith.extf %y : f16 to f32
      %z = arith.mulf %xx, %yy : f32
      %new = arith.addf %old, %z : f32
      scf.yield %new : f32
    }
    memref.store %sum, %d[%row, %column] : memref<64x64xf32>
    gpu.return
  }
}
}
