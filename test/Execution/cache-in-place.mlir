// A caller gives a cache as argument and as result: rows are written where it lies, and nothing is copied.
//
// REQUIRES: attnc, cc, numpy
// RUN: attnc %s -o %t.so
// RUN: %numpy %S/Inputs/cache_in_place.py %t.so %S/../../tools/dev/demo | FileCheck %s
//
// CHECK: step in place: 0 as elsewhere: True
// CHECK: step leaves an argument alone: True
// CHECK: shifted: 7 'step' expects result 'grown' to share no memory with argument 'cache', got an overlap
// CHECK: transposed: 7 'step' expects result 'grown' to share no memory with argument 'cache', got an overlap
// CHECK: read: 7 'read' expects result 'grown' to share no memory with argument 'cache', got an overlap
// CHECK: layer in place: 0 as elsewhere: True
// CHECK: layer_packed in place: 0 as elsewhere: True
//
// Beside the memory of the result there is none for a second cache.
//
// RUN: attnc %s --stop-after=buffers | FileCheck %s --check-prefix=BUFFERS
//
// BUFFERS-LABEL: func.func @step
// BUFFERS-NOT: memref.alloc{{.*}}64x16
// BUFFERS: memref.extract_aligned_pointer_as_index
// BUFFERS-LABEL: func.func @read

func.func @step(%rows: tensor<2x4x1x16xf32>, %cache: tensor<2x4x64x16xf32>, %at: tensor<2xi32>)
    -> (tensor<2x4x1x16xf32>, tensor<2x4x64x16xf32>) {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<2xi32>)
    : tensor<2x4x1x16xf32> into tensor<2x4x64x16xf32>
  %o = attn.sdpa %rows, %grown, %grown kv_lengths(%at : tensor<2xi32>)
    : tensor<2x4x1x16xf32>, tensor<2x4x64x16xf32>, tensor<2x4x64x16xf32> -> tensor<2x4x1x16xf32>
  return %o, %grown : tensor<2x4x1x16xf32>, tensor<2x4x64x16xf32>
}

func.func @read(%rows: tensor<2x4x1x16xf32>, %cache: tensor<2x4x64x16xf32>, %at: tensor<2xi32>)
    -> (tensor<2x4x1x16xf32>, tensor<2x4x64x16xf32>) {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<2xi32>)
    : tensor<2x4x1x16xf32> into tensor<2x4x64x16xf32>
  %o = attn.sdpa %rows, %cache, %cache kv_lengths(%at : tensor<2xi32>)
    : tensor<2x4x1x16xf32>, tensor<2x4x64x16xf32>, tensor<2x4x64x16xf32> -> tensor<2x4x1x16xf32>
  return %o, %grown : tensor<2x4x1x16xf32>, tensor<2x4x64x16xf32>
}

// With weights, which may be packed, and which stand before and behind the cache.
func.func @layer(%w: tensor<64x64xf32>, %x: tensor<2x40x64xf32>, %cache: tensor<2x4x64x16xf32>, %at: tensor<2xi32>,
                 %out: tensor<64x64xf32>) -> (tensor<2x40x64xf32>, tensor<2x4x64x16xf32>) {
  %y = attn.mha %x query(%w : tensor<64x64xf32>) key(%w : tensor<64x64xf32>) value(%w : tensor<64x64xf32>)
    output(%out : tensor<64x64xf32>) heads = 4 : tensor<2x40x64xf32> -> tensor<2x40x64xf32>
  %rows = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [2, 40, 4, 16]
    : tensor<2x40x64xf32> into tensor<2x40x4x16xf32>
  %grown = attn.cache_append %rows into %cache at(%at : tensor<2xi32>) rows_layout = bshd
    : tensor<2x40x4x16xf32> into tensor<2x4x64x16xf32>
  return %y, %grown : tensor<2x40x64xf32>, tensor<2x4x64x16xf32>
}
