// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-select-schedule | FileCheck %s

// A value of more channels than a block of threads adds up is several attentions, written into one tensor; the first gives
// the lse. So it is in each branch where rows are not known.
//
// CHECK-LABEL: func.func @many_channels
// CHECK-SAME: %[[Q:.*]]: tensor<1x2x256x576xf16>, %[[K:.*]]: tensor<1x1x256x576xf16>, %[[V:.*]]: tensor<1x1x256x512xf16>
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<1x2x256x512xf16>
// CHECK: %[[V0:.*]] = tensor.extract_slice %[[V]][0, 0, 0, 0] [1, 1, 256, 256] [1, 1, 1, 1]
// CHECK: %[[O0:.*]], %[[LSE:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V0]] causal = top_left
// CHECK-SAME: schedule = <block_m = 128, block_n = 48, rows = 16, columns = 8, lanes = 2, warps = 8, stages = 2>
// CHECK-SAME: -> tensor<1x2x256x256xf16>, tensor<1x2x256xf32>
// CHECK: %[[FIRST:.*]] = tensor.insert_slice %[[O0]] into %[[ALL]][0, 0, 0, 0] [1, 2, 256, 256] [1, 1, 1, 1]
// CHECK: %[[V1:.*]] = tensor.extract_slice %[[V]][0, 0, 0, 256] [1, 1, 256, 256] [1, 1, 1, 1]
// CHECK: %[[O1:.*]] = attn.sdpa %[[Q]], %[[K]], %[[V1]] causal = top_left
// CHECK-SAME: -> tensor<1x2x256x256xf16>{{$}}
// CHECK: %[[O:.*]] = tensor.insert_slice %[[O1]] into %[[FIRST]][0, 0, 0, 256] [1, 2, 256, 256] [1, 1, 1, 1]
// CHECK: return %[[O]], %[[LSE]]
// CHECK-LABEL: func.func @many_channels_rows_unknown
// CHECK: scf.if
// CHECK: attn.sdpa {{.*}} warps = 1, {{.*}} -> tensor<1x2x?x144xf16>
// CHECK: attn.sdpa {{.*}} warps = 1, {{.*}} -> tensor<1x2x?x113xf16>
// CHECK: else
// CHECK: attn.sdpa {{.*}} warps = 8, {{.*}} -> tensor<1x2x?x144xf16>
// CHECK: attn.sdpa {{.*}} warps = 8, {{.*}} -> tensor<1x2x?x113xf16>
func.func @many_channels(%q: tensor<1x2x256x576xf16>, %k: tensor<1x1x256x576xf16>, %v: tensor<1x1x256x512xf16>)
    -> (tensor<1x2x256x512xf16>, tensor<1x2x256xf32>) {
  %o, %l = attn.sdpa %q, %k, %v causal = top_left
    : tensor<1x2x256x576xf16>, tensor<1x1x256x576xf16>, tensor<1x1x256x512xf16> -> tensor<1x2x256x512xf16>, tensor<1x2x256xf32>
  return %o, %l : tensor<1x2x256x512xf16>, tensor<1x2x256xf32>
}
func.func @many_channels_rows_unknown(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x256x64xf16>, %v: tensor<1x2x256x257xf16>)
    -> tensor<1x2x?x257xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x2x?x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x257xf16> -> tensor<1x2x?x257xf16>
  return %o : tensor<1x2x?x257xf16>
}

// Of more channels of the query than shared memory has room for, registers have the sums alone.
//
// CHECK-LABEL: func.func @many_query_channels
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 128, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 8, stages = 2>
// CHECK: attn.sdpa
// CHECK-SAME: schedule = <block_m = 64, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 4, stages = 2>
func.func @many_query_channels(%q: tensor<1x2x256x512xf16>, %v: tensor<1x2x256x64xf16>, %p: tensor<1x2x256x512xf32>,
    %w: tensor<1x2x256x192xf32>) -> (tensor<1x2x256x64xf16>, tensor<1x2x256x192xf32>) {
  %0 = attn.sdpa %q, %q, %v
    : tensor<1x2x256x512xf16>, tensor<1x2x256x512xf16>, tensor<1x2x256x64xf16> -> tensor<1x2x256x64xf16>
  %1 = attn.sdpa %p, %p, %w
    : tensor<1x2x256x512xf32>, tensor<1x2x256x512xf32>, tensor<1x2x256x192xf32> -> tensor<1x2x256x192xf32>
  return %0, %1 : tensor<1x2x256x64xf16>, tensor<1x2x256x192xf32>
}

// A block of keys that is no power of two becomes one where keys lie in pages.
//
// CHECK-LABEL: func.func @many_channels_in_pages
// CHECK: attn.sdpa {{.*}} schedule = <block_m = 64, block_n = 32, {{.*}} tensor<9x2x16x256xf16>
func.func @many_channels_in_pages(%q: tensor<1x4x64x288xf16>, %k: tensor<9x2x16x288xf16>, %v: tensor<9x2x16x256xf16>,
                                  %t: tensor<1x4xi32>) -> tensor<1x4x64x256xf16> {
  %o = attn.sdpa %q, %k, %v page_table(%t : tensor<1x4xi32>)
    : tensor<1x4x64x288xf16>, tensor<9x2x16x288xf16>, tensor<9x2x16x256xf16> -> tensor<1x4x64x256xf16>
  return %o : tensor<1x4x64x256xf16>
}
