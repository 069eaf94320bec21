// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-place-workspace | FileCheck %s

// Allocations are parts of the workspace one after the other, each at a multiple of
// 256 bytes; where nothing checks data there is no status before them.
//
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xf32>, %[[W:[a-z0-9]+]]: memref<?xi8>) -> i32
// CHECK: %[[START:.*]] = arith.constant 0 : index
// CHECK: %[[A:.*]] = memref.view %[[W]][%[[START]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %[[W]][%{{.*}}][] : memref<?xi8> to memref<100xf16>
// CHECK-LABEL: func.func private @two.workspace(
// CHECK-SAME: memref<?xf32>) -> index
func.func @two(%x: memref<?xf32>) -> i32 attributes {attn.signature = {}} {
  %c0 = arith.constant 0 : index
  %good = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc() : memref<100xf16>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  %zero = arith.constant 0.0 : f16
  memref.store %zero, %b[%c0] : memref<100xf16>
  return %good : i32
}

// -----

// A number that only the device knows is bounded by the tensor of which it is a part.
//
// CHECK-LABEL: func.func private @part.workspace(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xf32>, %{{.*}}: memref<i64>)
// CHECK: memref.dim %[[X]]
func.func @part(%x: memref<?xf32>, %length: memref<i64>) -> i32
    attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %n = memref.load %length[] : memref<i64>
  %rows = arith.index_cast %n : i64 to index
  %part = memref.subview %x[0] [%rows] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %a = memref.alloc(%rows) : memref<?xf32>
  memref.copy %part, %a : memref<?xf32, strided<[1]>> to memref<?xf32>
  return %good : i32
}

// -----

func.func @unknown(%length: memref<i64>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %n = memref.load %length[] : memref<i64>
  %rows = arith.index_cast %n : i64 to index
  // expected-error@+1 {{expects an allocation whose size is known when 'unknown' is called, or bounded by that of an argument}}
  %a = memref.alloc(%rows) : memref<?xf32>
  return %good : i32
}

// -----

// In a loop it is what the last turn needs at most.
//
// CHECK-LABEL: func.func private @turns.workspace(
// CHECK: %[[END:.*]] = arith.constant 9 : index
// CHECK: arith.muli %{{.*}}, %[[END]]
func.func @turns(%x: memref<9xf32>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c1 to %c9 step %c1 {
    %a = memref.alloc(%i) : memref<?xf32>
    memref.store %zero, %a[%c0] : memref<?xf32>
  }
  return %good : i32
}

// -----

// What is needed only before another allocation is needed has the same memory, the
// larger of both; what one op needs together has not.
//
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<?xi8>)
// CHECK: %[[LARGER:.*]] = arith.maxui
// CHECK: %[[SECOND:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: memref.view %[[W]][%[[FIRST:.*]]][] : memref<?xi8> to memref<100xf32>
// CHECK: memref.view %[[W]][%[[SECOND]]][] : memref<?xi8> to memref<200xf32>
// CHECK: memref.view %[[W]][%[[FIRST]]][] : memref<?xi8> to memref<300xf32>
func.func @chain(%x: memref<100xf32>, %y: memref<300xf32>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<200xf32>
  %c = memref.alloc() : memref<300xf32>
  memref.copy %x, %a : memref<100xf32> to memref<100xf32>
  %part = memref.subview %b[0] [100] [1] : memref<200xf32> to memref<100xf32, strided<[1]>>
  memref.copy %a, %part : memref<100xf32> to memref<100xf32, strided<[1]>>
  linalg.fill ins(%zero : f32) outs(%c : memref<300xf32>)
  %some = memref.subview %c[0] [200] [1] : memref<300xf32> to memref<200xf32, strided<[1]>>
  memref.copy %b, %some : memref<200xf32> to memref<200xf32, strided<[1]>>
  memref.copy %c, %y : memref<300xf32> to memref<300xf32>
  return %good : i32
}

// -----

// A number that is read stays: the kernels that need it read it again.
//
// CHECK-LABEL: func.func @number(
// CHECK: memref.view %{{.*}}[%[[FIRST:.*]]][] : memref<?xi8> to memref<1xi64>
// CHECK: memref.view %{{.*}}[%[[SECOND:.*]]][] : memref<?xi8> to memref<8xi64>
// CHECK-LABEL: func.func private @number.workspace(
// CHECK: %[[ONE:.*]] = arith.addi
// CHECK: %[[TWO:.*]] = arith.addi %[[ONE]]
// CHECK: return %[[TWO]]
func.func @number(%x: memref<8xi64>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i64
  %a = memref.alloc() : memref<1xi64>
  %b = memref.alloc() : memref<8xi64>
  linalg.fill ins(%seven : i64) outs(%a : memref<1xi64>)
  %number = memref.load %a[%c0] : memref<1xi64>
  %next = arith.addi %number, %seven : i64
  memref.copy %x, %b : memref<8xi64> to memref<8xi64>
  linalg.fill ins(%next : i64) outs(%x : memref<8xi64>)
  memref.copy %b, %x : memref<8xi64> to memref<8xi64>
  return %good : i32
}

// -----

// Memory that comes out of a loop is what went in; a loop is one place.
//
// CHECK-LABEL: func.func @loop(
// CHECK-LABEL: func.func private @loop.workspace(
// CHECK: %[[ONE:.*]] = arith.addi
// CHECK: %[[TWO:.*]] = arith.addi %[[ONE]]
// CHECK: %[[THREE:.*]] = arith.addi %[[TWO]]
// CHECK: return %[[THREE]]
func.func @loop(%x: memref<8xf32>) -> i32 attributes {attn.signature = {}} {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  %last:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%from = %a, %to = %b) -> (memref<8xf32>, memref<8xf32>) {
    memref.copy %from, %to : memref<8xf32> to memref<8xf32>
    scf.yield %to, %from : memref<8xf32>, memref<8xf32>
  }
  linalg.fill ins(%zero : f32) outs(%c : memref<8xf32>)
  memref.copy %last#0, %x : memref<8xf32> to memref<8xf32>
  memref.copy %c, %x : memref<8xf32> to memref<8xf32>
  return %good : i32
}
