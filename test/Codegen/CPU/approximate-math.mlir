// RUN: attn-opt %s --attn-approximate-math | FileCheck %s

// An argument that is never positive: 2 fused multiply-adds find the power of two,
// 5 are the polynomial, and what is too small becomes 0.
//
// CHECK-LABEL: func.func @exp
// CHECK-SAME: %[[X:[a-z0-9]+]]: vector<8xf32>
// CHECK-NOT: math.exp
// CHECK-COUNT-7: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.shli {{.*}} : vector<8xi32>
// CHECK: %[[Y:.*]] = arith.mulf
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[X]], %{{.*}} : vector<8xf32>
// CHECK: arith.select %[[SMALL]], %{{.*}}, %[[Y]]
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x {attn.nonpositive} : vector<8xf32>
  return %y : vector<8xf32>
}

// f64 needs degree 13: with the power of two, 15.
//
// CHECK-LABEL: func.func @exp_double
// CHECK-NOT: math.exp
// CHECK-COUNT-15: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.shli {{.*}} : vector<4xi64>
// CHECK: return
func.func @exp_double(%x: vector<4xf64>) -> vector<4xf64> {
  %y = math.exp %x {attn.nonpositive} : vector<4xf64>
  return %y : vector<4xf64>
}

// Scalars are computed as vectors are, so that a tail has the same bits.
//
// CHECK-LABEL: func.func @exp_scalar
// CHECK-NOT: math.exp
// CHECK-COUNT-7: math.fma
// CHECK-NOT: math.fma
// CHECK: return
func.func @exp_scalar(%x: f32) -> f32 {
  %y = math.exp %x {attn.nonpositive} : f32
  return %y : f32
}

// An exponential that may overflow stays.
//
// CHECK-LABEL: func.func @exp_of_anything
// CHECK: math.exp
func.func @exp_of_anything(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// So does one of another type.
//
// CHECK-LABEL: func.func @exp_half
// CHECK: math.exp
func.func @exp_half(%x: vector<8xf16>) -> vector<8xf16> {
  %y = math.exp %x {attn.nonpositive} : vector<8xf16>
  return %y : vector<8xf16>
}

// Where the value is NaN, the accumulator stays.
//
// CHECK-LABEL: func.func @maximum
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: vector<8xf32>, %[[X:[a-z0-9]+]]: vector<8xf32>
// CHECK-NOT: arith.maxnumf
// CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %[[X]], %[[ACC]]
// CHECK: arith.select %[[LARGER]], %[[X]], %[[ACC]]
func.func @maximum(%acc: vector<8xf32>, %x: vector<8xf32>) -> vector<8xf32> {
  %y = arith.maxnumf %acc, %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @tanh
// CHECK-NOT: math.tanh
// CHECK: arith.divf
// CHECK: return
func.func @tanh(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.tanh %x : vector<8xf32>
  return %y : vector<8xf32>
}
