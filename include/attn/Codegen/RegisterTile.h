// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One linalg op on a static tile as loops over vectors.

#ifndef ATTN_CODEGEN_REGISTERTILE_H
#define ATTN_CODEGEN_REGISTERTILE_H

#include "attn/IR/AttnDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::attn {

/// Replace `op`, on tensors, by loops over vectors of `lanes` elements (of f32;
/// the tile's shape decides how many vectors a step holds). Fails without a
/// change where an operand is not read along the vector.
LogicalResult emitRegisterTile(RewriterBase &rewriter, linalg::GenericOp op,
                               int64_t lanes);

/// The same for the product of a step that reads keys or values in streams, whose
/// `schedule` says how.
LogicalResult emitStreamTile(RewriterBase &rewriter, linalg::GenericOp op,
                             ScheduleAttr schedule);

/// The same for a fill, a pack into panels and an unpack.
LogicalResult emitFill(RewriterBase &rewriter, linalg::FillOp op,
                       int64_t lanes);
LogicalResult emitPack(RewriterBase &rewriter, linalg::PackOp op,
                       int64_t lanes);
LogicalResult emitUnpack(RewriterBase &rewriter, linalg::UnPackOp op,
                         int64_t lanes);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_REGISTERTILE_H
