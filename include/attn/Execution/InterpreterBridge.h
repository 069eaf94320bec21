// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between host tensors and the values that the interpreter works on.

#ifndef ATTN_EXECUTION_INTERPRETERBRIDGE_H
#define ATTN_EXECUTION_INTERPRETERBRIDGE_H

#include "attn/Execution/Tensor.h"
#include "attn/Interpreter/Interpreter.h"

namespace mlir::attn {

/// Return the kind of host element that holds `type`, or none.
std::optional<ElementKind> getElementKind(Type type);

/// Return what `tensor` is to a program that takes a value of `type`.
RuntimeValue toRuntimeValue(const HostTensor &tensor, Type type);

/// Return `value` with elements of `kind`; a scalar gives a tensor of rank 0.
llvm::Expected<HostTensor> toHostTensor(const RuntimeValue &value,
                                        ElementKind kind, bool isFloat);

/// Interpret `function` on host tensors. Floats of the results are kept in f64
/// for exact arithmetic, else in their own type; integers in i64.
llvm::Expected<SmallVector<HostTensor>>
interpretOnHost(func::FuncOp function, ArrayRef<HostTensor> inputs,
                Arithmetic arithmetic, AttentionStatistics &statistics);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_INTERPRETERBRIDGE_H
