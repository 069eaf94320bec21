// Regions on scores and keys, from the definition to the compiled code.
//
// RUN: split-file %s %t
// RUN: attn-run %t/layer.mlir --verify | FileCheck %s
// RUN: attn-run %t/weights.mlir --verify | FileCheck %s
// RUN: attn-run %t/rules.mlir --verify | FileCheck %s
// RUN: attn-run %t/types.mlir --verify | FileCheck %s
// RUN: attn-run %t/order.mlir --verify | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=2x4x33x16xf32 --input=2x2x95x16xf32 --input=2xi64 --input=2xi32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=1x4x1x16xf32 --input=1x2x700x16xf32 --input=1xi64 --input=1xi32 | FileCheck %s

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- rules.mlir

// Rules on keys, over blocks that are left out, whole, and in part; many rows and few; heads that share keys.
func.func @rules(%q0: tensor<1x2x300x16xf32>, %k0: tensor<1x1x400x16xf32>, %q1: tensor<1x1x300x16xf32>, %k1: tensor<1x1x300x16xf32>, %q2: tensor<1x3x200x16xf32>, %k2: tensor<1x3x260x16xf32>, %q3: tensor<1x1x290x16xf32>, %k3: tensor<1x1x290x16xf32>, %q4: tensor<1x8x1x32xf32>, %k4: tensor<1x2x500x32xf32>, %q5: tensor<1x4x3x32xf32>, %k5: tensor<1x1x700x32xf32>, %q6: tensor<1x2x5x16xf32>, %k6: tensor<1x2x40x16xf32>, %p: index)
    -> (tensor<1x2x300x16xf32>, tensor<1x1x300x16xf32>, tensor<1x3x200x16xf32>, tensor<1x1x290x16xf32>, tensor<1x8x1x32xf32>, tensor<1x4x3x32xf32>, tensor<1x2x5x16xf32>) {
  %o0 = attn.sdpa %q0, %k0, %k0
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.constant 96 : index
      %x = arith.divsi %i, %c : index
      %y = arith.divsi %j, %c : index
      %m = arith.cmpi eq, %x, %y : index
      attn.yield %m : i1
    }
    : tensor<1x2x300x16xf32>, tensor<1x1x400x16xf32>, tensor<1x1x400x16xf32>
    -> tensor<1x2x300x16xf32>
  %o1 = attn.sdpa %q1, %k1, %k1
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %two = arith.constant 2 : index
      %zero = arith.constant 0 : index
      %far = arith.constant 60 : index
      %d = arith.subi %i, %j : index
      %r = arith.remsi %d, %two : index
      %x = arith.cmpi eq, %r, %zero : index
      %y = arith.cmpi slt, %d, %far : index
      %z = arith.cmpi sge, %d, %zero : index
      %xy = arith.andi %x, %y : i1
      %m = arith.andi %xy, %z : i1
      attn.yield %m : i1
    }
    : tensor<1x1x300x16xf32>, tensor<1x1x300x16xf32>, tensor<1x1x300x16xf32>
    -> tensor<1x1x300x16xf32>
  %o2 = attn.sdpa %q2, %k2, %k2 query_offset(%p : index)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %four = arith.constant 4 : index
      %near = arith.constant 20 : index
      %minus = arith.constant -20 : index
      %d = arith.subi %j, %i : index
      %x = arith.cmpi slt, %d, %near : index
      %y = arith.cmpi sgt, %d, %minus : index
      %local = arith.andi %x, %y : i1
      %row = arith.cmpi slt, %i, %four : index
      %key = arith.cmpi slt, %j, %four : index
      %any = arith.ori %row, %key : i1
      %m = arith.ori %any, %local : i1
      attn.yield %m : i1
    }
    : tensor<1x3x200x16xf32>, tensor<1x3x260x16xf32>, tensor<1x3x260x16xf32>
    -> tensor<1x3x200x16xf32>
  %o3 = attn.sdpa %q3, %k3, %k3
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.constant 70 : index
      %x = arith.cmpi slt, %j, %c : index
      %y = arith.cmpi sle, %j, %i : index
      %m = arith.ori %x, %y : i1
      attn.yield %m : i1
    }
    : tensor<1x1x290x16xf32>, tensor<1x1x290x16xf32>, tensor<1x1x290x16xf32>
    -> tensor<1x1x290x16xf32>
  %o4 = attn.sdpa %q4, %k4, %k4 query_offset(%p : index)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.constant 96 : index
      %x = arith.divsi %i, %c : index
      %y = arith.divsi %j, %c : index
      %m = arith.cmpi eq, %x, %y : index
      attn.yield %m : i1
    }
    : tensor<1x8x1x32xf32>, tensor<1x2x500x32xf32>, tensor<1x2x500x32xf32>
    -> tensor<1x8x1x32xf32>
  %o5 = attn.sdpa %q5, %k5, %k5 query_offset(%p : index)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %two = arith.constant 2 : index
      %zero = arith.constant 0 : index
      %far = arith.constant 60 : index
      %d = arith.subi %i, %j : index
      %r = arith.remsi %d, %two : index
      %x = arith.cmpi eq, %r, %zero : index
      %y = arith.cmpi slt, %d, %far : index
      %z = arith.cmpi sge, %d, %zero : index
      %xy = arith.andi %x, %y : i1
      %m = arith.andi %xy, %z : i1
      attn.yield %m : i1
    }
    : tensor<1x4x3x32xf32>, tensor<1x1x700x32xf32>, tensor<1x1x700x32xf32>
    -> tensor<1x4x3x32xf32>
  %o6 = attn.sdpa %q6, %k6, %k6
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %no = arith.constant false
      attn.yield %no : i1
    }
    : tensor<1x2x5x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>
    -> tensor<1x2x5x16xf32>
  return %o0, %o1, %o2, %o3, %o4, %o5, %o6 :
    tensor<1x2x300x16xf32>, tensor<1x1x300x16xf32>, tensor<1x3x200x16xf32>, tensor<1x1x290x16xf32>, tensor<1x8x1x32xf32>, tensor<1x4x3x32xf32>, tensor<1x2x5x16xf32>
}

