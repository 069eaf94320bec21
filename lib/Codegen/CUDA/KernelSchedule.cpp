// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the schedule of a kernel.

#include "KernelSchedule.h"

#include "KernelAttrs.h"

#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttrNames.h"

using namespace mlir;
using namespace mlir::attn;

KernelSchedule KernelSchedule::get(gpu::GPUFuncOp function) {
  auto schedule = function->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  if (!schedule)
    return {};
  int64_t parts = 0;
  if (schedule.getPrecision() != Precision::Exact)
    parts = schedule.getPrecision() == Precision::Tf32 ? 1 : 2;
  auto aligned = function->getAttrOfType<BoolAttr>(kAlignedAttrName);
  return {schedule.getLanes(), parts, aligned && !aligned.getValue()};
}
