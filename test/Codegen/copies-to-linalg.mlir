// RUN: attn-opt %s --attn-copies-to-linalg | FileCheck %s

// A copy between any strides is a loop.
//
// CHECK-LABEL: func.func @copy
// CHECK-SAME:    (%[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32, strided<[?], offset: ?>>)
// CHECK-NOT:   memref.copy
// CHECK:       linalg.generic {{.*}} ins(%[[A]] : memref<?xf32>) outs(%[[B]]
// CHECK:       linalg.yield
func.func @copy(%a: memref<?xf32>, %b: memref<?xf32, strided<[?], offset: ?>>) {
  memref.copy %a, %b
    : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  return
}

// A copy onto itself is nothing.
//
// CHECK-LABEL: func.func @self
// CHECK-NEXT:  return
func.func @self(%a: memref<?xf32>) {
  memref.copy %a, %a : memref<?xf32> to memref<?xf32>
  return
}
