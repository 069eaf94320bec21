// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles the projections of a layer, y = x W^T + b, as attention is tiled:
//
//   %y = linalg.generic (batch, row, out, in) ins(%x, %w) outs(%b) {attn.schedule = ...}
//
// becomes
//
//   %xs = the rows of %x, of all entries of the batch one after the other         [strips, rows, in]
//   %wp = linalg.pack of %w, once                                                 [panels, in, columns]
//   scf.forall (%strip0, %panel0) ... {
//     scf.for %strip ... {
//       linalg.generic (panel, row, column, in) ins(%xs[%strip], %wp[%panel0 ...]) outs(%sums)
//       linalg.generic (row, column) ins(%sums, %b)                               // + b, rounded
//     }
//   }
//
// Rows beyond the last are zero, so that a strip is always whole. The weights of a schedule with `streams` are not
// packed beforehand: each task packs the few panels that it works on. Products are added up in the order of `in`
// whatever the schedule, so that no result depends on it.

#include "attn/IR/AttrNames.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::attn {
#define GEN_PASS_DEF_TILEPROJECTIONS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Channels of weights in place that a task packs at a time. Measured on AVX-512: of
/// one to four rows, whose products wait for their own sums, the next channels are
/// packed meanwhile if they are near; of more, more are fewer loops.
static constexpr int64_t kFewRows = 4, kFewChannels = 16, kPackedChannels = 64;

/// Return the largest part of `channels`, by which it can be divided, that is
/// packed at a time for tiles of `rows` rows: of whole vectors, else 0, for all at
/// once.
static int64_t getChannelBlock(int64_t channels, int64_t rows) {
  int64_t most = rows <= kFewRows ? kFewChannels : kPackedChannels;
  for (int64_t block = most; block >= kFewChannels; block -= kFewChannels)
    if (channels > block && channels % block == 0)
      return block;
  return 0;
}

namespace {
/// Tokens as strips, for each tensor of tokens and number of rows in a strip:
/// projections of one input share them.
using StripsOf = DenseMap<std::pair<Value, int64_t>, Value>;

/// Tiles one projection.
class ProjectionTiler {
public:
  ProjectionTiler(RewriterBase &rewriter, linalg::GenericOp op, StripsOf &known)
      : rewriter(rewriter), b(op.getLoc(), rewriter), op(op), known(known),
        schedule(op->getAttrOfType<ScheduleAttr>(kScheduleAttrName)),
        type(getElementTypeOrSelf(op.getResult(0))), resultType(type),
        rows(schedule.getRows()), columns(schedule.getColumns()) {}

  void run();

private:
  OpFoldResult index(int64_t value) { return b.getIndexAttr(value); }
  OpFoldResult times(OpFoldResult value, int64_t factor) {
    return affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), b.getAffineSymbolExpr(0) * factor, {value});
  }
  void findSizes();
  Value getStrips();
  Value getPanels();
  void buildTask(scf::ForallOp task);
  Value takePanels(Value first, OpFoldResult count);
  Value zeroSums(OpFoldResult count, OpFoldResult used, int64_t most);
  Value addProducts(OpFoldResult strip, OpFoldResult first,
                    OpFoldResult channels, Value weights, Value sums);
  Value loop(OpFoldResult count, int64_t step, Value state,
             function_ref<Value(Value, Value)> body);
  Value sumInPlace(Value strip0, OpFoldResult count, Value panel0,
                   OpFoldResult panelCount);
  Value finishStrip(Value sums, Value added, Value strip, Value dest);
  Value toEntries(Value flat, bool returned);
  Value takeBias(OpFoldResult row, OpFoldResult out, OpFoldResult height,
                 OpFoldResult width);

  RewriterBase &rewriter;
  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  StripsOf &known;
  ScheduleAttr schedule;
  /// The type in which products are added up, and that of the result.
  Type type, resultType;
  /// The register tile.
  int64_t rows, columns;
  /// The result's sizes, the rows of all entries of the batch, and outputs.
  SmallVector<OpFoldResult> extents;
  OpFoldResult allRows, allOuts;
  Value strips, panels;
  /// What is added to the products: one number an output, or an element; or null.
  Value bias;
  /// What rounds the result, or null.
  linalg::GenericOp rounding;
  /// Whether the result keeps its batch of one while it is computed.
  bool isOneEntry = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// What surrounds the products
