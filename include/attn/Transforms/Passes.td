// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from attn to attn.

#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeLayers : Pass<"attn-decompose-layers"> {
  let summary = "attn.mha, attn.rope and attn.cache_append as linalg around attn.sdpa";
  let description = [{
    Replaces `attn.cache_append` by its definition, and every `attn.mha`: projections in linalg, heads split
    off by `tensor.expand_shape`, rotary embedding, `attn.sdpa` on tensors of layout
    `bshd`, heads merged, output projection. Replaces every `attn.rope` by a
    `linalg.generic` on slices. Afterwards none of the three is left.

    ```mlir
    %y = attn.mha %x query(%wq : tensor<8x8xf32>) key(%wk : tensor<8x8xf32>)
         value(%wv : tensor<8x8xf32>) output(%wo : tensor<8x8xf32>) heads = 2
         : tensor<1x4x8xf32> -> tensor<1x4x8xf32>
    ```

    becomes

    ```mlir
    %q = linalg.generic ... ins(%x, %wq : ...) // also %k and %v
    %qh = tensor.expand_shape %q [[0], [1], [2, 3]] ... // also %kh and %vh
    %o = attn.sdpa %qh, %kh, %vh layout = bshd
         : tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>
         -> tensor<1x4x2x4xf32>
    %oh = tensor.collapse_shape %o [[0], [1], [2, 3]] ...
    %y = linalg.generic ... ins(%oh, %wo : ...)
    ```
  }];
}

def NormalizeOperands : Pass<"attn-normalize-operands"> {
  let summary = "one way to say scale, alignment, masks, lengths and offsets";
  let description = [{
    Rewrites every `attn.sdpa` without a change of meaning. Afterwards its scale is
    an attribute (unless `D` is dynamic), `bottom_right` is `top_left` with a
    `query_offset` of `n - M`, bias and mask have rank 4, scales rank 3, lengths and
    offsets are of type index. Positions stay what they were, so that windows need no change. No
    attention has a static extent of 0: it is replaced by what it gives.

    ```mlir
    %o = attn.sdpa %q, %k, %v mask(%m : tensor<8x16xi1>) causal = bottom_right
         : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
         -> tensor<1x2x8x64xf32>
    ```

    becomes

    ```mlir
    %offset = arith.constant 8 : index
    %m4 = tensor.expand_shape %m [[0, 1, 2], [3]] output_shape [1, 1, 8, 16]
          : tensor<8x16xi1> into tensor<1x1x8x16xi1>
    %o = attn.sdpa %q, %k, %v mask(%m4 : tensor<1x1x8x16xi1>)
         query_offset(%offset : index) scale = 0.125 causal = top_left
         : tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>
         -> tensor<1x2x8x64xf32>
    ```
  }];
}

