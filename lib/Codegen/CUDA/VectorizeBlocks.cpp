// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes vectors of the tiles that a block of threads works on:
//
//   %k = tensor.pad %keys ... : tensor<?x64xf16> to tensor<64x64xf16>
//   %s:3 = scf.for ... iter_args(%r = ..., %l = ..., %a = ... : tensor<128x64xf32>) {
//     %n:3 = attn.block_step %q, %k, %v state(%r, %l, %a) ...
//
// becomes
//
//   %k = vector.transfer_read %keys[%j, %c0], %zero {in_bounds = [false, true]} : tensor<?x64xf16>, vector<64x64xf16>
//   %s:3 = scf.for ... iter_args(%r = ..., %l = ..., %a = ... : vector<128x64xf32>) {
//     %scores = vector.contract ...
//
// Tensors are left around the tiles: what tiles are read from, and what they are written to.

#include "TileReads.h"
#include "TileVectors.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_VECTORIZEBLOCKS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Rewrites the body of one loop over blocks of threads.
class BlockVectorizer {
public:
  BlockVectorizer(scf::ForallOp loop)
      : loop(loop), b(loop.getLoc(), loop.getContext()) {}

  void run();

private:
  Value vectorOf(Value tensor);
  StateVectors stateOf(Value reference, Value sum, Value acc);
  void setState(ValueRange results, const StateVectors &state);
  void visit(Block &block);
  void visit(Operation &op);
  void visitLoop(scf::ForOp op);
  void visitChoice(scf::IfOp op);
  void visitElementwise(Operation &op);
  void visitFill(linalg::FillOp op);
  void visitBroadcast(linalg::BroadcastOp op);
  void visitReduction(linalg::ReduceOp op);
  void visitProducts(linalg::GenericOp op);
  void visitInsert(tensor::InsertSliceOp op);
  void writeResult(tensor::ParallelInsertSliceOp insert);

  scf::ForallOp loop;
  ImplicitLocOpBuilder b;
  /// The vectors that tensors of static sizes have become.
  llvm::DenseMap<Value, Value> vectors;
  /// What nothing needs any more, users before what they use.
  SmallVector<Operation *> dead;
};
} // namespace

/// Return the vector that `tensor` has become, or read it right after it is there,
/// within the loop.
Value BlockVectorizer::vectorOf(Value tensor) {
  if (Value known = vectors.lookup(tensor))
    return known;
  OpBuilder::InsertionGuard guard(b);
  if (loop.getRegion().isAncestor(tensor.getParentRegion()))
    b.setInsertionPointAfterValue(tensor);
  else
    b.setInsertionPointToStart(loop.getBody());
  DenseElementsAttr constant;
  Value vector;
  if (matchPattern(tensor, m_Constant(&constant))) {
    vector = arith::ConstantOp::create(
        b, constant.reshape(cast<ShapedType>(vectorTypeOf(tensor))));
  } else {
    vector = readWhole(b, tensor);
  }
  return vectors[tensor] = vector;
}

StateVectors BlockVectorizer::stateOf(Value reference, Value sum, Value acc) {
  return {vectorOf(reference), vectorOf(sum), vectorOf(acc)};
}

void BlockVectorizer::setState(ValueRange results, const StateVectors &state) {
  vectors[results[0]] = state.reference;
  vectors[results[1]] = state.sum;
  vectors[results[2]] = state.acc;
}

/// Carry vectors from one iteration of `op` to the next.
void BlockVectorizer::visitLoop(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs()) {
    auto type = dyn_cast<RankedTensorType>(init.getType());
    bool isTile = type && type.hasStaticShape();
    inits.push_back(isTile ? vectorOf(init) : init);
  }
  auto copy = scf::ForOp::create(b, op.getLowerBound(), op.getUpperBound(),
                                 op.getStep(), inits);
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op.getInductionVar().replaceAllUsesWith(copy.getInductionVar());
  for (auto [from, to, result, before] :
       llvm::zip(op.getRegionIterArgs(), copy.getRegionIterArgs(),
                 copy.getResults(), op.getResults())) {
    if (from.getType() == to.getType()) {
      from.replaceAllUsesWith(to);
      before.replaceAllUsesWith(result);
    } else {
      vectors[from] = to;
      vectors[before] = result;
    }
  }
  if (inits.empty())
    copy.getBody()->getTerminator()->erase();
  copy.getBody()->getOperations().splice(copy.getBody()->end(),
                                         op.getBody()->getOperations());
  OpBuilder::InsertionGuard guard(b);
  visit(*copy.getBody());
  Operation *yield = copy.getBody()->getTerminator();
  for (OpOperand &operand : yield->getOpOperands())
    if (operand.get().getType() !=
        copy.getRegionIterArg(operand.getOperandNumber()).getType())
      operand.set(vectorOf(operand.get()));
  dead.push_back(op);
}

