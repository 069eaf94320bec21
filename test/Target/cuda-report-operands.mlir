// What the loop issues where a bias or a mask is an operand: neighbours are read at once, without asking for their bounds.
// Less than 6 instructions for each matrix product of 64 channels, 4 of 128; without operands it is 3.9 and 2.8.
//
// REQUIRES: attnc, ptxas
// RUN: attnc %s --target=sm_80 --report \
// RUN:   | FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} of spills"
//
// CHECK: bias_f32_k0 (sm_80): {{.*}} 2 blocks of 128 threads
// CHECK-NEXT: loop:
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{5[.][0-9]+}} for each), 40 matrix loads, 8 copies, 64 special
// CHECK: bias_k0 (sm_80): {{.*}} 2 blocks of 128 threads
// CHECK-NEXT: loop:
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{5[.][0-9]+}} for each), 40 matrix loads, 8 copies, 64 special
// CHECK: bias_wide_k0 (sm_80): {{.*}} 2 blocks of 128 threads
// CHECK-NEXT: loop:
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{3[.][0-9]+}} for each), 48 matrix loads, 8 copies, 32 special
// CHECK: mask_k0 (sm_80): {{.*}} 2 blocks of 128 threads
// CHECK-NEXT: loop:
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{5[.][0-9]+}} for each), 40 matrix loads, 8 copies, 64 special
// CHECK: mask_wide_k0 (sm_80): {{.*}} 2 blocks of 128 threads
// CHECK-NEXT: loop:
// CHECK-NEXT: shortest way: {{[0-9]+}} instructions, 128 matrix products ({{3[.][0-9]+}} for each), 48 matrix loads, 8 copies, 32 special

func.func @bias(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>, %b: tensor<1x8x1024x?xf16>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<1x8x1024x?xf16>)
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
func.func @bias_f32(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>, %b: tensor<1x8x1024x?xf32>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<1x8x1024x?xf32>)
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
func.func @bias_wide(%q: tensor<1x8x1024x128xf16>, %k: tensor<1x8x?x128xf16>, %v: tensor<1x8x?x128xf16>, %b: tensor<1x8x1024x?xf16>) -> tensor<1x8x1024x128xf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<1x8x1024x?xf16>)
    : tensor<1x8x1024x128xf16>, tensor<1x8x?x128xf16>, tensor<1x8x?x128xf16> -> tensor<1x8x1024x128xf16>
  return %o : tensor<1x8x1024x128xf16>
}
func.func @mask(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x?x64xf16>, %v: tensor<1x8x?x64xf16>, %m: tensor<1x1x1024x?xi1>) -> tensor<1x8x1024x64xf16> {
  %o = attn.sdpa %q, %k, %v mask(%m : tensor<1x1x1024x?xi1>)
    : tensor<1x8x1024x64xf16>, tensor<1x8x?x64xf16>, tensor<1x8x?x64xf16> -> tensor<1x8x1024x64xf16>
  return %o : tensor<1x8x1024x64xf16>
}
func.func @mask_wide(%q: tensor<1x8x1024x128xf16>, %k: tensor<1x8x?x128xf16>, %v: tensor<1x8x?x128xf16>, %m: tensor<1x1x1024x?xi1>) -> tensor<1x8x1024x128xf16> {
  %o = attn.sdpa %q, %k, %v mask(%m : tensor<1x1x1024x?xi1>)
    : tensor<1x8x1024x128xf16>, tensor<1x8x?x128xf16>, tensor<1x8x?x128xf16> -> tensor<1x8x1024x128xf16>
  return %o : tensor<1x8x1024x128xf16>
}
