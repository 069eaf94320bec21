// RUN: attn-opt %s --convert-attn-forall-to-openmp --split-input-file --verify-diagnostics

func.func @tensors(%init: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'scf.forall' op expects buffers, got results of tensor type}}
  %y = scf.forall (%i) in (8) shared_outs(%out = %init) -> (tensor<8xf32>) {
    %one = tensor.extract_slice %out[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %out[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %y : tensor<8xf32>
}

// -----

builtin.module @outside {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'scf.forall' op expects to be in a function}}
  scf.forall (%i) in (%c8) {
  }
}
