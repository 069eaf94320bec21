// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns remarks of all kinds on.

#include "attn/Pipeline/Remarks.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::attn;

LogicalResult attn::enableRemarks(MLIRContext &context, StringRef regex) {
  remark::RemarkCategories categories;
  std::string all = regex.empty() ? ".*" : regex.str();
  categories = {all, all, all, all, all};
  return remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}
