// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// The smallest attention: three tensors, default scale.
//
// CHECK-LABEL: func.func @smallest
// CHECK: %[[O:.*]] = attn.sdpa %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
// CHECK-SAME: tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32> -> tensor<1x2x8x16xf32>
func.func @smallest(%q: tensor<1x2x8x16xf32>, %k: tensor<1x2x8x16xf32>,
                    %v: tensor<1x2x8x16xf32>) -> tensor<1x2x8x16xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>
    -> tensor<1x2x8x16xf32>
  return %o : tensor<1x2x8x16xf32>
}

// Every operand, attribute and result that may stand together.
//
// CHECK-LABEL: func.func @everything
// CHECK: %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = attn.sdpa
// CHECK-SAME: bias(%{{[a-z0-9_]+}} : tensor<?x10xbf16>) mask(%{{[a-z0-9_]+}} : tensor<2x1x1x10xi1>)
// CHECK-SAME: kv_lengths(%{{[a-z0-9_]+}} : tensor<2xindex>) query_offset(%{{[a-z0-9_]+}} : tensor<2xi64>)
// CHECK-SAME: sinks(%{{[a-z0-9_]+}} : tensor<4xf32>) scale = -1.250000e-01 causal = top_left
// CHECK-SAME: window = <left = 3, right = 0> softcap = 2.000000e+01
// CHECK-SAME: layout = <query = bshd, key = bhsd, value = bshd, output = bshd>
// CHECK-SAME: schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16, chunk = 128, fold_heads = true>
// CHECK-SAME: -> tensor<2x?x4x24xf32>, tensor<2x4x?xf32>
func.func @everything(%q: tensor<2x?x4x16xf16>, %k: tensor<2x2x10x16xf16>,
    %v: tensor<2x10x2x24xf16>, %b: tensor<?x10xbf16>, %m: tensor<2x1x1x10xi1>,
    %n: tensor<2xindex>, %p: tensor<2xi64>, %s: tensor<4xf32>)
    -> (tensor<2x?x4x24xf32>, tensor<2x4x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %v bias(%b : tensor<?x10xbf16>)
    mask(%m : tensor<2x1x1x10xi1>) kv_lengths(%n : tensor<2xindex>)
    query_offset(%p : tensor<2xi64>) sinks(%s : tensor<4xf32>)
    scale = -0.125 causal = top_left window = <left = 3, right = 0>
    softcap = 20.0 layout = <query = bshd, value = bshd, output = bshd>
    schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16,
                chunk = 128, fold_heads = true>
    : tensor<2x?x4x16xf16>, tensor<2x2x10x16xf16>, tensor<2x10x2x24xf16>
    -> tensor<2x?x4x24xf32>, tensor<2x4x?xf32>
  return %o, %l : tensor<2x?x4x24xf32>, tensor<2x4x?xf32>
}

// What may be written in other ways: a scalar offset, bytes for booleans, one
// layout for all tensors, one side of a window, a default that is written out.
//
// CHECK-LABEL: func.func @other_ways
// CHECK: attn.sdpa
// CHECK-SAME: mask(%{{[a-z0-9_]+}} : tensor<1xi8>) query_offset(%{{[a-z0-9_]+}} : index)
// CHECK-SAME: window = <right = 7> layout = bshd :
func.func @other_ways(%q: tensor<1x8x2x16xf64>, %m: tensor<1xi8>, %p: index)
    -> tensor<1x8x2x16xf64> {
  %o = attn.sdpa %q, %q, %q mask(%m : tensor<1xi8>) query_offset(%p : index)
    causal = none window = <right = 7> layout = bshd
    : tensor<1x8x2x16xf64>, tensor<1x8x2x16xf64>, tensor<1x8x2x16xf64>
    -> tensor<1x8x2x16xf64>
  return %o : tensor<1x8x2x16xf64>
}

