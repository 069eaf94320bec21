// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of OutlinePacking. For a function `@f` with weights:
//
//   func.func @f(%x, %w)        { %packed = call @f.pack(%w);  %y = call @f.work(%x, %packed);  return %y }
//   func.func @f_pack(%w)       { %packed = call @f.pack(%w);  return %packed }
//   func.func @f_packed(%x, %packed)                         { %y = call @f.work(%x, %packed);  return %y }
//
// with @f_packed.check, which is that of @f after a look at the mark, and the shapes of both.

#include "PackingOutliner.h"

#include "attn/Codegen/RuntimeChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

/// Call @f.work. The packed block is the operand that must be dense.
func::CallOp PackingOutliner::callWork(ValueRange others, Value packed,
                                       ValueRange places, Value few) {
  SmallVector<Value> operands(others);
  operands.push_back(packed);
  if (!choices.empty()) {
    llvm::append_range(operands, places);
    operands.push_back(few);
  }
  auto call = func::CallOp::create(b, name + ".work", function.getResultTypes(),
                                   operands);
  call->setAttr(kDenseAttrName, b.getI64IntegerAttr(others.size()));
  return call;
}

/// @f_pack(weights...), with its shape.
void PackingOutliner::createPackEntry() {
  SmallVector<Type> inputs;
  for (const PackedWeight &weight : weights)
    inputs.push_back(weight.argument.getType());
  createFunction(shapeFunctionName(name + "_pack"), inputs, b.getIndexType());
  func::ReturnOp::create(b, ValueRange{arith::ConstantIndexOp::create(
                                b, packedType.getDimSize(0))});
  func::FuncOp entry = createFunction(name + "_pack", inputs, packedType);
  entry.setPublic();
  for (auto [i, weight] : llvm::enumerate(weights))
    if (Attribute given =
            function.getArgAttr(weight.argument.getArgNumber(), kNameAttrName))
      entry.setArgAttr(i, kNameAttrName, given);
  entry.setResultAttr(0, kNameAttrName, b.getStringAttr(kPackedName));
  SmallVector<Value> operands(entry.getArguments());
  if (!choices.empty())
    operands.push_back(arith::ConstantIntOp::create(b, 0, 64));
  func::ReturnOp::create(b, call(name + ".pack", packedType, operands));
}

/// Let `check` fail first where `packed` does not begin with the mark.
void PackingOutliner::checkMark(func::FuncOp check, Value packed) {
  SmallVector<Attribute> messages;
  SmallVector<int64_t> kinds;
  if (auto known = check->getAttrOfType<ArrayAttr>(kMessagesAttrName))
    llvm::append_range(messages, known);
  if (auto known = check->getAttrOfType<DenseI64ArrayAttr>(kKindsAttrName))
    llvm::append_range(kinds, known.asArrayRef());
  auto terminator =
      cast<func::ReturnOp>(check.getBody().front().getTerminator());
  b.setInsertionPoint(terminator);
  auto word =
      b.getIntegerType(packedType.getElementType().getIntOrFloatBitWidth());
  SmallVector<Value> results(terminator.getOperands());
  std::pair<int32_t, std::string> wanted[] = {
      {getShapesMark(), "to hold these weights, packed for this kind of CPU"},
      {kMark, "to hold what '" + name + "_pack' wrote"}};
  for (auto [mark, wish] : wanted) {
    int64_t at = mark == kMark ? 0 : 1;
    Value element = tensor::ExtractOp::create(
        b, packed, ValueRange{arith::ConstantIndexOp::create(b, at)});
    Value got = arith::BitcastOp::create(b, word, element);
    if (!word.isInteger(64))
      got = arith::ExtSIOp::create(b, b.getI64Type(), got);
    Value right = arith::ConstantIntOp::create(b, mark, 64);
    Value differs =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, got, right);
    messages.push_back(b.getStringAttr("'" + name + "_packed' expects '" +
                                       kPackedName + "' " + wish +
                                       ", got mark %lld instead of %lld"));
    kinds.push_back(8);
    Value number = arith::ConstantIntOp::create(b, kinds.size(), 64);
    Value own[] = {number, got, right};
    for (unsigned i = 0; i < results.size(); ++i)
      results[i] = arith::SelectOp::create(b, differs, own[i], results[i]);
  }
  terminator->setOperands(results);
  check->setAttr(kMessagesAttrName, b.getArrayAttr(messages));
  check->setAttr(kKindsAttrName, b.getDenseI64ArrayAttr(kinds));
}

