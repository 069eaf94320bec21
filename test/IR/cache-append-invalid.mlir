// RUN: attn-opt %s --split-input-file --verify-diagnostics

// cache_append-C1
func.func @tensor_into_memref(%r: tensor<2x4x1x8xf32>, %c: memref<2x4x9x8xf32>, %p: tensor<2xi32>) {
  // expected-error @below {{'attn.cache_append' op expects tensors or memrefs only, got 'memref<2x4x9x8xf32>' and 'tensor<2x4x1x8xf32>'}}
  attn.cache_append %r into %c at(%p : tensor<2xi32>) : tensor<2x4x1x8xf32> into memref<2x4x9x8xf32>
  return
}

// -----

// cache_append-C2
func.func @other_heads(%r: tensor<2x4x1x8xf32>, %c: tensor<2x9x5x8xf32>, %p: tensor<2xi32>) {
  // expected-error @below {{'attn.cache_append' op expects dimension 1 of 'rows' and dimension 2 of 'cache' to agree, got 4 and 5}}
  %o = attn.cache_append %r into %c at(%p : tensor<2xi32>) cache_layout = bshd
    : tensor<2x4x1x8xf32> into tensor<2x9x5x8xf32>
  return
}

// -----

// cache_append-C3
func.func @positions_of_other_rows(%r: tensor<2x4x1x8xf32>, %c: tensor<2x4x9x8xf32>, %p: tensor<2x2xi32>) {
  // expected-error @below {{'attn.cache_append' op expects dimension 2 of 'rows' and dimension 1 of 'positions' to agree, got 1 and 2}}
  %o = attn.cache_append %r into %c at(%p : tensor<2x2xi32>) : tensor<2x4x1x8xf32> into tensor<2x4x9x8xf32>
  return
}

// -----

// cache_append-C4
func.func @table_of_i64(%r: tensor<2x4x1x8xf32>, %c: tensor<7x4x9x8xf32>, %p: tensor<2xi32>, %t: tensor<2x3xi64>) {
  // expected-error @below {{'attn.cache_append' op expects 'page_table' of 'i32', got 'i64'}}
  %o = attn.cache_append %r into %c at(%p : tensor<2xi32>) page_table(%t : tensor<2x3xi64>)
    : tensor<2x4x1x8xf32> into tensor<7x4x9x8xf32>
  return
}

// -----

// cache_append-C5
func.func @wider_cache(%r: tensor<2x4x1x8xf16>, %c: tensor<2x4x9x8xf32>, %p: tensor<2xi32>) {
  // expected-error @below {{'attn.cache_append' op expects 'cache' of 'f16', or of a type that is stored under it, got 'f32'}}
  %o = attn.cache_append %r into %c at(%p : tensor<2xi32>) : tensor<2x4x1x8xf16> into tensor<2x4x9x8xf32>
  return
}

// -----

// cache_append-C6
func.func @scale_of_halves(%r: tensor<2x4x1x8xf32>, %c: tensor<2x4x9x8xf16>, %p: tensor<2xi32>, %s: tensor<f32>) {
  // expected-error @below {{'attn.cache_append' op expects 'scale' with a cache of i8, f8E4M3FN or f8E5M2, got 'f16'}}
  %o = attn.cache_append %r into %c at(%p : tensor<2xi32>) scale(%s : tensor<f32>)
    : tensor<2x4x1x8xf32> into tensor<2x4x9x8xf16>
  return
}

// -----

// cache_append-C6
func.func @scale_for_other_keys(%r: tensor<2x4x1x8xf32>, %c: tensor<2x4x9x8xi8>, %p: tensor<2xi32>, %s: tensor<4x8xf32>) {
  // expected-error @below {{'attn.cache_append' op expects dimension 1 of 'scale' to be 1 or 9, got 8}}
  %o = attn.cache_append %r into %c at(%p : tensor<2xi32>) scale(%s : tensor<4x8xf32>)
    : tensor<2x4x1x8xf32> into tensor<2x4x9x8xi8>
  return
}
