// Of the functions that kernels call, those of an instruction or two are a part of the kernel; the rest are called.
//
// REQUIRES: attnc
// RUN: attnc %s --target=sm_80 -o - --emit=ptx | FileCheck %s --implicit-check-not=__nv_fabsf
//
// CHECK: .entry kernel_k0(
// CHECK: abs.f32
// CHECK: __nv_atanf
func.func @kernel(%q: tensor<1x1x32x16xf16>, %k: tensor<1x1x32x16xf16>, %v: tensor<1x1x32x16xf16>) -> tensor<1x1x32x16xf16> {
  %o = attn.sdpa %q, %k, %v score_mod() {
  ^bb0(%s: f32, %b: index, %h: index, %m: index, %n: index):
    %size = math.absf %s : f32
    %angle = math.atan %size : f32
    attn.yield %angle : f32
  } : tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16> -> tensor<1x1x32x16xf16>
  return %o : tensor<1x1x32x16xf16>
}

// Exponentials and tangents of f32 are made of instructions for powers of two.
//
// CHECK: .entry fast_k0(
// CHECK-NOT: call
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: call
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: call
// CHECK: ret;
func.func @fast(%q: tensor<1x1x32x16xf16>, %k: tensor<1x1x32x16xf16>, %v: tensor<1x1x32x16xf16>) -> tensor<1x1x32x16xf16> {
  %o = attn.sdpa %q, %k, %v softcap = 3.0 score_mod() {
  ^bb0(%s: f32, %b: index, %h: index, %m: index, %n: index):
    %power = math.exp %s : f32
    attn.yield %power : f32
  } : tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16>, tensor<1x1x32x16xf16> -> tensor<1x1x32x16xf16>
  return %o : tensor<1x1x32x16xf16>
}
