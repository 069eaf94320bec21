// A region that reads outside of a tensor is an error for a key that nothing else excludes, and none for others.
//
// RUN: not attn-run %s --function=distances --input=1x1x40x8xf32 --input=1x1x40x8xf32 --input=39xf32 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHORT
// RUN: attn-run %s --function=distances --verify --input=1x1x40x8xf32 --input=1x1x40x8xf32 --input=40xf32 \
// RUN:   | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=table --input=1x1x4x8xf32 --input=1x1x9x8xf32 --input=8xi32 --input=4x9xi1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TABLE
// RUN: attn-run %s --function=table --verify --input=1x1x4x8xf32 --input=1x1x9x8xf32 --input=9xi32 --input=4x9xi1 \
// RUN:   | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=table --input=1x1x4x8xf32 --input=1x1x9x8xf32 --input=0xi32 --input=4x9xi1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EMPTY

// SHORT: 'attn.sdpa' op expects 'score_mod' to read inside of dimension 0 of 'tensor<?xf32>', argument 2, got index 39 of 39
// TABLE: 'attn.sdpa' op expects 'mask_mod' to read inside of dimension 0 of 'tensor<?xi32>', argument 2, got index 8 of 8
// EMPTY: 'attn.sdpa' op expects 'mask_mod' to read inside of dimension 0 of 'tensor<?xi32>', argument 2, got index {{[0-9]}} of 0
// PASS: pass: largest error {{.*}}, 0 elements beyond it

// A table of the distances to the keys before a row has none for those behind it.
func.func @distances(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>, %t: tensor<?xf32>) -> tensor<1x1x?x8xf32> {
  %o = attn.sdpa %q, %k, %k causal = top_left
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %d = arith.subi %i, %j : index
      %x = tensor.extract %t[%d] : tensor<?xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    }
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// The mask is random: some row keeps the last key.
func.func @table(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>, %t: tensor<?xi32>, %m: tensor<?x?xi1>) -> tensor<1x1x?x8xf32> {
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<?x?xi1>)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %x = tensor.extract %t[%j] : tensor<?xi32>
      %c = arith.constant 0 : i32
      %y = arith.cmpi sge, %x, %c : i32
      attn.yield %y : i1
    }
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}
