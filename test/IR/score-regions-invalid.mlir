// RUN: attn-opt %s --split-input-file --verify-diagnostics

// -----

// sdpa-C21
func.func @score_of_another_type(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'score_mod' to take ('f32', 'index', 'index', 'index', 'index'), got ('f64', 'index', 'index', 'index', 'index')}}
  attn.sdpa %q, %k, %k
    score_mod(%s: f64, %b: index, %h: index, %i: index, %j: index) {
      attn.yield %s : f64
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// sdpa-C21
func.func @mask_that_takes_a_score(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'mask_mod' to take ('index', 'index', 'index', 'index'), got ('f32', 'index', 'index', 'index', 'index')}}
  attn.sdpa %q, %k, %k
    mask_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %yes = arith.constant true
      attn.yield %yes : i1
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// sdpa-C21
func.func @mask_that_yields_a_number(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{'attn.sdpa' op expects 'mask_mod' to yield 'i1', got 'index'}}
  attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      attn.yield %j : index
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// A call may do anything.
//
// sdpa-C22
func.func private @other(index) -> i1
func.func @call(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{'attn.sdpa' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'func.call'}}
  attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %m = func.call @other(%j) : (index) -> i1
      attn.yield %m : i1
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// Memory may change while the op runs.
//
// sdpa-C22
func.func @buffer(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>, %m: memref<10xi1>) {
  // expected-error @below {{'attn.sdpa' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'memref.load'}}
  attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %x = memref.load %m[%j] : memref<10xi1>
      attn.yield %x : i1
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// Every lane of a vector does the same.
//
// sdpa-C22
func.func @branch(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{'attn.sdpa' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'scf.if'}}
  attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.cmpi slt, %j, %i : index
      // expected-note @below {{it is here}}
      %x = scf.if %c -> i1 {
        scf.yield %c : i1
      } else {
        %no = arith.constant false
        scf.yield %no : i1
      }
      attn.yield %x : i1
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// A score is no tensor: a value that depends on other rows has no form.
//
// sdpa-C22
func.func @tensors(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>, %d: tensor<10xi32>) {
  // expected-error @below {{'attn.sdpa' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'arith.addi'}}
  attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %t = arith.addi %d, %d : tensor<10xi32>
      %x = tensor.extract %d[%j] : tensor<10xi32>
      %c = arith.constant 0 : i32
      %m = arith.cmpi eq, %x, %c : i32
      attn.yield %m : i1
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// sdpa-C22
func.func @made_inside(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x10x16xf32>) {
  // expected-error @below {{'attn.sdpa' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'tensor.from_elements'}}
  attn.sdpa %q, %k, %k
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %t = tensor.from_elements %i, %j : tensor<2xindex>
      %x = tensor.extract %t[%h] : tensor<2xindex>
      %m = arith.cmpi eq, %x, %j : index
      attn.yield %m : i1
    }
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// mha-C22
func.func @layer_score(%x: tensor<1x4x8xf32>, %w: tensor<8x8xf32>) {
  // expected-error @below {{'attn.mha' op expects 'score_mod' to yield 'f32', got 'index'}}
  attn.mha %x query(%w : tensor<8x8xf32>) key(%w : tensor<8x8xf32>) value(%w : tensor<8x8xf32>) output(%w : tensor<8x8xf32>)
    heads = 2
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      attn.yield %j : index
    }
    : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

// mha-C23
func.func @layer_buffer(%x: tensor<1x4x8xf32>, %w: tensor<8x8xf32>, %m: memref<10xi1>) {
  // expected-error @below {{'attn.mha' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'memref.load'}}
  attn.mha %x query(%w : tensor<8x8xf32>) key(%w : tensor<8x8xf32>) value(%w : tensor<8x8xf32>) output(%w : tensor<8x8xf32>)
    heads = 2
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %v = memref.load %m[%j] : memref<10xi1>
      attn.yield %v : i1
    }
    : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
  return
}

// -----

// block_step-C9
func.func @step_mask(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
    %r: tensor<16xf32>, %a: tensor<16x64xf32>, %n: index) {
  // expected-error @below {{'attn.block_step' op expects 'mask_mod' to yield 'i1', got 'index'}}
  attn.block_step %q, %k, %k state(%r, %r, %a)
    at(batch %n, head %n, row %n per %n, position %n, key %n of %n) scale = 1.0
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      attn.yield %j : index
    }
    : tensor<16x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
    -> tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>
  return
}

