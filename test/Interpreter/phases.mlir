// The interpreter runs what each phase leaves, as long as there are tensors: all of them mean the same. In f64, where no
// constant of the program is rounded, the results are the same f32 numbers.
//
// RUN: attn-run %s --function=f --device=interpreter --output=%t.input.npy --output=%t.lse.npy
// RUN: attnc %s --stop-after=core | attn-run - --function=f --device=interpreter --output=%t.core.npy
// RUN: cmp %t.input.npy %t.core.npy
// RUN: attnc %s --stop-after=schedule | attn-run - --function=f --device=interpreter --output=%t.schedule.npy
// RUN: cmp %t.input.npy %t.schedule.npy
// RUN: attnc %s --stop-after=tiles | attn-run - --function=f --device=interpreter --output=%t.tiles.npy
// RUN: cmp %t.input.npy %t.tiles.npy
// RUN: attnc %s --stop-after=linalg | attn-run - --function=f --device=interpreter --output=%t.linalg.npy
// RUN: cmp %t.input.npy %t.linalg.npy
// RUN: attn-run %s --function=biased --device=interpreter --output=%t.biased.npy
// RUN: attnc %s --stop-after=tiles | attn-run - --function=biased --device=interpreter --output=%t.tiles.npy
// RUN: cmp %t.biased.npy %t.tiles.npy
// RUN: attnc %s --stop-after=linalg | attn-run - --function=biased --device=interpreter --output=%t.linalg.npy
// RUN: cmp %t.biased.npy %t.linalg.npy
// RUN: %python %S/../Execution/Inputs/make-table.py %t.rows.npy 6 0 0 3 3 33 69 70
// RUN: %python %S/../Execution/Inputs/make-table.py %t.keys.npy 6 0 0 20 40 57 57 90
// RUN: attn-run %s --function=packed --device=interpreter --output=%t.packed.npy \
// RUN:   --input=70x4x8xf64 --input=90x2x8xf64 --input=90x2x6xf64 --input=@%t.rows.npy --input=@%t.keys.npy
// RUN: attnc %s --stop-after=tiles | attn-run - --function=packed --device=interpreter --output=%t.tiles.npy \
// RUN:   --input=70x4x8xf64 --input=90x2x8xf64 --input=90x2x6xf64 --input=@%t.rows.npy --input=@%t.keys.npy
// RUN: cmp %t.packed.npy %t.tiles.npy
// RUN: attnc %s --stop-after=linalg | attn-run - --function=packed --device=interpreter --output=%t.linalg.npy \
// RUN:   --input=70x4x8xf64 --input=90x2x8xf64 --input=90x2x6xf64 --input=@%t.rows.npy --input=@%t.keys.npy
// RUN: cmp %t.packed.npy %t.linalg.npy

func.func @f(%q: tensor<2x4x9x8xf64>, %k: tensor<2x2x21x8xf64>, %v: tensor<2x2x21x6xf64>, %lengths: tensor<2xi32>,
             %sinks: tensor<4xf64>) -> (tensor<2x4x9x6xf32>, tensor<2x4x9xf64>) {
  %o, %lse = attn.sdpa %q, %k, %v kv_lengths(%lengths : tensor<2xi32>) sinks(%sinks : tensor<4xf64>)
    causal = bottom_right window = <left = 5>
    : tensor<2x4x9x8xf64>, tensor<2x2x21x8xf64>, tensor<2x2x21x6xf64> -> tensor<2x4x9x6xf32>, tensor<2x4x9xf64>
  return %o, %lse : tensor<2x4x9x6xf32>, tensor<2x4x9xf64>
}

// 21 keys and 9 rows fill no panel and no strip: the bias is not read beyond its end.
func.func @biased(%q: tensor<1x2x9x8xf64>, %k: tensor<1x1x21x8xf64>, %v: tensor<1x1x21x6xf64>,
                  %bias: tensor<2x9x21xf64>) -> tensor<1x2x9x6xf32> {
  %o = attn.sdpa %q, %k, %v bias(%bias : tensor<2x9x21xf64>)
    : tensor<1x2x9x8xf64>, tensor<1x1x21x8xf64>, tensor<1x1x21x6xf64> -> tensor<1x2x9x6xf32>
  return %o : tensor<1x2x9x6xf32>
}

// Sequences of up to 32 rows are in one loop, that of 36 is in the other.
func.func @packed(%q: tensor<70x4x8xf64>, %k: tensor<90x2x8xf64>, %v: tensor<90x2x6xf64>, %rows: tensor<6xi32>,
                  %keys: tensor<6xi32>) -> tensor<70x4x6xf32> {
  %o = attn.sdpa %q, %k, %v cu_seqlens_q(%rows : tensor<6xi32>) cu_seqlens_k(%keys : tensor<6xi32>)
    causal = bottom_right
    : tensor<70x4x8xf64>, tensor<90x2x8xf64>, tensor<90x2x6xf64> -> tensor<70x4x6xf32>
  return %o : tensor<70x4x6xf32>
}
