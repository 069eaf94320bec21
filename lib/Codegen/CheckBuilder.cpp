// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds one check after the other:
//
//   %fails = arith.cmpi ne, %a, %b : index
//   %first = arith.andi %fails, (%number == 0)
//   %number1 = arith.select %first, %c7, %number : i64
//   %got1 = ... %wanted1 = ...

#include "attn/Codegen/RuntimeChecks.h"

#include "SearchLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::attn;

/// Kinds of errors, as lib/Runtime/Errors.h numbers them.
static constexpr int64_t kShapeError = 4;
static constexpr int64_t kDataError = 8;

CheckBuilder::CheckBuilder(func::FuncOp function, bool onlyShapes)
    : builder(function.getContext()), function(function),
      onlyShapes(onlyShapes) {
  builder.setInsertionPointToStart(&function.getBody().front());
  number = got = wanted =
      arith::ConstantIntOp::create(builder, function.getLoc(), 0, /*width=*/64);
}

void CheckBuilder::setOp(Operation *newOp) {
  op = newOp;
  builder.setInsertionPoint(op);
}

/// Return true if `value` follows from more than the shapes of arguments.
static bool readsData(Value value) {
  llvm::SetVector<Value> worklist;
  worklist.insert(value);
  for (size_t i = 0; i < worklist.size(); ++i) {
    Value next = worklist[i];
    Operation *op = next.getDefiningOp();
    if (!op) {
      // A scalar argument is data too; a tensor is only asked for its shape.
      if (isa<func::FuncOp>(next.getParentBlock()->getParentOp()) &&
          !isa<TensorType>(next.getType()))
        return true;
      continue;
    }
    if (isa<tensor::DimOp>(op))
      continue;
    bool reads = op->walk([](tensor::ExtractOp) {
                     return WalkResult::interrupt();
                   }).wasInterrupted();
    if (reads)
      return true;
    worklist.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), worklist);
  }
  return false;
}

void CheckBuilder::add(Value fails, Value newGot, Value newWanted,
                       StringRef message, int64_t kind) {
  Location loc = op->getLoc();
  messages.push_back(
      ("'" + op->getName().getStringRef() + "' op " + message).str());
  kinds.push_back(kind);
  if (readsData(fails)) {
    anyData = true;
    if (onlyShapes)
      return;
  }
  auto toI64 = [&](Value value) -> Value {
    if (value.getType().isInteger(64))
      return value;
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      value);
  };
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  Value own = arith::ConstantIntOp::create(builder, loc, kinds.size(), 64);
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     number, zero);
  Value first = arith::AndIOp::create(builder, loc, fails, none);
  number = arith::SelectOp::create(builder, loc, first, own, number);
  got = arith::SelectOp::create(builder, loc, first, toI64(newGot), got);
  wanted =
      arith::SelectOp::create(builder, loc, first, toI64(newWanted), wanted);
}

/// Return the extent where it is static, else kDynamic.
static int64_t getStaticExtent(const NamedExtent &extent) {
  if (extent.tensor)
    return cast<RankedTensorType>(extent.tensor.getType())
        .getDimSize(extent.dim);
  return getConstantIntValue(extent.extent).value_or(ShapedType::kDynamic);
}

Value CheckBuilder::readExtent(const NamedExtent &extent) {
  if (extent.tensor)
    return tensor::DimOp::create(builder, op->getLoc(), extent.tensor,
                                 extent.dim);
  return getValueOrCreateConstantIndexOp(builder, op->getLoc(), extent.extent);
}

/// Return "dimension 2 of 'mask'", or the name of a number.
static std::string describe(const NamedExtent &extent) {
  if (!extent.tensor)
    return extent.name;
  return "dimension " + std::to_string(extent.dim) + " of '" + extent.name +
         "'";
}

