// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a mask_mod says of a whole block of rows and keys: the region, evaluated on intervals instead of numbers.

#ifndef ATTN_ANALYSIS_BLOCKRANGE_H
#define ATTN_ANALYSIS_BLOCKRANGE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::attn {

/// What a value of a region may be in a block: an integer from `low` to `high`,
/// both of type index; or, of a condition, whether it always holds (`low`) and
/// whether it ever can (`high`), both i1.
struct Interval {
  Value low, high;
  /// Both are less than 2^bits in size.
  unsigned bits = 64;
};

/// The intervals of the values of a region that are known.
using Intervals = llvm::DenseMap<Value, Interval>;

/// Build at `b` the intervals of all values of `region` that follow from those
/// already in `intervals`, in which the caller has put some of the arguments. A
/// value that cannot be analysed may be anything; so may one that is read from a
/// tensor, where more than `mostLookups` elements would have to be looked at.
void addIntervals(OpBuilder &b, Region &region, Intervals &intervals,
                  int64_t mostLookups = 4096);

/// Return the interval of the condition that `region` yields.
Interval getVerdict(OpBuilder &b, Region &region, Intervals &intervals);

/// Return the first operation of `maskMod` of whose result nothing is known, or
/// null where the whole can be analysed.
Operation *findUnanalysed(Region &maskMod);

} // namespace mlir::attn

#endif // ATTN_ANALYSIS_BLOCKRANGE_H
