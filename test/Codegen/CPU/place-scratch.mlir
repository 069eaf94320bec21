// RUN: attn-opt %s --attn-place-scratch --cse --split-input-file | FileCheck %s

// What a function allocates is one block, which is freed at the end. Where it
// cannot be had nothing runs, and the status is 9.
//
// CHECK-LABEL: func.func @shared
// CHECK: %[[BLOCK:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[BLOCK]]
// CHECK: %[[GOOD:.*]] = arith.cmpi ne, %[[ADDRESS]], %{{.*}}
// CHECK: %[[STATUS:.*]] = scf.if %[[GOOD]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
// CHECK: memref.view %[[BLOCK]][%{{.*}}][] : memref<?xi8> to memref<8xf32>
// CHECK: memref.view %[[BLOCK]][%{{.*}}][] : memref<?xi8> to memref<4x2xf64>
// CHECK: } else {
// CHECK-NEXT: %[[FULL:.*]] = arith.constant 9 : i32
// CHECK-NEXT: scf.yield %[[FULL]]
// CHECK: memref.dealloc %[[BLOCK]]
// CHECK-NEXT: return %[[STATUS]]
func.func @shared(%x: f32, %y: f64) -> i32 {
  %good = arith.constant 0 : i32
  %i = arith.constant 3 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<4x2xf64>
  memref.store %x, %a[%i] : memref<8xf32>
  memref.store %y, %b[%i, %i] : memref<4x2xf64>
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<4x2xf64>
  return %good : i32
}

// -----

// What a task allocates has one place a thread: 64 bytes times the threads, and in
// the task 64 bytes times the thread's number.
//
// CHECK-DAG: func.func private @omp_get_max_threads() -> i32
// CHECK-DAG: func.func private @omp_get_thread_num() -> i32
// CHECK-LABEL: func.func @tasks
// CHECK: %[[BYTES:.*]] = arith.constant 64 : index
// CHECK: %[[MOST:.*]] = call @omp_get_max_threads()
// CHECK: %[[THREADS:.*]] = arith.index_cast %[[MOST]]
// CHECK: arith.muli %[[BYTES]], %[[THREADS]]
// CHECK: %[[BLOCK:.*]] = memref.alloc(
// CHECK: scf.forall
// CHECK-NEXT: %[[NUMBER:.*]] = {{.*}}call @omp_get_thread_num()
// CHECK-NEXT: %[[THREAD:.*]] = arith.index_cast %[[NUMBER]]
// CHECK-NEXT: arith.muli %[[THREAD]], %[[BYTES]]
// CHECK: memref.view %[[BLOCK]][
// CHECK-NOT: memref.alloc
func.func @tasks(%x: f32) -> i32 {
  %good = arith.constant 0 : i32
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<8xf32>
    memref.store %x, %a[%i] : memref<8xf32>
    memref.dealloc %a : memref<8xf32>
  }
  return %good : i32
}

// -----

// A size that follows from the arguments is computed on entry.
//
// CHECK-LABEL: func.func @argument
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xf32>
// CHECK: %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK: arith.muli %{{.*}}, %[[SIZE]]
// CHECK: memref.alloc(
// CHECK: scf.forall
// CHECK: memref.view %{{.*}}[%{{.*}}][%[[SIZE]]] : memref<?xi8> to memref<?xf32>
func.func @argument(%x: memref<?xf32>) -> i32 {
  %good = arith.constant 0 : i32
  scf.forall (%i) in (8) {
    %c0 = arith.constant 0 : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    %a = memref.alloc(%size) : memref<?xf32>
    memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  }
  return %good : i32
}

// -----

// A size that changes from task to task gets the most that it can be, 32 floats of
// 4 bytes; the view has the size that it is.
//
// CHECK-LABEL: func.func @bounded
// CHECK: %[[FLOAT:.*]] = arith.constant 4 : index
// CHECK: arith.muli %[[FLOAT]], %c32
// CHECK: memref.alloc(
// CHECK: scf.forall (%[[I:.*]]) =
// CHECK: %[[SIZE:.*]] = affine.min #{{.*}}(%[[I]])
// CHECK: memref.view %{{.*}}[%{{.*}}][%[[SIZE]]] : memref<?xi8> to memref<?xf32>
func.func @bounded(%x: f32) -> i32 {
  %good = arith.constant 0 : i32
  scf.forall (%i) = (0) to (100) step (32) {
    %c0 = arith.constant 0 : index
    %size = affine.min affine_map<(d0) -> (100 - d0, 32)>(%i)
    %a = memref.alloc(%size) : memref<?xf32>
    memref.store %x, %a[%c0] : memref<?xf32>
  }
  return %good : i32
}

// -----

// A scalar that the function takes is known on entry.
//
// CHECK-LABEL: func.func @scalar
// CHECK-SAME: %[[N:[a-z0-9]+]]: memref<index>
// CHECK: %[[SIZE:.*]] = memref.load %[[N]][]
// CHECK: arith.muli %{{.*}}, %[[SIZE]]
// CHECK: memref.alloc(
// CHECK: scf.forall
func.func @scalar(%n: memref<index>, %x: f32) -> i32 {
  %good = arith.constant 0 : i32
  scf.forall (%i) in (8) {
    %size = memref.load %n[] : memref<index>
    %a = memref.alloc(%size) : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return %good : i32
}

// -----

// Where nothing is allocated nothing changes.
//
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: arith.constant
// CHECK-NEXT: return
func.func @nothing() -> i32 {
  %good = arith.constant 0 : i32
  return %good : i32
}

// -----

// Of two parallel loops one runs at a time: both use the same bytes of a thread, as
// many as the one that needs more.
//
// CHECK-LABEL: func.func @one_after_the_other
// CHECK: %[[BYTES:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: arith.muli %[[BYTES]], %{{.*}}
// CHECK: scf.forall
// CHECK: arith.muli %{{.*}}, %[[BYTES]]
// CHECK: memref.view %[[BLOCK:.*]][%[[AT:.*]]][] : memref<?xi8> to memref<8xf32>
// CHECK: scf.forall
// CHECK: arith.muli %{{.*}}, %[[BYTES]]
// CHECK: memref.view %[[BLOCK]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xf32>
func.func @one_after_the_other(%x: f32, %n: index) -> i32 {
  %good = arith.constant 0 : i32
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<8xf32>
    memref.store %x, %a[%i] : memref<8xf32>
  }
  scf.forall (%i) in (8) {
    %a = memref.alloc(%n) : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return %good : i32
}

// -----

// Who asks for the number of threads gets that of OpenMP, and memory may depend on
// it.
//
// CHECK-LABEL: func.func @threads
// CHECK: %[[MOST:.*]] = call @omp_get_max_threads()
// CHECK: %[[THREADS:.*]] = arith.index_cast %[[MOST]]
// CHECK: arith.muli %{{.*}}, %[[THREADS]]
// CHECK: memref.alloc(
// CHECK-NOT: attn.threads
// CHECK: memref.view %{{.*}}[%{{.*}}][%[[THREADS]]] : memref<?xi8> to memref<?xf32>
func.func @threads(%x: f32) -> i32 {
  %good = arith.constant 0 : i32
  %i = arith.constant 3 : index
  %n = attn.threads
  %a = memref.alloc(%n) : memref<?xf32>
  memref.store %x, %a[%i] : memref<?xf32>
  return %good : i32
}
