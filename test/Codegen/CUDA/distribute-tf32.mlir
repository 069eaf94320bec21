// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments,canonicalize,cse))' --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// With 16 rows a warp and 16 columns, 8 of k are a load of each side and two instructions: one for even rows of the right
// side, one for odd ones.
//
// CHECK-LABEL: gpu.func @rows
// CHECK-COUNT-2: nvvm.ldmatrix {{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4
// CHECK-COUNT-2: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-2: vector.store {{.*}} {alignment = 16 : i64} : memref<16x16xf32>, vector<4xf32>
gpu.module @kernels {
  gpu.func @rows(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %next = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x16xf32>
    %k = attn_gpu.read_shared %next : vector<16x16xf32>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Numbers are rounded to nearest: 8 of the left side, 8 of the right one.
//
// CHECK-LABEL: gpu.func @rounded
// CHECK-COUNT-16: nvvm.convert.float.to.tf32 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK-NOT: nvvm.convert
gpu.module @kernels {
  gpu.func @rounded(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %next = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x16xf32>
    %k = attn_gpu.read_shared %next : vector<16x16xf32>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A left side that was computed is in the right lanes already. Of the right one a thread reads pairs of columns; with 32
// rows a warp each serves two instructions.
//
// CHECK-LABEL: gpu.func @computed
// CHECK-NOT: ldmatrix
// CHECK-NOT: shfl
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK-COUNT-2: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
gpu.module @kernels {
  gpu.func @computed(%x: f32, %o: memref<32x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 32, block_n = 16, rows = 32, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    %p = vector.broadcast %x : f32 to vector<32x16xf32>
    %v = attn_gpu.read_shared %at : vector<16x16xf32>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %v, %zero : vector<32x16xf32>, vector<16x16xf32> into vector<32x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<32x16xf32>, memref<32x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// In tf32x3 a number is the nearest one of tf32 and the rest, of an infinity 1 and the rest. There are three instructions,
// those of the small products first.
//
// CHECK-LABEL: gpu.func @three
// CHECK: %[[X:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: %[[NEAREST:.*]] = nvvm.convert.float.to.tf32 %[[X]] {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK: %[[ONE:.*]] = arith.andi %[[NEAREST]], %c-1082130432_i32
// CHECK: %[[BITS:.*]] = arith.andi %[[WORD:.*]], %c2147483647_i32
// CHECK: %[[SIZE:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[SIZE]], %{{.*}} : f32
// CHECK: %[[FIRST:.*]] = arith.select %[[FINITE]], %[[NEAREST]], %[[ONE]] : i32
// CHECK: %[[AS_FLOAT:.*]] = arith.bitcast %[[FIRST]] : i32 to f32
// CHECK: %[[REST:.*]] = arith.subf %[[X]], %[[AS_FLOAT]] : f32
// CHECK: %[[SECOND:.*]] = nvvm.convert.float.to.tf32 %[[REST]] {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK: nvvm.mma.sync A[%[[SECOND]], {{.*}}] B[%[[FIRST_B:.*]], %{{.*}}] C
// CHECK: nvvm.mma.sync A[%[[FIRST]], {{.*}}] B[%{{.*}}, %{{.*}}] C
// CHECK: nvvm.mma.sync A[%[[FIRST]], {{.*}}] B[%[[FIRST_B]], %{{.*}}] C
// CHECK-COUNT-9: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
gpu.module @kernels {
  gpu.func @three(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32x3>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %next = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x16xf32>
    %k = attn_gpu.read_shared %next : vector<16x16xf32>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
