// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments,canonicalize,cse))' --split-input-file | FileCheck %s

// A loop that is known to end within 32 bits counts in 32 bits, and so is what it compares.
//
// CHECK-LABEL: gpu.func @narrow
// CHECK: scf.for {{.*}} : i32 {
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
gpu.module @kernels {
  gpu.func @narrow(%n: i32, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %most = arith.constant 1073741823 : i32
    %low = arith.andi %n, %most : i32
    %end = arith.index_castui %low : i32 to index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %one = arith.constant dense<1.0> : vector<16x16xf32>
    %r = scf.for %i = %c0 to %end step %c64 iter_args(%s = %zero) -> (vector<16x16xf32>) {
      %next = arith.addi %i, %c64 : index
      %last = arith.cmpi sgt, %next, %end : index
      %t = scf.if %last -> (vector<16x16xf32>) {
        %u = arith.addf %s, %one : vector<16x16xf32>
        scf.yield %u : vector<16x16xf32>
      } else {
        scf.yield %s : vector<16x16xf32>
      }
      scf.yield %t : vector<16x16xf32>
    }
    vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Of an end that may be any number nothing is known.
//
// CHECK-LABEL: gpu.func @wide
// CHECK: scf.for
// CHECK-NOT: : i32 {
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @wide(%end: index, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %one = arith.constant dense<1.0> : vector<16x16xf32>
    %r = scf.for %i = %c0 to %end step %c64 iter_args(%s = %zero) -> (vector<16x16xf32>) {
      %t = arith.addf %s, %one : vector<16x16xf32>
      scf.yield %t : vector<16x16xf32>
    }
    vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// A loop that copies one block of rows behind the other carries the address of the thread's chunk, which goes on by one
// block: nothing is multiplied in it.
//
// CHECK-LABEL: gpu.func @copies
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c8_i64
// CHECK: scf.for {{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (i64) {
// CHECK-NOT: muli
// CHECK: llvm.inttoptr %[[AT]]
// CHECK: nvvm.cp.async.shared.global
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %[[STEP]] : i64
// CHECK: scf.yield %[[NEXT]] : i64
gpu.module @kernels {
  gpu.func @copies(%k: memref<?x32xf16, strided<[?, 1]>>, %end: index, %x: f32, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, attn.aligned = true,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %at = arith.constant 0 : i32
    scf.for %i = %c0 to %end step %c8 {
      %next = arith.addi %i, %c8 : index
      attn_gpu.copy_to_shared %k[%next, %c0] to %at dims [0, 1] in_bounds [false, true] : memref<?x32xf16, strided<[?, 1]>>, vector<8x32xf16>
    }
    %v = vector.broadcast %x : f32 to vector<16x16xf32>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Numbers of columns are compared as constants: the lane's own part is taken from what they are compared with.
//
// CHECK-LABEL: gpu.func @columns
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i32
// CHECK: arith.cmpi sgt, %[[REST]], %c0_i32 : i32
// CHECK: arith.cmpi sgt, %[[REST]], %c1_i32 : i32
// CHECK: arith.cmpi sgt, %[[REST]], %c8_i32 : i32
// CHECK: arith.cmpi sgt, %[[REST]], %c9_i32 : i32
gpu.module @kernels {
  gpu.func @columns(%x: f32, %n: i32, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %least = arith.constant -1073741824 : i32
    %limit = arith.maxsi %n, %least : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %v = vector.broadcast %x : f32 to vector<16x16xf32>
    %i = vector.step : vector<16xindex>
    %j = arith.index_cast %i : vector<16xindex> to vector<16xi32>
    %limits = vector.broadcast %limit : i32 to vector<16xi32>
    %in = arith.cmpi slt, %j, %limits : vector<16xi32>
    %ins = vector.broadcast %in : vector<16xi1> to vector<16x16xi1>
    %s = arith.select %ins, %v, %zero : vector<16x16xi1>, vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
