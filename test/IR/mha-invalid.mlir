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

// -----

// Positions are those of the rows of x.
//
// mha-C5
func.func @positions_of_another_length(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %c: tensor<32x2xf32>,
    %p: tensor<2x9xi32>) {
  // expected-error @below {{'attn.mha' op expects 'x' and 'positions' to agree on dimension 1, got 8 and 9}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    rope(%c : tensor<32x2xf32>, %c : tensor<32x2xf32>, %p : tensor<2x9xi32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C5
func.func @tables_wider_than_a_head(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %c: tensor<2x8x3xf32>) {
  // expected-error @below {{'attn.mha' op expects 'cos' to have at most 2 columns for heads of size 4, got 3}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    rope(%c : tensor<2x8x3xf32>, %c : tensor<2x8x3xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C6
func.func @f64_tables(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %c: tensor<2x8x2xf64>) {
  // expected-error @below {{'attn.mha' op expects 'cos' of 'f64' only under 'x' of 'f64', got 'f32'}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    rope(%c : tensor<2x8x2xf64>, %c : tensor<2x8x2xf64>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C7
func.func @rotary_memory(%x: tensor<2x8x24xf32>,
    %mem: tensor<2x5x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %c: tensor<2x8x2xf32>) {
  // expected-error @below {{'attn.mha' op expects no rotary tables with 'memory', whose rows have no positions}}
  attn.mha %x memory(%mem : tensor<2x5x24xf32>)
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    rope(%c : tensor<2x8x2xf32>, %c : tensor<2x8x2xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// The cache holds key heads, not query heads.
//
// mha-C8
func.func @past_of_query_heads(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %pk: tensor<2x4x3x4xf32>,
    %pv: tensor<2x4x3x4xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 1 of 'past_key' to be 2 by 'kv_heads', got 4}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    past(%pk : tensor<2x4x3x4xf32>, %pv : tensor<2x4x3x4xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C8
func.func @pasts_of_two_lengths(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %pk: tensor<2x2x3x4xf32>,
    %pv: tensor<2x2x5x4xf32>) {
  // expected-error @below {{'attn.mha' op expects 'past_key' and 'past_value' to agree on dimension 2, got 3 and 5}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    past(%pk : tensor<2x2x3x4xf32>, %pv : tensor<2x2x5x4xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C8
func.func @present_without_new_keys(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %pk: tensor<2x2x3x4xf32>,
    %pv: tensor<2x2x3x4xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 2 of 'present_key' to be 11 by 'past_key' and 'x', got 3}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    past(%pk : tensor<2x2x3x4xf32>, %pv : tensor<2x2x3x4xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
     present(tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>)
  return
}
