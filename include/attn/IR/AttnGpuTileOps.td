// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles in shared memory as a block of threads sees them: between StageCopies, which puts these ops, and
// DistributeFragments, which says what each thread does of them.

#ifndef ATTN_IR_ATTNGPUTILEOPS_TD
#define ATTN_IR_ATTNGPUTILEOPS_TD

def AttnGpu_CopyToSharedOp : AttnGpu_Op<"copy_to_shared", [
    AttrSizedOperandSegments]> {
  let summary = "a tile of memory into shared memory, by all threads of a block";
  let description = [{
    Starts to copy the tile of `source` whose first element stands at `indices` to the
    place `offset` bytes after the start of the block's dynamic shared memory. Row `i`
    and column `j` of the tile are `i` and `j` further in the dimensions `dims` of
    `source`. Rows lie one after the other, in chunks of 16 bytes that are swizzled
    within a row so that 8 rows can be read at once without a bank conflict.

    #### Corner cases

    * Where `in_bounds` is false, rows or columns outside of `source` become 0, and are
      not read.
    * With `when` false, nothing is read and the tile becomes 0.

    #### Left open

    When the copy happens: each thread waits for its part (`nvvm.cp.async.wait.group`),
    and a barrier follows before others read it.

    #### Constraints

    * (copy_to_shared-C1) There is an index for each dimension of `source`.
    * (copy_to_shared-C2) `tile` has rank 2 and the element type of `source`, and rows of
      a multiple of 16 bytes.
    * (copy_to_shared-C3) `dims` are two dimensions of `source`, and `in_bounds` has an
      entry for each.

    #### Examples

    ```mlir
    func.func @copy(%k: memref<?x64xf16>, %row: index, %zero: index, %to: i32) {
      attn_gpu.copy_to_shared %k[%row, %zero] to %to dims [0, 1]
        in_bounds [false, true] : memref<?x64xf16>, vector<64x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices, I32:$offset,
                       Optional<I1>:$when, DenseI64ArrayAttr:$dims,
                       DenseBoolArrayAttr:$inBounds,
                       TypeAttrOf<AnyVectorOfNonZeroRank>:$tile);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $offset (`when` $when^)? `dims` $dims
    `in_bounds` $inBounds attr-dict `:` type($source) `,` $tile
  }];
  let extraClassDeclaration = [{
    VectorType getTileType() { return cast<VectorType>(getTile()); }
  }];
}

def AttnGpu_ReadSharedOp : AttnGpu_Op<"read_shared"> {
  let summary = "a tile in shared memory as a value";
  let description = [{
    Gives the tile that lies `offset` bytes after the start of the block's dynamic shared
    memory, as `attn_gpu.copy_to_shared` has put it there.

    #### Constraints

    * (read_shared-C1) The result has rank 2 and rows of a multiple of 16 bytes.

    #### Examples

    ```mlir
    func.func @read(%at: i32) -> vector<64x64xf16> {
      %k = attn_gpu.read_shared %at : vector<64x64xf16>
      return %k : vector<64x64xf16>
    }
    ```
  }];
  let arguments = (ins I32:$offset);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$offset attr-dict `:` type($result)";
}

#endif // ATTN_IR_ATTNGPUTILEOPS_TD
