// What attn-run compiles is compared with both judges; the shapes of results come from the compiled function.
//
// RUN: attn-run %s --function=dynamic --input=2x4x9x16xf32 --input=2x2x13x16xf32 --input=2x2x13x8xf32 --verify | FileCheck %s --check-prefix=DYNAMIC
// RUN: attn-run %s --function=halves --verify --threads=1 | FileCheck %s --check-prefix=HALVES
// RUN: attn-run %s --function=scalars --input=f32=3 --input=i64=2 --verify | FileCheck %s --check-prefix=SCALARS
// RUN: attn-run %s --function=halves --verify --benchmark=2 --json | FileCheck %s --check-prefix=JSON

// A check that fails while the function runs is exit status 1 and the function's own words.
//
// RUN: %python %S/../Tools/Inputs/expect-status.py 1 attn-run %s --function=dynamic --input=2x4x9x16xf32 --input=2x2x13x16xf32 --input=2x2x12x8xf32 2>&1 | FileCheck %s --check-prefix=CHECK

// DYNAMIC: result 0: 2x9x4x8xf32
// DYNAMIC-NEXT: result 1: 2x4x9xf32
// DYNAMIC-NEXT: pass: largest error {{.*}}, 0 elements beyond it
// CHECK: 'key' and 'value' to agree on dimension 2, got 13 and 12
func.func @dynamic(%q: tensor<?x4x?x16xf32>, %k: tensor<?x2x?x16xf32>, %v: tensor<?x2x?x8xf32>)
    -> (tensor<?x?x4x8xf32>, tensor<?x4x?xf32>) {
  %o, %lse = attn.sdpa %q, %k, %v causal = bottom_right layout = <output = bshd>
    : tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x8xf32> -> tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x?x4x8xf32>, tensor<?x4x?xf32>
}

// HALVES: pass: largest error {{.*}}, 0 elements beyond it
// JSON: "verify": {
// JSON-NEXT: "pass": true,
// JSON: "benchmark": {
// JSON-NEXT: "ms_min":
// JSON-NEXT: "ms_median":
// JSON-NEXT: "ms_p95":
// JSON-NEXT: "gflops":
// JSON-NEXT: "fma_share":
// JSON-NEXT: "gemm_share":
// JSON-NEXT: "read_share":
// JSON-NEXT: "extra_bytes":
// JSON-NEXT: "threads":
func.func @halves(%q: tensor<1x2x5x8xf16>, %k: tensor<1x2x5x8xf16>, %v: tensor<1x2x5x8xf16>) -> tensor<1x2x5x8xf16> {
  %o = attn.sdpa %q, %k, %v : tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16>, tensor<1x2x5x8xf16> -> tensor<1x2x5x8xf16>
  return %o : tensor<1x2x5x8xf16>
}

// SCALARS: pass: largest error 0
func.func @scalars(%x: f32, %i: i64) -> (tensor<1xf32>, tensor<1xi64>) {
  %a = tensor.from_elements %x : tensor<1xf32>
  %b = tensor.from_elements %i : tensor<1xi64>
  return %a, %b : tensor<1xf32>, tensor<1xi64>
}
