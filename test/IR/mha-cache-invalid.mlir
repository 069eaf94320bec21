// RUN: attn-opt %s --split-input-file --verify-diagnostics

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
