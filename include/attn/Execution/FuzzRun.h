// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles and calls what a case of the fuzzer describes, and says what is wrong about it.

#ifndef ATTN_EXECUTION_FUZZRUN_H
#define ATTN_EXECUTION_FUZZRUN_H

#include "attn/Execution/Executor.h"
#include "attn/Execution/FuzzCase.h"

#include "mlir/IR/OwningOpRef.h"

namespace mlir::attn {

/// What is wrong about a case; none if nothing is.
using Complaint = std::optional<std::string>;

/// The function of one case, compiled. It also serves cases that differ in
/// dynamic extents and in data.
class FuzzFunction {
public:
  /// Compile the function. `complaint` is set where the module is refused and
  /// should not be, or the reverse.
  static std::unique_ptr<FuzzFunction>
  compile(MLIRContext &context, const FuzzCase &fuzz, Complaint &complaint);

  /// Call the function and judge what it gives.
  Complaint run(const FuzzCase &fuzz) const;

  /// Return how many programs of blocks of threads calls have run so far.
  uint64_t countBlockLaunches() const { return executor->countBlockLaunches(); }

private:
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Executor> executor;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZRUN_H
