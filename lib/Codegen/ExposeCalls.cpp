// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of ExposeBuffers for functions that only call others, as OutlinePacking writes them:
//
//   func.func @f(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
//     %p = call @f.pack(%w)
//     %y = call @f.work(%x, %p) {attn.dense = 1}
//     return %y
//
// becomes
//
//   func.func @f(%x: memref<...>, %w: memref<...>, %y: memref<...>) -> i32 {
//     %p = memref.alloc()
//     %s0 = call @f.pack(%w, %p)
//     %s1 = call @f.work(%x, %p, %y)
//     return max(%s0, %s1)
//
// A tensor without content, which is not read, becomes one element that stands for all. An argument that must be dense
// and is not makes the status Strides.

#include "ExposeBuffers.h"

#include "attn/Codegen/Signature.h"
#include "attn/Codegen/Status.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Rebuilds the calls of one function.
class CallExposer {
public:
  CallExposer(func::FuncOp function, func::ReturnOp returnOp)
      : function(function), returnOp(returnOp), b(returnOp),
        loc(returnOp.getLoc()) {}

  void run();

private:
  Value toStatus(Status status) {
    return arith::ConstantIntOp::create(b, loc, static_cast<int64_t>(status),
                                        32);
  }
  Value placeholder(RankedTensorType type);
  Value toMemory(Value operand, bool isDense);
  Value getDestination(Value result);
  void exposeCall(func::CallOp call);

  func::FuncOp function;
  func::ReturnOp returnOp;
  OpBuilder b;
  Location loc;
  /// The memory of each tensor, and the outputs in the order of the return.
  DenseMap<Value, Value> memory;
  SmallVector<Value> outputs;
  Value status;
};
} // namespace

/// Return memory of which every element is the same one.
Value CallExposer::placeholder(RankedTensorType type) {
  auto one = MemRefType::get({1}, type.getElementType());
  Value element = memref::AllocOp::create(b, loc, one);
  SmallVector<OpFoldResult> sizes, strides(type.getRank(), b.getIndexAttr(0));
  for (int64_t extent : type.getShape())
    sizes.push_back(b.getIndexAttr(extent));
  auto layout = StridedLayoutAttr::get(b.getContext(), 0,
                                       SmallVector<int64_t>(type.getRank(), 0));
  return memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get(type.getShape(), type.getElementType(), layout),
      element, OpFoldResult(b.getIndexAttr(0)), sizes, strides);
}

/// Return `operand` as the callee takes it.
Value CallExposer::toMemory(Value operand, bool isDense) {
  Value given = memory.lookup(operand);
  Type type = operand.getType();
  if (!given) {
    auto scalar = MemRefType::get({}, type);
    given = memref::AllocOp::create(b, loc, scalar);
    memref::StoreOp::create(b, loc, operand, given, ValueRange());
  } else if (auto memref = dyn_cast<MemRefType>(given.getType())) {
    type = RankedTensorType::get(memref.getShape(), memref.getElementType());
  }
  MemRefType wanted = getBufferType(type, isDense);
  if (given.getType() == wanted)
    return given;
  return memref::CastOp::create(b, loc, wanted, given);
}

/// Return where `result` is written: an output of the function, or scratch.
Value CallExposer::getDestination(Value result) {
  for (OpOperand &use : result.getUses())
    if (use.getOwner() == returnOp)
      return outputs[use.getOperandNumber()];
  auto type = cast<RankedTensorType>(result.getType());
  return memref::AllocOp::create(
      b, loc, MemRefType::get(type.getShape(), type.getElementType()));
}

void CallExposer::exposeCall(func::CallOp call) {
  b.setInsertionPoint(call);
  auto dense = call->getAttrOfType<IntegerAttr>(kDenseAttrName);
  bool writes = dense || isa<RankedTensorType>(call.getResultTypes().front());
  SmallVector<Value> operands;
  Value isDense;
  for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
    bool must = dense && dense.getInt() == static_cast<int64_t>(i);
    operands.push_back(toMemory(operand, must));
    if (!must || !isa<BlockArgument>(operand))
      continue;
    auto parts =
        memref::ExtractStridedMetadataOp::create(b, loc, memory[operand]);
    isDense = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                    parts.getStrides().back(),
                                    arith::ConstantIndexOp::create(b, loc, 1));
  }
  if (!writes) {
    auto plain = func::CallOp::create(b, loc, call.getCallee(),
                                      call.getResultTypes(), operands);
    call->replaceAllUsesWith(plain);
    return;
  }
  for (Value result : call.getResults()) {
    Value place = getDestination(result);
    memory[result] = place;
    MemRefType wanted = getBufferType(result.getType(), /*isDense=*/true);
    operands.push_back(
        place.getType() == wanted
            ? place
            : memref::CastOp::create(b, loc, wanted, place).getResult());
  }
  auto build = [&](OpBuilder &at) -> Value {
    return func::CallOp::create(at, loc, call.getCallee(),
                                TypeRange{at.getI32Type()}, operands)
        .getResult(0);
  };
  Value own;
  if (!isDense) {
    own = build(b);
  } else {
    Value strides = toStatus(Status::Strides);
    own = scf::IfOp::create(
              b, loc, isDense,
              [&](OpBuilder &at, Location) {
                scf::YieldOp::create(at, loc, build(at));
              },
              [&](OpBuilder &at, Location) {
                scf::YieldOp::create(at, loc, strides);
              })
              .getResult(0);
  }
  status = arith::MaxSIOp::create(b, loc, status, own);
}

void CallExposer::run() {
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    argument.setType(getBufferType(argument.getType(), /*isDense=*/false));
    memory[argument] = argument;
  }
  for (Value result : returnOp.getOperands())
    outputs.push_back(body.addArgument(
        getBufferType(result.getType(), /*isDense=*/true), loc));
  b.setInsertionPointToStart(&body);
  status = toStatus(Status::Good);
  SmallVector<Operation *> old;
  for (Operation &op : body.without_terminator())
    if (isa<tensor::EmptyOp, func::CallOp>(op))
      old.push_back(&op);
  for (Operation *op : old) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      exposeCall(call);
      continue;
    }
    b.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    memory[op->getResult(0)] = placeholder(type);
  }
  b.setInsertionPoint(returnOp);
  returnOp->setOperands(status);
  for (Operation *op : llvm::reverse(old))
    op->erase();
}

void attn::exposeCalls(func::FuncOp function, func::ReturnOp returnOp) {
  CallExposer(function, returnOp).run();
}
