// RUN: attn-opt %s --split-input-file --verify-diagnostics

// A step that streams wants packed rows and plain keys.
//
// block_step-C7
func.func @streams_of_plain_rows(%q: tensor<8x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x32xf32>,
    %r: tensor<8xf32>,
    %s: tensor<8xf32>,
    %a: tensor<8x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'acc' of rank 4 under a schedule with streams, got 'tensor<8x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 8, block_n = 64, rows = 4, columns = 32, lanes = 16, streams = 4>
    : tensor<8x16xf32>, tensor<10x16xf32>, tensor<10x32xf32>
    -> tensor<8xf32>, tensor<8xf32>, tensor<8x32xf32>
  return
}

// -----

// block_step-C7
func.func @streams_of_channel_panels(%q: tensor<2x4x16xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x64xf32>,
    %r: tensor<2x4xf32>,
    %s: tensor<2x4x32xf32>,
    %a: tensor<2x2x4x32xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 1 of 'acc' to be 1 under a schedule with streams, got 'tensor<2x2x4x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 8, block_n = 64, rows = 4, columns = 32, lanes = 16, streams = 4>
    : tensor<2x4x16xf32>, tensor<10x16xf32>, tensor<10x64xf32>
    -> tensor<2x4xf32>, tensor<2x4x32xf32>, tensor<2x2x4x32xf32>
  return
}

// -----

// Channels of a query come last.
//
// block_step-C7
func.func @streams_of_packed_query(%q: tensor<2x16x4xf32>,
    %k: tensor<10x16xf32>,
    %v: tensor<10x64xf32>,
    %r: tensor<2x4xf32>,
    %s: tensor<2x4x32xf32>,
    %a: tensor<2x1x4x64xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects dimension 2 of 'acc' and dimension 1 of 'query' to agree, got 4 and 16}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 8, block_n = 64, rows = 4, columns = 32, lanes = 16, streams = 4>
    : tensor<2x16x4xf32>, tensor<10x16xf32>, tensor<10x64xf32>
    -> tensor<2x4xf32>, tensor<2x4x32xf32>, tensor<2x1x4x64xf32>
  return
}

// -----

// block_step-C7
func.func @streams_of_packed_keys(%q: tensor<2x4x16xf32>,
    %k: tensor<1x16x32xf32>,
    %v: tensor<10x64xf32>,
    %r: tensor<2x4xf32>,
    %s: tensor<2x4x32xf32>,
    %a: tensor<2x1x4x64xf32>,
    %i: index) {
  // expected-error @below {{'attn.block_step' op expects 'key' of rank 2, got 'tensor<1x16x32xf32>'}}
  attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 8, block_n = 64, rows = 4, columns = 32, lanes = 16, streams = 4>
    : tensor<2x4x16xf32>, tensor<1x16x32xf32>, tensor<10x64xf32>
    -> tensor<2x4xf32>, tensor<2x4x32xf32>, tensor<2x1x4x64xf32>
  return
}
