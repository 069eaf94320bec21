// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes about the road as a whole.

#ifndef ATTN_PIPELINE_PASSES_H
#define ATTN_PIPELINE_PASSES_H

#include "attn/IR/AttnDialect.h"
#include "attn/Pipeline/ScheduleRecord.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mlir::attn {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "attn/Pipeline/Passes.h.inc"

/// Return the precision that `name` names. Fails if there is none.
llvm::Expected<Precision> parsePrecision(StringRef name);

/// Give attention and layers of f32 in `module` that have no precision this one.
void setPrecision(ModuleOp module, Precision precision);

/// Return attn-apply-record for a record in memory.
std::unique_ptr<Pass>
createApplyRecord(std::shared_ptr<const ScheduleRecord> record);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_PASSES_H
