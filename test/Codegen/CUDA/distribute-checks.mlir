// RUN: attn-opt %s --split-input-file --attn-outline-kernels --canonicalize | FileCheck %s

// The threads of one block share a search: each notes where it found something first, the least place counts, and who
// has it says what it is. One thread writes the status.
//
// CHECK-LABEL: func.func @one(
// CHECK: gpu.launch_func @kernels::@one_k0 blocks in (%c1, %c1, %c1) threads in (%c512, %c1, %c1)
// CHECK-SAME: memref<8xi64>)
// CHECK-LABEL: gpu.func @one_k0(
// CHECK-SAME: %[[WORDS:[a-z0-9]+]]: memref<8xi64>) kernel attributes {known_block_size = array<i32: 512, 1, 1>}
// CHECK-DAG: %[[NOWHERE:.*]] = arith.constant 9223372036854775807 : i64
// CHECK-DAG: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[MINE:.*]]:3 = scf.for %[[TURN:.*]] = %[[THREAD]] to %{{.*}} step %c512 iter_args(%[[ANY:.*]] = %false, %{{.*}} = %{{.*}}, %[[PLACE:.*]] = %[[NOWHERE]])
// CHECK:   %[[AT:.*]] = arith.index_cast %[[TURN]] : index to i64
// CHECK:   %[[NOW:.*]] = arith.select %{{.*}}, %[[AT]], %[[PLACE]]
// CHECK:   arith.select %[[ANY]], %[[PLACE]], %[[NOW]]
// CHECK: scf.if
// CHECK:   memref.store %[[NOWHERE]], %[[WORDS]][%c3]
// CHECK: gpu.barrier
// CHECK: scf.if %[[MINE]]#0
// CHECK:   memref.atomic_rmw minu %[[MINE]]#2, %[[WORDS]][%c3]
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = memref.load %[[WORDS]][%c3]
// CHECK: scf.if
// CHECK:   memref.store %[[MINE]]#1, %[[WORDS]][%c4]
// CHECK: gpu.barrier
// CHECK: %[[FOUND:.*]] = arith.cmpi ne, %[[FIRST]], %[[NOWHERE]]
// CHECK: memref.load %[[WORDS]][%c4]
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-3: memref.store
func.func @one(%x: memref<?xi64>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  return %good : i32
}
func.func private @one.data(%x: memref<?xi64>) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant false
  %zero = arith.constant 0 : i64
  %n = memref.dim %x, %c0 : memref<?xi64>
  %found:2 = scf.for %i = %c0 to %n step %c1 iter_args(%any = %none, %what = %zero) -> (i1, i64) {
    %element = memref.load %x[%i] : memref<?xi64>
    %wrong = arith.cmpi slt, %element, %zero : i64
    %next = arith.select %wrong, %element, %what : i64
    %kept = arith.select %any, %what, %next : i64
    %either = arith.ori %any, %wrong : i1
    scf.yield %either, %kept : i1, i64
  } {attn.search = array<i64: 2>}
  %number = arith.extui %found#0 : i1 to i64
  return %number, %found#1, %zero : i64, i64, i64
}

// -----

// Loops in loops with bounds of their own are one loop over all places; where the inner one's depend on the outer one,
// warps share that, and the threads of a warp the inner one.
//
// CHECK-LABEL: gpu.func @two_k0(
// CHECK: scf.for %{{.*}} step %c512
// CHECK-NOT: scf.for
// CHECK: gpu.barrier
// CHECK: %[[WARP:.*]] = arith.divui %{{.*}}, %c32
// CHECK: scf.for %{{.*}} = %[[WARP]] to %{{.*}} step %c16
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: scf.for %{{.*}} = %[[LANE]] to %{{.*}} step %c32
// CHECK-NOT: scf.for
// CHECK: gpu.return
func.func @two(%x: memref<?x?xi64>, %w: memref<?xi8>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  return %good : i32
}
func.func private @two.data(%x: memref<?x?xi64>) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant false
  %zero = arith.constant 0 : i64
  %m = memref.dim %x, %c0 : memref<?x?xi64>
  %n = memref.dim %x, %c1 : memref<?x?xi64>
  %all = scf.for %i = %c0 to %m step %c1 iter_args(%before = %none) -> i1 {
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%any = %before) -> i1 {
      %element = memref.load %x[%i, %j] : memref<?x?xi64>
      %wrong = arith.cmpi slt, %element, %zero : i64
      %either = arith.ori %any, %wrong : i1
      scf.yield %either : i1
    } {attn.search = array<i64: 1>}
    scf.yield %inner : i1
  } {attn.search = array<i64: 1>}
  %below = scf.for %i = %c0 to %m step %c1 iter_args(%before = %none) -> i1 {
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%any = %before) -> i1 {
      %element = memref.load %x[%i, %j] : memref<?x?xi64>
      %wrong = arith.cmpi eq, %element, %zero : i64
      %either = arith.ori %any, %wrong : i1
      scf.yield %either : i1
    } {attn.search = array<i64: 1>}
    scf.yield %inner : i1
  } {attn.search = array<i64: 1>}
  %first = arith.extui %all : i1 to i64
  %second = arith.extui %below : i1 to i64
  return %first, %second, %zero : i64, i64, i64
}
