// RUN: attn-opt %s --split-input-file --verify-diagnostics

// The keys of a bias are those of past and present.
//
// mha-C9
func.func @bias_of_new_keys(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %pk: tensor<2x2x3x4xf32>,
    %pv: tensor<2x2x3x4xf32>,
    %b: tensor<8x8xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 1 of 'bias' to be 1 or 11, got 8}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    past(%pk : tensor<2x2x3x4xf32>, %pv : tensor<2x2x3x4xf32>)
    bias(%b : tensor<8x8xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C10
func.func @f64_bias(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %b: tensor<8x8xf64>) {
  // expected-error @below {{'attn.mha' op expects 'bias' of 'f64' only under 'x' of 'f64', got 'f32'}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    bias(%b : tensor<8x8xf64>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C11
func.func @mask_for_key_heads(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %m: tensor<2x8x8xi1>) {
  // expected-error @below {{'attn.mha' op expects dimension 0 of 'mask' to be 1 or 4, got 2}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    mask(%m : tensor<2x8x8xi1>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C12
func.func @lengths_of_another_batch(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %n: tensor<3xi32>) {
  // expected-error @below {{'attn.mha' op expects 'x' and 'kv_lengths' to agree on dimension 0, got 2 and 3}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    kv_lengths(%n : tensor<3xi32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C13
func.func @offset_of_another_batch(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %n: tensor<3xi32>) {
  // expected-error @below {{'attn.mha' op expects 'x' and 'query_offset' to agree on dimension 0, got 2 and 3}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    query_offset(%n : tensor<3xi32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C14
func.func @two_offsets(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %n: index) {
  // expected-error @below {{'attn.mha' op expects no 'query_offset' with 'causal = bottom_right', which is an offset itself}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    query_offset(%n : index)
    heads = 4 kv_heads = 2 causal = bottom_right : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C15
func.func @sinks_for_key_heads(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %s: tensor<2xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 0 of 'sinks' to be 4 by 'heads', got 2}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    sinks(%s : tensor<2xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C16
func.func @f64_sinks(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %s: tensor<4xf64>) {
  // expected-error @below {{'attn.mha' op expects 'sinks' of 'f64' only under 'x' of 'f64', got 'f32'}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    sinks(%s : tensor<4xf64>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C17
func.func @infinite_scale(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'scale' to be a finite number, got an infinity}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 scale = 0xFFF0000000000000 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C18
func.func @softcap_of_zero(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'softcap' to be above 0, got 0.000000e+00}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 softcap = 0.0 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}

// -----

// mha-C19
func.func @lse_of_key_heads(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects dimension 1 of 'lse' to be 4 by 'heads', got 2}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
     lse(tensor<2x2x8xf32>)
  return
}

// -----

// mha-C20
func.func @f64_lse(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>) {
  // expected-error @below {{'attn.mha' op expects 'lse' of 'f32' under 'x' of 'f32', got 'f64'}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    heads = 4 kv_heads = 2 : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
     lse(tensor<2x4x8xf64>)
  return
}

// -----

// The first new row stands behind the past.
//
// mha-C21
func.func @top_left_with_past(%x: tensor<2x8x24xf32>,
    %q: tensor<16x24xf32>,
    %k: tensor<8x24xf32>,
    %v: tensor<8x24xf32>,
    %o: tensor<24x16xf32>,
    %pk: tensor<2x2x3x4xf32>,
    %pv: tensor<2x2x3x4xf32>) {
  // expected-error @below {{'attn.mha' op expects 'causal = bottom_right' or a 'query_offset' with 'past', got top_left}}
  attn.mha %x
    query(%q : tensor<16x24xf32>) key(%k : tensor<8x24xf32>)
    value(%v : tensor<8x24xf32>) output(%o : tensor<24x16xf32>)
    past(%pk : tensor<2x2x3x4xf32>, %pv : tensor<2x2x3x4xf32>)
    heads = 4 kv_heads = 2 causal = top_left : tensor<2x8x24xf32> -> tensor<2x8x24xf32>
  return
}
