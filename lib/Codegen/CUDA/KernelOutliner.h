// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes the kernels of one function: OutlineKernels.cpp goes through it, KernelOutliner.cpp makes single kernels,
// OutlineForalls.cpp those of parallel loops.

#ifndef ATTN_LIB_CODEGEN_CUDA_KERNELOUTLINER_H
#define ATTN_LIB_CODEGEN_CUDA_KERNELOUTLINER_H

#include "DeviceValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {

/// Threads of a block where each computes an element.
inline constexpr int64_t kThreads = 128;
/// Threads of the block that checks data.
inline constexpr int64_t kCheckThreads = 512;
/// Blocks of a kernel whose number of elements the host cannot know.
inline constexpr int64_t kBlocksOfUnknown = 32;

/// How a kernel is launched.
struct LaunchShape {
  /// Blocks in x, y and z; null: 1.
  std::array<Value, 3> blocks;
  int64_t threads = 1;
};

/// Makes the kernels of one function.
class KernelOutliner {
public:
  KernelOutliner(func::FuncOp function, gpu::GPUModuleOp kernels)
      : function(function), kernels(kernels), b(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult visit(Block &block);
  LogicalResult visitOp(Operation *op);
  LogicalResult outlineLinalg(linalg::LinalgOp op);
  LogicalResult outlineSerial(Operation *op);
  LogicalResult outlineChecks(func::FuncOp checks);
  LogicalResult outlineSearches(scf::IfOp branch, Value words);

  /// One thread block a step of `forall`.
  LogicalResult outlineBlocks(scf::ForallOp forall, int64_t warps);

  /// One thread a step of `forall`.
  LogicalResult outlineForall(scf::ForallOp forall);

  /// Return true if every write to the memory of `load` comes before it on the
  /// host, so that a later kernel reads the same.
  bool isStable(memref::LoadOp load);

  /// Add what a kernel needs to compute `value`: parameters, and numbers of the
  /// device.
  LogicalResult collect(Value value, llvm::SetVector<Value> &params,
                        llvm::SetVector<Value> &onDevice);

  /// Create an empty kernel for `op` and launch it before. `mapping` then leads
  /// from what `op` uses to what the kernel has.
  FailureOr<gpu::GPUFuncOp> createKernel(Operation *op, LaunchShape shape,
                                         IRMapping &mapping);
  void launch(Operation *op, gpu::GPUFuncOp kernel, LaunchShape shape,
              ValueRange operands);
  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  /// Emit the work of this thread on `count` places: on one, or, where the host
  /// does not know how many there are, on every so manieth.
  void forPlaces(OpBuilder &builder, Location loc, Value count, bool isKnown,
                 function_ref<void(OpBuilder &, Value)> emit);

  func::FuncOp function;
  gpu::GPUModuleOp kernels;
  OpBuilder b;
  DeviceValues device;
  /// What each launch writes.
  llvm::MapVector<Operation *, SmallVector<Value>> writes;
  /// The status, where there are checks of data.
  Value status;
  int64_t count = 0;
};

/// Return the memory that `value` is a view of; views of the workspace are many
/// memories, which do not overlap.
Value getMemory(Value value);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_KERNELOUTLINER_H
