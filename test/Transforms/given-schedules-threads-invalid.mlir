// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-select-schedule --split-input-file --verify-diagnostics

// Blocks of threads do not multiply f64.
func.func @doubles(%q: tensor<1x4x8x16xf64>) -> tensor<1x4x8x16xf64> {
  // expected-error @below {{'attn.sdpa' op expects no 'warps' in the schedule of attention that is computed by its definition, got 4}}
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4>
    : tensor<1x4x8x16xf64>, tensor<1x4x8x16xf64>, tensor<1x4x8x16xf64> -> tensor<1x4x8x16xf64>
  return %o : tensor<1x4x8x16xf64>
}

// -----

func.func @lanes(%q: tensor<1x4x8x16xf16>) -> tensor<1x4x8x16xf16> {
  // expected-error @below {{'attn.sdpa' op expects a schedule of 2 'lanes' for its type, got 4}}
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 64, block_n = 64, rows = 16, columns = 16, lanes = 4, warps = 4>
    : tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16> -> tensor<1x4x8x16xf16>
  return %o : tensor<1x4x8x16xf16>
}

// -----

func.func @streams(%q: tensor<1x4x8x16xf16>) -> tensor<1x4x8x16xf16> {
  // expected-error @below {{'attn.sdpa' op expects no 'streams' with 'warps', got 2}}
  %o = attn.sdpa %q, %q, %q schedule = <block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, streams = 2, warps = 4>
    : tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16>, tensor<1x4x8x16xf16> -> tensor<1x4x8x16xf16>
  return %o : tensor<1x4x8x16xf16>
}