// -----

// block_step-C10
func.func @step_buffer(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
    %r: tensor<16xf32>, %a: tensor<16x64xf32>, %n: index, %m: memref<10xi1>) {
  // expected-error @below {{'attn.block_step' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'memref.load'}}
  attn.block_step %q, %k, %k state(%r, %r, %a)
    at(batch %n, head %n, row %n per %n, position %n, key %n of %n) scale = 1.0
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %v = memref.load %m[%j] : memref<10xi1>
      attn.yield %v : i1
    }
    : tensor<16x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
    -> tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>
  return
}

// -----

// block_step-C11
func.func @masked_alone(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
    %r: tensor<16xf32>, %a: tensor<16x64xf32>, %n: index, %m: i1) {
  // expected-error @below {{'attn.block_step' op expects 'mask_mod' with 'masked'}}
  attn.block_step %q, %k, %k state(%r, %r, %a)
    at(batch %n, head %n, row %n per %n, position %n, key %n of %n) masked(%m)
    scale = 1.0
    : tensor<16x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
    -> tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>
  return
}

// -----

func.func @unknown_rule(%q: tensor<1x4x8x16xf32>, %d: tensor<8xi32>) {
  // expected-error @below {{expects one of 'alibi', 't5_bias', 't5_causal_bias', 'prefix_lm', 'documents', got 'document'}}
  attn.sdpa %q, %q, %q mask_mod = document(%d : tensor<8xi32>)
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @slopes_of_rank_2(%q: tensor<1x4x8x16xf32>, %d: tensor<4x1xf32>) {
  // expected-error @below {{expects 'alibi' of a float for each head, a tensor of rank 1, got 'tensor<4x1xf32>'}}
  attn.sdpa %q, %q, %q score_mod = alibi(%d : tensor<4x1xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @odd_buckets(%q: tensor<1x4x8x16xf32>, %d: tensor<31x4xf32>) {
  // expected-error @below {{expects 't5_bias' of a tensor of rank 2 of floats, whose dimension 0 is static and even, got 'tensor<31x4xf32>'}}
  attn.sdpa %q, %q, %q score_mod = t5_bias(%d : tensor<31x4xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @prefix_of_floats(%q: tensor<1x4x8x16xf32>, %n: f32) {
  // expected-error @below {{expects 'prefix_lm' of an integer, or a tensor of rank 1 of integers, got 'f32'}}
  attn.sdpa %q, %q, %q mask_mod = prefix_lm(%n : f32)
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @documents_of_floats(%q: tensor<1x4x8x16xf32>, %d: tensor<8xf32>) {
  // expected-error @below {{expects 'documents' of a tensor of rank 1 or 2 of integers, got 'tensor<8xf32>'}}
  attn.sdpa %q, %q, %q mask_mod = documents(%d : tensor<8xf32>)
    : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x8x16xf32>
  return
}

// -----

// block_weights-C8
func.func @weights_mask(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
    %lse: tensor<16xf32>, %n: index) {
  // expected-error @below {{'attn.block_weights' op expects 'mask_mod' to yield 'i1', got 'index'}}
  attn.block_weights %q, %k rows(%lse, %lse : tensor<16xf32>, tensor<16xf32>)
    at(batch %n, head %n, row %n per %n, position %n, key %n of %n) scale = 1.0
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      attn.yield %j : index
    }
    : tensor<16x64xf32>, tensor<?x64xf32> -> tensor<16x?xf32>
  return
}

// -----

// block_weights-C9
func.func @weights_buffer(%q: tensor<16x64xf32>, %k: tensor<?x64xf32>,
    %lse: tensor<16xf32>, %n: index, %m: memref<10xi1>) {
  // expected-error @below {{'attn.block_weights' op expects element-wise operations on scalars, and reads of tensors from outside, in 'mask_mod', got 'memref.load'}}
  attn.block_weights %q, %k rows(%lse, %lse : tensor<16xf32>, tensor<16xf32>)
    at(batch %n, head %n, row %n per %n, position %n, key %n of %n) scale = 1.0
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      // expected-note @below {{it is here}}
      %v = memref.load %m[%j] : memref<10xi1>
      attn.yield %v : i1
    }
    : tensor<16x64xf32>, tensor<?x64xf32> -> tensor<16x?xf32>
  return
}
