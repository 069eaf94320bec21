// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets the caller of a layer pack its weights once:
//
//   func.func @f(%x: tensor<1x128x384xf32>, %w: tensor<384x384xf32>) -> tensor<1x128x384xf32> { ... }
//
// becomes
//
//   func.func private @f.pack(%w) -> tensor<147472xf32>              // a mark, and the panels of all weights
//   func.func private @f.work(%x, %packed: tensor<147472xf32>) -> tensor<1x128x384xf32> { ... }
//   func.func @f(%x, %w)          { %packed = call @f.pack(%w);  %y = call @f.work(%x, %packed);  return %y }
//   func.func @f_pack(%w)         { %packed = call @f.pack(%w);  return %packed }
//   func.func @f_packed(%x, %packed)                           { %y = call @f.work(%x, %packed);  return %y }
//
// so that the code is there once, and both ways give the same bits. Where the number of rows is dynamic, @f.work also
// takes the weights and whether to read them in place, which @f.few says: then @f does not pack for a few rows. Checks
// and shapes of the new functions are those of @f, and the mark is checked.

#include "PackingOutliner.h"

#include "attn/Codegen/Passes.h"
#include "attn/IR/AttrNames.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINEPACKING
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

//===----------------------------------------------------------------------===//
// What can be packed
//===----------------------------------------------------------------------===//

/// Add `argument` to the weights if it is nothing else, and if packing it is
/// wanted.
bool PackingOutliner::addWeight(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.hasStaticShape() || type.getRank() != 2)
    return false;
  PackedWeight weight{argument, {}, {}, 0, 0, 0};
  SetVector<scf::IfOp> tests;
  for (OpOperand &use : argument.getUses()) {
    auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!op || use.getOperandNumber() != 1 || !isProjection(op))
      return false;
    Type element = getElementTypeOrSelf(op.getResult(0));
    auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (!schedule || (packedType && packedType.getElementType() != element))
      return false;
    weight.users.push_back(op);
    if (!schedule.getStreams()) {
      weight.schedule = schedule;
      packedType = RankedTensorType::get({kMarkElements}, element);
      continue;
    }
    auto test = dyn_cast<scf::IfOp>(op->getParentOp());
    if (!test || test->getBlock() != &function.getBody().front() ||
        op->getBlock() != test.thenBlock())
      return false;
    tests.insert(test);
  }
  if (!weight.schedule)
    return false;
  weight.panels =
      llvm::divideCeil(type.getDimSize(0), weight.schedule.getColumns());
  weight.ins = type.getDimSize(1);
  choices.insert_range(tests);
  weights.push_back(weight);
  return true;
}

/// Return whether the function `symbol`, of the same arguments, is not there or
/// needs no weight.
bool PackingOutliner::isUnused(const std::string &symbol) {
  auto other = module.lookupSymbol<func::FuncOp>(symbol);
  return !other || llvm::all_of(weights, [&](const PackedWeight &weight) {
    return other.getArgument(weight.argument.getArgNumber()).use_empty();
  });
}

LogicalResult PackingOutliner::checkNames() {
  for (StringRef suffix : {"_pack", "_packed"})
    if (module.lookupSymbol(name + suffix.str()))
      return function.emitOpError()
             << "expects no other function of the name '" << name << suffix
             << "', which its C interface needs";
  return success();
}

