// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments,canonicalize,cse))' --split-input-file | FileCheck %s

// The four lanes of a row swap what they have of four tiles of 8 columns, in two steps, until each has one tile and writes
// it at once; where rows do not begin at multiples of 16 bytes, two neighbours or single numbers are written.
//
// CHECK-LABEL: gpu.func @chunks
// CHECK: arith.andi %{{.*}}, %c15 : index
// CHECK: scf.if
// CHECK-COUNT-2: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c1_i32
// CHECK-COUNT-2: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c2_i32
// CHECK: scf.if
// CHECK-NEXT: vector.store {{.*}} {alignment = 16 : i64} : memref<?x32xf16, strided<[?, 1]>>, vector<8xf16>
// CHECK-COUNT-4: nvvm.shfl.sync
// CHECK-NOT: nvvm.shfl.sync
// CHECK: else
// CHECK: arith.andi %{{.*}}, %c3 : index
// CHECK: vector.store {{.*}} {alignment = 4 : i64} : memref<?x32xf16, strided<[?, 1]>>, vector<2xf16>
// CHECK: else
// CHECK: memref.store
gpu.module @kernels {
  gpu.func @chunks(%x: f16, %o: memref<?x32xf16, strided<[?, 1]>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %v = vector.broadcast %x : f16 to vector<16x32xf16>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [false, true]} : vector<16x32xf16>, memref<?x32xf16, strided<[?, 1]>>
    gpu.return
  }
}

// -----

// Rows of 24 columns in a tile of 32: the last lane has nothing to write.
//
// CHECK-LABEL: gpu.func @some_columns
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c4 : index
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[COLUMN]], %c24 : index
// CHECK: nvvm.shfl.sync
// CHECK: scf.if %[[INSIDE]]
// CHECK-NEXT: vector.store {{.*}} {alignment = 16 : i64} : memref<16x24xbf16>, vector<8xbf16>
gpu.module @kernels {
  gpu.func @some_columns(%x: bf16, %o: memref<16x24xbf16>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %v = vector.broadcast %x : bf16 to vector<16x32xbf16>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, false]} : vector<16x32xbf16>, memref<16x24xbf16>
    gpu.return
  }
}

// -----

// Rows of 20 columns are no whole chunks.
//
// CHECK-LABEL: gpu.func @odd_columns
// CHECK-NOT: nvvm.shfl.sync
// CHECK-NOT: vector<8xf16>
gpu.module @kernels {
  gpu.func @odd_columns(%x: f16, %o: memref<16x20xf16>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %v = vector.broadcast %x : f16 to vector<16x32xf16>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, false]} : vector<16x32xf16>, memref<16x20xf16>
    gpu.return
  }
}
