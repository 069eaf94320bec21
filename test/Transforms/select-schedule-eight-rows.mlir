// RUN: attn-opt %s --attn-select-schedule | FileCheck %s

// Few rows where a processor has 32 registers for vectors.
module attributes {attn.target = {vector_bits = 512, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {

// Eight heads of a group are one strip, which reads a key once for all of them. The strip reads a block of keys again for
// its weights: the block is shorter than that of four rows, and a chunk is as long.
//
// CHECK-LABEL: func.func @eight
// CHECK: schedule = <block_m = 8, block_n = 512, rows = 8, columns = 32, lanes = 16, chunk = 2048, fold_heads = true, streams = 4
func.func @eight(%q: tensor<1x64x1x128xf32>, %k: tensor<1x8x8192x128xf32>) -> tensor<1x64x1x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x64x1x128xf32>, tensor<1x8x8192x128xf32>, tensor<1x8x8192x128xf32>
    -> tensor<1x64x1x128xf32>
  return %o : tensor<1x64x1x128xf32>
}

// Four heads are four rows.
//
// CHECK-LABEL: func.func @four
// CHECK: schedule = <block_m = 4, block_n = 1024, rows = 4, columns = 64, lanes = 16, chunk = 2048,
func.func @four(%q: tensor<1x32x1x128xf32>, %k: tensor<1x8x8192x128xf32>) -> tensor<1x32x1x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x32x1x128xf32>, tensor<1x8x8192x128xf32>, tensor<1x8x8192x128xf32>
    -> tensor<1x32x1x128xf32>
  return %o : tensor<1x32x1x128xf32>
}

// So are twelve, of which eight rows would make sixteen.
//
// CHECK-LABEL: func.func @twelve
// CHECK: schedule = <block_m = 12, {{.*}} rows = 4, columns = 64,
func.func @twelve(%q: tensor<1x48x1x128xf32>, %k: tensor<1x4x8192x128xf32>) -> tensor<1x48x1x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x48x1x128xf32>, tensor<1x4x8192x128xf32>, tensor<1x4x8192x128xf32>
    -> tensor<1x48x1x128xf32>
  return %o : tensor<1x48x1x128xf32>
}

// Three strips share a shorter block.
//
// CHECK-LABEL: func.func @strips
// CHECK: schedule = <block_m = 24, block_n = 352, rows = 8, columns = 32, lanes = 16, chunk = 2112, fold_heads = true, streams = 4
func.func @strips(%q: tensor<1x32x6x128xf32>, %k: tensor<1x8x8192x128xf32>) -> tensor<1x32x6x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x32x6x128xf32>, tensor<1x8x8192x128xf32>, tensor<1x8x8192x128xf32>
    -> tensor<1x32x6x128xf32>
  return %o : tensor<1x32x6x128xf32>
}

// From 32 rows on keys are packed, as they are for many, and still split in chunks.
//
// CHECK-LABEL: func.func @packed
// CHECK: schedule = <block_m = 32, block_n = 512, rows = 8, columns = 32, lanes = 16, chunk = 2048, fold_heads = true>
func.func @packed(%q: tensor<1x32x8x128xf32>, %k: tensor<1x8x8192x128xf32>) -> tensor<1x32x8x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x32x8x128xf32>, tensor<1x8x8192x128xf32>, tensor<1x8x8192x128xf32>
    -> tensor<1x32x8x128xf32>
  return %o : tensor<1x32x8x128xf32>
}

// Of a number of rows that is not known, there may be one: four heads are four rows, eight are eight.
//
// CHECK-LABEL: func.func @dynamic
// CHECK: fold_heads = true, streams = 4
// CHECK-SAME: 1x32x
// CHECK: rows = 8, columns = 32, lanes = 16, chunk = 2048, fold_heads = true, streams = 4
// CHECK-SAME: 1x64x
func.func @dynamic(%q: tensor<1x32x?x128xf32>, %r: tensor<1x64x?x128xf32>, %k: tensor<1x8x?x128xf32>)
    -> (tensor<1x32x?x128xf32>, tensor<1x64x?x128xf32>) {
  %o = attn.sdpa %q, %k, %k : tensor<1x32x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>
    -> tensor<1x32x?x128xf32>
  %p = attn.sdpa %r, %k, %k : tensor<1x64x?x128xf32>, tensor<1x8x?x128xf32>, tensor<1x8x?x128xf32>
    -> tensor<1x64x?x128xf32>
  return %o, %p : tensor<1x32x?x128xf32>, tensor<1x64x?x128xf32>
}

}
