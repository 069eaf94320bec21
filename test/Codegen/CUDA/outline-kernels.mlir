// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-outline-kernels --canonicalize | FileCheck %s

// A linalg op gets a thread for each place of its parallel dimensions, which runs
// over the others.
//
// CHECK-LABEL: func.func @sum(
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui
// CHECK: gpu.launch_func @kernels::@sum_k0 blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%c128, %{{.*}}, %{{.*}})
// CHECK-LABEL: gpu.func @sum_k0(
// CHECK-SAME: kernel attributes {known_block_size = array<i32: 128, 1, 1>}
// CHECK: gpu.block_id x
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: scf.for
// CHECK: memref.store
func.func @sum(%x: memref<?x8xf32>, %y: memref<?xf32>, %w: memref<?xi8>) -> i32
    attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x8xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  }
  return %good : i32
}

// -----

// What is read from memory is computed again in the kernel.
//
// CHECK-LABEL: func.func @scaled(
// CHECK-NOT: memref.load
// CHECK: gpu.launch_func @kernels::@scaled_k0
// CHECK-LABEL: gpu.func @scaled_k0(
// CHECK: memref.load %{{.*}}[] : memref<f32>
// CHECK: arith.mulf
func.func @scaled(%x: memref<?xf32>, %s: memref<f32>, %w: memref<?xi8>) -> i32
    attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %scale = memref.load %s[] : memref<f32>
  %twice = arith.addf %scale, %scale : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%out: f32):
    %p = arith.mulf %out, %twice : f32
    linalg.yield %p : f32
  }
  return %good : i32
}

// -----

// A loop as often as the device says is the work of one thread.
//
// CHECK-LABEL: func.func @serial(
// CHECK: threads in (%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-LABEL: gpu.func @serial_k0(
// CHECK-SAME: known_block_size = array<i32: 1, 1, 1>
// CHECK: scf.for
func.func @serial(%x: memref<8xf32>, %s: memref<i64>, %w: memref<?xi8>) -> i32
    attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.load %s[] : memref<i64>
  %end = arith.index_cast %n : i64 to index
  scf.for %i = %c0 to %end step %c1 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  return %good : i32
}

// -----

