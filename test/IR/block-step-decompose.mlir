// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// With a schedule, the scores of a block have storage of the size of a whole
// block, whatever the number of keys; no other op of the program need have
// loaded the dialect that gives it.
//
// CHECK-LABEL: func.func @scheduled
// CHECK: %[[BLOCK:.*]] = bufferization.alloc_tensor() : tensor<2x2x8x32xf32>
// CHECK: tensor.extract_slice %[[BLOCK]]
// CHECK-NOT: attn.block_step
func.func @scheduled(%q: tensor<2x16x8xf32>, %k: tensor<?x16x32xf32>,
    %v: tensor<2x?x32x32xf32>, %r: tensor<2x8xf32>, %s: tensor<2x8x32xf32>,
    %a: tensor<2x2x8x32xf32>, %i: index) -> tensor<2x2x8x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<2x16x8xf32>, tensor<?x16x32xf32>, tensor<2x?x32x32xf32>
    -> tensor<2x8xf32>, tensor<2x8x32xf32>, tensor<2x2x8x32xf32>
  return %a1 : tensor<2x2x8x32xf32>
}