// How a GPU multiplies, which the op says and its schedule decides.
//
// CHECK-LABEL: func.func @precision
// CHECK: attn.sdpa %{{.*}} softcap = 2.000000e+01 precision = tf32 layout = bshd schedule = <block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32x3> :
// CHECK: attn.sdpa %{{.*}} precision = exact :
func.func @precision(%q: tensor<1x8x2x16xf32>) -> tensor<1x8x2x16xf32> {
  %o = attn.sdpa %q, %q, %q softcap = 20.0 precision = tf32 layout = bshd
    schedule = <block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32x3>
    : tensor<1x8x2x16xf32>, tensor<1x8x2x16xf32>, tensor<1x8x2x16xf32>
    -> tensor<1x8x2x16xf32>
  %p = attn.sdpa %o, %o, %o precision = exact
    : tensor<1x8x2x16xf32>, tensor<1x8x2x16xf32>, tensor<1x8x2x16xf32>
    -> tensor<1x8x2x16xf32>
  return %p : tensor<1x8x2x16xf32>
}

// Every dimension may be 0, heads included.
//
// CHECK-LABEL: func.func @nothing
// CHECK: attn.sdpa
func.func @nothing(%q: tensor<0x0x0x0xf32>, %k: tensor<0x0x0x0xf32>,
    %b: tensor<0x0xf32>) -> tensor<0x0x0x0xf32> {
  %o, %l = attn.sdpa %q, %k, %k bias(%b : tensor<0x0xf32>)
    : tensor<0x0x0x0xf32>, tensor<0x0x0x0xf32>, tensor<0x0x0x0xf32>
    -> tensor<0x0x0x0xf32>, tensor<0x0x0xf32>
  return %o : tensor<0x0x0x0xf32>
}

// Every dimension may be dynamic, and be stated by some tensors only.
//
// CHECK-LABEL: func.func @dynamic
// CHECK: attn.sdpa
func.func @dynamic(%q: tensor<?x?x?x?xf32>, %k: tensor<?x2x?x?xf32>,
    %v: tensor<?x?x7x?xf32>, %m: tensor<?x?x?x?xi1>) -> tensor<1x4x?x?xf32> {
  %o = attn.sdpa %q, %k, %v mask(%m : tensor<?x?x?x?xi1>)
    : tensor<?x?x?x?xf32>, tensor<?x2x?x?xf32>, tensor<?x?x7x?xf32>
    -> tensor<1x4x?x?xf32>
  return %o : tensor<1x4x?x?xf32>
}

// CHECK-LABEL: func.func @rope
// CHECK: attn.rope %{{[a-z0-9]+}}, %[[T:[a-z0-9]+]], %[[T]] positions(%{{[a-z0-9_]+}} : tensor<2x?xi64>) rotary_dim = 4 pairing = interleaved layout = bshd :
// CHECK: attn.rope %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<2x?x4x6xf16>
func.func @rope(%x: tensor<2x?x4x6xf16>, %c: tensor<?x2xf32>,
    %p: tensor<2x?xi64>, %d: tensor<2x4x3xf16>) -> tensor<2x?x4x6xf16> {
  %y = attn.rope %x, %c, %c positions(%p : tensor<2x?xi64>) rotary_dim = 4
    pairing = interleaved layout = bshd
    : tensor<2x?x4x6xf16>, tensor<?x2xf32>, tensor<?x2xf32>
  %z = attn.rope %y, %d, %d
    : tensor<2x?x4x6xf16>, tensor<2x4x3xf16>, tensor<2x4x3xf16>
  return %z : tensor<2x?x4x6xf16>
}

// CHECK-LABEL: func.func @merge_outputs
// CHECK: attn.merge_outputs outputs(%[[O:.*]], %[[O]]) lses(%[[L:.*]], %[[L]]) : tensor<1x2x?x8xf16>, tensor<1x2x?xf32>
func.func @merge_outputs(%o: tensor<1x2x?x8xf16>, %l: tensor<1x2x?xf32>)
    -> tensor<1x2x?x8xf16> {
  %m, %n = attn.merge_outputs outputs(%o, %o) lses(%l, %l)
    : tensor<1x2x?x8xf16>, tensor<1x2x?xf32>
  return %m : tensor<1x2x?x8xf16>
}
