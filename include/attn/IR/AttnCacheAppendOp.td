// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.cache_append: new keys or values in a cache.

#ifndef ATTN_IR_ATTNCACHEAPPENDOP_TD
#define ATTN_IR_ATTNCACHEAPPENDOP_TD

include "attn/IR/AttnTypes.td"

def Attn_FloatShaped
    : AnyTypeOf<[Attn_Tensor, MemRefOf<[F16, BF16, F32, F64]>]>;
def Attn_CacheShaped
    : AnyTypeOf<[Attn_StoredTensor,
                 MemRefOf<[F16, BF16, F32, F64, I8, F8E4M3FN, F8E5M2]>]>;
def Attn_PlaceShaped
    : AnyTypeOf<[Attn_LengthTensor, MemRefOf<[I32, I64, Index]>]>;

def Attn_CacheAppendOp : Attn_Op<"cache_append", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "new keys or values in a cache";
  let description = [{
    Writes each row of `rows` to its position in `cache`, and leaves the rest of it as
    it is. On tensors the result is the cache with the rows in it; on memrefs the
    cache is written in place and there is no result.

    ```
    cache[b, g, p, :] = rows[b, g, i, :]        p = positions[b, i]
    ```

    `positions` is `[B, M]`, or `[B]`: then row `i` goes to `positions[b] + i`. With a
    `page_table` position `p` is token `p mod page` of page
    `page_table[b, p / page]`, as for `attn.sdpa`. A position that is negative or not
    below `N`, and a page that there is not, is an error when the program runs,
    before anything is written. Of several rows of one place the last is kept, in the
    order of entries and of rows.

    Rows are converted to the type of the cache. For i8, f8E4M3FN and f8E5M2 a row is
    first divided, in f32, by the scale of its place; the quotient is rounded to
    nearest, ties to even, and what is too large becomes the largest number of its
    sign. A NaN stays one, and is 0 in i8. Without a `scale` it is 1.

    #### Shapes

    | tensor | `bhsd` | `bshd` |
    |---|---|---|
    | `rows` | `[B, G, M, D]` | `[B, M, G, D]` |
    | `cache` | `[B, G, N, D]` | `[B, N, G, D]` |
    | `cache` in pages | `[pool, G, page, D]` | `[pool, page, G, D]` |
    | `positions` | `[B]` or `[B, M]` | the same |
    | `page_table` | `[B, pages]` | the same |
    | `scale` | aligned to the right of `[B, G, N]`, in pages of `[pool, G, page]` | the same |

    #### Constraints

    * (cache_append-C1) All operands are tensors, and the result is of the type of
      `cache`; or all are memrefs, and there is none.
    * (cache_append-C2) `rows` and `cache` have rank 4 and agree on `G` and `D`, and
      on `B` where there is no `page_table`.
    * (cache_append-C3) `positions` has shape `[B]` or `[B, M]`.
    * (cache_append-C4) `page_table` has shape `[B, pages]` and elements of i32.
    * (cache_append-C5) `cache` is of the type of `rows`, or may be stored under it as
      for `attn.sdpa`.
    * (cache_append-C6) `scale` goes with a cache of i8, f8E4M3FN or f8E5M2, is not of
      f64, and an extent of it is 1 or the full one.

    #### Examples

    One new key for each entry of a batch, after those that are there:

    ```mlir
    func.func @append(%new: tensor<4x8x1x128xf16>, %cache: tensor<4x8x?x128xf16>,
                      %n: tensor<4xi32>) -> tensor<4x8x?x128xf16> {
      %c = attn.cache_append %new into %cache at(%n : tensor<4xi32>)
        : tensor<4x8x1x128xf16> into tensor<4x8x?x128xf16>
      return %c : tensor<4x8x?x128xf16>
    }
    ```

    The same in pages of bytes, in place:

    ```mlir
    func.func @in_place(%new: memref<4x8x1x128xf32>, %cache: memref<?x8x16x128xi8>,
                        %n: memref<4xi32>, %t: memref<4x?xi32>, %s: memref<8x1xf32>) {
      attn.cache_append %new into %cache at(%n : memref<4xi32>)
        page_table(%t : memref<4x?xi32>) scale(%s : memref<8x1xf32>)
        : memref<4x8x1x128xf32> into memref<?x8x16x128xi8>
      return
    }
    ```
  }];
  let arguments = (ins
    Attn_FloatShaped:$rows, Attn_CacheShaped:$cache,
    Attn_PlaceShaped:$positions, Optional<Attn_PlaceShaped>:$page_table,
    Optional<Attn_FloatShaped>:$scale,
    DefaultValuedAttr<Attn_LayoutEnum, "::mlir::attn::Layout::bhsd">:$rows_layout,
    DefaultValuedAttr<Attn_LayoutEnum, "::mlir::attn::Layout::bhsd">:$cache_layout);
  let results = (outs Optional<Attn_StoredTensor>:$result);
  let assemblyFormat = [{
    $rows `into` $cache `at` `(` $positions `:` type($positions) `)`
    (`page_table` `(` $page_table^ `:` type($page_table) `)`)?
    (`scale` `(` $scale^ `:` type($scale) `)`)?
    (`rows_layout` `=` $rows_layout^)? (`cache_layout` `=` $cache_layout^)?
    attr-dict `:` type($rows) `into` type($cache) custom<AppendResult>(ref(type($cache)), type($result))
  }];
  let hasVerifier = 1;
}

#endif // ATTN_IR_ATTNCACHEAPPENDOP_TD
