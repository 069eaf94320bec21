// RUN: attn-opt %s --attn-expand-small-floats | FileCheck %s

// The upper half of an f16.
//
// CHECK-LABEL: func @ext_e5m2
// CHECK:       %[[CODE:.*]] = arith.bitcast %{{.*}} : vector<16xf8E5M2> to vector<16xi8>
// CHECK:       %[[WIDE:.*]] = arith.extui %[[CODE]]
// CHECK:       %[[BITS:.*]] = arith.shli %[[WIDE]]
// CHECK:       %[[HALF:.*]] = arith.bitcast %[[BITS]] : vector<16xi16> to vector<16xf16>
// CHECK:       %[[Y:.*]] = arith.extf %[[HALF]] : vector<16xf16> to vector<16xf32>
// CHECK:       return %[[Y]]
func.func @ext_e5m2(%x: vector<16xf8E5M2>) -> vector<16xf32> {
  %y = arith.extf %x : vector<16xf8E5M2> to vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func @ext_e5m2_to_half
// CHECK-NOT:   arith.extf
// CHECK:       return
func.func @ext_e5m2_to_half(%x: f8E5M2) -> f16 {
  %y = arith.extf %x : f8E5M2 to f16
  return %y : f16
}

// An exponent that is 8 less, and one NaN.
//
// CHECK-LABEL: func @ext_e4m3
// CHECK-DAG:   %[[BY:.*]] = arith.constant 2.560000e+02 : f32
// CHECK-DAG:   %[[NAN:.*]] = arith.constant 32256 : i16
// CHECK:       arith.select %{{.*}}, %[[NAN]]
// CHECK:       %[[HALF:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK:       %[[Y:.*]] = arith.mulf %[[HALF]], %[[BY]]
// CHECK:       arith.truncf %[[Y]] : f32 to bf16
func.func @ext_e4m3(%x: f8E4M3FN) -> bf16 {
  %y = arith.extf %x : f8E4M3FN to bf16
  return %y : bf16
}

// CHECK-LABEL: func @trunc
// CHECK-NOT:   arith.truncf
// CHECK:       %[[CODE:.*]] = arith.trunci %{{.*}} : vector<8xi32> to vector<8xi8>
// CHECK:       arith.bitcast %[[CODE]] : vector<8xi8> to vector<8xf8E4M3FN>
func.func @trunc(%x: vector<8xf32>) -> vector<8xf8E4M3FN> {
  %y = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
  return %y : vector<8xf8E4M3FN>
}

// Twice rounded would not be to nearest.
//
// CHECK-LABEL: func @trunc_f64
// CHECK:       arith.truncf %{{.*}} : f64 to f8E5M2
func.func @trunc_f64(%x: f64) -> f8E5M2 {
  %y = arith.truncf %x : f64 to f8E5M2
  return %y : f8E5M2
}
