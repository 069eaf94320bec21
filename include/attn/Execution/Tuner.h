// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures which schedules are fastest on this machine.

#ifndef ATTN_EXECUTION_TUNER_H
#define ATTN_EXECUTION_TUNER_H

#include "attn/Pipeline/Options.h"
#include "attn/Pipeline/ScheduleRecord.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::attn {

/// Measure schedules for each attn.sdpa of `module`, which is left as it is, that
/// has none and that `record` does not know, and add the fastest to `record`. Takes
/// about `seconds`, shared out among the ops: what the cost model chooses is
/// measured even if that takes longer. Compiles as `options` say. Fails where their
/// target, or the machine of `record`, is not this one.
llvm::Error tuneSchedules(ModuleOp module, const CompileOptions &options,
                          double seconds, ScheduleRecord &record);

/// Fails unless schedules can be measured for `seconds` with what `options` ask for.
llvm::Error checkTuning(const CompileOptions &options, double seconds);

/// Return the record that `file` holds, where one is named. With more than 0
/// `seconds`, measure what is not there and write it back; then there may be no such
/// file yet.
llvm::Expected<std::shared_ptr<const ScheduleRecord>>
openRecord(ModuleOp module, const CompileOptions &options, double seconds,
           StringRef file);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_TUNER_H