/// Let `op` give vectors.
void BlockVectorizer::visitChoice(scf::IfOp op) {
  {
    OpBuilder::InsertionGuard guard(b);
    for (Region *region : op.getRegions())
      if (!region->empty())
        visit(region->front());
  }
  SmallVector<Type> types;
  bool changes = false;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    Value vector = vectors.lookup(op.thenYield().getOperand(index));
    changes |= vector != Value();
    types.push_back(vector ? vector.getType() : result.getType());
  }
  if (!changes)
    return;
  auto copy = scf::IfOp::create(b, types, op.getCondition(),
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  copy.getThenRegion().takeBody(op.getThenRegion());
  copy.getElseRegion().takeBody(op.getElseRegion());
  for (auto [before, result] : llvm::zip(op.getResults(), copy.getResults())) {
    if (before.getType() == result.getType())
      before.replaceAllUsesWith(result);
    else
      vectors[before] = result;
  }
  for (Operation *yield :
       {copy.thenYield().getOperation(), copy.elseYield().getOperation()})
    for (OpOperand &operand : yield->getOpOperands())
      if (operand.get().getType() != types[operand.getOperandNumber()])
        operand.set(vectorOf(operand.get()));
  dead.push_back(op);
}

/// Let a tile be filled by a vector of one number.
void BlockVectorizer::visitFill(linalg::FillOp op) {
  auto type = cast<RankedTensorType>(op.getType(0));
  if (!type.hasStaticShape() || type.getRank() == 0)
    return;
  vectors[op.getResult(0)] = vector::BroadcastOp::create(
      b, vectorTypeOf(op.getResult(0)), op.getInputs()[0]);
  dead.push_back(op);
}

/// Let `op`, which spreads one number a column over rows, do so on vectors.
void BlockVectorizer::visitBroadcast(linalg::BroadcastOp op) {
  vectors[op->getResult(0)] = vector::BroadcastOp::create(
      b, vectorTypeOf(op->getResult(0)), vectorOf(op.getInput()));
  dead.push_back(op);
}

/// Let `op`, which says whether one of the conditions of a tile holds, give a
/// number.
void BlockVectorizer::visitReduction(linalg::ReduceOp op) {
  if (op->getNumOperands() != 2 || !vectors.contains(op.getInputs()[0]))
    return;
  Block &body = op.getCombiner().front();
  if (!isa<arith::OrIOp>(body.front()) || body.getOperations().size() != 2)
    return;
  Value conditions = vectors.lookup(op.getInputs()[0]);
  auto type = cast<VectorType>(conditions.getType());
  if (static_cast<int64_t>(op.getDimensions().size()) != type.getRank() ||
      !type.getElementType().isInteger(1))
    return;
  auto fill = op.getInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill)
    return;
  vectors[op.getResult(0)] = vector::MultiDimReductionOp::create(
      b, conditions, fill.getInputs()[0],
      SmallVector<bool>(type.getRank(), true), vector::CombiningKind::OR);
  dead.push_back(op);
}

/// Let `op`, which adds the products of two tiles to a third, do so on vectors.
void BlockVectorizer::visitProducts(linalg::GenericOp op) {
  if (!linalg::isaContractionOpInterface(op) ||
      !vectors.contains(op.getOperand(2)))
    return;
  SmallVector<Attribute> iterators;
  for (utils::IteratorType type : op.getIteratorTypesArray())
    iterators.push_back(vector::IteratorTypeAttr::get(
        b.getContext(), type == utils::IteratorType::parallel
                            ? vector::IteratorType::parallel
                            : vector::IteratorType::reduction));
  vectors[op.getResult(0)] = vector::ContractionOp::create(
      b, vectorOf(op.getOperand(0)), vectorOf(op.getOperand(1)),
      vectorOf(op.getOperand(2)), op.getIndexingMaps(),
      b.getArrayAttr(iterators));
  dead.push_back(op);
}

/// Let a tile become part of a larger one.
void BlockVectorizer::visitInsert(tensor::InsertSliceOp op) {
  Value dest = op.getDest();
  auto type = op.getDestType();
  bool isNew = dest.getDefiningOp<tensor::EmptyOp>() != nullptr;
  if ((!isNew && !vectors.contains(dest)) || !type.hasStaticShape() ||
      !op.getSourceType().hasStaticShape() || !op.hasUnitStride() ||
      op.getSourceType().getRank() != type.getRank() ||
      ShapedType::isDynamicShape(op.getStaticOffsets()))
    return;
  Value whole = isNew ? Value(arith::ConstantOp::create(
                            b, b.getZeroAttr(vectorTypeOf(dest))))
                      : vectors.lookup(dest);
  vectors[op.getResult()] = vector::InsertStridedSliceOp::create(
      b, vectorOf(op.getSource()), whole, op.getStaticOffsets(),
      op.getStaticStrides());
  dead.push_back(op);
}

