// RUN: attn-opt %s --canonicalize --split-input-file | FileCheck %s --enable-var-scope

// A triangle and a window that are written out are attributes.
//
// CHECK-LABEL: func.func @window
// CHECK: attn.sdpa
// CHECK-SAME: causal = top_left window = <left = 255>
// CHECK-NOT: mask_mod
func.func @window(%q: tensor<1x1x?x64xf32>) -> tensor<1x1x?x64xf32> {
  %o = attn.sdpa %q, %q, %q
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c256 = arith.constant 256 : index
      %past = arith.cmpi sle, %j, %i : index
      %distance = arith.subi %i, %j : index
      %near = arith.cmpi slt, %distance, %c256 : index
      %both = arith.andi %past, %near : i1
      attn.yield %both : i1
    } : tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32>, tensor<1x1x?x64xf32> -> tensor<1x1x?x64xf32>
  return %o : tensor<1x1x?x64xf32>
}

// -----

// Positions count from where the offset says, in both forms; what is no band stays.
//
// CHECK-LABEL: func.func @rest
// CHECK: attn.sdpa
// CHECK-SAME: query_offset(%{{.*}} : index)
// CHECK-SAME: window = <left = 4, right = 7>
// CHECK-SAME: mask_mod
// CHECK: %[[EVEN:.*]] = arith.cmpi eq
// CHECK-NEXT: attn.yield %[[EVEN]]
func.func @rest(%q: tensor<1x1x32x64xf32>, %offset: index) -> tensor<1x1x32x64xf32> {
  %o = attn.sdpa %q, %q, %q query_offset(%offset : index) window = <left = 9>
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0 : index
      %last = arith.addi %j, %c4 : index
      %left = arith.cmpi sge, %last, %i : index
      %end = arith.addi %i, %c8 : index
      %right = arith.cmpi sgt, %end, %j : index
      %rest = arith.remsi %j, %c2 : index
      %even = arith.cmpi eq, %rest, %zero : index
      %both = arith.andi %left, %even : i1
      %all = arith.andi %both, %right : i1
      attn.yield %all : i1
    } : tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32> -> tensor<1x1x32x64xf32>
  return %o : tensor<1x1x32x64xf32>
}

// -----

// A window holds the position itself: one that does not has no attribute.
//
// CHECK-LABEL: func.func @strictly_before
// CHECK: attn.sdpa
// CHECK-NOT: causal
// CHECK: mask_mod
func.func @strictly_before(%q: tensor<1x1x32x64xf32>) -> tensor<1x1x32x64xf32> {
  %o = attn.sdpa %q, %q, %q
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %before = arith.cmpi slt, %j, %i : index
      attn.yield %before : i1
    } : tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32> -> tensor<1x1x32x64xf32>
  return %o : tensor<1x1x32x64xf32>
}

// -----

// A triangle with its corner elsewhere keeps it there.
//
// CHECK-LABEL: func.func @bottom_right
// CHECK: attn.sdpa
// CHECK-SAME: causal = bottom_right
// CHECK-NOT: mask_mod
func.func @bottom_right(%q: tensor<1x1x32x64xf32>, %k: tensor<1x1x48x64xf32>) -> tensor<1x1x32x64xf32> {
  %o = attn.sdpa %q, %k, %k causal = bottom_right
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %past = arith.cmpi sge, %i, %j : index
      attn.yield %past : i1
    } : tensor<1x1x32x64xf32>, tensor<1x1x48x64xf32>, tensor<1x1x48x64xf32> -> tensor<1x1x32x64xf32>
  return %o : tensor<1x1x32x64xf32>
}
