// The panels that loops over register tiles read are reached by pointers that step on, not by products of a counter: so
// many bytes for a channel of the keys, for a row of scores that the maxima are of, and for a key of the values.
//
// REQUIRES: attnc
// RUN: attnc %s --target=x86_64-linux-gnu:icelake-server -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
//
// CHECK-LABEL: define internal void @attend.body..omp_par(
// CHECK: %[[K:[0-9]+]] = phi ptr [ %{{[0-9]+}}, %{{.*}} ], [ %[[NEXT_K:[0-9]+]], %{{.*}} ]
// CHECK: load <16 x float>, ptr %[[K]]
// CHECK: %[[NEXT_K]] = getelementptr i8, ptr %[[K]], i64 128
// CHECK: %[[S:[0-9]+]] = phi ptr [ %{{[0-9]+}}, %{{.*}} ], [ %[[NEXT_S:[0-9]+]], %{{.*}} ]
// CHECK: load <16 x float>, ptr %[[S]]
// CHECK: %[[NEXT_S]] = getelementptr i8, ptr %[[S]], i64 128
// CHECK: %[[V:[0-9]+]] = phi ptr [ %{{[0-9]+}}, %{{.*}} ], [ %[[NEXT_V:[0-9]+]], %{{.*}} ]
// CHECK: load <16 x float>, ptr %[[V]]
// CHECK: %[[NEXT_V]] = getelementptr i8, ptr %[[V]], i64 128
func.func @attend(%q: tensor<1x8x512x64xf32>, %k: tensor<1x8x512x64xf32>,
                  %v: tensor<1x8x512x64xf32>) -> tensor<1x8x512x64xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>
    -> tensor<1x8x512x64xf32>
  return %o : tensor<1x8x512x64xf32>
}