//===----------------------------------------------------------------------===//

/// Read the sizes off what the result starts from, which is known to come from
/// the function's arguments.
void ProjectionTiler::findSizes() {
  extents = tensor::getMixedSizes(b, b.getLoc(), op.getDpsInits()[0]);
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  allRows = affine::makeComposedFoldedAffineApply(b, b.getLoc(), s0 * s1,
                                                  {extents[0], extents[1]});
  allOuts = extents[2];
  isOneEntry = getConstantIntValue(extents[0]) == 1;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value ProjectionTiler::getStrips() {
  Value tokens = op.getDpsInputs()[0];
  Value &strips = known[{tokens, rows}];
  if (strips)
    return strips;
  // Projections of the same tokens may stand in branches.
  OpBuilder::InsertionGuard guard(b);
  if (Operation *outer = tokens.getParentBlock()->findAncestorOpInBlock(*op))
    b.setInsertionPoint(outer);
  SmallVector<OpFoldResult> of =
      tensor::getMixedSizes(b, b.getLoc(), op.getDpsInits()[0]);
  of[2] = tensor::getMixedSize(b, b.getLoc(), op.getDpsInputs()[1], 1);
  return strips = toStrips(b, tokens, of, type, schedule);
}

/// Return the packed weight, or null where each task packs its part.
Value ProjectionTiler::getPanels() {
  Value weight = op.getDpsInputs()[1];
  if (isPackedProjection(op))
    return weight;
  if (schedule.getStreams())
    return {};
  OpFoldResult count = ceilDivide(b, allOuts, columns);
  Value empty = tensor::EmptyOp::create(
      b,
      {count, tensor::getMixedSize(b, b.getLoc(), weight, 1), index(columns)},
      type);
  return packWeight(b, weight, empty, count, schedule);
}

/// Return `count` panels of the packed weight.
Value ProjectionTiler::takePanels(Value first, OpFoldResult count) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), panels);
  sizes[0] = count;
  return sliceTo(b, 3, panels, {first, index(0), index(0)}, sizes);
}

