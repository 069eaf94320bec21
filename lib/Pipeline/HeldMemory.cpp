// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the size of the one block that a compiled function allocates. After phase 'buffers' it is computed by
//
//   %n = memref.dim %arg1, %c2
//   %chunks = affine.apply affine_map<()[s0] -> (s0 ceildiv 3456)>()[%n]
//   %threads = call @omp_get_max_threads()
//   %bytes = ... 128 * %chunks + 774528 * %threads ...
//   %block = memref.alloc(%bytes)
//
// which is followed back to its sizes, as a formula and as a number.

#include "attn/Pipeline/HeldMemory.h"

#include "attn/Pipeline/Phases.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// The name of the function around the op.
static constexpr StringRef kFunction = "attention";

namespace {
/// A number in the program.
struct Amount {
  Formula formula;
  std::optional<int64_t> value;
};

/// Follows numbers back to the sizes of the arguments of a function.
class AmountReader {
public:
  AmountReader(func::FuncOp root,
               const std::vector<std::vector<std::string>> &names,
               const Sizes &sizes)
      : root(root), names(names), sizes(sizes) {}

  Amount read(Value value);

private:
  Amount named(const Formula &formula) {
    return {formula, formula.evaluate(sizes)};
  }
  Amount unknown() { return {Formula::size("?"), std::nullopt}; }
  Amount readDim(Value memory, int64_t dim);
  Amount readMap(AffineExpr expr, ArrayRef<Amount> operands, unsigned dims);
  Amount readLimit(AffineMap map, ValueRange operands, bool max);
  Amount readBinary(Operation *op);

  func::FuncOp root;
  const std::vector<std::vector<std::string>> &names;
  const Sizes &sizes;
};
} // namespace

/// Return what `call` gives for argument `number` of the function that it calls.
static Value findOperand(func::FuncOp root, func::FuncOp callee,
                         unsigned number) {
  Value operand;
  root.walk([&](func::CallOp call) {
    if (call.getCallee() == callee.getSymName())
      operand = call.getOperand(number);
  });
  return operand;
}

/// Return dimension `dim` of `memory`.
Amount AmountReader::readDim(Value memory, int64_t dim) {
  while (auto cast = memory.getDefiningOp<memref::CastOp>())
    memory = cast.getSource();
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (type && !type.isDynamicDim(dim))
    return {type.getDimSize(dim), type.getDimSize(dim)};
  auto argument = dyn_cast<BlockArgument>(memory);
  if (!argument)
    return unknown();
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  if (function && function != root) {
    Value operand = findOperand(root, function, number);
    return operand ? readDim(operand, dim) : unknown();
  }
  if (!function || number >= names.size() ||
      dim >= static_cast<int64_t>(names[number].size()))
    return unknown();
  return named(Formula::size(names[number][dim]));
}

/// Return `a / b`, rounded up or down, as a size of its own.
static Amount divide(const Amount &a, int64_t b, bool up) {
  Amount result;
  std::string text = a.formula.str();
  if (StringRef(text).contains(" + "))
    text = "(" + text + ")";
  text += " / " + std::to_string(b);
  result.formula = Formula::size((up ? "ceil(" : "floor(") + text + ")");
  if (a.value)
    result.value = up ? llvm::divideCeilSigned(*a.value, b)
                      : llvm::divideFloorSigned(*a.value, b);
  return result;
}

static Amount add(const Amount &a, const Amount &b) {
  Amount sum{a.formula + b.formula, std::nullopt};
  int64_t value;
  if (a.value && b.value && !llvm::AddOverflow(*a.value, *b.value, value))
    sum.value = value;
  return sum;
}

static Amount multiply(const Amount &a, const Amount &b) {
  Amount product{a.formula * b.formula, std::nullopt};
  int64_t value;
  if (a.value && b.value && !llvm::MulOverflow(*a.value, *b.value, value))
    product.value = value;
  return product;
}

/// Return `a - 1` of (x - 1) floordiv c + 1, which is x ceildiv c; else null.
static AffineExpr matchCeil(AffineExpr expr, int64_t &divisor) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return {};
  auto one = dyn_cast<AffineConstantExpr>(sum.getRHS());
  auto quotient = dyn_cast<AffineBinaryOpExpr>(sum.getLHS());
  if (!one || one.getValue() != 1 || !quotient ||
      quotient.getKind() != AffineExprKind::FloorDiv)
    return {};
  auto less = dyn_cast<AffineBinaryOpExpr>(quotient.getLHS());
  auto unit = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  if (!less || less.getKind() != AffineExprKind::Add || !unit)
    return {};
  auto minusOne = dyn_cast<AffineConstantExpr>(less.getRHS());
  if (!minusOne || minusOne.getValue() != -1)
    return {};
  divisor = unit.getValue();
  return less.getLHS();
}

/// Return `expr` over `operands`, of which the first `dims` are dimensions.
Amount AmountReader::readMap(AffineExpr expr, ArrayRef<Amount> operands,
                             unsigned dims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return {number.getValue(), number.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[dims + symbol.getPosition()];
  int64_t divisor = 0;
  if (AffineExpr inner = matchCeil(expr, divisor))
    return divide(readMap(inner, operands, dims), divisor, /*up=*/true);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Amount a = readMap(binary.getLHS(), operands, dims);
  auto unit = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(a, readMap(binary.getRHS(), operands, dims));
  case AffineExprKind::Mul:
    return multiply(a, readMap(binary.getRHS(), operands, dims));
  case AffineExprKind::CeilDiv:
  case AffineExprKind::FloorDiv:
    if (unit && unit.getValue() > 0)
      return divide(a, unit.getValue(),
                    binary.getKind() == AffineExprKind::CeilDiv);
    return unknown();
  default:
    return unknown();
  }
}

