// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks attn.call.

#include "attn/IR/AttnOps.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // call-C1
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "expects 'callee' to name a function, got "
                         << getCalleeAttr();
  unsigned wanted = getInputs().size() + getOutputs().size();
  if (callee.getNumArguments() != wanted)
    return emitOpError() << "expects 'callee' to be a function of " << wanted
                         << " arguments, got " << callee.getNumArguments();
  return success();
}
