// RUN: attn-opt %s --attn-expose-buffers | FileCheck %s

// Arguments have any strides, results are written to further arguments.
//
// CHECK-LABEL: func.func @add
// CHECK-SAME:    %[[X:.*]]: memref<?x8xf32, strided<[?, ?], offset: ?>> {attn.name = "x"},
// CHECK-SAME:    %[[OUT:.*]]: memref<?x8xf32, strided<[?, 1], offset: ?>>) -> i32
// CHECK-SAME:    attn.signature = {input_names = ["x"], inputs = [tensor<?x8xf32>], output_names = ["sum"], outputs = [tensor<?x8xf32>]}
// CHECK-DAG:   %[[T:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK-DAG:   %[[START:.*]] = bufferization.to_tensor %[[OUT]] restrict writable
// CHECK:       %[[SUM:.*]] = linalg.add ins(%[[T]], %[[T]] {{.*}} outs(%[[START]]
// CHECK:       bufferization.materialize_in_destination %[[SUM]] in writable %[[OUT]]
// CHECK:       return %c0_i32 : i32
func.func @add(%x: tensor<?x8xf32> {attn.name = "x"})
    -> (tensor<?x8xf32> {attn.name = "sum"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %sum = linalg.add ins(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>)
    outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}

// A scalar is memory of rank 0.
//
// CHECK-LABEL: func.func @scalar
// CHECK-SAME:    %[[X:.*]]: memref<i32, strided<[], offset: ?>>, %[[OUT:.*]]: memref<i32, strided<[], offset: ?>>) -> i32
// CHECK:       %[[T:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK:       %[[S:.*]] = tensor.extract %[[T]][] : tensor<i32>
// CHECK:       %[[R:.*]] = tensor.from_elements %[[S]] : tensor<i32>
// CHECK:       bufferization.materialize_in_destination %[[R]] in writable %[[OUT]]
func.func @scalar(%x: i32) -> i32 {
  return %x : i32
}

// What is collapsed last is computed in the expanded result.
//
// CHECK-LABEL: func.func @collapsed
// CHECK-SAME:    %{{.*}}: memref<2x?x4xf32, strided<[?, ?, ?], offset: ?>>, %[[OUT:.*]]: memref<?x4xf32, strided<[?, 1], offset: ?>>
// CHECK:       %[[WHOLE:.*]] = memref.dim %[[OUT]], %c0
// CHECK:       %[[M:.*]] = arith.divui %[[WHOLE]], %c2
// CHECK:       %[[VIEW:.*]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1], [2]] output_shape [2, %[[M]], 4]
// CHECK:       bufferization.materialize_in_destination %{{.*}} in writable %[[VIEW]]
// CHECK-SAME:    tensor<2x?x4xf32>
func.func @collapsed(%x: tensor<2x?x4xf32>) -> tensor<?x4xf32> {
  %y = math.absf %x : tensor<2x?x4xf32>
  %z = tensor.collapse_shape %y [[0, 1], [2]]
    : tensor<2x?x4xf32> into tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// Either branch computes in the result.
//
// CHECK-LABEL: func.func @branches
// CHECK-SAME:    %[[OUT:[^:]*]]: memref<8xf32, strided<[1], offset: ?>>
// CHECK:       %[[START:.*]] = bufferization.to_tensor %[[OUT]] restrict writable
// CHECK:       scf.if
// CHECK:         linalg.fill {{.*}} outs(%[[START]]
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
func.func @branches(%which: i1, %x: f32, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.if %which -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%x : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %f : tensor<8xf32>
  } else {
    %e = tensor.empty() : tensor<8xf32>
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%t = %e) -> tensor<8xf32> {
      %i1 = tensor.insert %x into %t[%i] : tensor<8xf32>
      scf.yield %i1 : tensor<8xf32>
    }
    scf.yield %l : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// A private function is one of shapes or checks, and keeps what it returns.
//
// CHECK-LABEL: func.func private @f.shape
// CHECK-SAME:    (%{{.*}}: memref<?xf32, strided<[?], offset: ?>>) -> index
// CHECK-NOT:   attn.signature
func.func private @f.shape(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  return %n : index
}

// What is taken from a tensor without content and inserted there again grows in the
// result too, as a loop of one iteration leaves it.
//
// CHECK-LABEL: func.func @inserted
// CHECK: %[[OUT:.*]] = bufferization.to_tensor %{{.*}} restrict writable
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[OUT]]
// CHECK: linalg.fill {{.*}} outs(%[[PART]]
// CHECK: tensor.insert_slice %{{.*}} into %[[OUT]]
func.func @inserted(%x: f32, %n: index) -> tensor<1x?xf32> {
  %empty = tensor.empty(%n) : tensor<1x?xf32>
  %part = tensor.extract_slice %empty[0, 0] [1, %n] [1, 1] : tensor<1x?xf32> to tensor<?xf32>
  %filled = linalg.fill ins(%x : f32) outs(%part : tensor<?xf32>) -> tensor<?xf32>
  %all = tensor.insert_slice %filled into %empty[0, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<1x?xf32>
  return %all : tensor<1x?xf32>
}

// What a step of a loop hands on is copied to where it took the same from, unless it is
// computed there.
//
// CHECK-LABEL: func.func @steps
// CHECK:       scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:         %[[SUM:.*]] = linalg.add {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK:         %[[GROWN:.*]] = linalg.add {{.*}} outs(%[[B]] : tensor<8xf32>)
// CHECK:         %[[COPY:.*]] = linalg.copy ins(%[[SUM]] : {{.*}}) outs(%[[A]] : {{.*}})
// CHECK-NEXT:    scf.yield %[[COPY]], %[[GROWN]]
func.func @steps(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x)
      -> (tensor<8xf32>, tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %sum = linalg.add ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %grown = linalg.add ins(%b, %sum : tensor<8xf32>, tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %sum, %grown : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
