// On the road to a GPU attention may be left after phase tiles, but none that has a schedule.
//
// RUN: not attn-opt %s --attn-set-target=target=sm_80 --attn-verify-phase=phase=tiles 2>&1 | FileCheck %s
//
// CHECK-NOT: error
// CHECK: [[#@LINE+8]]:8: error: 'attn.sdpa' op expects to be gone after phase 'tiles'
func.func @plain(%q: tensor<1x2x8x16xf64>) -> tensor<1x2x8x16xf64> {
  %o = attn.sdpa %q, %q, %q
    : tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64>, tensor<1x2x8x16xf64> -> tensor<1x2x8x16xf64>
  return %o : tensor<1x2x8x16xf64>
}

func.func @tiled(%q: tensor<1x2x8x16xf16>) -> tensor<1x2x8x16xf16> {
  %o = attn.sdpa %q, %q, %q
    schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16>, tensor<1x2x8x16xf16> -> tensor<1x2x8x16xf16>
  return %o : tensor<1x2x8x16xf16>
}
