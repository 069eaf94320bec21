// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The regions score_mod and mask_mod: what they may hold, and how they become part of another body.

#ifndef ATTN_IR_SCOREREGION_H
#define ATTN_IR_SCOREREGION_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace mlir::attn {

/// Fails unless the regions of `op`, each of which may be null or empty, take and
/// yield what they should (scores are of `scoreType`), and hold nothing but
/// element-wise operations and reads of tensors from outside.
LogicalResult verifyScoreRegions(Operation *op, Region *scoreMod,
                                 Region *maskMod, Type scoreType);

/// Return the region of `mods` that changes a score, which is then its first
/// argument, or the one that does not; null where there is none.
Region *findScoreMod(MutableArrayRef<Region> mods);
Region *findMaskMod(MutableArrayRef<Region> mods);

/// The entry of the batch, the head, the row's position and the key of a score,
/// an index each.
struct ScorePlace {
  Value batch, head, position, key;
};

/// Is told of index `dim` of a read in a region, as it is before it is moved to
/// where there is an element.
using ReadListener =
    function_ref<void(tensor::ExtractOp op, int64_t dim, Value index)>;

/// Return what `scoreMod` yields for `score` at `place`, computed at `b`.
///
/// A tensor is never read outside of it: an index that is beyond its end becomes
/// the last. With `outside`, what does not depend on the arguments is computed
/// there, and an index that stands for a key may run beyond the end where it is
/// read along vectors.
Value inlineScoreMod(OpBuilder &b, Region &scoreMod, Value score,
                     const ScorePlace &place, Operation *outside = nullptr,
                     ReadListener listener = nullptr);

/// Return what `maskMod` yields at `place`, in the same way.
Value inlineMaskMod(OpBuilder &b, Region &maskMod, const ScorePlace &place,
                    Operation *outside = nullptr,
                    ReadListener listener = nullptr);

/// Add `batch` and `head` to what the body of `region` takes for them, in front of
/// all else.
void shiftRegion(Region &region, Value batch, Value head);

/// Return the arguments of `region`: those of its last four.
ScorePlace getPlace(Region &region);

} // namespace mlir::attn

#endif // ATTN_IR_SCOREREGION_H
