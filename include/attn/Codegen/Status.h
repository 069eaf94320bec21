// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled function returns.

#ifndef ATTN_CODEGEN_STATUS_H
#define ATTN_CODEGEN_STATUS_H

namespace mlir::attn {

/// The status of a call, threaded from where it arises to the function's return:
/// numbers of lib/Runtime/Errors.h, which the caller of an entry sees.
enum class Status : int { Good = 0, Strides = 6, OutOfMemory = 9 };

} // namespace mlir::attn

#endif // ATTN_CODEGEN_STATUS_H
