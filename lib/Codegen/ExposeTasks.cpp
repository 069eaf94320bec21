// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of ExposeBuffers for the functions of ShareTasks:
//
//   func.func private @attn.task(%x: tensor<8xf32>, %n: index, %to: tensor<8xf32>) -> tensor<8xf32> {
//     %y = ...
//     return %y
//
// becomes
//
//   func.func private @attn.task(%a: memref<...>, %n: index, %b: memref<...>) -> i32 {
//     %x = bufferization.to_tensor %a restrict
//     %to = bufferization.to_tensor %b restrict writable
//     %y = ...
//     bufferization.materialize_in_destination %y in restrict writable %b
//     return %c0_i32
//
// Numbers stay numbers: only our own code calls such a function.

#include "ExposeBuffers.h"

#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn;

void attn::exposeTask(func::FuncOp function, func::ReturnOp returnOp) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  unsigned inputs = function.getNumArguments() - returnOp.getNumOperands();
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    unsigned number = argument.getArgNumber();
    bool isOutput = number >= inputs;
    argument.setType(getBufferType(
        type, isOutput || function.getArgAttr(number, kDenseAttrName)));
    auto tensor = bufferization::ToTensorOp::create(b, argument.getLoc(), type,
                                                    argument, /*restrict=*/true,
                                                    /*writable=*/isOutput);
    argument.replaceAllUsesExcept(tensor.getResult(), tensor);
  }
  b.setInsertionPoint(returnOp);
  Location loc = returnOp.getLoc();
  for (auto [result, memory] : llvm::zip(
           returnOp.getOperands(), function.getArguments().drop_front(inputs)))
    bufferization::MaterializeInDestinationOp::create(
        b, loc, /*result=*/Type(), result, memory, /*restrict=*/false,
        /*writable=*/true);
  Value good = arith::ConstantIntOp::create(b, loc, 0, 32);
  returnOp.getOperandsMutable().assign(good);
}
