// Memory that was never written, that is not there, and addresses that are not aligned.
//
// RUN: attn-emulate %s --seeds=1 | FileCheck %s

// BUFFER out f32 8 zero

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Shared memory holds NaNs before it is written.
  //
  // CHECK-LABEL: uninitialized: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} thread (0,0,0) (llvm.load at {{.*}}memory.mlir:[[# @LINE + 8]]:10) reads byte 8 of shared memory, which nobody has written
  // CHECK-NEXT: out = {{-?}}nan
  //
  // LAUNCH uninitialized grid 1 block 1 shared 64 with out
  // PRINT out 1
  llvm.func @uninitialized(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %at = llvm.getelementptr %tile[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %x = llvm.load %at : !llvm.ptr<3> -> f32
    llvm.store %x, %out : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: behind_shared: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} thread (0,0,0) (llvm.store at {{.*}}memory.mlir:[[# @LINE + 7]]:5) accesses shared memory, 4 bytes from byte 64 on, of 64 bytes of shared memory
  //
  // LAUNCH behind_shared grid 1 block 1 shared 64 with
  llvm.func @behind_shared() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %x = llvm.mlir.constant(1.0 : f32) : f32
    %at = llvm.getelementptr %tile[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %x, %at : f32, !llvm.ptr<3>
    llvm.return
  }

  // CHECK-LABEL: behind_buffer: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} thread (8,0,0) (llvm.store at {{.*}}memory.mlir:[[# @LINE + 8]]:5) accesses 4 bytes of global memory 0 bytes behind the end of 'out' (32 bytes)
  //
  // LAUNCH behind_buffer grid 1 block 9 shared 0 with out
  llvm.func @behind_buffer(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %x = llvm.mlir.constant(1.0 : f32) : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %at = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    // The store of thread 8.
    llvm.store %x, %at : f32, !llvm.ptr<1>
    llvm.return
  }

  // CHECK-LABEL: in_front_of_buffers: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} (llvm.load at {{.*}}) accesses 4 bytes of global memory in front of all buffers
  //
  // LAUNCH in_front_of_buffers grid 1 block 1 shared 0 with out
  llvm.func @in_front_of_buffers(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %null = llvm.mlir.zero : !llvm.ptr<1>
    %x = llvm.load %null : !llvm.ptr<1> -> f32
    llvm.store %x, %out : f32, !llvm.ptr<1>
    llvm.return
  }

  // A vector needs the alignment of its size.
  //
  // CHECK-LABEL: misaligned: 1 reports
  // CHECK-NEXT: misaligned: {{.*}} thread (0,0,0) (llvm.store at {{.*}}) needs shared memory aligned to 16 bytes, it is at byte 8
  // CHECK-LABEL: misaligned_global: 1 reports
  // CHECK-NEXT: misaligned: {{.*}} thread (0,0,0) (llvm.store at {{.*}}) needs global memory aligned to 8 bytes, the address is 4 bytes off
  //
  // LAUNCH misaligned grid 1 block 1 shared 64 with
  // LAUNCH misaligned_global grid 1 block 1 shared 0 with out
  llvm.func @misaligned() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %at = llvm.getelementptr %tile[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %x, %at : vector<4xf32>, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @misaligned_global(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %x = llvm.mlir.constant(dense<1.0> : vector<2xf32>) : vector<2xf32>
    %to = llvm.getelementptr %out[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %x, %to : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }

  // And so does an integer of 64 bits.
  //
  // CHECK-LABEL: misaligned_integer: 1 reports
  // CHECK-NEXT: misaligned: {{.*}} thread (0,0,0) (llvm.store at {{.*}}) needs shared memory aligned to 8 bytes, it is at byte 4
  //
  // LAUNCH misaligned_integer grid 1 block 1 shared 64 with
  llvm.func @misaligned_integer() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %x = llvm.mlir.constant(1 : i64) : i64
    %at = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %x, %at : i64, !llvm.ptr<3>
    llvm.return
  }

  // So do the targets of copies and the rows of matrices.
  //
  // CHECK-LABEL: misaligned_copy: 1 reports
  // CHECK-NEXT: misaligned: {{.*}} (nvvm.cp.async.shared.global at {{.*}}) needs the target of a copy aligned to 16 bytes, it is at byte 8
  // CHECK-LABEL: misaligned_matrix: 1 reports
  // CHECK-NEXT: misaligned: {{.*}} (nvvm.ldmatrix at {{.*}}) needs a row of a matrix aligned to 16 bytes, it is at byte 8
  //
  // LAUNCH misaligned_copy grid 1 block 1 shared 64 with out
  // LAUNCH misaligned_matrix grid 1 block 32 shared 64 with
  llvm.func @misaligned_copy(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %at = llvm.getelementptr %tile[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.cp.async.shared.global %at, %out, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    llvm.return
  }
  llvm.func @misaligned_matrix() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %x = llvm.mlir.constant(1.0 : f32) : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %low = llvm.and %tid, %seven : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %mine = llvm.getelementptr %tile[%low] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %old = llvm.mlir.constant(8 : i32) : i32
    %is = llvm.icmp "ult" %tid, %old : i32
    llvm.cond_br %is, ^write, ^read
  ^write:
    llvm.store %x, %mine : f32, !llvm.ptr<3>
    llvm.br ^read
  ^read:
    nvvm.bar.warp.sync %all : i32
    %at = llvm.getelementptr %tile[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %row = nvvm.ldmatrix %at {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
    llvm.return
  }

  // Constants of the module and a thread's own variables may be accessed.
  //
  // CHECK-LABEL: constants: 0 reports
  // CHECK-NEXT: out = 7
  //
  // LAUNCH constants grid 1 block 1 shared 0 with out
  // PRINT out 1
  llvm.mlir.global internal constant @table(dense<[5.0, 7.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
  llvm.func @constants(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.ntid.x : i32
    %table = llvm.mlir.addressof @table : !llvm.ptr
    %own = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
    %at = llvm.getelementptr %table[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %x = llvm.load %at : !llvm.ptr -> f32
    llvm.store %x, %own : f32, !llvm.ptr
    %y = llvm.load %own : !llvm.ptr -> f32
    llvm.store %y, %out : f32, !llvm.ptr<1>
    llvm.return
  }
}
