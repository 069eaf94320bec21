// RUN: attn-opt %s --attn-outline-checks --canonicalize | FileCheck %s

// Keys and values of different lengths are found before anything is computed.
//
// CHECK-LABEL: func.func private @lengths.check
// CHECK-SAME:    (%{{.*}}, %[[K:.*]]: tensor<1x2x?x64xf32>, %[[V:.*]]: tensor<1x2x?x64xf32>) -> (i64, i64, i64)
// CHECK-SAME:    attn.kinds = array<i64: 4>
// CHECK-SAME:    attn.messages = ["'attn.sdpa' op expects 'key' and 'value' to agree on dimension 2, got %lld and %lld"]
// CHECK-DAG:   %[[N:.*]] = tensor.dim %[[K]], %c2
// CHECK-DAG:   %[[W:.*]] = tensor.dim %[[V]], %c2
// CHECK:       arith.cmpi ne, %[[N]], %[[W]]
// CHECK-NOT:   attn.sdpa
// CHECK:       return
func.func @lengths(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>,
                   %v: tensor<1x2x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>,
    tensor<1x2x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// The heads of the queries are a multiple of those of the keys; a dynamic extent of a mask is the full one.
//
// CHECK-LABEL: func.func private @heads.check
// CHECK-SAME:    "'attn.sdpa' op expects 'key' and 'value' to agree on dimension 1, got %lld and %lld"
// CHECK-SAME:    "'attn.sdpa' op expects dimension 1 of 'query' to be a multiple of dimension 1 of 'key', got %lld and %lld"
// CHECK-SAME:    "'attn.sdpa' op expects dimension 0 of 'mask' to agree with dimension 2 of 'query', got %lld and %lld"
// CHECK:       arith.remui
func.func @heads(%q: tensor<1x?x8x64xf32>, %k: tensor<1x?x8x64xf32>,
                 %v: tensor<1x?x8x64xf32>, %m: tensor<?x1xi1>)
    -> tensor<1x?x8x64xf32> {
  %o = attn.sdpa %q, %k, %v mask(%m : tensor<?x1xi1>) : tensor<1x?x8x64xf32>,
    tensor<1x?x8x64xf32>, tensor<1x?x8x64xf32> -> tensor<1x?x8x64xf32>
  return %o : tensor<1x?x8x64xf32>
}

// Positions are read and compared with the table.
//
// CHECK-LABEL: func.func private @positions.check
// CHECK-SAME:    attn.kinds = array<i64: 8>
// CHECK-SAME:    "'attn.rope' op expects 'positions' to lie inside 'cos', got position %lld of %lld"
// CHECK:       scf.for
// CHECK:         tensor.extract
// CHECK:         arith.cmpi uge
func.func @positions(%x: tensor<1x2x4x8xf32>, %c: tensor<16x4xf32>,
                     %s: tensor<16x4xf32>, %p: tensor<1x4xi32>)
    -> tensor<1x2x4x8xf32> {
  %y = attn.rope %x, %c, %s positions(%p : tensor<1x4xi32>)
    : tensor<1x2x4x8xf32>, tensor<16x4xf32>, tensor<16x4xf32>
  return %y : tensor<1x2x4x8xf32>
}

// Where types say all there is no check.
//
// CHECK-NOT: @static.check
func.func @static(%q: tensor<1x8x4x64xf32>, %k: tensor<1x2x4x64xf32>,
                  %v: tensor<1x2x4x64xf32>) -> tensor<1x8x4x64xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x8x4x64xf32>, tensor<1x2x4x64xf32>,
    tensor<1x2x4x64xf32> -> tensor<1x8x4x64xf32>
  return %o : tensor<1x8x4x64xf32>
}

// Of linear attention all operands of a step agree; only a static 1 is the beta of
// all heads.
//
// CHECK-LABEL: func.func private @steps.check
// CHECK-SAME:    "'attn.linear_attention' op expects 'query' and 'key' to agree on dimension 2, got %lld and %lld"
// CHECK-SAME:    "'attn.linear_attention' op expects 'decay' and 'key' to agree on dimension 2, got %lld and %lld"
// CHECK-SAME:    "'attn.linear_attention' op expects 'beta' and 'key' to agree on dimension 1, got %lld and %lld"
// CHECK-SAME:    "'attn.linear_attention' op expects 'state' and 'value' to agree on dimension 3, got %lld and %lld"
func.func @steps(%q: tensor<1x2x?x8xf32>, %k: tensor<1x2x?x8xf32>,
                 %v: tensor<1x2x8x4xf32>, %g: tensor<1x2x?xf32>,
                 %b: tensor<1x?x8xf32>, %s: tensor<1x2x8x?xf32>)
    -> tensor<1x2x?x4xf32> {
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x?xf32>)
    beta(%b : tensor<1x?x8xf32>) state(%s : tensor<1x2x8x?xf32>)
    rule = gated_delta
    : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32>, tensor<1x2x8x4xf32>
    -> tensor<1x2x?x4xf32>
  return %o : tensor<1x2x?x4xf32>
}

// Of a cache that is only written into the function says that its result may have its memory; of one that is read too,
// or returned as it was, it does not.
//
// CHECK-LABEL: func.func @written
// CHECK-SAME: attributes {attn.in_place = array<i64: -1, 1>}
func.func @written(%rows: tensor<1x2x1x16xf32>, %cache: tensor<1x2x?x16xf32>, %at: tensor<1xi32>)
    -> (tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>) {
  %first = attn.cache_append %rows into %cache at(%at : tensor<1xi32>)
    : tensor<1x2x1x16xf32> into tensor<1x2x?x16xf32>
  %grown = attn.cache_append %rows into %first at(%at : tensor<1xi32>)
    : tensor<1x2x1x16xf32> into tensor<1x2x?x16xf32>
  %o = attn.sdpa %rows, %grown, %grown
    : tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x1x16xf32>
  return %o, %grown : tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>
}

// CHECK-LABEL: func.func @read
// CHECK-NOT: attn.in_place
// CHECK: {
func.func @read(%rows: tensor<1x2x1x16xf32>, %cache: tensor<1x2x?x16xf32>, %at: tensor<1xi32>)
    -> (tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>) {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<1xi32>)
    : tensor<1x2x1x16xf32> into tensor<1x2x?x16xf32>
  %o = attn.sdpa %rows, %cache, %grown
    : tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x1x16xf32>
  return %o, %grown : tensor<1x2x1x16xf32>, tensor<1x2x?x16xf32>
}

// CHECK-LABEL: func.func @returned
// CHECK-NOT: attn.in_place
// CHECK: {
func.func @returned(%rows: tensor<1x2x1x16xf32>, %cache: tensor<1x2x?x16xf32>, %at: tensor<1xi32>)
    -> (tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>) {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<1xi32>)
    : tensor<1x2x1x16xf32> into tensor<1x2x?x16xf32>
  return %cache, %grown : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>
}
