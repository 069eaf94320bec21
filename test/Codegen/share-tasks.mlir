// RUN: attn-opt %s --attn-share-tasks --split-input-file | FileCheck %s

// Two loops that differ in what they read and write only: one function, called from
// both places. Constants and sizes that follow from them are in the function.
//
// CHECK-LABEL: func.func @layers
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x64xf32>, %[[W:[a-z0-9]+]]: tensor<8x64xf32>)
// CHECK-NOT: scf.forall
// CHECK: %[[A:.*]] = attn.call @attn.task(%[[W]], %[[X]] : tensor<8x64xf32>, tensor<?x64xf32>) outs(%[[TO:.*]] : tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK: %[[B:.*]] = attn.call @attn.task(%[[A]], %[[X]] : tensor<8x64xf32>, tensor<?x64xf32>) outs(%[[TO]] : tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK: return %[[B]]
//
// CHECK: func.func private @attn.task(%[[Q:[a-z0-9]+]]: tensor<8x64xf32>, %[[P:[a-z0-9]+]]: tensor<?x64xf32>, %[[OUT:[a-z0-9]+]]: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {attn.task} {
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[P]]
// CHECK-DAG: %[[HALF:.*]] = affine.apply {{.*}}[%[[N]]]
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[R:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[OUT]])
// CHECK: tensor.extract_slice %[[Q]]
// CHECK: tensor.extract_slice %[[P]][%[[HALF]], 0]
// CHECK: linalg.fill ins(%[[ZERO]]
// CHECK: return %[[R]]
func.func @layers(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %half = affine.apply affine_map<()[s0] -> (s0 floordiv 2)>()[%n]
  %to = tensor.empty() : tensor<8x64xf32>
  %a = scf.forall (%i) in (8) shared_outs(%o = %to) -> tensor<8x64xf32> {
    %row = tensor.extract_slice %w[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
    %part = tensor.extract_slice %x[%half, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%row : tensor<1x64xf32>) -> tensor<1x64xf32>
    %sum = linalg.add ins(%filled, %part : tensor<1x64xf32>, tensor<1x64xf32>) outs(%row : tensor<1x64xf32>) -> tensor<1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
    }
  } {attn.schedule = 1}
  %b = scf.forall (%i) in (8) shared_outs(%o = %to) -> tensor<8x64xf32> {
    %row = tensor.extract_slice %a[%i, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
    %part = tensor.extract_slice %x[%half, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%row : tensor<1x64xf32>) -> tensor<1x64xf32>
    %sum = linalg.add ins(%filled, %part : tensor<1x64xf32>, tensor<1x64xf32>) outs(%row : tensor<1x64xf32>) -> tensor<1x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
    }
  } {attn.schedule = 1}
  return %b : tensor<8x64xf32>
}

// -----

// Another constant, a value that one loop uses twice where the other uses two, or no
// schedule: such loops stay where they are.
//
// CHECK-LABEL: func.func @different
// CHECK-COUNT-4: scf.forall (
// CHECK-NOT: attn.call
func.func @different(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %a = scf.forall (%i) in (8) shared_outs(%o = %x) -> tensor<8xf32> {
    %row = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%row : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %filled into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {attn.schedule = 1}
  %b = scf.forall (%i) in (8) shared_outs(%o = %x) -> tensor<8xf32> {
    %row = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %filled = linalg.fill ins(%one : f32) outs(%row : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %filled into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {attn.schedule = 1}
  %c = scf.forall (%i) in (8) shared_outs(%o = %x) -> tensor<8xf32> {
    %row = tensor.extract_slice %y[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%row : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %filled into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {attn.schedule = 1}
  %d = scf.forall (%i) in (8) shared_outs(%o = %x) -> tensor<8xf32> {
    %row = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %filled = linalg.fill ins(%zero : f32) outs(%row : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %filled into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %a, %b, %c, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