def SelectSchedule : Pass<"attn-select-schedule"> {
  let summary = "how each attention is tiled, written into the IR";
  let description = [{
    Writes an `#attn.schedule` on every `attn.sdpa`, `attn.linear_attention` and
    projection that has none, chosen by the cost model for the target of the module.
    An op whose number of rows is dynamic is there twice afterwards, for few rows and
    for many, under an `scf.if`. Only the kernel for many rows has `weights`, rows
    of packed sequences, and groups of heads that are not known.

    ```mlir
    %o = attn.sdpa %q, %k, %v scale = 0.125
         : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>,
           tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
    ```

    becomes, for AVX-512,

    ```mlir
    %o = attn.sdpa %q, %k, %v scale = 0.125 schedule = <block_m = 512,
         block_n = 1024, rows = 8, columns = 32, lanes = 16>
         : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>,
           tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::attn::AttnDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PackConstants : Pass<"attn-pack-constants"> {
  let summary = "constant weights of projections as packed constants";
  let description = [{
    Replaces the weight of every projection with a schedule that packs, where it is
    a constant, by a constant that is packed: panels of as many outputs as the
    schedule's `columns`, in the type in which products are added up.

    ```mlir
    %w = arith.constant dense<...> : tensor<64x24xbf16>
    %y = linalg.generic {...} ins(%x, %w : tensor<1x40x24xbf16>,
         tensor<64x24xbf16>) outs(%b : tensor<1x40x64xf32>) ...
    ```

    becomes

    ```mlir
    %p = arith.constant dense<...> : tensor<2x24x32xf32>
    %y = linalg.generic {...} ins(%x, %p : tensor<1x40x24xbf16>,
         tensor<2x24x32xf32>) outs(%b : tensor<1x40x64xf32>) ...
    ```
  }];
}

def SplitKeys : Pass<"attn-split-keys"> {
  let summary = "attention of few rows as chunks of keys that are merged";
  let description = [{
    Replaces every `attn.sdpa` whose schedule has a `chunk` by a parallel loop over
    chunks of keys, each of which gives a state, and a parallel loop that merges the
    states of a tile in their order. Afterwards no schedule has a chunk.

    ```mlir
    %o = attn.sdpa %q, %k, %v schedule = <block_m = 4, block_n = 256, rows = 4,
         columns = 32, lanes = 16, chunk = 1024, fold_heads = true> : ...
    ```

    becomes

    ```mlir
    %parts:3 = scf.forall (%b, %heads, %c) ... {
      attn.block_step ...
    }
    %o = scf.forall (%b, %heads) ... {
      %s:3 = scf.for %c = %c1 to %chunks ... {
        attn.merge ...
      }
      %o, %l = attn.finish %s#0, %s#1, %s#2 ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::gpu::GPUDialect"];
}

def TileLinearAttention : Pass<"attn-tile-linear-attention"> {
  let summary = "linear attention with a schedule as loops over chunks of steps";
  let description = [{
    Replaces every `attn.linear_attention` that has a schedule by a parallel loop
    over tasks (an entry of the batch, a key head, `block_n` columns of its state),
    each with a loop over chunks of `block_m` steps, whose products are linalg on
    tiles. With `streams` there is no chunk, but a step at a time. Afterwards no
    `attn.linear_attention` with a schedule is left.

    ```mlir
    %o = attn.linear_attention %q, %k, %v rule = linear schedule = <block_m = 32,
         block_n = 64, rows = 8, columns = 32, lanes = 16> : ...
    ```

    becomes

    ```mlir
    scf.forall (%b, %g, %e) = ... step (1, 1, 64) {
      %s:2 = scf.for %t = ... step 32 iter_args(...) {
        scf.for %strip = ... {
          linalg.generic ...          // q S
          linalg.generic ...          // the weights q k^T of a strip
          linalg.generic ...          // times the values
        }
        linalg.generic ...            // S + k^T v
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TileProjections : Pass<"attn-tile-projections"> {
  let summary = "projections with a schedule as loops over packed tiles";
  let description = [{
    Replaces every projection `y = x W^T + b` (a `linalg.generic` over batch, row,
    out and in) that carries an `attn.schedule` by a parallel loop over blocks of
    rows and outputs. Before it, the rows of all entries of the batch are put
    together, once for all projections of the same tokens, and the weight is packed
    into panels. Where the schedule has `streams`, each task packs its part of the
    weight instead. With `warps` a task is that of a block of threads: a loop over
    channels, on tiles of static sizes, from memory as it is.

    ```mlir
    %y = linalg.generic {..., attn.schedule = #attn.schedule<...>}
         ins(%x, %w : tensor<4x?x384xf32>, tensor<384x384xf32>) outs(%b : ...) ...
    ```

    becomes

    ```mlir
    %xs = scf.forall (%entry, %row) ... { ... }     // tensor<?x8x384xf32>
    %wp = scf.forall (%panel) ... { linalg.pack }   // tensor<12x384x32xf32>
    %y = scf.forall (%strip0, %panel0) ... {
      scf.for %strip ... {
        %sums = linalg.generic ... ins(%xs[%strip], %wp[%panel0 ...]) ...
        %rows = linalg.generic ... ins(%sums, %b) ...
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::gpu::GPUDialect"];
}

def TileBlocks : Pass<"attn-tile-blocks"> {
  let summary = "attention with a schedule as loops over blocks";
  let description = [{
    Replaces every `attn.sdpa` that has a schedule by a parallel loop over tasks
    (an entry of the batch, a head or a group of heads, `block_m` rows), each with
    loops over blocks of `block_n` keys. Afterwards no `attn.sdpa` with a schedule is
    left. Excluded blocks are outside the loop's bounds. A step is `bounded` where
    keys of a block may be excluded; it looks once a block whether there are any, so
    that a whole block costs nothing.

    ```mlir
    %o = attn.sdpa %q, %k, %v schedule = <block_m = 256, block_n = 256, rows = 8,
         columns = 32, lanes = 16> : ...
    ```

    becomes

    ```mlir
    scf.forall (%b, %h, %m) = ... {
      %qp = linalg.pack ...
      %s:3 = scf.for %j = ... step 256 iter_args(...) {
        %kp = linalg.pack ...
        %vp = linalg.pack ...
        scf.for %strip = ... {
          attn.block_step ...
        }
      }
      %o, %l = attn.finish ...
    }
    ```

    Where the schedule has `warps`, a block of threads works on a task, on tiles of
    static sizes that are not packed:

    ```mlir
    scf.forall (%b, %h, %m) = ... {
      %q = tensor.pad ... : tensor<?x64xf16> to tensor<128x64xf16>
      %s:3 = scf.for %j = ... step 64 iter_args(...) {
        %k = tensor.pad ... : tensor<?x64xf16> to tensor<64x64xf16>
        %v = tensor.pad ... : tensor<?x64xf16> to tensor<64x64xf16>
        attn.block_step %q, %k, %v ... products exponent = 15
      }
      %o, %l = attn.finish ...
    } {mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]}
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::gpu::GPUDialect"];
}

#endif // ATTN_TRANSFORMS_PASSES_TD