/// Return the larger or the smaller of two numbers.
static Amount limit(const Amount &a, const Amount &b, bool max) {
  Amount result;
  result.formula = Formula::size((max ? "max(" : "min(") + a.formula.str() +
                                 ", " + b.formula.str() + ")");
  if (a.value && b.value)
    result.value =
        max ? std::max(*a.value, *b.value) : std::min(*a.value, *b.value);
  return result;
}

/// Return the largest or the smallest result of `map`.
Amount AmountReader::readLimit(AffineMap map, ValueRange operands, bool max) {
  SmallVector<Amount> amounts;
  for (Value operand : operands)
    amounts.push_back(read(operand));
  std::optional<Amount> result;
  for (AffineExpr expr : map.getResults()) {
    Amount one = readMap(expr, amounts, map.getNumDims());
    result = result ? limit(*result, one, max) : one;
  }
  return *result;
}

/// Return the result of arithmetic on two numbers.
Amount AmountReader::readBinary(Operation *op) {
  Amount a = read(op->getOperand(0)), b = read(op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return add(a, b);
  if (isa<arith::MulIOp>(op))
    return multiply(a, b);
  Amount result = unknown();
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op)) {
    bool max = isa<arith::MaxSIOp>(op);
    result = limit(a, b, max);
    // A size that is at least one counts as the size.
    if (max && matchPattern(op->getOperand(1), m_One()))
      result.formula = a.formula;
    return result;
  }
  APInt mask;
  if (isa<arith::AndIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&mask))) {
    // Rounding up to a power of two: (x + 63) & -64.
    if (a.value)
      result.value = *a.value & mask.getSExtValue();
    auto sum = op->getOperand(0).getDefiningOp<arith::AddIOp>();
    result.formula = sum ? read(sum.getLhs()).formula : a.formula;
  }
  return result;
}

Amount AmountReader::read(Value value) {
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return {number.getSExtValue(), number.getSExtValue()};
  Operation *op = value.getDefiningOp();
  if (!op)
    return unknown();
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> index = dim.getConstantIndex())
      return readDim(dim.getSource(), *index);
  if (isa<arith::IndexCastOp>(op))
    return read(op->getOperand(0));
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCallee() == "omp_get_max_threads"
               ? named(Formula::size("threads"))
               : unknown();
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return readLimit(apply.getAffineMap(), apply.getMapOperands(), true);
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return readLimit(min.getAffineMap(), min.getOperands(), false);
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return readLimit(max.getAffineMap(), max.getOperands(), true);
  return op->getNumOperands() == 2 ? readBinary(op) : unknown();
}

/// Return a module with a function that is `op` and nothing else.
static OwningOpRef<ModuleOp> isolate(Operation *op) {
  Location loc = op->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  if (auto from = op->getParentOfType<ModuleOp>())
    (*module)->setAttrs(from->getAttrs());
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  SmallVector<Value> operands(op->getOperands());
  auto type =
      b.getFunctionType(TypeRange(ValueRange(operands)), op->getResultTypes());
  auto function = func::FuncOp::create(b, loc, kFunction, type);
  b.setInsertionPointToStart(function.addEntryBlock());
  Operation *copy = b.clone(*op);
  b.setInsertionPoint(copy);
  for (OpOperand &operand : copy->getOpOperands()) {
    // A constant decides about chunks and more.
    if (matchPattern(operand.get(), m_Constant()))
      operand.set(b.clone(*operand.get().getDefiningOp())->getResult(0));
    else
      operand.set(function.getArgument(operand.getOperandNumber()));
  }
  b.setInsertionPointAfter(copy);
  func::ReturnOp::create(b, loc, copy->getResults());
  return module;
}

/// Return the bytes that `function` itself allocates.
static Amount readAllocations(func::FuncOp function, AmountReader &reader) {
  Amount all{0, 0};
  function.walk([&](memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    if (alloc.getDynamicSizes().empty())
      all = add(all, {type.getNumElements(), type.getNumElements()});
    else
      all = add(all, reader.read(alloc.getDynamicSizes().front()));
  });
  return all;
}

std::optional<HeldMemory> attn::getHeldMemory(const AttentionCost &cost,
                                              const Sizes &sizes,
                                              StringRef target) {
  // What a region captures is not an operand.
  for (Region &region : cost.op->getRegions())
    if (!region.empty())
      return std::nullopt;
  OwningOpRef<ModuleOp> module = isolate(cost.op);
  CompileOptions options;
  options.target = target.str();
  options.stopAfter = Phase::Buffers;
  // A GPU's functions hold nothing: NAME_workspace says what callers bring.
  if (isForCuda(*module, options))
    return std::nullopt;
  PassManager pm(module->getContext());
  buildCpuPipeline(pm, options);
  if (failed(pm.run(*module)))
    return std::nullopt;
  auto root = module->lookupSymbol<func::FuncOp>(kFunction);
  if (!root)
    return std::nullopt;
  AmountReader reader(root, cost.operands, sizes);
  Amount own = readAllocations(root, reader), most{0, 0};
  // Of the functions that it calls one runs at a time.
  root.walk([&](func::CallOp call) {
    auto callee = module->lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return;
    Amount more = readAllocations(callee, reader);
    if (!more.value || !most.value || *more.value >= *most.value)
      most = more;
  });
  Amount held = add(own, most);
  return HeldMemory{held.formula, held.value};
}