/// Do on vectors what `op` does on tiles.
void BlockVectorizer::visitElementwise(Operation &op) {
  if (!cast<RankedTensorType>(op.getResult(0).getType()).hasStaticShape())
    return;
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(vectorOf(operand));
  OperationState state(op.getLoc(), op.getName());
  state.addOperands(operands);
  state.addTypes(vectorTypeOf(op.getResult(0)));
  state.propertiesAttr = op.getPropertiesAsAttribute();
  vectors[op.getResult(0)] = b.create(state)->getResult(0);
  dead.push_back(&op);
}

void BlockVectorizer::visit(Operation &op) {
  b.setInsertionPoint(&op);
  b.setLoc(op.getLoc());
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](linalg::FillOp fill) { visitFill(fill); })
      .Case([&](tensor::PadOp pad) {
        vectors[pad.getResult()] = readPadded(b, pad);
        dead.push_back(pad);
      })
      .Case([&](tensor::InsertSliceOp insert) { visitInsert(insert); })
      .Case([&](linalg::BroadcastOp columns) { visitBroadcast(columns); })
      .Case([&](linalg::ReduceOp reduce) { visitReduction(reduce); })
      .Case([&](linalg::GenericOp products) { visitProducts(products); })
      .Case([&](tensor::ExtractOp extract) {
        // Of what a reduction gave.
        Value scalar = vectors.lookup(extract.getTensor());
        if (!scalar || scalar.getType() != extract.getType())
          return;
        extract.replaceAllUsesWith(scalar);
        dead.push_back(extract);
      })
      .Case([&](BlockStepOp step) {
        StateVectors before =
            stateOf(step.getReference(), step.getSum(), step.getAcc());
        setState(step->getResults(),
                 vectorizeStep(b, step, vectorOf(step.getQuery()),
                               vectorOf(step.getKey()),
                               vectorOf(step.getValue()), before));
        dead.push_back(step);
      })
      .Case([&](MergeOp merge) {
        StateVectors first =
            stateOf(merge.getReference(), merge.getSum(), merge.getAcc());
        StateVectors second = stateOf(merge.getOtherReference(),
                                      merge.getOtherSum(), merge.getOtherAcc());
        setState(merge->getResults(), vectorizeMerge(b, first, second));
        dead.push_back(merge);
      })
      .Case([&](FinishOp finish) {
        auto [output, lse] = vectorizeFinish(
            b, finish,
            stateOf(finish.getReference(), finish.getSum(), finish.getAcc()));
        vectors[finish.getOutput()] = output;
        if (lse)
          vectors[finish.getLse()] = lse;
        dead.push_back(finish);
      })
      .Case([&](scf::ForOp inner) { visitLoop(inner); })
      .Case([&](scf::IfOp choice) { visitChoice(choice); })
      .Default([&](Operation *other) {
        if (other->getNumResults() == 1 &&
            isa<RankedTensorType>(other->getResult(0).getType()) &&
            OpTrait::hasElementwiseMappableTraits(other))
          visitElementwise(*other);
      });
}

void BlockVectorizer::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    visit(op);
}

/// Write the vector that `insert` inserts, or the first elements of, into the
/// place where they go.
void BlockVectorizer::writeResult(tensor::ParallelInsertSliceOp insert) {
  Value source = insert.getSource(), vector = vectors.lookup(source);
  auto slice = source.getDefiningOp<tensor::ExtractSliceOp>();
  if (!vector && slice)
    vector = vectors.lookup(slice.getSource());
  if (!vector)
    return;
  b.setInsertionPoint(loop.getTerminator());
  b.setLoc(insert.getLoc());
  auto type = cast<RankedTensorType>(source.getType());
  Value place = tensor::ExtractSliceOp::create(
      b, type, insert.getDest(), insert.getMixedOffsets(),
      insert.getMixedSizes(), insert.getMixedStrides());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<bool> inBounds;
  for (auto [size, extent] : llvm::zip(
           type.getShape(), cast<VectorType>(vector.getType()).getShape()))
    inBounds.push_back(size == extent);
  Value written =
      vector::TransferWriteOp::create(b, vector, place,
                                      SmallVector<Value>(type.getRank(), zero),
                                      ArrayRef<bool>(inBounds))
          .getResult();
  insert.getSourceMutable().assign(written);
  if (slice && vectors.contains(slice.getSource()))
    dead.push_back(slice);
}

void BlockVectorizer::run() {
  visit(*loop.getBody());
  for (Operation &op : loop.getTerminator().getYieldingOps())
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op))
      writeResult(insert);
  // Dead ops use each other, also within loops whose bodies have moved.
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    op->dropAllUses();
  for (Operation *op : dead)
    op->erase();
}

namespace {
struct VectorizeBlocks
    : public attn::impl::VectorizeBlocksBase<VectorizeBlocks> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) {
      auto schedule = loop->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
      if (schedule && schedule.getWarps() > 0)
        loops.push_back(loop);
    });
    for (scf::ForallOp loop : loops)
      BlockVectorizer(loop).run();
  }
};
} // namespace