// A program of thread blocks becomes a kernel as it is.
//
// CHECK-LABEL: func.func @blocks(
// CHECK: gpu.launch_func @kernels::@blocks_k0 blocks in (%{{.*}}, %c4, %{{.*}}) threads in (%c128,
// CHECK-LABEL: gpu.func @blocks_k0(
// CHECK-SAME: attn.schedule = #attn.schedule<
// CHECK: %[[Y:.*]] = gpu.block_id y
// CHECK: %[[X:.*]] = gpu.block_id x
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[Y]], %[[X]]]
func.func @blocks(%x: memref<4x?xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<4x?xf32>
  scf.forall (%i, %j) in (4, %n) {
    memref.store %zero, %x[%i, %j] : memref<4x?xf32>
  } {mapping = [#gpu.block<y>, #gpu.block<x>],
     attn.schedule = #attn.schedule<block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4>}
  return %good : i32
}

// -----

// There are only 65535 blocks along y: more are counted along x.
//
// CHECK-LABEL: func.func @many(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?xf32>
// CHECK: %[[ALL:.*]] = arith.muli
// CHECK: gpu.launch_func @kernels::@many_k0 blocks in (%[[ALL]], %c1, %c1) threads in (%c128,
// CHECK-LABEL: gpu.func @many_k0(
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[BLOCK]] : index to i32
// CHECK: %[[X:.*]] = arith.remui %[[NUMBER]], %[[COUNT:.*]] : i32
// CHECK: %[[Y:.*]] = arith.divui %[[NUMBER]], %[[COUNT]] : i32
// CHECK-DAG: %[[I:.*]] = arith.index_cast %[[Y]]
// CHECK-DAG: %[[J:.*]] = arith.index_cast %[[X]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
func.func @many(%x: memref<?x?xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.forall (%i, %j) in (%m, %n) {
    memref.store %zero, %x[%i, %j] : memref<?x?xf32>
  } {mapping = [#gpu.block<y>, #gpu.block<x>],
     attn.schedule = #attn.schedule<block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4>}
  return %good : i32
}

// -----

// What a loop of the host reads may be written before the loop.
//
// CHECK-LABEL: func.func @ends(
// CHECK: gpu.launch_func @kernels::@ends_k0
// CHECK: scf.for
// CHECK: gpu.launch_func @kernels::@ends_k1
// CHECK-LABEL: gpu.func @ends_k1(
// CHECK: memref.load
func.func @ends(%x: memref<2xf32>, %y: memref<2x8xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<2xf32>)
  scf.for %i = %c0 to %c2 step %c1 {
    %end = memref.load %x[%i] : memref<2xf32>
    %row = memref.subview %y[%i, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%end : f32) outs(%row : memref<8xf32, strided<[1], offset: ?>>)
  }
  return %good : i32
}

// -----

// But not after what reads it: a kernel would read what comes then.
func.func @late(%x: memref<2xf32>, %y: memref<8xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c2 step %c1 {
    // expected-error@+1 {{'memref.load' op expects memory that is not written afterwards}}
    %end = memref.load %x[%i] : memref<2xf32>
    scf.for %j = %c0 to %c2 step %c1 {
      linalg.fill ins(%zero : f32) outs(%x : memref<2xf32>)
      linalg.fill ins(%end : f32) outs(%y : memref<8xf32>)
    }
  }
  return %good : i32
}

// -----

// With checks of data there is a status, written first and looked at by the rest.
//
// CHECK-LABEL: func.func @checked(
// CHECK: gpu.launch_func @kernels::@checked_k0
// CHECK: gpu.launch_func @kernels::@checked_k1
// CHECK-NOT: @checked.data
// CHECK-LABEL: gpu.func @checked_k0(
// CHECK-COUNT-3: memref.store
// CHECK-LABEL: gpu.func @checked_k1(
// CHECK-SAME: memref<3xi64>) kernel attributes {attn.guarded
func.func @checked(%x: memref<8xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  return %good : i32
}
func.func private @checked.data(%x: memref<8xf32>) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %first = memref.load %x[%c0] : memref<8xf32>
  %number = arith.fptosi %first : f32 to i64
  return %number, %zero, %zero : i64, i64, i64
}

// -----

func.func @unmapped(%x: memref<4xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{'scf.forall' op expects a #gpu.block<x>, y or z for each dimension}}
  scf.forall (%i) in (4) {
    memref.store %zero, %x[%i] : memref<4xf32>
  } {attn.schedule = #attn.schedule<block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4>}
  return %good : i32
}

// -----

// Functions whose names differ in what an assembler does not take have kernels of different names.
//
// CHECK-LABEL: func.func @a.b(
// CHECK: gpu.launch_func @kernels::@a_b_k0 blocks
// CHECK-LABEL: func.func @a_b(
// CHECK: gpu.launch_func @kernels::@a_b_k0_ blocks
// CHECK: gpu.func @a_b_k0(
// CHECK: gpu.func @a_b_k0_(
func.func @a.b(%x: memref<8xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  return %good : i32
}
func.func @a_b(%x: memref<8xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%x : memref<8xf32>)
  return %good : i32
}

// -----

// Kernels of a function that do the same are one.
//
// CHECK-LABEL: func.func @same(
// CHECK: gpu.launch_func @kernels::@same_k0 {{.*}} args(%arg0 : memref<8xf32>)
// CHECK: gpu.launch_func @kernels::@same_k1 {{.*}} args(%arg0 : memref<8xf32>)
// CHECK: gpu.launch_func @kernels::@same_k0 {{.*}} args(%arg1 : memref<8xf32>)
// CHECK: gpu.func @same_k0(
// CHECK: gpu.func @same_k1(
// CHECK-NOT: gpu.func
func.func @same(%x: memref<8xf32>, %y: memref<8xf32>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  linalg.fill ins(%one : f32) outs(%x : memref<8xf32>)
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  return %good : i32
}

// -----

// The module of kernels has another name where a function has its own.
//
// CHECK-LABEL: func.func @kernels(
// CHECK: gpu.launch_func @[[MODULE:kernels_.+]]::@kernels_k0
// CHECK: gpu.module @[[MODULE]]
// CHECK: gpu.func @kernels_k0(
func.func @kernels(%x: memref<?xf32>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<?xf32>)
  return %good : i32
}
