// RUN: attn-opt %s --attn-select-schedule | FileCheck %s

// Packed keys that heads share.
module attributes {attn.target = {vector_bits = 512, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {

// 8 rows of each of 32 heads are few: one tile, of keys that are packed once and split in chunks.
//
// CHECK-LABEL: func.func @few
// CHECK: schedule = <block_m = 256, block_n = 512, rows = 8, columns = 32, lanes = 16, chunk = 2048, fold_heads = true>
func.func @few(%q: tensor<1x32x8x128xf32>, %k: tensor<1x1x8192x128xf32>) -> tensor<1x32x8x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x32x8x128xf32>, tensor<1x1x8192x128xf32>, tensor<1x1x8192x128xf32>
    -> tensor<1x32x8x128xf32>
  return %o : tensor<1x32x8x128xf32>
}

// 4 rows of each of 128 heads are many, in tiles of 2 rows of all heads.
//
// CHECK-LABEL: func.func @many
// CHECK: schedule = <block_m = 256, block_n = 128, rows = 8, columns = 32, lanes = 16, fold_heads = true>
func.func @many(%q: tensor<1x128x4x576xf32>, %k: tensor<1x1x4096x576xf32>, %v: tensor<1x1x4096x512xf32>)
    -> tensor<1x128x4x512xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x128x4x576xf32>, tensor<1x1x4096x576xf32>, tensor<1x1x4096x512xf32>
    -> tensor<1x128x4x512xf32>
  return %o : tensor<1x128x4x512xf32>
}

// A head of 33 rows packs keys for itself, and so does one with weights, or with 256 keys.
//
// CHECK-LABEL: func.func @alone
// CHECK-NOT: fold_heads
// CHECK: return
func.func @alone(%q: tensor<1x8x33x64xf32>, %k: tensor<1x2x1024x64xf32>, %r: tensor<1x16x32x64xf32>,
    %l: tensor<1x2x256x64xf32>)
    -> (tensor<1x8x33x64xf32>, tensor<1x16x32x64xf32>, tensor<1x16x32x1024xf32>, tensor<1x16x32x64xf32>) {
  %0 = attn.sdpa %q, %k, %k : tensor<1x8x33x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>
    -> tensor<1x8x33x64xf32>
  %1, %w = attn.sdpa %r, %k, %k : tensor<1x16x32x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32>
    -> tensor<1x16x32x64xf32> weights(tensor<1x16x32x1024xf32>)
  %2 = attn.sdpa %r, %l, %l : tensor<1x16x32x64xf32>, tensor<1x2x256x64xf32>, tensor<1x2x256x64xf32>
    -> tensor<1x16x32x64xf32>
  return %0, %1, %w, %2 : tensor<1x8x33x64xf32>, tensor<1x16x32x64xf32>, tensor<1x16x32x1024xf32>, tensor<1x16x32x64xf32>
}

// Where the number of rows is not known, up to 8 of each of 32 heads are few.
//
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[MOST:.*]] = arith.constant 8 : index
// CHECK: arith.cmpi sle, %{{.*}}, %[[MOST]]
// CHECK: schedule = <block_m = 256, block_n = 512, rows = 8, columns = 32, lanes = 16, chunk = 2048, fold_heads = true>
func.func @dynamic(%q: tensor<1x32x?x128xf32>, %k: tensor<1x1x?x128xf32>) -> tensor<1x32x?x128xf32> {
  %o = attn.sdpa %q, %k, %k : tensor<1x32x?x128xf32>, tensor<1x1x?x128xf32>, tensor<1x1x?x128xf32>
    -> tensor<1x32x?x128xf32>
  return %o : tensor<1x32x?x128xf32>
}

}
