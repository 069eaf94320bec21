// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments,canonicalize,cse))' --split-input-file | FileCheck %s

// Where a tile of a mask is inside, a thread reads its two columns of a row at once: if rows follow one another, and begin at
// even addresses. Else each thread reads each element, and the last one of a row instead of what is behind it; LLVM is kept
// from joining both ends.
//
// CHECK-LABEL: gpu.func @mask
// CHECK-SAME: %{{.*}}: memref<?x?xi8, strided<[?, ?], offset: ?>>, %{{.*}}: memref<16x16xf32>, %[[INSIDE:.*]]: i1
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %c1_i64
// CHECK: %[[ROWS:.*]] = arith.andi %[[INSIDE]], %[[ONE]]
// CHECK: arith.andi %{{.*}}, %c1_i64
// CHECK: %[[EVEN:.*]] = arith.cmpi eq
// CHECK: %[[BOTH:.*]] = arith.andi %[[ROWS]], %[[EVEN]]
// CHECK: scf.if %[[BOTH]]
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK-NOT: llvm.load
// CHECK: } else {
// CHECK: nvvm.shfl.sync idx
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK-COUNT-8: memref.load
// CHECK-NOT: scf.if
// CHECK: nvvm.bar.warp.sync
// CHECK-NEXT: scf.yield
gpu.module @kernels {
  gpu.func @mask(%m: memref<?x?xi8, strided<[?, ?], offset: ?>>, %o: memref<16x16xf32>, %inside: i1) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %none = arith.constant 0 : i8
    %no = arith.constant dense<0> : vector<16x16xi8>
    %x = arith.constant dense<1.0> : vector<16x16xf32>
    %y = arith.constant dense<2.0> : vector<16x16xf32>
    %s = scf.if %inside -> vector<16x16xf32> {
      %t = vector.transfer_read %m[%c0, %c16], %none {in_bounds = [true, true]} : memref<?x?xi8, strided<[?, ?], offset: ?>>, vector<16x16xi8>
      %is = arith.cmpi ne, %t, %no : vector<16x16xi8>
      %k = arith.select %is, %x, %y : vector<16x16xi1>, vector<16x16xf32>
      scf.yield %k : vector<16x16xf32>
    } else {
      %t = vector.transfer_read %m[%c0, %c16], %none {in_bounds = [true, false]} : memref<?x?xi8, strided<[?, ?], offset: ?>>, vector<16x16xi8>
      %is = arith.cmpi ne, %t, %no : vector<16x16xi8>
      %k = arith.select %is, %x, %y : vector<16x16xi1>, vector<16x16xf32>
      scf.yield %k : vector<16x16xf32>
    } {attn.inside, attn.rare}
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// A bias of one row is a number for each column: as many loads as pairs of columns. With four columns side by side a thread
// reads 16 bytes of f32.
//
// CHECK-LABEL: gpu.func @bias
// CHECK: arith.andi %{{.*}}, %c15_i64
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: } else {
gpu.module @kernels {
  gpu.func @bias(%m: memref<?xf32, strided<[?], offset: ?>>, %o: memref<16x16xf32>, %inside: i1) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = arith.constant dense<1.0> : vector<16x16xf32>
    %s = scf.if %inside -> vector<16x16xf32> {
      %t = vector.transfer_read %m[%c0], %zero {in_bounds = [true]} : memref<?xf32, strided<[?], offset: ?>>, vector<16xf32>
      %b = vector.broadcast %t : vector<16xf32> to vector<16x16xf32>
      %k = arith.addf %x, %b : vector<16x16xf32>
      scf.yield %k : vector<16x16xf32>
    } else {
      %t = vector.transfer_read %m[%c0], %zero : memref<?xf32, strided<[?], offset: ?>>, vector<16xf32>
      %b = vector.broadcast %t : vector<16xf32> to vector<16x16xf32>
      %k = arith.addf %x, %b : vector<16x16xf32>
      scf.yield %k : vector<16x16xf32>
    } {attn.inside, attn.rare}
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// What a branch of few iterations computes of its rows and columns is computed in it.
//
// CHECK-LABEL: gpu.func @rare
// CHECK: scf.if
// CHECK: %[[SAME:.*]] = nvvm.shfl.sync idx
// CHECK: arith.andi %[[SAME]], %c31_i32
// CHECK: } else {
gpu.module @kernels {
  gpu.func @rare(%o: memref<16x16xf32>, %some: i1, %n: i32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %x = arith.constant dense<1.0> : vector<16x16xf32>
    %y = arith.constant dense<2.0> : vector<16x16xf32>
    %s = scf.if %some -> vector<16x16xf32> {
      %i = vector.step : vector<16xindex>
      %w = arith.index_cast %i : vector<16xindex> to vector<16xi32>
      %most = vector.broadcast %n : i32 to vector<16xi32>
      %is = arith.cmpi slt, %w, %most : vector<16xi32>
      %all = vector.broadcast %is : vector<16xi1> to vector<16x16xi1>
      %k = arith.select %all, %x, %y : vector<16x16xi1>, vector<16x16xf32>
      scf.yield %k : vector<16x16xf32>
    } else {
      scf.yield %x : vector<16x16xf32>
    } {attn.rare}
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Nor does a loop in such a branch keep anything of rows and columns from one iteration to the next. Of f32 that holds with
// matrix instructions.
//
// CHECK-LABEL: gpu.func @rare_loop
// CHECK: scf.for
// CHECK: scf.if
// CHECK: %[[SAME:.*]] = nvvm.shfl.sync idx
// CHECK: scf.for
// CHECK-NEXT: %[[AGAIN:.*]] = nvvm.shfl.sync idx {{.*}}, %[[SAME]]
// CHECK: arith.andi %[[AGAIN]], %c31_i32
gpu.module @kernels {
  gpu.func @rare_loop(%o: memref<16x16xf32>, %some: i1, %n: i32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %x = arith.constant dense<1.0> : vector<16x16xf32>
    %y = arith.constant dense<2.0> : vector<16x16xf32>
    %r = scf.for %a = %c0 to %c9 step %c1 iter_args(%u = %x) -> vector<16x16xf32> {
      %s = scf.if %some -> vector<16x16xf32> {
        %t = scf.for %e = %c0 to %c9 step %c1 iter_args(%v = %u) -> vector<16x16xf32> {
          %i = vector.step : vector<16xindex>
          %w = arith.index_cast %i : vector<16xindex> to vector<16xi32>
          %most = vector.broadcast %n : i32 to vector<16xi32>
          %is = arith.cmpi slt, %w, %most : vector<16xi32>
          %all = vector.broadcast %is : vector<16xi1> to vector<16x16xi1>
          %k = arith.select %all, %v, %y : vector<16x16xi1>, vector<16x16xf32>
          scf.yield %k : vector<16x16xf32>
        }
        scf.yield %t : vector<16x16xf32>
      } else {
        scf.yield %u : vector<16x16xf32>
      } {attn.rare}
      scf.yield %s : vector<16x16xf32>
    }
    vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
