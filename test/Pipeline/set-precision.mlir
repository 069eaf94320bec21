// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-set-precision=precision=tf32 | FileCheck %s
// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-set-precision=precision=tf32 --attn-set-precision=precision=tf32x3 \
// RUN:   | FileCheck %s
// RUN: attn-opt %s --attn-cuda-pipeline="target=sm_80 precision=tf32x3 stop-after=schedule" | FileCheck %s --check-prefix=ROAD
// RUN: attn-opt %s --attn-cpu-pipeline="target=x86_64-linux-gnu:x86-64-v3 precision=exact stop-after=schedule" \
// RUN:   | FileCheck %s --check-prefix=CPU
// RUN: not attn-opt %s --attn-set-target=target=sm_80 --attn-set-precision=precision=tf23 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// RUN: not attn-opt %s --attn-set-target=target=x86_64-linux-gnu:x86-64-v3 --attn-set-precision=precision=tf32 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PROCESSOR
//
// NAME: error: expects a precision, got 'tf23'; known: exact, tf32, tf32x3; nearest: tf32{{$}}
// PROCESSOR: error: expects a GPU as target with a precision of tf32, got 'x86_64-unknown-linux-gnu'

// Attention of f32 that does not say how it is multiplied gets the option.
//
// CHECK-LABEL: func.func @silent
// CHECK: attn.sdpa %{{.*}} precision = tf32 :
// ROAD-LABEL: func.func @silent
// ROAD: precision = tf32x3
// ROAD-SAME: warps = 4, stages = 2, precision = tf32x3>
// CPU-LABEL: func.func @silent
// CPU: precision = exact
// CPU-NOT: warps
func.func @silent(%q: tensor<1x2x128x64xf32>, %k: tensor<1x2x128x64xf32>) -> tensor<1x2x128x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
  return %o : tensor<1x2x128x64xf32>
}

// What says it keeps it.
//
// CHECK-LABEL: func.func @exact
// CHECK: attn.sdpa %{{.*}} precision = exact :
// ROAD-LABEL: func.func @exact
// ROAD: precision = exact
// ROAD-SAME: warps = 4, stages = 2>
func.func @exact(%q: tensor<1x2x128x64xf32>, %k: tensor<1x2x128x64xf32>) -> tensor<1x2x128x64xf32> {
  %o = attn.sdpa %q, %k, %k precision = exact
    : tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32>, tensor<1x2x128x64xf32> -> tensor<1x2x128x64xf32>
  return %o : tensor<1x2x128x64xf32>
}

// Other types have none.
//
// CHECK-LABEL: func.func @half
// CHECK-NOT: precision
func.func @half(%q: tensor<1x2x128x64xf16>, %k: tensor<1x2x128x64xf16>) -> tensor<1x2x128x64xf16> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16>, tensor<1x2x128x64xf16> -> tensor<1x2x128x64xf16>
  return %o : tensor<1x2x128x64xf16>
}

// A layer says it for its attention and its projections.
//
// CHECK-LABEL: func.func @layer
// CHECK: attn.mha {{.*}} heads = 2 precision = tf32 :
// ROAD-LABEL: func.func @layer
// ROAD: linalg.generic {{.*}} attn.schedule = #attn.schedule<{{.*}} precision = tf32x3>
// ROAD: attn.sdpa {{.*}} precision = tf32x3 {{.*}} precision = tf32x3>
// ROAD: linalg.generic {{.*}} attn.schedule = #attn.schedule<{{.*}} precision = tf32x3>
func.func @layer(%x: tensor<1x128x64xf32>, %w: tensor<64x64xf32>) -> tensor<1x128x64xf32> {
  %y = attn.mha %x query(%w : tensor<64x64xf32>) key(%w : tensor<64x64xf32>)
    value(%w : tensor<64x64xf32>) output(%w : tensor<64x64xf32>) heads = 2
    : tensor<1x128x64xf32> -> tensor<1x128x64xf32>
  return %y : tensor<1x128x64xf32>
}
