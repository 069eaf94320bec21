// RUN: attn-opt %s --verify-diagnostics --attn-outline-shapes

// A tensor that grows from step to step.
func.func @grows(%x: tensor<?xf32>, %y: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{'scf.for' op expects steps that keep the extents of tensors, where a result takes its own from them}}
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %n = tensor.concat dim(0) %a, %y : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    scf.yield %n : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
