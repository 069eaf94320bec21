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

// -----

// What is doubled sixty times over is looked at once: sums that leave 64 bits are no band, a condition joined with
// itself is one.
//
// CHECK-LABEL: func.func @shared
// CHECK: attn.sdpa
// CHECK-SAME: causal = top_left
// CHECK-NOT: window
// CHECK: mask_mod
func.func @shared(%q: tensor<1x1x32x64xf32>, %n: index) -> tensor<1x1x32x64xf32> {
  %o = attn.sdpa %q, %q, %q
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %d0 = arith.subi %j, %i : index
      %d1 = arith.addi %d0, %d0 : index
      %d2 = arith.addi %d1, %d1 : index
      %d3 = arith.addi %d2, %d2 : index
      %d4 = arith.addi %d3, %d3 : index
      %d5 = arith.addi %d4, %d4 : index
      %d6 = arith.addi %d5, %d5 : index
      %d7 = arith.addi %d6, %d6 : index
      %d8 = arith.addi %d7, %d7 : index
      %d9 = arith.addi %d8, %d8 : index
      %d10 = arith.addi %d9, %d9 : index
      %d11 = arith.addi %d10, %d10 : index
      %d12 = arith.addi %d11, %d11 : index
      %d13 = arith.addi %d12, %d12 : index
      %d14 = arith.addi %d13, %d13 : index
      %d15 = arith.addi %d14, %d14 : index
      %d16 = arith.addi %d15, %d15 : index
      %d17 = arith.addi %d16, %d16 : index
      %d18 = arith.addi %d17, %d17 : index
      %d19 = arith.addi %d18, %d18 : index
      %d20 = arith.addi %d19, %d19 : index
      %d21 = arith.addi %d20, %d20 : index
      %d22 = arith.addi %d21, %d21 : index
      %d23 = arith.addi %d22, %d22 : index
      %d24 = arith.addi %d23, %d23 : index
      %d25 = arith.addi %d24, %d24 : index
      %d26 = arith.addi %d25, %d25 : index
      %d27 = arith.addi %d26, %d26 : index
      %d28 = arith.addi %d27, %d27 : index
      %d29 = arith.addi %d28, %d28 : index
      %d30 = arith.addi %d29, %d29 : index
      %d31 = arith.addi %d30, %d30 : index
      %d32 = arith.addi %d31, %d31 : index
      %d33 = arith.addi %d32, %d32 : index
      %d34 = arith.addi %d33, %d33 : index
      %d35 = arith.addi %d34, %d34 : index
      %d36 = arith.addi %d35, %d35 : index
      %d37 = arith.addi %d36, %d36 : index
      %d38 = arith.addi %d37, %d37 : index
      %d39 = arith.addi %d38, %d38 : index
      %d40 = arith.addi %d39, %d39 : index
      %d41 = arith.addi %d40, %d40 : index
      %d42 = arith.addi %d41, %d41 : index
      %d43 = arith.addi %d42, %d42 : index
      %d44 = arith.addi %d43, %d43 : index
      %d45 = arith.addi %d44, %d44 : index
      %d46 = arith.addi %d45, %d45 : index
      %d47 = arith.addi %d46, %d46 : index
      %d48 = arith.addi %d47, %d47 : index
      %d49 = arith.addi %d48, %d48 : index
      %d50 = arith.addi %d49, %d49 : index
      %d51 = arith.addi %d50, %d50 : index
      %d52 = arith.addi %d51, %d51 : index
      %d53 = arith.addi %d52, %d52 : index
      %d54 = arith.addi %d53, %d53 : index
      %d55 = arith.addi %d54, %d54 : index
      %d56 = arith.addi %d55, %d55 : index
      %d57 = arith.addi %d56, %d56 : index
      %d58 = arith.addi %d57, %d57 : index
      %d59 = arith.addi %d58, %d58 : index
      %d60 = arith.addi %d59, %d59 : index
      %d61 = arith.addi %d60, %d60 : index
      %d62 = arith.addi %d61, %d61 : index
      %d63 = arith.addi %d62, %d62 : index
      %far = arith.cmpi sle, %d63, %n : index
      %a0 = arith.cmpi sle, %j, %i : index
      %a1 = arith.andi %a0, %a0 : i1
      %a2 = arith.andi %a1, %a1 : i1
      %a3 = arith.andi %a2, %a2 : i1
      %a4 = arith.andi %a3, %a3 : i1
      %a5 = arith.andi %a4, %a4 : i1
      %a6 = arith.andi %a5, %a5 : i1
      %a7 = arith.andi %a6, %a6 : i1
      %a8 = arith.andi %a7, %a7 : i1
      %a9 = arith.andi %a8, %a8 : i1
      %a10 = arith.andi %a9, %a9 : i1
      %a11 = arith.andi %a10, %a10 : i1
      %a12 = arith.andi %a11, %a11 : i1
      %a13 = arith.andi %a12, %a12 : i1
      %a14 = arith.andi %a13, %a13 : i1
      %a15 = arith.andi %a14, %a14 : i1
      %a16 = arith.andi %a15, %a15 : i1
      %a17 = arith.andi %a16, %a16 : i1
      %a18 = arith.andi %a17, %a17 : i1
      %a19 = arith.andi %a18, %a18 : i1
      %a20 = arith.andi %a19, %a19 : i1
      %a21 = arith.andi %a20, %a20 : i1
      %a22 = arith.andi %a21, %a21 : i1
      %a23 = arith.andi %a22, %a22 : i1
      %a24 = arith.andi %a23, %a23 : i1
      %a25 = arith.andi %a24, %a24 : i1
      %a26 = arith.andi %a25, %a25 : i1
      %a27 = arith.andi %a26, %a26 : i1
      %a28 = arith.andi %a27, %a27 : i1
      %a29 = arith.andi %a28, %a28 : i1
      %a30 = arith.andi %a29, %a29 : i1
      %a31 = arith.andi %a30, %a30 : i1
      %a32 = arith.andi %a31, %a31 : i1
      %a33 = arith.andi %a32, %a32 : i1
      %a34 = arith.andi %a33, %a33 : i1
      %a35 = arith.andi %a34, %a34 : i1
      %a36 = arith.andi %a35, %a35 : i1
      %a37 = arith.andi %a36, %a36 : i1
      %a38 = arith.andi %a37, %a37 : i1
      %a39 = arith.andi %a38, %a38 : i1
      %a40 = arith.andi %a39, %a39 : i1
      %a41 = arith.andi %a40, %a40 : i1
      %a42 = arith.andi %a41, %a41 : i1
      %a43 = arith.andi %a42, %a42 : i1
      %a44 = arith.andi %a43, %a43 : i1
      %a45 = arith.andi %a44, %a44 : i1
      %a46 = arith.andi %a45, %a45 : i1
      %a47 = arith.andi %a46, %a46 : i1
      %a48 = arith.andi %a47, %a47 : i1
      %a49 = arith.andi %a48, %a48 : i1
      %a50 = arith.andi %a49, %a49 : i1
      %a51 = arith.andi %a50, %a50 : i1
      %a52 = arith.andi %a51, %a51 : i1
      %a53 = arith.andi %a52, %a52 : i1
      %a54 = arith.andi %a53, %a53 : i1
      %a55 = arith.andi %a54, %a54 : i1
      %a56 = arith.andi %a55, %a55 : i1
      %a57 = arith.andi %a56, %a56 : i1
      %a58 = arith.andi %a57, %a57 : i1
      %a59 = arith.andi %a58, %a58 : i1
      %a60 = arith.andi %a59, %a59 : i1
      %a61 = arith.andi %a60, %a60 : i1
      %a62 = arith.andi %a61, %a61 : i1
      %a63 = arith.andi %a62, %a62 : i1
      %m = arith.andi %a63, %far : i1
      attn.yield %m : i1
    } : tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32> -> tensor<1x1x32x64xf32>
  return %o : tensor<1x1x32x64xf32>
}
