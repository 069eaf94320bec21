// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises functions that are one attn.sdpa and reads its settings.

#include "attn/Execution/SingleAttention.h"

#include "RegionCompile.h"

#include "attn/Execution/InterpreterBridge.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the op of type OpT that `function` consists of, and whose results are all
/// that it returns, or null.
template <typename OpT>
static OpT getSingle(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return nullptr;
  Block &body = function.getBody().front();
  if (body.getOperations().size() != 2)
    return nullptr;
  auto op = dyn_cast<OpT>(body.front());
  if (!op || !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>) ||
      llvm::any_of(body.back().getOperands(), llvm::IsaPred<BlockArgument>))
    return nullptr;
  return op;
}

SdpaOp mlir::attn::getSingleAttention(func::FuncOp function) {
  SdpaOp op = getSingle<SdpaOp>(function);
  if (!op)
    return nullptr;
  for (Region *region : {&op.getScoreMod(), &op.getMaskMod()})
    if (!region->empty() && !compileRegion(*region))
      return nullptr;
  return op;
}

LinearAttentionOp mlir::attn::getSingleLinearAttention(func::FuncOp function) {
  return getSingle<LinearAttentionOp>(function);
}

static AxisOrder orderOf(Layout layout) {
  return layout == Layout::bhsd ? AxisOrder::HeadsFirst
                                : AxisOrder::SequenceFirst;
}

static Diagonal diagonalOf(Causal causal) {
  switch (causal) {
  case Causal::None:
    return Diagonal::None;
  case Causal::TopLeft:
    return Diagonal::TopLeft;
  case Causal::BottomRight:
    return Diagonal::BottomRight;
  }
  llvm_unreachable("all alignments are handled");
}

/// Return the argument that `operand` is, or null for none.
static const HostTensor *getArgument(Value operand,
                                     ArrayRef<HostTensor> arguments) {
  if (!operand)
    return nullptr;
  return &arguments[cast<BlockArgument>(operand).getArgNumber()];
}

AttentionProblem mlir::attn::getProblem(SdpaOp op,
                                        ArrayRef<HostTensor> arguments) {
  auto get = [&](Value operand) { return getArgument(operand, arguments); };
  AttentionProblem problem;
  problem.query = get(op.getQuery());
  problem.key = get(op.getKey());
  problem.value = get(op.getValue());
  problem.pageTable = get(op.getPageTable());
  problem.rowEnds = get(op.getCuSeqlensQ());
  problem.keyEnds = get(op.getCuSeqlensK());
  problem.keyScale = get(op.getKeyScale());
  problem.valueScale = get(op.getValueScale());
  problem.bias = get(op.getBias());
  problem.mask = get(op.getMask());
  problem.kvLengths = get(op.getKvLengths());
  problem.queryOffset = get(op.getQueryOffset());
  problem.sinks = get(op.getSinks());
  if (std::optional<APFloat> scale = op.getScale())
    problem.scale = scale->convertToDouble();
  if (std::optional<APFloat> softcap = op.getSoftcap())
    problem.softcap = softcap->convertToDouble();
  if (std::optional<WindowAttr> window = op.getWindow()) {
    problem.windowLeft = window->getLeft();
    problem.windowRight = window->getRight();
  }
  if (!op.getScoreMod().empty())
    problem.scoreMod = compileRegion(op.getScoreMod(), arguments);
  if (!op.getMaskMod().empty())
    problem.maskMod = compileRegion(op.getMaskMod(), arguments);
  problem.causal = diagonalOf(op.getCausal());
  problem.queryOrder = orderOf(op.getQueryLayout());
  problem.keyOrder = orderOf(op.getKeyLayout());
  problem.valueOrder = orderOf(op.getValueLayout());
  problem.outputOrder = orderOf(op.getOutputLayout());
  if (Value weights = op.getWeights())
    problem.weights = getElementKind(getElementTypeOrSelf(weights));
  return problem;
}

static KeyFeature featureOf(FeatureMap map) {
  switch (map) {
  case FeatureMap::Identity:
    return KeyFeature::Identity;
  case FeatureMap::Elu1:
    return KeyFeature::Elu1;
  case FeatureMap::Relu:
    return KeyFeature::Relu;
  case FeatureMap::Exp:
    return KeyFeature::Exp;
  }
  llvm_unreachable("all feature maps are handled");
}

LinearProblem mlir::attn::getProblem(LinearAttentionOp op,
                                     ArrayRef<HostTensor> arguments) {
  auto get = [&](Value operand) { return getArgument(operand, arguments); };
  LinearProblem problem;
  problem.query = get(op.getQuery());
  problem.key = get(op.getKey());
  problem.value = get(op.getValue());
  problem.decay = get(op.getDecay());
  problem.beta = get(op.getBeta());
  problem.state = get(op.getState());
  problem.normalizer = get(op.getNormalizer());
  if (std::optional<APFloat> scale = op.getScale())
    problem.scale = scale->convertToDouble();
  problem.feature = featureOf(op.getFeatureMap());
  problem.normalize = op.getNormalize();
  problem.causal = !op.getNonCausal();
  problem.queryOrder = orderOf(op.getQueryLayout());
  problem.keyOrder = orderOf(op.getKeyLayout());
  problem.valueOrder = orderOf(op.getValueLayout());
  problem.outputOrder = orderOf(op.getOutputLayout());
  return problem;
}
