// RUN: attn-opt %s --split-input-file --verify-diagnostics

// window-C1
func.func @negative_left(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'left' of a window to be at least 0, got -1}}
  attn.sdpa %q, %k, %v window = <left = -1>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// window-C1
func.func @negative_right(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'right' of a window to be at least 0, got -3}}
  attn.sdpa %q, %k, %v window = <right = -3>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C1
func.func @no_rows(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'rows' to be positive, got 0}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 0, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C2
func.func @negative_chunk(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'chunk' to be at least 0, got -64}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = -64>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C3
func.func @half_a_vector(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'columns' to be a multiple of 'lanes', got 24 and 16}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 48, rows = 8, columns = 24, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C4
func.func @half_a_strip(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'block_m' to be a multiple of 'rows', got 60 and 8}}
  attn.sdpa %q, %k, %v schedule = <block_m = 60, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C5
func.func @half_a_panel(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'block_n' to be a multiple of 'columns', got 80 and 32}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 80, rows = 8, columns = 32, lanes = 16>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C6
func.func @half_a_block(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'chunk' to be a multiple of 'block_n', got 96 and 64}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 96>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C7
func.func @negative_streams(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'streams' to be at least 0, got -4}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, streams = -4>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C8
func.func @negative_warps(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'warps' to be at least 0, got -4}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = -4>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C8
func.func @negative_stages(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'stages' to be at least 0, got -1}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = -1>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C12
func.func @streams_in_place(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects no 'streams' and no 'warps' with 'in_place', got 4 and 0}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, streams = 4, in_place = true>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C12
func.func @warps_in_place(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects no 'streams' and no 'warps' with 'in_place', got 0 and 4}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, in_place = true>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C9
func.func @rows_of_no_matrix_instruction(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'rows' of a warp to be a multiple of 16, got 8}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 8, lanes = 2, warps = 8>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C9
func.func @rows_of_no_warp(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'block_m' to be 'rows' of each of 4 warps, got 128 and 16}}
  attn.sdpa %q, %k, %v schedule = <block_m = 128, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C10
func.func @columns_of_no_thread(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'lanes' of a thread to be 2 or 4 and 'columns' to be those of 4 threads, got 4 and 8}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 4, warps = 4>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C11
func.func @precision_of_a_processor(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'warps' and 4 'lanes' with a 'precision' of tf32, got 0 and 16}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, precision = tf32>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// schedule-C7
func.func @prefetch_behind(%q: tensor<1x4x8x16xf32>,
    %k: tensor<1x2x10x16xf32>,
    %v: tensor<1x2x10x32xf32>) {
  // expected-error @below {{expects 'prefetch' to be at least 0, got -64}}
  attn.sdpa %q, %k, %v schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, streams = 4, prefetch = -64>
    : tensor<1x4x8x16xf32>, tensor<1x2x10x16xf32>, tensor<1x2x10x32xf32>
    -> tensor<1x4x8x32xf32>
  return
}

// -----

// merge_outputs-C1
func.func @no_parts() {
  // expected-error @below {{'attn.merge_outputs' op expects at least one part, got none}}
  "attn.merge_outputs"() : () -> (tensor<8x16xf32>, tensor<8xf32>)
  return
}

// -----

// merge_outputs-C2
func.func @part_of_another_shape(%o: tensor<9x16xf32>, %l: tensor<8xf32>) {
  // expected-error @below {{'attn.merge_outputs' op expects output 0 to have the type of 'output', got 'tensor<9x16xf32>' and 'tensor<8x16xf32>'}}
  "attn.merge_outputs"(%o, %l)
    : (tensor<9x16xf32>, tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8xf32>)
  return
}

// -----

// merge_outputs-C2
func.func @lse_of_another_type(%o: tensor<8x16xf32>, %l: tensor<8xf32>) {
  // expected-error @below {{'attn.merge_outputs' op expects lse 0 to have the type of 'lse', got 'tensor<8xf32>' and 'tensor<8xf64>'}}
  "attn.merge_outputs"(%o, %l)
    : (tensor<8x16xf32>, tensor<8xf32>) -> (tensor<8x16xf32>, tensor<8xf64>)
  return
}

// -----

// merge_outputs-C3
func.func @rows_differ(%o: tensor<8x16xf32>, %l: tensor<9xf32>) {
  // expected-error @below {{'attn.merge_outputs' op expects 'lse' to have the shape of 'output' without its last dimension, got 'tensor<9xf32>' and 'tensor<8x16xf32>'}}
  attn.merge_outputs outputs(%o) lses(%l) : tensor<8x16xf32>, tensor<9xf32>
  return
}

// -----

// merge_outputs-C3
func.func @output_of_rank_0(%o: tensor<f32>, %l: tensor<f32>) {
  // expected-error @below {{'attn.merge_outputs' op expects 'lse' to have the shape of 'output' without its last dimension, got 'tensor<f32>' and 'tensor<f32>'}}
  attn.merge_outputs outputs(%o) lses(%l) : tensor<f32>, tensor<f32>
  return
}
