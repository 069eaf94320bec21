// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clones functions to compute something else of their arguments.

#include "OutlineClones.h"

#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Ask for an extent of a branch's result in the branch:
///
///   %x = scf.if %c -> (tensor<?xf32>) { ... scf.yield %a } else { ... scf.yield %b }
///   %d = tensor.dim %x, %i
///
/// becomes
///
///   %d = scf.if %c -> (index) { ... tensor.dim %a, %i } else { ... tensor.dim %b, %i }
struct DimOfBranch : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto branch = op.getSource().getDefiningOp<scf::IfOp>();
    if (!branch || op->getBlock() != branch->getBlock())
      return failure();
    unsigned number = cast<OpResult>(op.getSource()).getResultNumber();
    auto build = [&](Block &block) {
      return [&, number](OpBuilder &b, Location loc) {
        IRMapping mapping;
        for (Operation &inner : block.without_terminator())
          b.clone(inner, mapping);
        Value result =
            mapping.lookupOrDefault(block.getTerminator()->getOperand(number));
        Value extent = tensor::DimOp::create(b, loc, result, op.getIndex());
        scf::YieldOp::create(b, loc, extent);
      };
    };
    auto extents = scf::IfOp::create(
        rewriter, op.getLoc(), branch.getCondition(),
        build(*branch.thenBlock()), build(*branch.elseBlock()));
    rewriter.replaceOp(op, extents);
    return success();
  }
};

/// Ask for an extent of a loop's result before the loop, if no step changes it:
///
///   %x = scf.for ... iter_args(%a = %b) -> tensor<?xf32> { ... }
///   %d = tensor.dim %x, %i
///
/// becomes
///
///   %d = tensor.dim %b, %i
struct DimOfLoop : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto loop = op.getSource().getDefiningOp<scf::ForOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!loop || !dim)
      return failure();
    unsigned number = cast<OpResult>(op.getSource()).getResultNumber();
    if (!hasExtentOf(rewriter, loop.getYieldedValues()[number], *dim,
                     loop.getRegionIterArg(number)))
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.getSourceMutable().assign(loop.getInitArgs()[number]); });
    return success();
  }

private:
  /// Return whether `value` has in dimension `dim` the extent that `start` has, as
  /// the ops on the way say.
  static bool hasExtentOf(PatternRewriter &rewriter, Value value, int64_t dim,
                          Value start) {
    int64_t startDim = dim;
    while (value != start) {
      auto result = dyn_cast_if_present<OpResult>(value);
      if (!result)
        return false;
      std::tie(value, dim) = getOrigin(rewriter, result, dim);
    }
    return dim == startDim;
  }

  /// Return which value the op that gives `result` takes the extent of its dimension
  /// `dim` from, and which dimension that is; null where it does not say so.
  static std::pair<Value, int64_t> getOrigin(PatternRewriter &rewriter,
                                             OpResult result, int64_t dim) {
    Operation *op = result.getOwner(), *before = op->getPrevNode();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<OpFoldResult> extent =
        reifyDimOfResult(rewriter, op, result.getResultNumber(), dim);
    auto from = succeeded(extent) ? dyn_cast<Value>(*extent) : Value();
    auto asked = from ? from.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    std::pair<Value, int64_t> origin;
    if (asked && asked.getConstantIndex())
      origin = {asked.getSource(), *asked.getConstantIndex()};
    // What was built is not needed.
    while (op->getPrevNode() != before)
      rewriter.eraseOp(op->getPrevNode());
    return origin;
  }
};
} // namespace

LogicalResult
mlir::attn::outlineClones(ModuleOp module,
                          function_ref<std::string(StringRef)> nameOf,
                          function_ref<bool(func::FuncOp)> rebuild) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  patterns.add<DimOfBranch, DimOfLoop>(context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (function.isExternal() || !function.isPublic() ||
        !function.getBody().hasOneBlock())
      continue;
    func::FuncOp clone = function.clone();
    clone.setSymName(nameOf(function.getSymName()));
    clone.setPrivate();
    clone->removeAttr(kInPlaceAttrName);
    if (!rebuild(clone)) {
      clone.erase();
      continue;
    }
    module.insert(std::next(function->getIterator()), clone);
    if (failed(applyPatternsGreedily(clone, frozen)))
      return failure();
  }
  return success();
}

void mlir::attn::returnValues(func::FuncOp function, ValueRange values) {
  auto returnOp =
      cast<func::ReturnOp>(function.getBody().front().getTerminator());
  returnOp.getOperandsMutable().assign(values);
  function.setType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), values.getTypes()));
  function.setAllResultAttrs(SmallVector<Attribute>(
      values.size(), DictionaryAttr::get(function.getContext())));
}
