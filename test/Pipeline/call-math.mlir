// RUN: attn-opt %s --attn-call-math --split-input-file | FileCheck %s

// What is left of math when the rest is LLVM's is a call.
//
// CHECK-LABEL: llvm.func @erf
// CHECK: %[[Y:.*]] = llvm.call @erff(%{{.*}}) : (f32) -> f32
// CHECK: llvm.return %[[Y]]
llvm.func @erf(%0: f32) -> f32 {
  %1 = math.erf %0 : f32
  llvm.return %1 : f32
}

// -----

// Where nothing is left, nothing is converted.
//
// CHECK-LABEL: func.func @none
// CHECK: arith.addf
func.func @none(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
