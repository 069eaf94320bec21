// The tiles of blocks of threads mean what attention does: rows and keys that are padded, references that are products,
// sums that carry a power of two, keys that are split, values that no row attends to.
//
// RUN: attn-run %s --function=padded --device=interpreter --output=%t.whole.npy
// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-phase-core --attn-cuda-phase-schedule --attn-cuda-phase-tiles \
// RUN:   --convert-elementwise-to-linalg | attn-run - --function=padded --device=interpreter --output=%t.tiles.npy
// RUN: cmp %t.whole.npy %t.tiles.npy
// RUN: attn-run %s --function=split --device=interpreter --output=%t.whole.npy
// RUN: attn-opt %s --attn-set-target=target=sm_80 --attn-phase-core --attn-cuda-phase-schedule --attn-cuda-phase-tiles \
// RUN:   --convert-elementwise-to-linalg | attn-run - --function=split --device=interpreter --output=%t.tiles.npy
// RUN: cmp %t.whole.npy %t.tiles.npy

func.func @padded(%q: tensor<2x4x37x24xf16>, %k: tensor<2x2x85x24xf16>, %v: tensor<2x2x85x40xf16>,
                  %lengths: tensor<2xi32>) -> tensor<2x4x37x40xf16> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%lengths : tensor<2xi32>) scale = 0.125
    causal = bottom_right window = <left = 30>
    : tensor<2x4x37x24xf16>, tensor<2x2x85x24xf16>, tensor<2x2x85x40xf16> -> tensor<2x4x37x40xf16>
  return %o : tensor<2x4x37x40xf16>
}

func.func @split(%q: tensor<2x4x1x16xf16>, %k: tensor<2x2x600x16xf16>, %v: tensor<2x2x600x16xf16>)
    -> tensor<2x4x1x16xf16> {
  %o = attn.sdpa %q, %k, %v scale = 0.125
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c3 = arith.constant 3 : index
      %third = arith.remsi %j, %c3 : index
      %kept = arith.cmpi ne, %third, %h : index
      attn.yield %kept : i1
    } : tensor<2x4x1x16xf16>, tensor<2x2x600x16xf16>, tensor<2x2x600x16xf16> -> tensor<2x4x1x16xf16>
  return %o : tensor<2x4x1x16xf16>
}
