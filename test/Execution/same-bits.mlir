// What must not change a bit of the result: each function gives the largest difference.
//
// RUN: split-file %s %t
// RUN: attn-run %t/window_last.mlir | FileCheck %s
// RUN: attn-run %t/window_all.mlir | FileCheck %s
// RUN: attn-run %t/window_endless.mlir | FileCheck %s
// RUN: attn-run %t/prefill.mlir | FileCheck %s
// RUN: attn-run %t/batch.mlir | FileCheck %s
// RUN: attn-run %t/sequences.mlir | FileCheck %s
// RUN: attn-run %t/threads.mlir --threads=1 --output=%t.1.npy
// RUN: attn-run %t/threads.mlir --threads=2 --output=%t.2.npy
// RUN: cmp %t.1.npy %t.2.npy

// CHECK: result 0: f32 = [0]

//--- window_last.mlir

#whole = affine_map<(b, h, m, e) -> (b, h, m, e)>
#none = affine_map<(b, h, m, e) -> ()>

// A window of 95 keys to the left of 96 is none: the same bits.
func.func @window_last(%x: tensor<1x2x96x8xf32>) -> tensor<f32> {
  %a = attn.sdpa %x, %x, %x causal = top_left
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %b = attn.sdpa %x, %x, %x causal = top_left window = <left = 95>
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

//--- window_all.mlir

#whole = affine_map<(b, h, m, e) -> (b, h, m, e)>
#none = affine_map<(b, h, m, e) -> ()>

// A window of 96 keys to the left of 96 is none: the same bits.
func.func @window_all(%x: tensor<1x2x96x8xf32>) -> tensor<f32> {
  %a = attn.sdpa %x, %x, %x causal = top_left
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %b = attn.sdpa %x, %x, %x causal = top_left window = <left = 96>
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

//--- window_endless.mlir

#whole = affine_map<(b, h, m, e) -> (b, h, m, e)>
#none = affine_map<(b, h, m, e) -> ()>

// A window of 9223372036854775807 keys to the left of 96 is none: the same bits.
func.func @window_endless(%x: tensor<1x2x96x8xf32>) -> tensor<f32> {
  %a = attn.sdpa %x, %x, %x causal = top_left
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %b = attn.sdpa %x, %x, %x causal = top_left window = <left = 9223372036854775807>
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

//--- prefill.mlir

#whole = affine_map<(b, h, m, e) -> (b, h, m, e)>
#none = affine_map<(b, h, m, e) -> ()>

// The last 32 of 96 rows are the same alone, under the same schedule.
func.func @prefill(%x: tensor<1x2x96x8xf32>) -> tensor<f32> {
  %whole = attn.sdpa %x, %x, %x causal = top_left schedule = <block_m = 32,
      block_n = 32, rows = 4, columns = 16, lanes = 8>
    : tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x96x8xf32>
  %a = tensor.extract_slice %whole[0, 0, 64, 0] [1, 2, 32, 8] [1, 1, 1, 1]
    : tensor<1x2x96x8xf32> to tensor<1x2x32x8xf32>
  %rows = tensor.extract_slice %x[0, 0, 64, 0] [1, 2, 32, 8] [1, 1, 1, 1]
    : tensor<1x2x96x8xf32> to tensor<1x2x32x8xf32>
  %b = attn.sdpa %rows, %x, %x causal = bottom_right schedule = <block_m = 32,
      block_n = 32, rows = 4, columns = 16, lanes = 8>
    : tensor<1x2x32x8xf32>, tensor<1x2x96x8xf32>, tensor<1x2x96x8xf32>
    -> tensor<1x2x32x8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x32x8xf32>, tensor<1x2x32x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

//--- batch.mlir

#whole = affine_map<(b, h, m, e) -> (b, h, m, e)>
#none = affine_map<(b, h, m, e) -> ()>

// An entry is the same alone and among 17.
func.func @batch(%x: tensor<17x2x33x8xf32>) -> tensor<f32> {
  %many = attn.sdpa %x, %x, %x
    : tensor<17x2x33x8xf32>, tensor<17x2x33x8xf32>, tensor<17x2x33x8xf32>
    -> tensor<17x2x33x8xf32>
  %a = tensor.extract_slice %many[5, 0, 0, 0] [1, 2, 33, 8] [1, 1, 1, 1]
    : tensor<17x2x33x8xf32> to tensor<1x2x33x8xf32>
  %one = tensor.extract_slice %x[5, 0, 0, 0] [1, 2, 33, 8] [1, 1, 1, 1]
    : tensor<17x2x33x8xf32> to tensor<1x2x33x8xf32>
  %b = attn.sdpa %one, %one, %one
    : tensor<1x2x33x8xf32>, tensor<1x2x33x8xf32>, tensor<1x2x33x8xf32>
    -> tensor<1x2x33x8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x33x8xf32>, tensor<1x2x33x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

//--- sequences.mlir

#whole = affine_map<(m, h, e) -> (m, h, e)>
#none = affine_map<(m, h, e) -> ()>

// A sequence of one row is the same alone and before one of 40 rows.
func.func @sequences(%x: tensor<41x2x8xf32>) -> tensor<f32> {
  %both = arith.constant dense<[0, 1, 41]> : tensor<3xi32>
  %keys = arith.constant dense<[0, 30, 41]> : tensor<3xi32>
  %alone = arith.constant dense<[0, 1]> : tensor<2xi32>
  %its = arith.constant dense<[0, 30]> : tensor<2xi32>
  %row = tensor.extract_slice %x[0, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<41x2x8xf32> to tensor<1x2x8xf32>
  %some = tensor.extract_slice %x[0, 0, 0] [30, 2, 8] [1, 1, 1] : tensor<41x2x8xf32> to tensor<30x2x8xf32>
  %all = attn.sdpa %x, %x, %x cu_seqlens_q(%both : tensor<3xi32>) cu_seqlens_k(%keys : tensor<3xi32>)
    : tensor<41x2x8xf32>, tensor<41x2x8xf32>, tensor<41x2x8xf32> -> tensor<41x2x8xf32>
  %a = tensor.extract_slice %all[0, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<41x2x8xf32> to tensor<1x2x8xf32>
  %b = attn.sdpa %row, %some, %some cu_seqlens_q(%alone : tensor<2xi32>) cu_seqlens_k(%its : tensor<2xi32>)
    : tensor<1x2x8xf32>, tensor<30x2x8xf32>, tensor<30x2x8xf32> -> tensor<1x2x8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%a, %b : tensor<1x2x8xf32>, tensor<1x2x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}

//--- threads.mlir

// The number of threads.
func.func @threads(%q: tensor<3x8x1x16xf32>, %k: tensor<3x2x5000x16xf32>)
    -> tensor<3x8x1x16xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<3x8x1x16xf32>, tensor<3x2x5000x16xf32>, tensor<3x2x5000x16xf32>
    -> tensor<3x8x1x16xf32>
  return %o : tensor<3x8x1x16xf32>
}
