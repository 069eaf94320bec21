// The road to a GPU: attention without a schedule is computed by its definition.
//
// RUN: attn-opt %s --attn-cuda-pipeline="target=sm_80 stop-after=tiles" \
// RUN:   | FileCheck %s --check-prefix=TILES
// RUN: attn-opt %s --attn-cuda-pipeline="target=sm_80 stop-after=buffers" \
// RUN:   | FileCheck %s --check-prefix=BUFFERS
// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-phase-core \
// RUN:   --attn-cuda-phase-tiles --attn-cuda-phase-linalg \
// RUN:   --attn-cuda-phase-buffers | FileCheck %s --check-prefix=BUFFERS

// TILES: attn.target = {architectures = ["sm_80"]
// TILES-LABEL: func.func @attention
// TILES: attn.sdpa

// BUFFERS-LABEL: func.func @attention
// BUFFERS-NOT: tensor.
// BUFFERS: linalg.generic
func.func @attention(%q: tensor<1x4x?x16xf64>, %k: tensor<1x2x?x16xf64>,
                     %v: tensor<1x2x?x16xf64>) -> tensor<1x4x?x16xf64> {
  %o = attn.sdpa %q, %k, %v : tensor<1x4x?x16xf64>, tensor<1x2x?x16xf64>,
    tensor<1x2x?x16xf64> -> tensor<1x4x?x16xf64>
  return %o : tensor<1x4x?x16xf64>
}
