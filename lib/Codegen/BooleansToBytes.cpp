// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps booleans in memory as bytes, as DLPack and all frameworks do:
//
//   %x = tensor.extract %mask[%i] : tensor<8xi1>
//
// becomes
//
//   %byte = tensor.extract %mask[%i] : tensor<8xi8>
//   %x = arith.cmpi ne, %byte, %c0_i8 : i8
//
// A load of vector<16xi1> would read two packed bytes.

#include "attn/Codegen/Passes.h"
#include "attn/IR/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::attn {
#define GEN_PASS_DEF_BOOLEANSTOBYTES
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static bool isBooleanTensor(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && tensor.getElementType().isInteger(1);
}

/// Return `type` with bytes for booleans.
static Type toBytes(Type type) {
  if (!isBooleanTensor(type))
    return type;
  return cast<TensorType>(type).clone(IntegerType::get(type.getContext(), 8));
}

/// Return a byte that is 1 or 0 for the i1 `value`.
static Value widen(OpBuilder &b, Location loc, Value value) {
  return arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
}

/// Make `value`, which has become an i8, an i1 for all that use it.
static void narrowUses(OpBuilder &b, Location loc, Value value) {
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
  auto narrow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  value.replaceAllUsesExcept(narrow, narrow);
}

/// Return true if `op` moves elements and looks at none.
static bool onlyMoves(Operation *op) {
  return isa<tensor::TensorDialect, scf::SCFDialect,
             bufferization::BufferizationDialect, AttnDialect>(
             op->getDialect()) ||
         isa<linalg::PackOp, linalg::UnPackOp, func::ReturnOp,
             UnrealizedConversionCastOp>(op);
}

/// The values of a function that were tensors of i1.
using Booleans = llvm::DenseSet<Value>;

/// Rewrite the body of a linalg op: arguments that stand for elements of
/// boolean tensors are bytes now, and so is what is yielded for them.
static void rewriteBody(OpBuilder &b, linalg::LinalgOp op,
                        const Booleans &booleans) {
  Block *body = op.getBlock();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  llvm::SmallSetVector<Value, 4> bytes;
  SmallVector<bool> yieldsByte;
  for (OpOperand &init : op.getDpsInitsMutable())
    yieldsByte.push_back(booleans.contains(init.get()));
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (booleans.contains(operand.get())) {
      argument.setType(b.getI8Type());
      bytes.insert(argument);
    }
  }
  // What is passed on unchanged needs no i1 in between.
  for (auto [operand, isByte] :
       llvm::zip_equal(yield->getOpOperands(), yieldsByte)) {
    if (!isByte || bytes.contains(operand.get()))
      continue;
    b.setInsertionPoint(yield);
    operand.set(widen(b, yield.getLoc(), operand.get()));
  }
  b.setInsertionPointToStart(body);
  for (Value argument : bytes)
    if (llvm::any_of(argument.getUsers(),
                     [&](Operation *user) { return user != yield; })) {
      SmallVector<Value> yielded(yield->getOperands());
      narrowUses(b, op.getLoc(), argument);
      yield->setOperands(yielded);
    }
}

/// Widen the i1 operand number `index` of `op`.
static void widenOperand(OpBuilder &b, Operation *op, unsigned index) {
  b.setInsertionPoint(op);
  op->setOperand(index, widen(b, op->getLoc(), op->getOperand(index)));
}

/// Widen what the region of `op` yields as an element.
static void widenYield(OpBuilder &b, Region &region) {
  Operation *yield = region.front().getTerminator();
  widenOperand(b, yield, 0);
}

/// Fill with bytes. The op is made anew because its body follows from its types.
static void rewriteFill(OpBuilder &b, linalg::FillOp op, Booleans &booleans) {
  Value byte = widen(b, op.getLoc(), op.value());
  auto bytes = linalg::FillOp::create(b, op.getLoc(), byte, op.output());
  booleans.insert(bytes.result());
  op->replaceAllUsesWith(bytes);
  op.erase();
}

/// Change what `op` does to elements of its operands and results in `booleans`,
/// which are tensors of bytes now.
static LogicalResult rewriteOp(OpBuilder &b, Operation *op,
                               Booleans &booleans) {
  auto touches = [&](ValueRange values) {
    return llvm::any_of(values,
                        [&](Value value) { return booleans.contains(value); });
  };
  if (!touches(op->getOperands()) && !touches(op->getResults()))
    return success();
  b.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) {
        auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!value)
          return failure();
        constant.setValueAttr(value.mapValues(
            b.getI8Type(), [](APInt bit) { return bit.zext(8); }));
        return success();
      })
      .Case([&](tensor::ExtractOp extract) {
        extract.getResult().setType(b.getI8Type());
        b.setInsertionPointAfter(extract);
        narrowUses(b, extract.getLoc(), extract.getResult());
        return success();
      })
      .Case<tensor::InsertOp, tensor::SplatOp>([&](Operation *) {
        widenOperand(b, op, 0);
        return success();
      })
      .Case([&](tensor::FromElementsOp) {
        for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
          widenOperand(b, op, i);
        return success();
      })
      .Case<tensor::GenerateOp, tensor::PadOp>([&](Operation *) {
        widenYield(b, op->getRegion(0));
        return success();
      })
      .Case([&](linalg::FillOp fill) {
        rewriteFill(b, fill, booleans);
        return success();
      })
      .Case([&](linalg::LinalgOp linalgOp) {
        rewriteBody(b, linalgOp, booleans);
        return success();
      })
      .Default([&](Operation *) { return success(onlyMoves(op)); });
}

/// Give everything in `function` that is a tensor of i1 its new type, and
/// return what that was.
static Booleans retype(func::FuncOp function) {
  Booleans booleans;
  auto retypeAll = [&](ValueRange values) {
    for (Value value : values) {
      if (!isBooleanTensor(value.getType()))
        continue;
      value.setType(toBytes(value.getType()));
      booleans.insert(value);
    }
  };
  function.walk([&](Operation *op) {
    retypeAll(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        retypeAll(block.getArguments());
  });
  auto all = [](ArrayRef<Type> types) {
    return llvm::map_to_vector(types, toBytes);
  };
  FunctionType type = function.getFunctionType();
  function.setType(FunctionType::get(
      function.getContext(), all(type.getInputs()), all(type.getResults())));
  return booleans;
}

namespace {
struct BooleansToBytes : attn::impl::BooleansToBytesBase<BooleansToBytes> {
  void runOnOperation() override {
    Booleans booleans = retype(getOperation());
    if (booleans.empty())
      return;
    OpBuilder builder(&getContext());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (op != getOperation())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(rewriteOp(builder, op, booleans))) {
        op->emitOpError("expects no tensor of i1 where booleans are bytes");
        return signalPassFailure();
      }
  }
};
} // namespace