//--- types.mlir

// The same in other types, and with documents for each entry of the batch.
func.func @types(%q0: tensor<2x2x200x16xf16>, %k0: tensor<2x2x310x16xf16>, %q1: tensor<2x2x300x8xbf16>, %k1: tensor<2x1x310x8xbf16>, %q2: tensor<2x1x70x8xf64>, %k2: tensor<2x1x310x8xf64>, %q3: tensor<2x4x1x16xf16>, %k3: tensor<2x2x310x16xf16>, %doc: tensor<2x310xi32>)
    -> (tensor<2x2x200x16xf16>, tensor<2x2x300x8xbf16>, tensor<2x1x70x8xf64>, tensor<2x4x1x16xf16>) {
  %o0 = attn.sdpa %q0, %k0, %k0
    mask_mod = documents(%doc : tensor<2x310xi32>)
    : tensor<2x2x200x16xf16>, tensor<2x2x310x16xf16>, tensor<2x2x310x16xf16>
    -> tensor<2x2x200x16xf16>
  %o1 = attn.sdpa %q1, %k1, %k1 causal = top_left
    mask_mod = documents(%doc : tensor<2x310xi32>)
    : tensor<2x2x300x8xbf16>, tensor<2x1x310x8xbf16>, tensor<2x1x310x8xbf16>
    -> tensor<2x2x300x8xbf16>
  %o2 = attn.sdpa %q2, %k2, %k2
    mask_mod = documents(%doc : tensor<2x310xi32>)
    : tensor<2x1x70x8xf64>, tensor<2x1x310x8xf64>, tensor<2x1x310x8xf64>
    -> tensor<2x1x70x8xf64>
  %o3 = attn.sdpa %q3, %k3, %k3
    mask_mod = documents(%doc : tensor<2x310xi32>)
    : tensor<2x4x1x16xf16>, tensor<2x2x310x16xf16>, tensor<2x2x310x16xf16>
    -> tensor<2x4x1x16xf16>
  return %o0, %o1, %o2, %o3 :
    tensor<2x2x200x16xf16>, tensor<2x2x300x8xbf16>, tensor<2x1x70x8xf64>, tensor<2x4x1x16xf16>
}

//--- order.mlir

