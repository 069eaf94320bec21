// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which features of the CPU an entry must ask for before it runs compiled code.

#ifndef ATTN_TARGET_CPU_RUNTIMEFEATURES_H
#define ATTN_TARGET_CPU_RUNTIMEFEATURES_H

#include "attn/Target/TargetInfo.h"

namespace mlir::attn {

/// Attribute of llvm functions that run before the CPU has been asked: they are
/// compiled for the oldest CPU of the architecture.
inline constexpr llvm::StringLiteral kBaselineAttrName = "attn-baseline";

/// Return the features of `target` as the bits that attn_rt_check_cpu takes; 0
/// where there is nothing to ask.
uint64_t getRuntimeFeatures(const TargetInfo &target);

} // namespace mlir::attn

#endif // ATTN_TARGET_CPU_RUNTIMEFEATURES_H
