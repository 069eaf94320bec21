// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes an attention out of a program and gives it arguments:
//
//   func.func @tuned(%q: tensor<1x8x?x64xf32>, %k: ..., %v: ...) -> tensor<1x8x?x64xf32> {
//     %o = attn.sdpa %q, %k, %v scale = 0.125 schedule = <...> : ...
//     return %o : tensor<1x8x?x64xf32>
//   }

#include "attn/Execution/TuneCase.h"

#include "attn/Analysis/CostModel.h"
#include "attn/Execution/InterpreterBridge.h"
#include "attn/Pipeline/ScheduleRecord.h"
#include "attn/Transforms/SelectSchedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

/// What stands for extents that are known at run time only: a prompt, or one row
/// against the keys of a conversation.
static constexpr int64_t kTypicalHeads = 8, kTypicalChannels = 64;
static constexpr int64_t kTypicalRows = 1024, kTypicalKeys = 4096;

TuneCase::TuneCase(SdpaOp op, bool few)
    : op(op), few(few), key(getScheduleKey(op, few)),
      site{AttentionShape::get(op), getAccumulatorBits(op), TargetInfo::get(op),
           canSplitKeys(op)} {}

ScheduleAttr TuneCase::getChoice() const {
  return chooseSchedule(op, site.target, few);
}

/// Return the operands that a function has to take.
static SmallVector<Value> getArguments(SdpaOp op) {
  return llvm::filter_to_vector(op->getOperands(), [](Value operand) {
    return !matchPattern(operand, m_Constant());
  });
}

OwningOpRef<ModuleOp> TuneCase::buildModule(ScheduleAttr schedule) const {
  SdpaOp source = op;
  Location loc = source.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  site.target.set(*module);
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  SmallVector<Value> arguments = getArguments(source);
  auto type = b.getFunctionType(TypeRange(ValueRange(arguments)),
                                source->getResultTypes());
  auto function = func::FuncOp::create(b, loc, kFunction, type);
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(arguments, function.getArguments());
  for (Value operand : source->getOperands())
    if (!mapping.contains(operand))
      b.clone(*operand.getDefiningOp(), mapping);
  auto copy = cast<SdpaOp>(b.clone(*source, mapping));
  copy.setScheduleAttr(schedule);
  func::ReturnOp::create(b, loc, copy->getResults());
  return module;
}

/// Return `shape` with representative sizes for what is dynamic.
static AttentionShape fillIn(AttentionShape shape, bool few) {
  auto fill = [](int64_t &extent, int64_t typical) {
    if (ShapedType::isDynamic(extent))
      extent = typical;
  };
  fill(shape.batch, 1);
  // Where one number of heads is known it serves as the other.
  if (ShapedType::isDynamic(shape.kvHeads))
    shape.kvHeads = shape.heads;
  fill(shape.kvHeads, kTypicalHeads);
  fill(shape.heads, shape.kvHeads);
  fill(shape.rows, few ? 1 : kTypicalRows);
  fill(shape.keys, few ? kTypicalKeys : std::max(shape.rows, kTypicalRows));
  fill(shape.headSize, kTypicalChannels);
  fill(shape.valueSize, shape.headSize);
  return shape;
}

/// Return a tensor for a value of `type`, whose dynamic extents are as in `full`:
/// of random numbers, or filled with `number`.
static llvm::Expected<HostTensor> createInput(Type type, ArrayRef<int64_t> full,
                                              std::optional<int64_t> number,
                                              uint64_t seed) {
  std::optional<ElementKind> kind = getElementKind(getElementTypeOrSelf(type));
  if (!kind)
    return llvm::createStringError("cannot make numbers of an unknown type");
  SmallVector<int64_t> extents;
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    for (auto [extent, size] : llvm::zip(shaped.getShape(), full))
      extents.push_back(ShapedType::isDynamic(extent) ? size : extent);
  llvm::Expected<HostTensor> tensor = HostTensor::create(*kind, extents);
  if (!tensor)
    return tensor;
  if (!number)
    fillRandom(*tensor, seed);
  else
    tensor->forEach(
        [&](int64_t offset) { tensor->storeInteger(offset, *number); });
  return tensor;
}

llvm::Expected<SmallVector<HostTensor>> TuneCase::createInputs() const {
  SdpaOp source = op;
  AttentionShape s = fillIn(site.shape, few);
  auto place = [&](Layout layout, int64_t heads, int64_t length,
                   int64_t channels) -> SmallVector<int64_t> {
    if (layout == Layout::bhsd)
      return {s.batch, heads, length, channels};
    return {s.batch, length, heads, channels};
  };
  struct Input {
    Value operand;
    SmallVector<int64_t> full;
    std::optional<int64_t> number;
  };
  SmallVector<int64_t> scores = {s.batch, s.heads, s.rows, s.keys};
  Input all[] = {
      {source.getQuery(),
       place(source.getQueryLayout(), s.heads, s.rows, s.headSize),
       {}},
      {source.getKey(),
       place(source.getKeyLayout(), s.kvHeads, s.keys, s.headSize),
       {}},
      {source.getValue(),
       place(source.getValueLayout(), s.kvHeads, s.keys, s.valueSize),
       {}},
      {source.getBias(), scores, {}},
      {source.getMask(), scores, {}},
      {source.getKvLengths(), {s.batch}, s.keys},
      // The last row sees the last key.
      {source.getQueryOffset(),
       {s.batch},
       std::max<int64_t>(s.keys - s.rows, 0)},
      {source.getSinks(), {s.heads}, {}}};
  SmallVector<HostTensor> inputs;
  for (Value argument : getArguments(source)) {
    const Input *input = llvm::find_if(
        all, [&](const Input &input) { return input.operand == argument; });
    llvm::Expected<HostTensor> tensor =
        createInput(argument.getType(), input->full, input->number,
                    /*seed=*/inputs.size());
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(*tensor);
  }
  return inputs;
}