// The region comes before the cap, the bias after it; what the region makes -inf is left out.
func.func @order(%q0: tensor<1x2x70x16xf32>, %k0: tensor<1x2x130x16xf32>, %q1: tensor<1x2x70x16xf32>, %k1: tensor<1x2x130x16xf32>, %q2: tensor<1x2x1x16xf32>, %k2: tensor<1x2x130x16xf32>, %bias: tensor<70x130xf32>, %mask: tensor<2x1x130xi1>)
    -> (tensor<1x2x70x16xf32>, tensor<1x2x70x16xf32>, tensor<1x2x1x16xf32>) {
  %o0 = attn.sdpa %q0, %k0, %k0 bias(%bias : tensor<70x130xf32>) softcap = 2.0
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %even = arith.constant 3 : index
      %zero = arith.constant 0 : index
      %r = arith.remsi %j, %even : index
      %c = arith.cmpi eq, %r, %zero : index
      %low = arith.constant 0xFF800000 : f32
      %x = arith.mulf %s, %two : f32
      %y = arith.addf %x, %one : f32
      %z = arith.select %c, %low, %y : f32
      attn.yield %z : f32
    }
    : tensor<1x2x70x16xf32>, tensor<1x2x130x16xf32>, tensor<1x2x130x16xf32>
    -> tensor<1x2x70x16xf32>
  %o1 = attn.sdpa %q1, %k1, %k1 bias(%bias : tensor<70x130xf32>) mask(%mask : tensor<2x1x130xi1>) softcap = 2.0
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %even = arith.constant 3 : index
      %zero = arith.constant 0 : index
      %r = arith.remsi %j, %even : index
      %c = arith.cmpi eq, %r, %zero : index
      %low = arith.constant 0xFF800000 : f32
      %x = arith.mulf %s, %two : f32
      %y = arith.addf %x, %one : f32
      %z = arith.select %c, %low, %y : f32
      attn.yield %z : f32
    }
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.constant 70 : index
      %x = arith.cmpi slt, %j, %c : index
      %y = arith.cmpi sle, %j, %i : index
      %m = arith.ori %x, %y : i1
      attn.yield %m : i1
    }
    : tensor<1x2x70x16xf32>, tensor<1x2x130x16xf32>, tensor<1x2x130x16xf32>
    -> tensor<1x2x70x16xf32>
  %o2 = attn.sdpa %q2, %k2, %k2 softcap = 2.0
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %even = arith.constant 3 : index
      %zero = arith.constant 0 : index
      %r = arith.remsi %j, %even : index
      %c = arith.cmpi eq, %r, %zero : index
      %low = arith.constant 0xFF800000 : f32
      %x = arith.mulf %s, %two : f32
      %y = arith.addf %x, %one : f32
      %z = arith.select %c, %low, %y : f32
      attn.yield %z : f32
    }
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %two = arith.constant 2 : index
      %zero = arith.constant 0 : index
      %far = arith.constant 60 : index
      %d = arith.subi %i, %j : index
      %r = arith.remsi %d, %two : index
      %x = arith.cmpi eq, %r, %zero : index
      %y = arith.cmpi slt, %d, %far : index
      %z = arith.cmpi sge, %d, %zero : index
      %xy = arith.andi %x, %y : i1
      %m = arith.andi %xy, %z : i1
      attn.yield %m : i1
    }
    : tensor<1x2x1x16xf32>, tensor<1x2x130x16xf32>, tensor<1x2x130x16xf32>
    -> tensor<1x2x1x16xf32>
  return %o0, %o1, %o2 :
    tensor<1x2x70x16xf32>, tensor<1x2x70x16xf32>, tensor<1x2x1x16xf32>
}

//--- weights.mlir

// What each row attends to, from a second pass that asks the regions again.
func.func @weights(%q: tensor<1x2x70x16xf32>, %k: tensor<1x2x130x16xf32>, %s: tensor<2xf32>)
    -> (tensor<1x2x70x16xf32>, tensor<1x2x70x130xf32>) {
  %o, %w = attn.sdpa %q, %k, %k score_mod = alibi(%s : tensor<2xf32>)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.constant 40 : index
      %x = arith.divsi %i, %c : index
      %y = arith.divsi %j, %c : index
      %m = arith.cmpi sge, %x, %y : index
      attn.yield %m : i1
    }
    : tensor<1x2x70x16xf32>, tensor<1x2x130x16xf32>, tensor<1x2x130x16xf32>
    -> tensor<1x2x70x16xf32> weights(tensor<1x2x70x130xf32>)
  return %o, %w : tensor<1x2x70x16xf32>, tensor<1x2x70x130xf32>
}

//--- layer.mlir

// A layer hands its regions on.
func.func @layer(%x: tensor<2x33x16xf32>, %w: tensor<16x16xf32>, %s: tensor<4xf32>, %d: tensor<2x33xi32>) -> tensor<2x33x16xf32> {
  %y = attn.mha %x query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>)
    value(%w : tensor<16x16xf32>) output(%w : tensor<16x16xf32>) heads = 4 causal = top_left
    score_mod = alibi(%s : tensor<4xf32>) mask_mod = documents(%d : tensor<2x33xi32>)
    : tensor<2x33x16xf32> -> tensor<2x33x16xf32>
  return %y : tensor<2x33x16xf32>
}

//--- dynamic.mlir

// Extents that are known when the function runs.
func.func @dynamic(%q: tensor<?x4x?x16xf32>, %k: tensor<?x2x?x16xf32>, %n: tensor<?xi64>, %lengths: tensor<?xi32>) -> (tensor<?x4x?x16xf32>, tensor<?x4x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %k kv_lengths(%lengths : tensor<?xi32>) causal = none mask_mod = prefix_lm(%n : tensor<?xi64>)
    : tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32> -> tensor<?x4x?x16xf32>, tensor<?x4x?xf32>
  return %o, %l : tensor<?x4x?x16xf32>, tensor<?x4x?xf32>
}
