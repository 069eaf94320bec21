// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bufferizes attn.call, whose callee works on memory already:
//
//   %y = attn.call @attn.task(%x : tensor<8xf32>) outs(%to : tensor<8xf32>) -> tensor<8xf32>
//
// becomes
//
//   %a = memref.cast %x ...
//   %b = memref.cast %to ...
//   %status = call @attn.task(%a, %b)
//
// Results are the memory of the outputs. The status is PlaceScratch's to look at.

#include "attn/Codegen/CallBufferization.h"
#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::bufferization;

/// Return whether `type` says that its innermost stride is 1.
static bool isDense(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         (strides.empty() || strides.back() == 1);
}

/// Return `memory` as memory of type `wanted`: the same, or, where that needs an
/// innermost stride of 1 that is not there, a copy.
static Value toType(RewriterBase &b, Location loc, Value memory,
                    MemRefType wanted) {
  auto type = cast<MemRefType>(memory.getType());
  if (type == wanted)
    return memory;
  if (isDense(wanted) && !isDense(type)) {
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(b, loc, memory, dim));
    Value copy = memref::AllocOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()), sizes);
    memref::CopyOp::create(b, loc, memory, copy);
    memory = copy;
  }
  return memref::CastOp::create(b, loc, wanted, memory);
}

namespace {
struct CallInterface
    : DstBufferizableOpInterfaceExternalModel<CallInterface, attn::CallOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &b,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto call = cast<attn::CallOp>(op);
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    if (!callee || callee.getNumResults() != 1 ||
        !callee.getResultTypes().front().isInteger(32))
      return op->emitOpError() << "expects 'callee' to work on memory";
    SmallVector<Value> operands, outputs;
    for (auto [operand, wanted] :
         llvm::zip(op->getOpOperands(), callee.getArgumentTypes())) {
      if (!isa<TensorType>(operand.get().getType())) {
        operands.push_back(operand.get());
        continue;
      }
      FailureOr<Value> memory = getBuffer(b, operand.get(), options, state);
      auto type = dyn_cast<MemRefType>(wanted);
      if (failed(memory) || !type)
        return failure();
      if (call.isDpsInit(&operand)) {
        if (!isDense(cast<MemRefType>(memory->getType())))
          return op->emitOpError()
                 << "expects outputs whose innermost stride is 1";
        outputs.push_back(*memory);
      }
      operands.push_back(toType(b, op->getLoc(), *memory, type));
    }
    func::CallOp::create(b, op->getLoc(), callee, operands);
    replaceOpWithBufferizedValues(b, op, outputs);
    return success();
  }
};
} // namespace

void attn::registerCallBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    attn::CallOp::attachInterface<CallInterface>(*context);
  });
}
