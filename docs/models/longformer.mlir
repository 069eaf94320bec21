// Attention of Longformer: a row sees 8 tokens on either side and the first %globals tokens; blocks of other keys are
// skipped. The rows of the global tokens see everything, with projections of their own: they are a second op, whose
// result takes their place in the output.
//
// REQUIRES: attn-run, numpy
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: %numpy %root/test/Models/run.py longformer %s %t

func.func @layer(%q: tensor<1x2x?x16xf32>, %k: tensor<1x2x?x16xf32>, %v: tensor<1x2x?x16xf32>,
                 %global_q: tensor<1x2x?x16xf32>, %global_k: tensor<1x2x?x16xf32>, %global_v: tensor<1x2x?x16xf32>)
    -> tensor<1x2x?x16xf32> {
  %c2 = arith.constant 2 : index
  %globals = tensor.dim %global_q, %c2 : tensor<1x2x?x16xf32>
  %local = attn.sdpa %q, %k, %v
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
    %c8 = arith.constant 8 : index
    %behind = arith.subi %i, %j : index
    %ahead = arith.subi %j, %i : index
    %distance = arith.maxsi %behind, %ahead : index
    %near = arith.cmpi sle, %distance, %c8 : index
    %global = arith.cmpi slt, %j, %globals : index
    %keep = arith.ori %near, %global : i1
    attn.yield %keep : i1
  } : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  %whole = attn.sdpa %global_q, %global_k, %global_v
    : tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32>, tensor<1x2x?x16xf32> -> tensor<1x2x?x16xf32>
  %o = tensor.insert_slice %whole into %local[0, 0, 0, 0] [1, 2, %globals, 16] [1, 1, 1, 1]
    : tensor<1x2x?x16xf32> into tensor<1x2x?x16xf32>
  return %o : tensor<1x2x?x16xf32>
}
