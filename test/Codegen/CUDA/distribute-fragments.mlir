// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments,canonicalize,cse))' --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// With 16 rows a warp and 16 columns, a product over 32 of k is two loads of the left side, two of the right, and four
// matrix instructions. What is written goes out in pairs where rows begin at multiples of 8 bytes.
//
// CHECK: llvm.mlir.global external @attn_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: gpu.func @product
// CHECK-DAG: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK-COUNT-2: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-NOT: nvvm.mma.sync
// CHECK: scf.if
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 8 : i64} : memref<16x16xf32>, vector<2xf32>
// CHECK-NOT: attn_gpu
gpu.module @kernels {
  gpu.func @product(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %next = arith.constant 1024 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x32xf16>
    %k = attn_gpu.read_shared %next : vector<16x32xf16>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %zero : vector<16x32xf16>, vector<16x32xf16> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A computed left side stays in registers: neighbours are rounded at once and are operands as they are. The right side is
// (k, n) and is loaded transposed; with 32 rows a warp, one load serves two rows of tiles. bf16 goes in plain registers.
//
// CHECK-LABEL: gpu.func @computed
// CHECK: %[[P:.*]] = arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>
// CHECK: llvm.bitcast %[[P]] : vector<2xbf16> to i32
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK-NOT: nvvm.ldmatrix
// CHECK-NOT: shfl
gpu.module @kernels {
  gpu.func @computed(%x: f32, %o: memref<32x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 32, block_n = 16, rows = 32, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    %given = vector.broadcast %x : f32 to vector<32x16xf32>
    %p = arith.truncf %given : vector<32x16xf32> to vector<32x16xbf16>
    %v = attn_gpu.read_shared %at : vector<16x16xbf16>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %v, %zero : vector<32x16xbf16>, vector<16x16xbf16> into vector<32x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<32x16xf32>, memref<32x16xf32>
    gpu.return
  }
}

// -----

// Rows and columns of the same extent are told apart by their uses: a step is made in both ways. A row is reduced over the
// thread's columns, then over the four lanes that share it, and written by the first of them.
//
// CHECK-LABEL: gpu.func @rows
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK: llvm.intr.maxnum
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c1_i32
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c2_i32
// CHECK: scf.if
// CHECK-NEXT: memref.store {{.*}} memref<16xf32>
gpu.module @kernels {
  gpu.func @rows(%x: f32, %o: memref<16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %low = arith.constant dense<0xFF800000> : vector<16xf32>
    %lows = arith.constant dense<0xFF800000> : vector<16x16xf32>
    %given = vector.broadcast %x : f32 to vector<16x16xf32>
    %i = vector.step : vector<16xindex>
    %r = vector.shape_cast %i : vector<16xindex> to vector<16x1xindex>
    %rows = vector.broadcast %r : vector<16x1xindex> to vector<16x16xindex>
    %columns = vector.broadcast %i : vector<16xindex> to vector<16x16xindex>
    %below = arith.cmpi slt, %columns, %rows : vector<16x16xindex>
    %s = arith.select %below, %given, %lows : vector<16x16xi1>, vector<16x16xf32>
    %m = vector.multi_reduction <maxnumf>, %s, %low [1] : vector<16x16xf32> to vector<16xf32>
    vector.transfer_write %m, %o[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
    gpu.return
  }
}

// -----

// Where all of a tile is reduced, a warp votes; where warps may not differ, they meet at a barrier.
//
// CHECK-LABEL: gpu.func @votes
// CHECK: nvvm.vote.sync any
// CHECK: nvvm.barrier #nvvm.reduction<or>
gpu.module @kernels {
  gpu.func @votes(%x: memref<16x16xi1>, %o: memref<2xi1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %false = arith.constant false
    %t = vector.transfer_read %x[%c0, %c0], %false {in_bounds = [true, true]} : memref<16x16xi1>, vector<16x16xi1>
    %a = vector.multi_reduction <or>, %t, %false {attn.warp_uniform} [0, 1] : vector<16x16xi1> to i1
    %b = vector.multi_reduction <or>, %t, %false [0, 1] : vector<16x16xi1> to i1
    memref.store %a, %o[%c0] : memref<2xi1>
    memref.store %b, %o[%c1] : memref<2xi1>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Products of f32 add up in the thread. With rows on both sides, which share what they are swizzled with, it reads four
// numbers of each of its rows and columns at once: a step of 32 of k takes 8 times 2 rows and 4 columns. What is written
// goes out in 16 bytes.
//
// CHECK-LABEL: gpu.func @exact_rows
// CHECK: scf.for %{{.*}} = %c0_i32 to %c2_i32 step %c1_i32 iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32)
// CHECK-COUNT-6: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-42: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.yield
// CHECK-COUNT-2: vector.store {{.*}} {alignment = 16 : i64} : memref<16x16xf32>, vector<4xf32>
gpu.module @kernels {
  gpu.func @exact_rows(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %next = arith.constant 4096 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x64xf32>
    %k = attn_gpu.read_shared %next : vector<16x64xf32>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %k, %zero : vector<16x64xf32>, vector<16x64xf32> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A left side that was computed goes round the four lanes of a row: for each of a lane's 4 columns of 16 two rows are
// handed on, and 32 columns of the right side are two reads of 16 bytes.
//
// CHECK-LABEL: gpu.func @exact_computed
// CHECK: scf.for %{{.*}} = %c0_i32 to %c4_i32
// CHECK-COUNT-2: nvvm.shfl.sync idx
// CHECK-COUNT-2: llvm.load {{.*}} vector<4xf32>
// CHECK-COUNT-6: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: scf.yield
gpu.module @kernels {
  gpu.func @exact_computed(%x: f32, %o: memref<16x32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<16x32xf32>
    %p = vector.broadcast %x : f32 to vector<16x16xf32>
    %v = attn_gpu.read_shared %at : vector<16x32xf32>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %v, %zero : vector<16x16xf32>, vector<16x32xf32> into vector<16x32xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x32xf32>, memref<16x32xf32>
    gpu.return
  }
}
