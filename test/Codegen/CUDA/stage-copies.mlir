// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-stage-copies))' --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// What a loop reads is copied one block ahead: the first one before the loop, each next one behind the barrier after which
// nobody reads the stage that it goes to. The memory is cut behind the last block, so that no copy has to be switched off.
// What is read once is waited for behind the loop's first copy.
//
// CHECK-LABEL: gpu.func @loop
// CHECK-SAME: attn.shared_bytes = 16384 : i64
// CHECK: attn_gpu.copy_to_shared %arg0
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[BLOCKS:.*]] = arith.divsi
// CHECK: %[[ROWS:.*]] = arith.muli %[[BLOCKS]]
// CHECK: %[[END:.*]] = arith.addi %{{.*}}, %[[ROWS]]
// CHECK: %[[LEAST:.*]] = arith.minsi %[[END]]
// CHECK: %[[EXTENT:.*]] = arith.maxsi %[[LEAST]]
// CHECK: %[[KEYS:.*]] = memref.subview %arg1[0, 0] [%[[EXTENT]], 64] [1, 1]
// CHECK: attn_gpu.copy_to_shared %[[KEYS]][%c0, %c0] to {{.*}} in_bounds [false, true]
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK: %[[Q:.*]] = attn_gpu.read_shared
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[STEP:.*]] iter_args(%{{.*}}, %[[STAGE:.*]] = %c0_i32{{.*}})
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: %[[OTHER:.*]] = arith.xori %[[STAGE]], %c4096_i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]]
// CHECK: %[[TO:.*]] = arith.addi %[[OTHER]], %c8192_i32
// CHECK: attn_gpu.copy_to_shared %[[KEYS]][%[[NEXT]], %{{.*}}] to %[[TO]] dims [0, 1] in_bounds [false, true]
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[AT:.*]] = arith.addi %[[STAGE]], %c8192_i32
// CHECK: %[[K:.*]] = attn_gpu.read_shared %[[AT]] : vector<32x64xf16>
// CHECK: vector.contract {{.*}} %[[Q]], %[[K]]
// CHECK: nvvm.cp.async.wait.group 0
gpu.module @kernels {
  gpu.func @loop(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %n: index, %o: memref<64x32xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %qt = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<?x64xf16>, vector<64x64xf16>
    %s = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x32xf32>) {
      %kt = vector.transfer_read %k[%i, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %acc : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
      scf.yield %next : vector<64x32xf32>
    }
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// With three stages two blocks are on their way, and the free stage is carried. Where rows are not simply counted by the
// loop, a copy is switched off behind the last iteration.
//
// CHECK-LABEL: gpu.func @three_stages
// CHECK-SAME: attn.shared_bytes = 20480 : i64
// CHECK-COUNT-2: attn_gpu.copy_to_shared %arg1{{.*}} when
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %[[STAGE:.*]] = %c0_i32{{.*}}, %[[FREE:.*]] = %c8192_i32{{.*}})
// CHECK-NEXT: nvvm.cp.async.wait.group 1
// CHECK-NEXT: gpu.barrier
// CHECK: %[[MORE:.*]] = arith.cmpi slt
// CHECK: %[[TO:.*]] = arith.addi %[[FREE]]
// CHECK: attn_gpu.copy_to_shared %arg1{{.*}} to %[[TO]] when %[[MORE]]
gpu.module @kernels {
  gpu.func @three_stages(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %n: index, %o: memref<64x32xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 3>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %qt = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<?x64xf16>, vector<64x64xf16>
    %s = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x32xf32>) {
      %row = arith.addi %i, %c32 : index
      %kt = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %acc : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
      scf.yield %next : vector<64x32xf32>
    }
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A step that a branch may skip is copied ahead all the same.
//
// CHECK-LABEL: gpu.func @branch
// CHECK: scf.for
// CHECK: attn_gpu.copy_to_shared
// CHECK: scf.if
// CHECK-NOT: attn_gpu.copy_to_shared
// CHECK: attn_gpu.read_shared
gpu.module @kernels {
  gpu.func @branch(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %n: index, %o: memref<64x32xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %qt = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<?x64xf16>, vector<64x64xf16>
    %s = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x32xf32>) {
      %some = arith.cmpi slt, %i, %c64 : index
      %new = scf.if %some -> (vector<64x32xf32>) {
        %kt = vector.transfer_read %k[%i, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
        %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %acc : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
        scf.yield %next : vector<64x32xf32>
      } else {
        scf.yield %acc : vector<64x32xf32>
      }
      scf.yield %new : vector<64x32xf32>
    }
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A loop over single keys does not copy ahead: its read waits, and takes the memory of the stages that are over.
//
// CHECK-LABEL: gpu.func @single_keys
// CHECK-SAME: attn.shared_bytes = 16384 : i64
// CHECK-COUNT-2: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: attn_gpu.copy_to_shared %arg1{{.*}} to %[[OVER:c8192_i32.*]] dims
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: attn_gpu.read_shared %[[OVER]] : vector<16x64xf16>
gpu.module @kernels {
  gpu.func @single_keys(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %n: index, %o: memref<64x32xf32>, %p: memref<64x16xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %none = arith.constant dense<0.0> : vector<64x16xf32>
    %qt = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<?x64xf16>, vector<64x64xf16>
    %s = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x32xf32>) {
      %kt = vector.transfer_read %k[%i, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %acc : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
      scf.yield %next : vector<64x32xf32>
    }
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %none) -> (vector<64x16xf32>) {
      %kt = vector.transfer_read %k[%i, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<16x64xf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %acc : vector<64x64xf16>, vector<16x64xf16> into vector<64x16xf32>
      scf.yield %next : vector<64x16xf32>
    }
    vector.transfer_write %t, %p[%c0, %c0] {in_bounds = [true, true]} : vector<64x16xf32>, memref<64x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A tile of several pages is a copy for each. Which page comes next is read one iteration before it is copied, and not
// behind the last.
//
// CHECK-LABEL: gpu.func @pages
// CHECK: %[[FIRST:.*]] = scf.if
// CHECK:   memref.load %arg2
// CHECK: attn_gpu.copy_to_shared {{.*}} when %{{.*}} dims [0, 1] in_bounds [true, true] : memref<16x64xf16, {{.*}}>, vector<16x64xf16>
// CHECK: attn_gpu.copy_to_shared {{.*}} vector<16x64xf16>
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[SECOND:.*]] = scf.if
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[STAGE:[a-z0-9]+]] = %c0_i32{{.*}}, %[[PAGE:[a-z0-9]+]] = %[[SECOND]], %{{.*}}) ->
// CHECK: gpu.barrier
// CHECK: %[[NEXT:.*]] = memref.subview %arg1[%[[PAGE]], 0, 0]
// CHECK: attn_gpu.copy_to_shared %[[NEXT]]
// CHECK: arith.constant 2048 : i32
// CHECK: attn_gpu.copy_to_shared
// CHECK: scf.if
// CHECK:   memref.load %arg2
// CHECK: attn_gpu.read_shared {{.*}} : vector<32x64xf16>
gpu.module @kernels {
  gpu.func @pages(%q: memref<64x64xf16>, %pool: memref<?x16x64xf16>, %table: memref<?xindex>, %n: index, %o: memref<64x32xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %none = arith.constant dense<0.0> : vector<32x64xf16>
    %qt = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf16>, vector<64x64xf16>
    %s = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x32xf32>) {
      %number = arith.divui %i, %c16 : index
      %after = arith.addi %number, %c1 : index
      %page0 = memref.load %table[%number] : memref<?xindex>
      %page1 = memref.load %table[%after] : memref<?xindex>
      %k0 = memref.subview %pool[%page0, 0, 0] [1, 16, 64] [1, 1, 1] : memref<?x16x64xf16> to memref<16x64xf16, strided<[64, 1], offset: ?>>
      %k1 = memref.subview %pool[%page1, 0, 0] [1, 16, 64] [1, 1, 1] : memref<?x16x64xf16> to memref<16x64xf16, strided<[64, 1], offset: ?>>
      %t0 = vector.transfer_read %k0[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x64xf16, strided<[64, 1], offset: ?>>, vector<16x64xf16>
      %t1 = vector.transfer_read %k1[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x64xf16, strided<[64, 1], offset: ?>>, vector<16x64xf16>
      %half = vector.insert_strided_slice %t0, %none {offsets = [0, 0], strides = [1, 1]} : vector<16x64xf16> into vector<32x64xf16>
      %kt = vector.insert_strided_slice %t1, %half {offsets = [16, 0], strides = [1, 1]} : vector<16x64xf16> into vector<32x64xf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %acc : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
      scf.yield %next : vector<64x32xf32>
    }
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}
