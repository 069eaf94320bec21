// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a region to the steps that the reference runs.

#ifndef ATTN_LIB_EXECUTION_REGIONCOMPILE_H
#define ATTN_LIB_EXECUTION_REGIONCOMPILE_H

#include "attn/Execution/RegionFunction.h"

#include "mlir/IR/Region.h"

#include <memory>

namespace mlir::attn {

/// Return `region` as a function that reads `arguments` of the function around
/// it, or null where it holds an operation that has no step, or captures anything
/// but an argument. Without arguments that question alone is answered.
std::shared_ptr<const RegionFunction>
compileRegion(Region &region, ArrayRef<HostTensor> arguments = {});

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_REGIONCOMPILE_H
