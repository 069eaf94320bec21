// RUN: attn-opt %s --attn-expose-buffers --split-input-file \
// RUN:   --verify-diagnostics

// expected-error @below {{'func.func' op expects a name that is an identifier of C, got 'a.b'}}
func.func @a.b(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{'func.func' op expects another name than that of a function that compiled code calls, got 'memcpy'}}
func.func @memcpy(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{'func.func' op expects another name than that of a function that compiled code calls, got 'attn_rt_open'}}
func.func @attn_rt_open(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{'func.func' op expects argument 0 to be a ranked tensor or a scalar that C can name, got 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{'func.func' op expects result 0 to be a ranked tensor or a scalar that C can name, got 'tensor<8xi4>'}}
func.func @nibbles(%x: tensor<8xi8>) -> tensor<8xi4> {
  %y = arith.trunci %x : tensor<8xi8> to tensor<8xi4>
  return %y : tensor<8xi4>
}

// -----

// expected-error @below {{'func.func' op expects 'attn.task' on a private function that ends in an argument for each result}}
func.func @public_task(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {attn.task} {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{'func.func' op expects 'attn.task' on a private function that ends in an argument for each result}}
func.func private @no_place(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<4xf32> attributes {attn.task} {
  return %x : tensor<4xf32>
}
