// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything of ours that a tool registers, in one place; a tool that calls these links `ATTN_COMPILER_LIBS`.

#ifndef ATTN_INITALL_H
#define ATTN_INITALL_H

#include "attn/Codegen/CallBufferization.h"
#include "attn/Codegen/CpuPasses.h"
#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Passes.h"
#include "attn/Conversion/Passes.h"
#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttnGpuOps.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"

namespace mlir::attn {

/// Add the dialects to `registry`.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<AttnDialect, attn_gpu::AttnGpuDialect>();
}

/// Add what the passes of phase `buffers` need to know of the dialects.
inline void registerAllExtensions(DialectRegistry &registry) {
  registerCallBufferization(registry);
}

/// Register all passes and pipelines under their names.
inline void registerAllPasses() {
  registerAttnTransformsPasses();
  registerAttnConversionPasses();
  registerAttnCodegenPasses();
  registerAttnCpuPasses();
  registerAttnCudaPasses();
  registerAttnPipelinePasses();
  registerPipelines();
}

} // namespace mlir::attn

#endif // ATTN_INITALL_H
