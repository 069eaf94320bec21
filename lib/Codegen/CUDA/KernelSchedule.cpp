// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the schedule of a kernel.

#include "KernelSchedule.h"

#include "attn/IR/AttnDialect.h"

using namespace mlir;
using namespace mlir::attn;

KernelSchedule KernelSchedule::get(gpu::GPUFuncOp function) {
  auto schedule = function->getAttrOfType<ScheduleAttr>("attn.schedule");
  if (!schedule)
    return {};
  return {schedule.getLanes()};
}
