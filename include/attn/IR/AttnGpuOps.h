// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `attn_gpu` and its ops.

#ifndef ATTN_IR_ATTNGPUOPS_H
#define ATTN_IR_ATTNGPUOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attn/IR/AttnGpuDialect.h.inc"

#define GET_OP_CLASSES
#include "attn/IR/AttnGpuOps.h.inc"

#endif // ATTN_IR_ATTNGPUOPS_H
