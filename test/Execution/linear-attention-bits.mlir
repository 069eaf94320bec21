// No bit of linear attention depends on the number of threads, on B or on G: the
// second entry and the second head of a batch give what they give alone, although
// its columns are split otherwise then.
//
// REQUIRES: attn-run
//
// RUN: split-file %s %t
// RUN: attn-run %t/threads.mlir --threads=1 --output=%t.1.npy
// RUN: attn-run %t/threads.mlir --threads=2 --output=%t.2.npy
// RUN: cmp %t.1.npy %t.2.npy
// RUN: attn-run %t/alone.mlir | FileCheck %s

// CHECK: result 0: f32 = [0]

//--- threads.mlir

func.func @threads(%q: tensor<2x4x100x24xf32>, %k: tensor<2x2x100x24xf32>,
                   %v: tensor<2x2x100x40xf32>, %g: tensor<2x2x100x24xf32>)
    -> tensor<2x4x100x40xf32> {
  %o = attn.linear_attention %q, %k, %v decay(%g : tensor<2x2x100x24xf32>)
    rule = gated feature_map = exp normalize
    : tensor<2x4x100x24xf32>, tensor<2x2x100x24xf32>, tensor<2x2x100x40xf32>
    -> tensor<2x4x100x40xf32>
  return %o : tensor<2x4x100x40xf32>
}

//--- alone.mlir

#whole = affine_map<(b, h, m, e) -> (b, h, m, e)>
#none = affine_map<(b, h, m, e) -> ()>

func.func @alone(%q: tensor<2x4x100x24xf32>, %k: tensor<2x2x100x24xf32>,
                 %v: tensor<2x2x100x128xf32>, %g: tensor<2x2x100xf32>)
    -> tensor<f32> {
  %b = arith.constant dense<0.1> : tensor<2x1x100xf32>
  %b1 = arith.constant dense<0.1> : tensor<1x1x100xf32>
  %all = attn.linear_attention %q, %k, %v decay(%g : tensor<2x2x100xf32>)
    beta(%b : tensor<2x1x100xf32>) rule = gated_delta
    : tensor<2x4x100x24xf32>, tensor<2x2x100x24xf32>, tensor<2x2x100x128xf32>
    -> tensor<2x4x100x128xf32>
  %q1 = tensor.extract_slice %q[1, 2, 0, 0] [1, 2, 100, 24] [1, 1, 1, 1]
    : tensor<2x4x100x24xf32> to tensor<1x2x100x24xf32>
  %k1 = tensor.extract_slice %k[1, 1, 0, 0] [1, 1, 100, 24] [1, 1, 1, 1]
    : tensor<2x2x100x24xf32> to tensor<1x1x100x24xf32>
  %v1 = tensor.extract_slice %v[1, 1, 0, 0] [1, 1, 100, 128] [1, 1, 1, 1]
    : tensor<2x2x100x128xf32> to tensor<1x1x100x128xf32>
  %g1 = tensor.extract_slice %g[1, 1, 0] [1, 1, 100] [1, 1, 1]
    : tensor<2x2x100xf32> to tensor<1x1x100xf32>
  %one = attn.linear_attention %q1, %k1, %v1 decay(%g1 : tensor<1x1x100xf32>)
    beta(%b1 : tensor<1x1x100xf32>) rule = gated_delta
    : tensor<1x2x100x24xf32>, tensor<1x1x100x24xf32>, tensor<1x1x100x128xf32>
    -> tensor<1x2x100x128xf32>
  %same = tensor.extract_slice %all[1, 2, 0, 0] [1, 2, 100, 128] [1, 1, 1, 1]
    : tensor<2x4x100x128xf32> to tensor<1x2x100x128xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.generic {indexing_maps = [#whole, #whole, #none],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%same, %one : tensor<1x2x100x128xf32>, tensor<1x2x100x128xf32>)
      outs(%zero : tensor<f32>) {
  ^bb0(%left: f32, %right: f32, %largest: f32):
    %difference = arith.subf %left, %right : f32
    %size = math.absf %difference : f32
    %larger = arith.maximumf %largest, %size : f32
    linalg.yield %larger : f32
  } -> tensor<f32>
  return %d : tensor<f32>
}
