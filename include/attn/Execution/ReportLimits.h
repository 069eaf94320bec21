// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report on costs compares them with.

#ifndef ATTN_EXECUTION_REPORTLIMITS_H
#define ATTN_EXECUTION_REPORTLIMITS_H

#include "attn/Pipeline/CostReport.h"

namespace mlir::attn {

/// Unless `options` have limits, add those of their target's first GPU, from its data
/// sheet, or of this machine, which are measured.
void addLimits(CostReportOptions &options);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_REPORTLIMITS_H
