// Rows of a tile that lie 128 bytes apart are in the same banks: eight of them are read one after the other. With the
// units of a row exchanged by its number they are read at once.
//
// RUN: attn-emulate %s --seeds=1 --banks | FileCheck %s

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Writes the 1024 bytes of the tile, and gives the row of this lane.
  llvm.func @row() -> !llvm.ptr<3> {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %unit = llvm.mlir.constant(32 : i32) : i32
    %pitch = llvm.mlir.constant(128 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %ones = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %first = llvm.mul %tid, %unit : i32
    %to = llvm.getelementptr %tile[%first] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %to2 = llvm.getelementptr %to[16] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %ones, %to : vector<4xf32>, !llvm.ptr<3>
    llvm.store %ones, %to2 : vector<4xf32>, !llvm.ptr<3>
    nvvm.barrier0
    %low = llvm.and %tid, %seven : i32
    %at = llvm.mul %low, %pitch : i32
    %row = llvm.getelementptr %tile[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.return %row : !llvm.ptr<3>
  }

  // Counts are those of all launches so far.
  //
  // CHECK-LABEL: plain: 0 reports
  // CHECK: bank conflicts: 28
  // CHECK-LABEL: swizzled: 0 reports
  // CHECK: bank conflicts: 28
  //
  // LAUNCH plain grid 1 block 32 shared 1024 with
  // LAUNCH swizzled grid 1 block 32 shared 1024 with
  llvm.func @plain() attributes {nvvm.kernel} {
    %row = llvm.call @row() : () -> !llvm.ptr<3>
    %x = nvvm.ldmatrix %row {num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    llvm.return
  }
  llvm.func @swizzled() attributes {nvvm.kernel} {
    %row = llvm.call @row() : () -> !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %low = llvm.and %tid, %seven : i32
    %offset = llvm.shl %low, %four : i32
    %at = llvm.getelementptr %row[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %x = nvvm.ldmatrix %at {num = 2 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    llvm.return
  }
}
