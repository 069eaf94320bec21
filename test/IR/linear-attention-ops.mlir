// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// What has its default is not printed.
//
// CHECK-LABEL: func.func @plain
// CHECK: attn.linear_attention %{{.*}}, %{{.*}}, %{{.*}} rule = linear : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32> -> tensor<1x4x8x32xf32>
func.func @plain(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x8x16xf32>,
                 %v: tensor<1x2x8x32xf32>) -> tensor<1x4x8x32xf32> {
  %o = attn.linear_attention %q, %k, %v rule = linear feature_map = identity
    : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x8x32xf32>
  return %o : tensor<1x4x8x32xf32>
}

// Every operand, attribute and result of a delta rule.
//
// CHECK-LABEL: func.func @gated_delta
// CHECK: %{{.*}}, %{{.*}} = attn.linear_attention %{{.*}}, %{{.*}}, %{{.*}} decay(%{{.*}} : tensor<2x2x?x16xf32>) beta(%{{.*}} : tensor<2x1x?xf16>) state(%{{.*}} : tensor<2x2x16x32xf32>) rule = gated_delta scale = 2.500000e-01 feature_map = relu layout = bshd
// CHECK-SAME: -> tensor<2x?x4x32xf16> state(tensor<2x2x16x32xf32>)
func.func @gated_delta(%q: tensor<2x?x4x16xf16>, %k: tensor<2x?x2x16xf16>,
                       %v: tensor<2x?x2x32xf16>, %g: tensor<2x2x?x16xf32>,
                       %b: tensor<2x1x?xf16>, %s: tensor<2x2x16x32xf32>)
    -> (tensor<2x?x4x32xf16>, tensor<2x2x16x32xf32>) {
  %o, %n = attn.linear_attention %q, %k, %v decay(%g : tensor<2x2x?x16xf32>)
    beta(%b : tensor<2x1x?xf16>) state(%s : tensor<2x2x16x32xf32>)
    rule = gated_delta scale = 0.25 feature_map = relu layout = bshd
    : tensor<2x?x4x16xf16>, tensor<2x?x2x16xf16>, tensor<2x?x2x32xf16>
    -> tensor<2x?x4x32xf16> state(tensor<2x2x16x32xf32>)
  return %o, %n : tensor<2x?x4x32xf16>, tensor<2x2x16x32xf32>
}

// Of the two states that go out, either may be absent.
//
// CHECK-LABEL: func.func @normalized
// CHECK: attn.linear_attention {{.*}} normalizer(%{{.*}} : tensor<1x2x16xf32>) rule = linear feature_map = elu1 normalize non_causal layout = <query = bhsd, key = bshd, value = bhsd, output = bhsd>
// CHECK-SAME: -> tensor<1x4x3x32xf32> normalizer(tensor<1x2x16xf32>)
func.func @normalized(%q: tensor<1x4x3x16xf32>, %k: tensor<1x8x2x16xf32>,
                      %v: tensor<1x2x8x32xf32>, %z: tensor<1x2x16xf32>)
    -> tensor<1x2x16xf32> {
  %o, %n = attn.linear_attention %q, %k, %v
    normalizer(%z : tensor<1x2x16xf32>) rule = linear feature_map = elu1
    normalize non_causal layout = <key = bshd>
    : tensor<1x4x3x16xf32>, tensor<1x8x2x16xf32>, tensor<1x2x8x32xf32>
    -> tensor<1x4x3x32xf32> normalizer(tensor<1x2x16xf32>)
  return %n : tensor<1x2x16xf32>
}

// An f64 query has an f64 state; every extent may be dynamic.
//
// CHECK-LABEL: func.func @dynamic
// CHECK: rule = gated feature_map = exp normalize
func.func @dynamic(%q: tensor<?x?x?x?xf64>, %k: tensor<?x?x?x?xf64>,
                   %v: tensor<?x?x?x?xf64>, %g: tensor<?x?x?xf64>)
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) {
  %o, %s, %z = attn.linear_attention %q, %k, %v decay(%g : tensor<?x?x?xf64>)
    rule = gated feature_map = exp normalize
    : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
    -> tensor<?x?x?x?xf64> state(tensor<?x?x?x?xf64>)
    normalizer(tensor<?x?x?xf64>)
  return %o, %s, %z
    : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>
}
