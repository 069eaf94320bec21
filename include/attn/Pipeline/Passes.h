// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes about the road as a whole.

#ifndef ATTN_PIPELINE_PASSES_H
#define ATTN_PIPELINE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::attn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Pipeline/Passes.h.inc"

} // namespace mlir::attn

#endif // ATTN_PIPELINE_PASSES_H
