// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect attn_gpu and checks its ops.

#include "attn/IR/AttnGpuOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::attn_gpu;

#include "attn/IR/AttnGpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "attn/IR/AttnGpuOps.cpp.inc"

/// Columns that an instruction for a warpgroup has at most, and in steps of what.
constexpr int64_t kMostColumns = 256;
constexpr int64_t kColumnStep = 8;

/// Registers that hold a thread's part of the 64x16 numbers of A in one step.
constexpr size_t kRegistersA = 4;

namespace {
/// All ops may move into a caller.
struct AttnGpuInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void AttnGpuDialect::initialize() {
  addInterfaces<AttnGpuInlinerInterface>();
  addOperations<
#define GET_OP_LIST
#include "attn/IR/AttnGpuOps.cpp.inc"
      >();
}

int64_t WgmmaOp::getColumns() {
  auto type = cast<LLVM::LLVMStructType>(getAccumulator().getType());
  return 2 * static_cast<int64_t>(type.getBody().size());
}

LogicalResult WgmmaOp::verify() {
  // wgmma-C1
  auto type = cast<LLVM::LLVMStructType>(getAccumulator().getType());
  int64_t columns = getColumns();
  if (!llvm::all_of(type.getBody(), [](Type t) { return t.isF32(); }) ||
      columns == 0 || columns > kMostColumns || columns % kColumnStep != 0)
    return emitOpError() << "expects 'accumulator' to be a struct of 4, 8, ... "
                            "or 128 f32, got "
                         << type;
  // wgmma-C2
  if (getB().empty() || getA().size() != kRegistersA * getB().size())
    return emitOpError() << "expects 4 registers 'a' for each descriptor 'b', "
                            "and at least one descriptor, got "
                         << getA().size() << " and " << getB().size();
  return success();
}
