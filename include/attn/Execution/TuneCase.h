// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One attention of a program as a program of its own, so that schedules for it can be timed.

#ifndef ATTN_EXECUTION_TUNECASE_H
#define ATTN_EXECUTION_TUNECASE_H

#include "attn/Analysis/ScheduleNeighbors.h"
#include "attn/Execution/Tensor.h"
#include "attn/IR/AttnOps.h"

#include "mlir/IR/OwningOpRef.h"

namespace mlir::attn {

/// An attn.sdpa of a module after phase core, with the kernel for few or for many
/// rows. The module must stay.
class TuneCase {
public:
  TuneCase(SdpaOp op, bool few);

  /// The name of the function in what buildModule returns.
  static constexpr llvm::StringLiteral kFunction = "tuned";

  /// Return what a record calls the op.
  StringRef getKey() const { return key; }

  /// Return where the op comes from.
  Location getLoc() const { return SdpaOp(op).getLoc(); }

  /// Return what the cost model chooses.
  ScheduleAttr getChoice() const;

  /// Return what the candidates must fit.
  const ScheduleSite &getSite() const { return site; }

  /// Return a module for the same target with a function that is the op, with
  /// `schedule`, and takes all of its operands that are no constants.
  OwningOpRef<ModuleOp> buildModule(ScheduleAttr schedule) const;

  /// Return arguments for the function. A representative size stands for what is
  /// dynamic, and lengths are those of the keys.
  llvm::Expected<SmallVector<HostTensor>> createInputs() const;

private:
  SdpaOp op;
  bool few;
  std::string key;
  ScheduleSite site;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_TUNECASE_H
