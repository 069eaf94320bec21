// RUN: attn-opt %s --split-input-file --verify-diagnostics

// mha-C1
func.func @tokens_of_rank_2(%x: tensor<8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'x' of rank 3, got 'tensor<8x24xf32>'}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<8x24xf32> -> tensor<8x24xf32>
  return
}

// -----

// Weights are stored with a row for each output.
//
// mha-C1
func.func @transposed_weight(%x: tensor<2x8x24xf32>,
    %q: tensor<24x16xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 2 of 'x' and dimension 1 of 'q_weight' to agree, got 24 and 16}}
  attn.mha %x
    query(%q : tensor<24x16xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// Keys are projected from the memory.
//
// mha-C1
func.func @weight_for_memory(%x: tensor<2x8x24xf32>,
    %mem: tensor<2x5x40xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 2 of 'memory' and dimension 1 of 'k_weight' to agree, got 40 and 24}}
  attn.mha %x memory(%mem : tensor<2x5x40xf32>)
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C1
func.func @bias_of_projection(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %qb: tensor<24xf32>) {
  // expected-error @below {{'attn.mha' op expects 'q_weight' and 'q_bias' to agree on dimension 0, got 16 and 24}}
  attn.mha %x
    query(%q : tensor<16x24xf32>, %qb : tensor<24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C1
func.func @output_channels(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 0 of 'o_weight' and dimension 2 of 'output' to agree, got 24 and 32}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x32xf32>
  return
}

// -----

// mha-C2
func.func @weight_of_another_type(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf16>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'x' and 'v_weight' to agree on the element type, got 'f32' and 'f16'}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf16>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C3
func.func @heads_not_a_multiple(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'heads' to be a multiple of 'kv_heads', both at least 1, got 4 and 3}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 3 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C3
func.func @no_heads(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'heads' to be a multiple of 'kv_heads', both at least 1, got 0 and 0}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 0 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C4
func.func @weight_for_a_part_of_a_head(%x: tensor<2x8x24xf32>,
    %q: tensor<18x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 0 of 'q_weight' to be a multiple of 4 heads, got 18}}
  attn.mha %x
    query(%q : tensor<18x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C4
func.func @heads_of_two_sizes(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<10x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'q_weight' and 'k_weight' to agree on the size of a head, got 4 and 5}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<10x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C4
func.func @value_heads_of_two_sizes(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<12x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'v_weight' and 'o_weight' to agree on the size of a head, got 6 and 4}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<12x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}
