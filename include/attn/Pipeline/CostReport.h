// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints what each attention of a module needs, for people and as JSON.

#ifndef ATTN_PIPELINE_COSTREPORT_H
#define ATTN_PIPELINE_COSTREPORT_H

#include "attn/Analysis/CostModel.h"
#include "attn/Analysis/Formula.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::attn {

struct CostReportOptions {
  /// Sizes of dynamic dimensions; `threads` is 1 unless it is here.
  Sizes sizes;
  /// What the machine does at most; without it no time is expected.
  std::optional<MachineLimits> limits;
  /// As CompileOptions::target.
  std::string target;
  bool json = false;
};

/// Return the sizes in `text`: M=1024,N=1024. Fails with what is wrong about it.
llvm::Expected<Sizes> parseSizes(StringRef text);

/// Return the peaks in `text`: fma=200,gemm=180,read=40.
llvm::Expected<MachineLimits> parseLimits(StringRef text);

/// Return options with what both texts say; peaks may be empty.
llvm::Expected<CostReportOptions> parseReportOptions(StringRef sizes,
                                                     StringRef peaks);

/// Print what each attention in `module` needs.
void printCostReport(ModuleOp module, const CostReportOptions &options,
                     raw_ostream &os);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_COSTREPORT_H
