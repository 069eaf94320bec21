// What the lanes of a warp get of shuffles, votes and reductions, and products of other types than f16.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

// BUFFER out i32 32 zero
// BUFFER sums f32 32 zero

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @store(%x: i32, %out: !llvm.ptr<1>) {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %x, %to : i32, !llvm.ptr<1>
    llvm.return
  }

  // Down by 2 within eighths of eight lanes: the last two keep their own.
  //
  // CHECK-LABEL: down: 0 reports
  // CHECK-NEXT: out = 2 3 4 5 6 7 6 7 10
  // CHECK-LABEL: up: 0 reports
  // CHECK-NEXT: out = 0 0 1 2
  // CHECK-LABEL: index: 0 reports
  // CHECK-NEXT: out = 7 7 7
  //
  // LAUNCH down grid 1 block 32 shared 0 with out
  // PRINT out 9
  // LAUNCH up grid 1 block 32 shared 0 with out
  // PRINT out 4
  // LAUNCH index grid 1 block 32 shared 0 with out
  // PRINT out 3
  llvm.func @down(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %clamp = llvm.mlir.constant(0x181f : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.shfl.sync down %all, %tid, %two, %clamp : i32 -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @up(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %clamp = llvm.mlir.constant(0 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.shfl.sync up %all, %tid, %one, %clamp : i32 -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @index(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.shfl.sync idx %all, %tid, %seven, %clamp : i32 -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // The votes of lanes 0 to 4; the sum of all lanes; who has the same third; the leader.
  //
  // CHECK-LABEL: ballot: 0 reports
  // CHECK-NEXT: out = 31 31
  // CHECK-LABEL: sum: 0 reports
  // CHECK-NEXT: out = 496 496
  // CHECK-LABEL: match: 0 reports
  // CHECK-NEXT: out = 7 7 7 56
  // CHECK-LABEL: elect: 0 reports
  // CHECK-NEXT: out = 1 0 0
  //
  // LAUNCH ballot grid 1 block 32 shared 0 with out
  // PRINT out 2
  // LAUNCH sum grid 1 block 32 shared 0 with out
  // PRINT out 2
  // LAUNCH match grid 1 block 32 shared 0 with out
  // PRINT out 4
  // LAUNCH elect grid 1 block 32 shared 0 with out
  // PRINT out 3
  llvm.func @ballot(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %five : i32
    %x = nvvm.vote.sync ballot %all, %is -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @sum(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.redux.sync add %tid, %all : i32 -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @match(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %third = llvm.udiv %tid, %three : i32
    %x = nvvm.match.sync any %all, %third : i32 -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @elect(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %is = nvvm.elect.sync -> i1
    %x = llvm.zext %is : i1 to i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // What stmatrix stores ldmatrix loads, transposed by one of them or by none: lane 1 holds row 0, columns 2 and 3.
  //
  // CHECK-LABEL: there_and_back: 0 reports
  // CHECK-NEXT: out = 0 1 2 3
  // CHECK-LABEL: transposed: 0 reports
  // CHECK-NEXT: out = 262144 786440
  //
  // LAUNCH there_and_back grid 1 block 32 shared 128 with out
  // PRINT out 4
  // LAUNCH transposed grid 1 block 32 shared 128 with out
  // PRINT out 2
  llvm.func @row() -> !llvm.ptr<3> {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    %low = llvm.and %tid, %seven : i32
    %at = llvm.mul %low, %sixteen : i32
    %row = llvm.getelementptr %tile[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.return %row : !llvm.ptr<3>
  }
  llvm.func @there_and_back(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = llvm.call @row() : () -> !llvm.ptr<3>
    nvvm.stmatrix %row, %tid {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    nvvm.barrier0
    %x = nvvm.ldmatrix %row {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @transposed(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = llvm.call @row() : () -> !llvm.ptr<3>
    nvvm.stmatrix %row, %tid {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    nvvm.barrier0
    %x = nvvm.ldmatrix %row {num = 1 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }

  // Ones times ones, added to 1, over a depth of 16 numbers of bf16 and 8 of tf32; bytes, 2 * 3 over a depth of 32.
  //
  // CHECK-LABEL: bf16: 0 reports
  // CHECK-NEXT: sums = 17 17
  // CHECK-LABEL: tf32: 0 reports
  // CHECK-NEXT: sums = 9 9
  // CHECK-LABEL: bytes: 0 reports
  // CHECK-NEXT: out = 192 192
  //
  // LAUNCH bf16 grid 1 block 32 shared 0 with sums
  // PRINT sums 2
  // LAUNCH tf32 grid 1 block 32 shared 0 with sums
  // PRINT sums 2
  // LAUNCH bytes grid 1 block 32 shared 0 with out
  // PRINT out 2
  llvm.func @bf16(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %w = llvm.mlir.constant(0x3f803f80 : i32) : i32
    %f = llvm.mlir.constant(1.0 : f32) : f32
    %d = nvvm.mma.sync A[%w, %w, %w, %w] B[%w, %w] C[%f, %f, %f, %f]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>,
       multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %x = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    %y = llvm.bitcast %x : f32 to i32
    llvm.call @store(%y, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @tf32(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %w = llvm.mlir.constant(0x3f800000 : i32) : i32
    %f = llvm.mlir.constant(1.0 : f32) : f32
    %d = nvvm.mma.sync A[%w, %w, %w, %w] B[%w, %w] C[%f, %f, %f, %f]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>,
       multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %x = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %y = llvm.bitcast %x : f32 to i32
    llvm.call @store(%y, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
  llvm.func @bytes(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %a = llvm.mlir.constant(0x02020202 : i32) : i32
    %b = llvm.mlir.constant(0x03030303 : i32) : i32
    %c = llvm.mlir.constant(0 : i32) : i32
    %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%b, %b] C[%c, %c, %c, %c]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 32>,
       multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>, intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>}
      : (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    %x = llvm.extractvalue %d[2] : !llvm.struct<(i32, i32, i32, i32)>
    llvm.call @store(%x, %out) : (i32, !llvm.ptr<1>) -> ()
    llvm.return
  }
}
