// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of a GPU only: from tiles to vectors of blocks of threads, and from functions on memory to kernels and to what
// launches them.

#ifndef ATTN_CODEGEN_CUDAPASSES_H
#define ATTN_CODEGEN_CUDAPASSES_H

#include "attn/IR/AttnGpuOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::attn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Codegen/CudaPasses.h.inc"

/// Write the C header of the public functions on tensors in `module`, compiled for a
/// GPU: they take a workspace and a stream. Fails with a diagnostic where C cannot
/// call a function.
LogicalResult writeCudaHeader(ModuleOp module, llvm::raw_ostream &os);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_CUDAPASSES_H
