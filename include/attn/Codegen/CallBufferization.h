// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How attn.call becomes a call of a function on memory.

#ifndef ATTN_CODEGEN_CALLBUFFERIZATION_H
#define ATTN_CODEGEN_CALLBUFFERIZATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::attn {

/// Let one-shot-bufferize know attn.call.
void registerCallBufferization(DialectRegistry &registry);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_CALLBUFFERIZATION_H
