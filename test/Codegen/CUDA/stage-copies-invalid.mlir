// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-stage-copies))' --verify-diagnostics

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// What is not read becomes 0.
gpu.module @kernels {
  gpu.func @padding(%q: memref<?x64xf16>, %o: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 1.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    // expected-error@+1 {{'vector.transfer_read' op expects a matrix without mask or broadcast, padded with 0, where a product reads it}}
    %qt = vector.transfer_read %q[%c0, %c0], %pad : memref<?x64xf16>, vector<64x64xf16>
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %qt, %zero : vector<64x64xf16>, vector<64x64xf16> into vector<64x64xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