/// Return the part of the bias that a task adds.
Value ProjectionTiler::takeBias(OpFoldResult row, OpFoldResult out,
                                OpFoldResult height, OpFoldResult width) {
  if (!bias)
    return {};
  if (cast<RankedTensorType>(bias.getType()).getRank() == 1)
    return sliceTo(b, 1, bias, {out}, {width});
  return sliceTo(b, 2, bias, {row, out}, {height, width});
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Return sums of zero for `count` panels of a strip: [rows, panels, columns], or
/// of `used` strips, at most `most`: [strips, rows, panels, columns].
Value ProjectionTiler::zeroSums(OpFoldResult count, OpFoldResult used,
                                int64_t most) {
  SmallVector<OpFoldResult> whole{
      index(rows), index(schedule.getBlockN() / columns), index(columns)},
      seen{index(rows), count, index(columns)};
  if (used) {
    whole.insert(whole.begin(), index(most));
    seen.insert(seen.begin(), used);
  }
  return linalg::FillOp::create(b, getFloat(b, type, 0.0),
                                allocateTile(b, type, whole, seen))
      .getResult(0);
}

/// Return `sums` plus the products of strip number `strip` with `weights`: panels
/// of `channels` channels from `first`.
Value ProjectionTiler::addProducts(OpFoldResult strip, OpFoldResult first,
                                   OpFoldResult channels, Value weights,
                                   Value sums) {
  Value tokens = sliceTo(b, 2, strips, {strip, index(0), first},
                         {index(1), index(rows), channels});
  AffineExpr panel, row, column, in;
  bindDims(b.getContext(), panel, row, column, in);
  return buildGeneric(
      b, {{tokens, {row, in}}, {weights, {panel, in, column}}},
      {sums, {row, panel, column}}, [&](ValueRange args) -> Value {
        Value product = arith::MulFOp::create(b, args[0], args[1]);
        return arith::AddFOp::create(b, args[2], product);
      });
}

Value ProjectionTiler::loop(OpFoldResult count, int64_t step, Value state,
                            function_ref<Value(Value, Value)> body) {
  return buildStateLoop(b, count, step, state,
                        [&](Value at, ValueRange now) -> SmallVector<Value> {
                          return {body(at, now.front())};
                        })
      .front();
}

/// Return the sums of `count` strips of a task whose weights are read in place,
/// [strips, rows, panels, columns]: some channels of the panels after the others,
/// so that what is packed of them stays in L1.
Value ProjectionTiler::sumInPlace(Value strip0, OpFoldResult count,
                                  Value panel0, OpFoldResult panelCount) {
  Value weight = op.getDpsInputs()[1];
  SmallVector<OpFoldResult> size = tensor::getMixedSizes(b, b.getLoc(), weight);
  Value out =
      getValueOrCreateConstantIndexOp(b, b.getLoc(), times(panel0, columns));
  SmallVector<OpFoldResult> part{index(rows), panelCount, index(columns)},
      ones(4, index(1));
  auto addPart = [&](OpFoldResult first, OpFoldResult channels, Value sums) {
    Value some = sliceTo(b, 2, weight, {index(0), first}, {size[0], channels});
    Value panels = packPanels(b, some, type, out, panelCount,
                              schedule.getBlockN() / columns, columns);
    return loop(count, /*step=*/1, sums, [&](Value strip, Value all) -> Value {
      SmallVector<OpFoldResult> at{strip, index(0), index(0), index(0)},
          sizes{index(1)};
      llvm::append_range(sizes, part);
      Value own = sliceTo(b, 3, all, at, sizes);
      Value number = arith::AddIOp::create(b, strip0, strip);
      own = addProducts(number, first, channels, panels, own);
      return tensor::InsertSliceOp::create(b, own, all, at, sizes, ones);
    });
  };
  Value sums = zeroSums(panelCount, count, schedule.getBlockM() / rows);
  int64_t block =
      getChannelBlock(getConstantIntValue(size[1]).value_or(0), rows);
  if (block == 0)
    return addPart(index(0), size[1], sums);
  return loop(size[1], block, sums, [&](Value first, Value all) {
    return addPart(first, index(block), all);
  });
}

/// Return `dest`, the block of a task, with the rows of `strip` in it.
Value ProjectionTiler::finishStrip(Value sums, Value added, Value strip,
                                   Value dest) {
  OpFoldResult width = tensor::getMixedSize(b, b.getLoc(), dest, 1);
  OpFoldResult first = times(strip, rows);
  OpFoldResult height =
      clampBlock(b, getValueOrCreateConstantIndexOp(b, b.getLoc(), first),
                 tensor::getMixedSize(b, b.getLoc(), dest, 0), rows);
  SmallVector<OpFoldResult> offsets{first, index(0)}, sizes{height, width},
      ones(2, index(1));
  Value part = sliceTo(b, 2, dest, offsets, sizes);
  sums = sliceTo(b, 2, joinDims(b, sums, 1), {index(0), index(0)}, sizes);
  AffineExpr row, column;
  bindDims(b.getContext(), row, column);
  SmallVector<Indexed> inputs{{sums, {row, column}}};
  if (added && cast<RankedTensorType>(added.getType()).getRank() == 1)
    inputs.push_back({added, {column}});
  else if (added)
    inputs.push_back({sliceTo(b, 2, added, offsets, sizes), {row, column}});
  Value result = buildGeneric(
      b, inputs, {part, {row, column}}, [&](ValueRange args) -> Value {
        Value sum = args[0];
        if (added)
          sum = arith::AddFOp::create(b, sum, convertFloat(b, args[1], type));
        return convertFloat(b, sum, resultType);
      });
  return tensor::InsertSliceOp::create(b, result, dest, offsets, sizes, ones);
}

/// Build the body of a task: some strips by some panels.
void ProjectionTiler::buildTask(scf::ForallOp task) {
  b.setInsertionPoint(task.getTerminator());
  Value strip0 = task.getInductionVar(0), panel0 = task.getInductionVar(1),
        all = task.getRegionIterArgs()[0];
  int64_t mostRows = schedule.getBlockM(), mostOuts = schedule.getBlockN();
  auto valueOf = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
  };
  Value row = valueOf(times(strip0, rows)),
        out = valueOf(times(panel0, columns));
  OpFoldResult height = clampBlock(b, row, allRows, mostRows),
               width = clampBlock(b, out, allOuts, mostOuts);
  SmallVector<OpFoldResult> offsets{row, out}, sizes{height, width};
  if (isOneEntry) {
    offsets.insert(offsets.begin(), index(0));
    sizes.insert(sizes.begin(), index(1));
  }
  Value dest = sliceTo(b, 2, all, offsets, sizes);
  OpFoldResult panelCount = ceilDivide(b, width, columns);
  OpFoldResult stripCount = ceilDivide(b, height, rows);
  Value added = takeBias(row, out, height, width), weights, ready;
  if (panels)
    weights = takePanels(panel0, panelCount);
  else
    ready = sumInPlace(strip0, stripCount, panel0, panelCount);
  dest = loop(stripCount, /*step=*/1, dest, [&](Value strip, Value block) {
    if (ready) {
      SmallVector<OpFoldResult> part{index(1), index(rows), panelCount,
                                     index(columns)};
      Value sums =
          sliceTo(b, 3, ready, {strip, index(0), index(0), index(0)}, part);
      return finishStrip(sums, added, strip, block);
    }
    Value number = arith::AddIOp::create(b, strip0, strip);
    OpFoldResult channels = tensor::getMixedSize(b, b.getLoc(), weights, 1);
    Value sums = addProducts(number, index(0), channels, weights,
                             zeroSums(panelCount, {}, 1));
    return finishStrip(sums, added, strip, block);
  });
  b.setInsertionPointToEnd(task.getTerminator().getBody());
  SmallVector<OpFoldResult> ones(offsets.size(), index(1));
  tensor::ParallelInsertSliceOp::create(b, dest, all, offsets, sizes, ones);
}

