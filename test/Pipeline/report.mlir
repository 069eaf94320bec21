// Numbers of what is known from types and from `sizes`, as text and as JSON; the program goes on unchanged.
//
// RUN: attn-opt %s --attn-report=sizes=M=1024,N=1024 -o %t.mlir | FileCheck %s
// RUN: attn-opt %s --attn-report="sizes=M=1024,N=1024 json=true" -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: attn-opt %s -o - | diff - %t.mlir
//
// CHECK: attn.sdpa
// CHECK: operations: 1074790400 = 2 B H S D + 2 B H S E, without mask 2147483648
// JSON: "op": "attn.sdpa"
// JSON: "value": 1074790400
//
// Sizes that are no sizes are an error.
//
// RUN: not attn-opt %s --attn-report=sizes=Q=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: expects words like M=1024, got 'Q=1'
func.func @causal(%q: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %q, %q causal = top_left
    : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}
