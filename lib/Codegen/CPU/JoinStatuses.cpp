// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of PlaceScratch for functions that call tasks, which may fail for want of memory:
//
//   %s = call @attn.task(...)
//   return %good
//
// becomes
//
//   %cell = memref.alloca() : memref<i32>
//   memref.store %good, %cell[]
//   %s = call @attn.task(...)
//   memref.store max(%s, memref.load %cell[]), %cell[]
//   return memref.load %cell[]
//
// A call may stand in a branch or in a loop: hence the cell, of which LLVM makes registers.

#include "JoinStatuses.h"

#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::attn;

void attn::joinStatuses(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (callee && callee->hasAttr(kTaskAttrName))
      calls.push_back(call);
  });
  if (calls.empty())
    return;
  Block &body = function.getBody().front();
  Location loc = function.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  auto type = MemRefType::get({}, b.getI32Type());
  Value cell = memref::AllocaOp::create(b, loc, type);
  Value good = arith::ConstantIntOp::create(b, loc, 0, 32);
  memref::StoreOp::create(b, loc, good, cell, ValueRange());
  auto join = [&](Value status) {
    Value before = memref::LoadOp::create(b, loc, cell, ValueRange());
    return arith::MaxSIOp::create(b, loc, before, status);
  };
  for (func::CallOp call : calls) {
    b.setInsertionPointAfter(call);
    memref::StoreOp::create(b, loc, join(call.getResult(0)), cell,
                            ValueRange());
  }
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  b.setInsertionPoint(terminator);
  Value all = join(terminator.getOperand(0));
  terminator->setOperand(0, all);
}
