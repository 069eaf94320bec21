// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches kernels through the run-time library, which knows the driver:
//
//   gpu.launch_func @kernels::@f_k0 blocks in (%x, %y, %z) threads in (%c128, %c1, %c1) args(%m : memref<?xf32>)
//
// becomes
//
//   %words = llvm.alloca %c5 x i64      // pointer, pointer, offset, extent, stride
//   llvm.call @attn_rt_cuda_launch(%call, %c0, %x, %y, %z, %c128, %c1, %c1, %shared, %words, %c5)
//
// A kernel's parameter is a pointer to its word, so every type of at most 64 bits goes the same way.

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Signature.h"
#include "attn/Codegen/Workspace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_LAUNCHESTOCALLS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Rewrites the launches of one function.
class LaunchLowering {
public:
  LaunchLowering(func::FuncOp function, Value call,
                 const llvm::StringMap<int64_t> &numbers)
      : b(function.getContext()), loc(function.getLoc()), call(call),
        numbers(numbers), ptr(LLVM::LLVMPointerType::get(b.getContext())) {}

  void lower(gpu::LaunchFuncOp launch);

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, /*width=*/64);
  }
  Value toWord(Value value);
  void addMemRef(Value memory, SmallVectorImpl<Value> &words);

  OpBuilder b;
  Location loc;
  Value call;
  const llvm::StringMap<int64_t> &numbers;
  Type ptr;
};
} // namespace

/// Return `value`, a number of at most 64 bits, in the low bits of a word.
Value LaunchLowering::toWord(Value value) {
  Type type = value.getType(), i64 = b.getI64Type();
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(b, loc, i64, value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(
        b, loc, b.getIntegerType(type.getIntOrFloatBitWidth()), value);
  if (value.getType().isInteger(64))
    return value;
  return arith::ExtUIOp::create(b, loc, i64, value);
}

/// Add the words of a descriptor.
void LaunchLowering::addMemRef(Value memory, SmallVectorImpl<Value> &words) {
  // The aligned pointer stands for both, as nothing is ever freed.
  Value pointer =
      toWord(memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory));
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  words.append({pointer, pointer, toWord(metadata.getOffset())});
  for (Value extent : metadata.getSizes())
    words.push_back(toWord(extent));
  for (Value stride : metadata.getStrides())
    words.push_back(toWord(stride));
}

void LaunchLowering::lower(gpu::LaunchFuncOp launch) {
  b.setInsertionPoint(launch);
  loc = launch.getLoc();
  SmallVector<Value> words;
  for (Value operand : launch.getKernelOperands()) {
    if (isa<MemRefType>(operand.getType()))
      addMemRef(operand, words);
    else
      words.push_back(toWord(operand));
  }
  // A loop may launch often, but the stack is given back at the end only.
  Value array;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(
        &launch->getParentOfType<func::FuncOp>().getBody().front());
    array = LLVM::AllocaOp::create(b, loc, ptr, b.getI64Type(),
                                   constant(words.size() + 1));
  }
  for (auto [index, word] : llvm::enumerate(words)) {
    Value place = LLVM::GEPOp::create(b, loc, ptr, b.getI64Type(), array,
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, loc, word, place);
  }
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  SmallVector<Value> arguments = {
      call, constant(numbers.lookup(launch.getKernelName().getValue()))};
  for (Value size : {grid.x, grid.y, grid.z, block.x, block.y, block.z})
    arguments.push_back(toWord(size));
  Value shared = launch.getDynamicSharedMemorySize();
  arguments.push_back(shared ? toWord(shared) : constant(0));
  arguments.append({array, constant(words.size())});
  LLVM::CallOp::create(b, loc, TypeRange(), "attn_rt_cuda_launch", arguments);
  launch.erase();
}

/// Declare what launches call.
static void declareLaunch(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  SmallVector<Type> types(9, i64);
  types.front() = ptr;
  types.append({ptr, i64});
  LLVM::LLVMFuncOp::create(b, module.getLoc(), "attn_rt_cuda_launch",
                           LLVM::LLVMFunctionType::get(
                               LLVM::LLVMVoidType::get(b.getContext()), types));
}

/// Give `function` the argument that all launches pass on.
static Value addCallArgument(func::FuncOp function) {
  Block &entry = function.getBody().front();
  Value call = entry.addArgument(
      LLVM::LLVMPointerType::get(function.getContext()), function.getLoc());
  function.setType(FunctionType::get(function.getContext(),
                                     entry.getArgumentTypes(),
                                     function.getResultTypes()));
  return call;
}

namespace {
struct LaunchesToCalls : attn::impl::LaunchesToCallsBase<LaunchesToCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<int64_t> numbers;
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
        if (kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) ||
            kernel->hasAttr("nvvm.kernel"))
          numbers.try_emplace(kernel.getName(), numbers.size());
    declareLaunch(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function->hasAttr(kSignatureAttrName))
        continue;
      LaunchLowering lowering(function, addCallArgument(function), numbers);
      function.walk([&](gpu::LaunchFuncOp launch) { lowering.lower(launch); });
    }
  }
};
} // namespace