/// Return a number that tells blocks of other weights apart.
int32_t PackingOutliner::getShapesMark() {
  uint32_t hash = 2166136261u;
  auto add = [&](int64_t value) {
    for (int i = 0; i < 8; ++i)
      hash = (hash ^ uint32_t(value >> 8 * i & 0xff)) * 16777619u;
  };
  for (const PackedWeight &weight : weights) {
    auto type = cast<RankedTensorType>(weight.argument.getType());
    for (int64_t value :
         {type.getDimSize(0), type.getDimSize(1), weight.schedule.getColumns()})
      add(value);
  }
  // The bits of an ordinary float, which copies leave as they are.
  return hash & 0x3fffffff;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Create a private function after all others, and build in it.
func::FuncOp PackingOutliner::createFunction(const Twine &symbol,
                                             TypeRange inputs,
                                             TypeRange results) {
  b.setInsertionPointToEnd(module.getBody());
  auto created =
      func::FuncOp::create(b, symbol.str(), b.getFunctionType(inputs, results));
  created.setPrivate();
  b.setInsertionPointToStart(created.addEntryBlock());
  return created;
}

func::FuncOp PackingOutliner::cloneFunction(const Twine &symbol,
                                            func::FuncOp from, IRMapping &map) {
  auto clone = cast<func::FuncOp>(from->clone(map));
  clone.setSymName(symbol.str());
  clone.setPrivate();
  clone->removeAttr(kPackedAttrName);
  clone->removeAttr(kInPlaceAttrName);
  module.push_back(clone);
  return clone;
}

SmallVector<Value> PackingOutliner::withoutWeights(ValueRange arguments) {
  SmallVector<Value> kept;
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (!isWeight(index))
      kept.push_back(argument);
  return kept;
}

/// Give `entry`, with the arguments of the function, the packed block in place of
/// the weights, which it does not use.
void PackingOutliner::insertPacked(func::FuncOp entry) {
  llvm::BitVector erased(entry.getNumArguments());
  for (const PackedWeight &weight : weights)
    erased.set(weight.argument.getArgNumber());
  (void)entry.eraseArguments(erased);
  auto named = b.getDictionaryAttr(
      b.getNamedAttr(kNameAttrName, b.getStringAttr(kPackedName)));
  (void)entry.insertArgument(weights.front().argument.getArgNumber(),
                             packedType, named, entry.getLoc());
}

Value PackingOutliner::call(StringRef callee, Type result,
                            ValueRange operands) {
  return func::CallOp::create(b, callee, TypeRange{result}, operands)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// The packed block
//===----------------------------------------------------------------------===//

/// Return the panels of `weight`, [panels, in, columns].
Value PackingOutliner::takePanels(Value block, const PackedWeight &weight) {
  Type element = packedType.getElementType();
  Value part = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get({weight.size()}, element), block,
      ArrayRef<OpFoldResult>{b.getIndexAttr(weight.offset)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(weight.size())},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  auto type = RankedTensorType::get(
      {weight.panels, weight.ins, weight.schedule.getColumns()}, element);
  return tensor::ExpandShapeOp::create(
      b, type, part, ArrayRef<ReassociationIndices>{{0, 1, 2}});
}

Value PackingOutliner::putPanels(Value panels, Value block,
                                 const PackedWeight &weight) {
  Value flat = tensor::CollapseShapeOp::create(
      b, panels, ArrayRef<ReassociationIndices>{{0, 1, 2}});
  return tensor::InsertSliceOp::create(
      b, flat, block, ArrayRef<OpFoldResult>{b.getIndexAttr(weight.offset)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(weight.size())},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

/// @f.pack(weights..., few): the block, without panels where `few` is not 0.
void PackingOutliner::createPack() {
  SmallVector<Type> inputs;
  for (const PackedWeight &weight : weights)
    inputs.push_back(weight.argument.getType());
  if (!choices.empty())
    inputs.push_back(b.getI64Type());
  func::FuncOp pack = createFunction(name + ".pack", inputs, packedType);
  pack->setAttr(kOutputsAttrName, b.getUnitAttr());
  Type element = packedType.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  SmallVector<Attribute> mark(kMarkElements, b.getFloatAttr(element, 0.0));
  const llvm::fltSemantics &semantics =
      cast<FloatType>(element).getFloatSemantics();
  int32_t words[] = {kMark, getShapesMark()};
  for (auto [i, word] : llvm::enumerate(words))
    mark[i] = b.getFloatAttr(element, APFloat(semantics, APInt(bits, word)));
  Value block = tensor::EmptyOp::create(b, packedType.getShape(), element);
  Value marked = arith::ConstantOp::create(
      b, DenseElementsAttr::get(RankedTensorType::get({kMarkElements}, element),
                                mark));
  block = tensor::InsertSliceOp::create(
      b, marked, block, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(kMarkElements)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  Value isFew;
  if (!choices.empty())
    isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                  pack.getArguments().back(),
                                  arith::ConstantIntOp::create(b, 0, 64));
  for (auto [i, weight] : llvm::enumerate(weights)) {
    OpFoldResult count = b.getIndexAttr(weight.panels);
    if (isFew)
      count = arith::SelectOp::create(
                  b, isFew, arith::ConstantIndexOp::create(b, 0),
                  arith::ConstantIndexOp::create(b, weight.panels))
                  .getResult();
    Value panels = packWeight(b, pack.getArgument(i), takePanels(block, weight),
                              count, weight.schedule);
    block = putPanels(panels, block, weight);
  }
  func::ReturnOp::create(b, block);
}

/// @f.work(others..., packed, weights..., few): what the function did.
void PackingOutliner::createWork() {
  IRMapping map;
  func::FuncOp work = cloneFunction(name + ".work", function, map);
  work->setAttr(kOutputsAttrName, b.getUnitAttr());
  auto append = [&](Type type) {
    (void)work.insertArgument(work.getNumArguments(), type, {}, b.getLoc());
    return work.getArguments().back();
  };
  Value packed = append(packedType);
  work.setArgAttr(work.getNumArguments() - 1, kDenseAttrName, b.getUnitAttr());
  b.setInsertionPointToStart(&work.getBody().front());
  for (const PackedWeight &weight : weights) {
    Value panels = takePanels(packed, weight);
    for (linalg::GenericOp user : weight.users)
      if (!user->getAttrOfType<ScheduleAttr>(kScheduleAttrName).getStreams())
        setPanels(cast<linalg::GenericOp>(map.lookup(user.getOperation())),
                  panels);
  }
  if (!choices.empty()) {
    for (const PackedWeight &weight : weights)
      map.lookup(weight.argument)
          .replaceAllUsesWith(append(weight.argument.getType()));
    Value few = append(b.getI64Type());
    b.setInsertionPointToStart(&work.getBody().front());
    Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, few,
                                        arith::ConstantIntOp::create(b, 0, 64));
    for (scf::IfOp choice : choices)
      cast<scf::IfOp>(map.lookup(choice.getOperation()))
          .getConditionMutable()
          .assign(isFew);
  }
  llvm::BitVector erased(work.getNumArguments());
  for (const PackedWeight &weight : weights)
    erased.set(weight.argument.getArgNumber());
  (void)work.eraseArguments(erased);
}

/// @f.few(...): whether all of the choices are for few rows.
void PackingOutliner::createFew() {
  if (choices.empty())
    return;
  IRMapping map;
  func::FuncOp few = cloneFunction(name + ".few", function, map);
  Operation *terminator = few.getBody().front().getTerminator();
  b.setInsertionPoint(terminator);
  Value all;
  for (scf::IfOp choice : choices) {
    Value condition = map.lookup(choice.getCondition());
    all =
        all ? arith::AndIOp::create(b, all, condition).getResult() : condition;
  }
  Value flag = arith::ExtUIOp::create(b, b.getI64Type(), all);
  terminator->setOperands(flag);
  few.setType(b.getFunctionType(few.getArgumentTypes(), flag.getType()));
  few.setAllResultAttrs(ArrayRef<DictionaryAttr>{b.getDictionaryAttr({})});
  RewritePatternSet patterns(b.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, b.getContext());
  tensor::CastOp::getCanonicalizationPatterns(patterns, b.getContext());
  (void)applyPatternsGreedily(few, std::move(patterns));
}

LogicalResult PackingOutliner::run() {
  for (BlockArgument argument : function.getArguments())
    addWeight(argument);
  if (weights.empty() || !isUnused(checkFunctionName(name)) ||
      !isUnused(shapeFunctionName(name)))
    return success();
  if (failed(checkNames()))
    return failure();
  int64_t size = kMarkElements;
  SmallVector<int64_t> arguments;
  for (PackedWeight &weight : weights) {
    weight.offset = size;
    size += weight.size();
    arguments.push_back(weight.argument.getArgNumber());
  }
  packedType = packedType.clone(ArrayRef<int64_t>{size});
  createPack();
  createWork();
  createFew();
  createPackEntry();
  createPackedEntry();
  rewriteOriginal();
  function->setAttr(
      kPackedAttrName,
      b.getDictionaryAttr(
          {b.getNamedAttr("arguments", b.getDenseI64ArrayAttr(arguments)),
           b.getNamedAttr("type", TypeAttr::get(packedType))}));
  return success();
}

namespace {
struct OutlinePacking : attn::impl::OutlinePackingBase<OutlinePacking> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function.isPublic() && !function.isExternal() &&
          function.getBody().hasOneBlock() &&
          failed(PackingOutliner(function).run()))
        return signalPassFailure();
  }
};
} // namespace