/// Return whether `value` is what its function returns, and so may lie anywhere.
static bool isReturned(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::CastOp>(user))
      return isReturned(user->getResult(0));
    if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp()))
      return isReturned(user->getParentOp()->getResult(use.getOperandNumber()));
    return isa<func::ReturnOp>(user);
  });
}

/// Return `flat`, [batch * rows, outs], as what the projection gives.
Value ProjectionTiler::toEntries(Value flat, bool returned) {
  // Rows are put in place where memory cannot be seen as flat: that of the
  // caller, and where two sizes that are not known would be one.
  if (returned ||
      (!getConstantIntValue(extents[0]) && !getConstantIntValue(extents[1])))
    return copyRows(b, flat, tensor::EmptyOp::create(b, extents, resultType),
                    extents, schedule);
  return splitDim(b, flat, 0, extents[0], extents[1]);
}

void ProjectionTiler::run() {
  rounding = findRounding(op);
  if (rounding)
    resultType = getElementTypeOrSelf(rounding.getResult(0));
  Operation *last = rounding ? rounding : op;
  b.setInsertionPoint(op);
  bias = findBias(op);
  findSizes();
  if (bias && cast<RankedTensorType>(bias.getType()).getRank() == 3)
    bias = joinDims(b, bias, 0);
  strips = getStrips();
  panels = getPanels();
  SmallVector<OpFoldResult> flat{allRows, allOuts};
  Value dest =
      tensor::EmptyOp::create(b, isOneEntry ? extents : flat, resultType);
  auto task = scf::ForallOp::create(
      b, ArrayRef<OpFoldResult>{index(0), index(0)},
      ArrayRef<OpFoldResult>{ceilDivide(b, allRows, rows),
                             ceilDivide(b, allOuts, columns)},
      ArrayRef<OpFoldResult>{index(schedule.getBlockM() / rows),
                             index(schedule.getBlockN() / columns)},
      ValueRange{dest}, std::nullopt);
  task->setAttr(kScheduleAttrName, schedule);
  buildTask(task);
  b.setInsertionPointAfter(task);
  Value result = task.getResult(0);
  if (!isOneEntry)
    result = toEntries(result, isReturned(last->getResult(0)));
  result = castTensor(b, result, last->getResult(0).getType());
  rewriter.replaceOp(last, result);
  if (rounding)
    rewriter.eraseOp(op);
}

namespace {
struct TileProjections
    : public attn::impl::TileProjectionsBase<TileProjections> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op->hasAttrOfType<ScheduleAttr>(kScheduleAttrName) &&
          (isProjection(op) || isPackedProjection(op)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    StripsOf known;
    for (linalg::GenericOp op : ops) {
      if (op->getAttrOfType<ScheduleAttr>(kScheduleAttrName).getWarps() > 0)
        tileBlockProjection(rewriter, op);
      else
        ProjectionTiler(rewriter, op, known).run();
    }
  }
};
} // namespace