/// Say of `entry`, @f_packed, which results may have the memory of an argument.
void PackingOutliner::setInPlace(func::FuncOp entry) {
  auto given = function->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttrName);
  if (!given)
    return;
  SmallVector<int64_t> places(given.asArrayRef());
  for (int64_t &place : places) {
    if (place < 0)
      continue;
    // The block stands where the first of the weights was.
    int64_t argument = place;
    for (const PackedWeight &weight : weights)
      place -= weight.argument.getArgNumber() < argument;
    place += weights.front().argument.getArgNumber() < argument;
  }
  entry->setAttr(kInPlaceAttrName, b.getDenseI64ArrayAttr(places));
}

/// @f_packed(...), with its check and its shape.
void PackingOutliner::createPackedEntry() {
  std::string symbol = name + "_packed";
  unsigned at = weights.front().argument.getArgNumber();
  IRMapping shapeMap, checkMap;
  insertPacked(cloneFunction(
      shapeFunctionName(symbol),
      module.lookupSymbol<func::FuncOp>(shapeFunctionName(name)), shapeMap));
  func::FuncOp check;
  if (auto known = module.lookupSymbol<func::FuncOp>(checkFunctionName(name))) {
    check = cloneFunction(checkFunctionName(symbol), known, checkMap);
  } else {
    SmallVector<Type> states(3, b.getI64Type());
    check = createFunction(checkFunctionName(symbol),
                           function.getArgumentTypes(), states);
    Value zero = arith::ConstantIntOp::create(b, 0, 64);
    func::ReturnOp::create(b, ValueRange{zero, zero, zero});
  }
  insertPacked(check);
  checkMark(check, check.getArgument(at));

  func::FuncOp entry = createFunction(symbol, function.getArgumentTypes(),
                                      function.getResultTypes());
  entry.setPublic();
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (Attribute given = function.getArgAttr(i, kNameAttrName))
      entry.setArgAttr(i, kNameAttrName, given);
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (Attribute given = function.getResultAttr(i, kNameAttrName))
      entry.setResultAttr(i, kNameAttrName, given);
  insertPacked(entry);
  setInPlace(entry);
  SmallVector<Value> others(entry.getArguments());
  others.erase(others.begin() + at);
  // Weights in place are not read.
  SmallVector<Value> places;
  Value many;
  if (!choices.empty()) {
    for (const PackedWeight &weight : weights)
      places.push_back(
          tensor::EmptyOp::create(b, weight.argument.getType(), ValueRange()));
    many = arith::ConstantIntOp::create(b, 0, 64);
  }
  func::ReturnOp::create(
      b, callWork(others, entry.getArgument(at), places, many).getResults());
}

/// The function itself: pack, then work.
void PackingOutliner::rewriteOriginal() {
  Block &body = function.getBody().front();
  while (!body.empty())
    body.back().erase();
  b.setInsertionPointToStart(&body);
  SmallVector<Value> places;
  for (const PackedWeight &weight : weights)
    places.push_back(weight.argument);
  Value few;
  SmallVector<Value> operands(places);
  if (!choices.empty()) {
    few = call(name + ".few", b.getI64Type(), function.getArguments());
    operands.push_back(few);
  }
  Value packed = call(name + ".pack", packedType, operands);
  auto results =
      callWork(withoutWeights(function.getArguments()), packed, places, few);
  func::ReturnOp::create(b, results.getResults());
}
