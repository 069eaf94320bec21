// RUN: attn-opt %s --split-input-file --verify-diagnostics

// merge-C1
func.func @merged_rows(%r: tensor<8xf32>,
    %s: tensor<9xf32>,
    %a: tensor<8x32xf32>) {
  // expected-error @below {{'attn.merge' op expects 'acc' and 'sum' to agree on dimension 0, got 8 and 9}}
  attn.merge (%r, %s, %a), (%r, %s, %a)
    : tensor<8xf32>, tensor<9xf32>, tensor<8x32xf32>
  return
}

// -----

// finish-C1
func.func @finished_state_of_f16(%r: tensor<8xf16>,
    %s: tensor<8xf16>,
    %a: tensor<8x32xf16>) {
  // expected-error @below {{'attn.finish' op expects 'reference' of 'f32' or 'f64', got 'f16'}}
  attn.finish %r, %s, %a
    : tensor<8xf16>, tensor<8xf16>, tensor<8x32xf16> -> tensor<8x32xf32>, tensor<8xf32>
  return
}

// -----

// finish-C2
func.func @output_rows(%r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>) {
  // expected-error @below {{'attn.finish' op expects 'acc' and 'output' to agree on dimension 0, got 8 and 9}}
  attn.finish %r, %s, %a
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<9x32xf32>, tensor<8xf32>
  return
}

// -----

// finish-C2
func.func @lse_type(%r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>) {
  // expected-error @below {{'attn.finish' op expects 'reference' and 'lse' to agree on the element type, got 'f32' and 'f64'}}
  attn.finish %r, %s, %a
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<8x32xf32>, tensor<8xf64>
  return
}

// -----

// finish-C3
func.func @sinks_of_rank_2(%r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %h: tensor<1x2xf32>,
    %i: index) {
  // expected-error @below {{'attn.finish' op expects 'sinks' of rank 1, got 'tensor<1x2xf32>'}}
  attn.finish %r, %s, %a sinks(%h : tensor<1x2xf32>, row %i per %i)
    : tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32> -> tensor<8x32xf32>, tensor<8xf32>
  return
}
