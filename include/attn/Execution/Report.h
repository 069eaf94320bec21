// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints what came out of a run, for people and for scripts.

#ifndef ATTN_EXECUTION_REPORT_H
#define ATTN_EXECUTION_REPORT_H

#include "attn/Execution/Runner.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace mlir::attn {

/// Print a line a result, and one for each thing that was asked; the verdict
/// comes last.
void printReport(const RunReport &report, raw_ostream &os);

/// Print `report` as one JSON object. A number that is not finite, which JSON
/// has no word for, is null.
void printJson(const RunReport &report, raw_ostream &os);

/// Write the fields of `measurement` into the object that `json` is in.
void writeMeasurement(const Measurement &measurement,
                      llvm::json::OStream &json);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_REPORT_H