void CheckBuilder::agree(const NamedExtent &a, const NamedExtent &b) {
  if (ShapedType::isStatic(getStaticExtent(a)) &&
      ShapedType::isStatic(getStaticExtent(b)))
    return;
  Value x = readExtent(a), y = readExtent(b);
  Value differ = arith::CmpIOp::create(builder, op->getLoc(),
                                       arith::CmpIPredicate::ne, x, y);
  std::string message =
      a.tensor && b.tensor && a.dim == b.dim
          ? "expects '" + a.name + "' and '" + b.name +
                "' to agree on dimension " + std::to_string(a.dim)
          : "expects " + describe(a) + " to agree with " + describe(b);
  add(differ, x, y, message + ", got %lld and %lld", kShapeError);
}

void CheckBuilder::divides(const NamedExtent &a, const NamedExtent &b) {
  int64_t staticA = getStaticExtent(a), staticB = getStaticExtent(b);
  if (staticB == 1 ||
      (ShapedType::isStatic(staticA) && ShapedType::isStatic(staticB)))
    return;
  Location loc = op->getLoc();
  Value x = readExtent(a), y = readExtent(b);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  // No key heads: right for no query heads, and no division by them.
  Value none =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, y, zero);
  Value divisor = arith::SelectOp::create(builder, loc, none, one, y);
  Value rest = arith::RemUIOp::create(builder, loc, x, divisor);
  Value left = arith::SelectOp::create(builder, loc, none, x, rest);
  Value fails =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, left, zero);
  add(fails, x, y,
      "expects " + describe(a) + " to be a multiple of " + describe(b) +
          ", got %lld and %lld",
      kShapeError);
}

void CheckBuilder::inTable(StringRef name, Value positions, StringRef tableName,
                           Value table) {
  Location loc = op->getLoc();
  Value limit =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                 tensor::DimOp::create(builder, loc, table, 0));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value good = arith::ConstantIntOp::create(builder, loc, 0, /*width=*/1);
  Value none = arith::ConstantIntOp::create(builder, loc, 0, /*width=*/64);
  int64_t rank = cast<RankedTensorType>(positions.getType()).getRank();
  SmallVector<Value> lower(rank, zero), upper, steps(rank, one);
  for (int64_t dim = 0; dim < rank; ++dim)
    upper.push_back(tensor::DimOp::create(builder, loc, positions, dim));
  // Carries whether a position was outside, and the first that was.
  scf::LoopNest nest = scf::buildLoopNest(
      builder, loc, lower, upper, steps, ValueRange{good, none},
      [&](OpBuilder &b, Location loc, ValueRange at,
          ValueRange state) -> scf::ValueVector {
        Value position = tensor::ExtractOp::create(b, loc, positions, at);
        if (isa<IndexType>(position.getType()))
          position =
              arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
        else if (!position.getType().isInteger(64))
          position = arith::ExtSIOp::create(b, loc, b.getI64Type(), position);
        // One unsigned comparison covers both sides.
        Value outside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge,
                                              position, limit);
        scf::ValueVector next(state.begin(), state.end());
        keepFirst(b, loc, outside, position, next);
        return next;
      });
  markSearch(nest.loops, {2});
  add(nest.results[0], nest.results[1], limit,
      ("expects '" + name + "' to lie inside '" + tableName +
       "', got position %lld of %lld")
          .str(),
      kDataError);
}

void CheckBuilder::require(Value fails, Value newGot, Value newWanted,
                           StringRef message) {
  add(fails, newGot, newWanted, message, kDataError);
}

OpFoldResult CheckBuilder::sum(const NamedExtent &a, const NamedExtent &b) {
  return arith::AddIOp::create(builder, op->getLoc(), readExtent(a),
                               readExtent(b))
      .getResult();
}

SmallVector<Value> CheckBuilder::finish() {
  Builder b(function.getContext());
  SmallVector<StringRef> texts(messages.begin(), messages.end());
  function->setAttr(kMessagesAttrName, b.getStrArrayAttr(texts));
  function->setAttr(kKindsAttrName, b.getDenseI64ArrayAttr(kinds));
  return {number, got, wanted};
}
