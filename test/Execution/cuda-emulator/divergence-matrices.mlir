// Threads that do not give a matrix instruction the same shape: it is said, and nothing is written past their registers.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

!few = !llvm.struct<(f32, f32, f32, f32)>
!many = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Half of a warp loads one matrix, the other half four.
  //
  // CHECK-LABEL: one_or_four: 1 reports
  // CHECK-NEXT: deadlock: {{.*}} 16 from thread ({{.*}}) on wait for a matrix load (nvvm.ldmatrix at {{.*}}), 16 from thread ({{.*}}) on wait for a matrix load (nvvm.ldmatrix at
  //
  // LAUNCH one_or_four grid 1 block 32 shared 512 with
  llvm.func @one_or_four() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(16 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^one, ^four
  ^one:
    %x = nvvm.ldmatrix %tile {num = 1 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
    llvm.br ^done
  ^four:
    %y = nvvm.ldmatrix %tile {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.br ^done
  ^done:
    llvm.return
  }

  // Half of a warpgroup multiplies by 8 columns, the other half by 16; or with A in registers.
  //
  // CHECK-LABEL: few_or_many: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} (nvvm.wgmma.mma_async at {{.*}}) starts another product than the rest of its warpgroup
  //
  // LAUNCH few_or_many grid 1 block 128 shared 512 with
  llvm.func @few_or_many() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(64 : i32) : i32
    %d = llvm.mlir.constant(0x1000080040 : i64) : i64
    %c = llvm.mlir.zero : !few
    %e = llvm.mlir.zero : !many
    nvvm.wgmma.fence.aligned
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^few, ^many
  ^few:
    %x = nvvm.wgmma.mma_async %d, %d, %c, <m = 64, n = 8, k = 16>, D [<f32>, <one>], A [<f16>, <one>, <row>], B [<f16>, <one>, <col>] : !few -> !few
    llvm.br ^done
  ^many:
    %y = nvvm.wgmma.mma_async %d, %d, %e, <m = 64, n = 16, k = 16>, D [<f32>, <one>], A [<f16>, <one>, <row>], B [<f16>, <one>, <col>] : !many -> !many
    llvm.br ^done
  ^done:
    llvm.return
  }

  // CHECK-LABEL: shared_or_registers: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} starts another product than the rest of its warpgroup
  //
  // LAUNCH shared_or_registers grid 1 block 128 shared 512 with
  llvm.func @shared_or_registers() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(64 : i32) : i32
    %d = llvm.mlir.constant(0x1000080040 : i64) : i64
    %c = llvm.mlir.zero : !few
    nvvm.wgmma.fence.aligned
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^shared, ^registers
  ^shared:
    %x = nvvm.wgmma.mma_async %d, %d, %c, <m = 64, n = 8, k = 16>, D [<f32>, <one>], A [<f16>, <one>, <row>], B [<f16>, <one>, <col>] : !few -> !few
    llvm.br ^done
  ^registers:
    %y = attn_gpu.wgmma %c, a(%tid, %tid, %tid, %tid) b(%d) f16 : !few
    llvm.br ^done
  ^done:
    llvm.return
  }
}
