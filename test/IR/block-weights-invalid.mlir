// RUN: attn-opt %s --split-input-file --verify-diagnostics

// block_weights-C1
func.func @lse_type(%q: tensor<8x16xf16>, %k: tensor<10x16xf16>, %l: tensor<8xf64>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects 'reference' of 'f32' under 'query' of 'f16', got 'f64'}}
  attn.block_weights %q, %k rows(%l, %l : tensor<8xf64>, tensor<8xf64>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 : tensor<8x16xf16>, tensor<10x16xf16> -> tensor<8x10xf32>
  return
}

// -----

// block_weights-C2
func.func @infinite_scale(%q: tensor<8x16xf32>, %k: tensor<10x16xf32>, %l: tensor<8xf32>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects 'scale' to be a finite number, got an infinity}}
  attn.block_weights %q, %k rows(%l, %l : tensor<8xf32>, tensor<8xf32>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 0x7FF0000000000000 : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return
}

// -----

// block_weights-C3
func.func @keys(%q: tensor<8x16xf32>, %k: tensor<10x16xf32>, %l: tensor<8xf32>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects dimension 0 of 'key' and dimension 1 of 'weights' to agree, got 10 and 11}}
  attn.block_weights %q, %k rows(%l, %l : tensor<8xf32>, tensor<8xf32>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x11xf32>
  return
}

// -----

// block_weights-C3
func.func @plain_keys(%q: tensor<2x8x16xf32>, %k: tensor<10x16xf32>, %l: tensor<2x8xf32>, %lf: tensor<2x8x16xf32>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects 'key' of rank 3, got 'tensor<10x16xf32>'}}
  attn.block_weights %q, %k rows(%l, %lf : tensor<2x8xf32>, tensor<2x8x16xf32>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 : tensor<2x8x16xf32>, tensor<10x16xf32> -> tensor<2x1x8x16xf32>
  return
}

// -----

// block_weights-C4
func.func @wide_key(%q: tensor<8x16xf32>, %k: tensor<10x16xf64>, %l: tensor<8xf32>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects 'key' of 'f64' only under 'query' of 'f64', got 'f32'}}
  attn.block_weights %q, %k rows(%l, %l : tensor<8xf32>, tensor<8xf32>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 : tensor<8x16xf32>, tensor<10x16xf64> -> tensor<8x10xf32>
  return
}

// -----

// block_weights-C5
func.func @mask_rank(%q: tensor<8x16xf32>, %k: tensor<10x16xf32>, %l: tensor<8xf32>, %m: tensor<8x10xi1>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects 'mask' of rank 3, got 'tensor<8x10xi1>'}}
  attn.block_weights %q, %k mask(%m : tensor<8x10xi1>) rows(%l, %l : tensor<8xf32>, tensor<8xf32>)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return
}

// -----

// block_weights-C6
func.func @panel(%q: tensor<2x8x16xf32>, %k: tensor<3x16x?xf32>, %l: tensor<2x8xf32>, %lf: tensor<2x8x16xf32>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects dimension 2 of a packed 'key' to be static, got 'tensor<3x16x?xf32>'}}
  attn.block_weights %q, %k rows(%l, %lf : tensor<2x8xf32>, tensor<2x8x16xf32>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 : tensor<2x8x16xf32>, tensor<3x16x?xf32> -> tensor<2x3x8x?xf32>
  return
}

// -----

// block_weights-C7
func.func @streams(%q: tensor<8x16xf32>, %k: tensor<10x16xf32>, %l: tensor<8xf32>, %i: index) {
  // expected-error @below {{'attn.block_weights' op expects a 'schedule' without 'streams', got #attn.schedule<block_m = 8, block_n = 32, rows = 8, columns = 16, lanes = 16, streams = 4>}}
  attn.block_weights %q, %k rows(%l, %l : tensor<8xf32>, tensor<8xf32>) at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    scale = 1.0 schedule = <block_m = 8, block_n = 32, rows = 8, columns = 16, lanes = 16, streams = 4>
    : tensor<8x16xf32>, tensor<10x16xf32> -> tensor<8x10xf32>
  return
}
