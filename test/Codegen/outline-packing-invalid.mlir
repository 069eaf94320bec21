// RUN: attn-opt %s --attn-select-schedule --attn-outline-packing --verify-diagnostics

#x = affine_map<(b, r, o, i) -> (b, r, i)>
#w = affine_map<(b, r, o, i) -> (o, i)>
#y = affine_map<(b, r, o, i) -> (b, r, o)>

// The name of an entry is free.
func.func @f_packed() {
  return
}

// expected-error@+1 {{'func.func' op expects no other function of the name 'f_packed', which its C interface needs}}
func.func @f(%x: tensor<1x40x24xf32>, %w: tensor<24x24xf32>, %y: tensor<1x40x24xf32>) -> tensor<1x40x24xf32> {
  %r = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1x40x24xf32>, tensor<24x24xf32>) outs(%y : tensor<1x40x24xf32>) {
  ^bb0(%token: f32, %weight: f32, %sum: f32):
    %product = arith.mulf %token, %weight : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x40x24xf32>
  return %r : tensor<1x40x24xf32>
}
