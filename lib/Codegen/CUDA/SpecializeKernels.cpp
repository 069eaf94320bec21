// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that copy 16 bytes at once need rows that begin at multiples of 16 bytes. Whether they do is known when a kernel
// is launched, so there are two of each:
//
//   gpu.launch_func @kernels::@k ... args(%q : memref<?x64xf16, strided<[?, ?], offset: ?>>)
//
// becomes
//
//   %fits = ...            rows are contiguous and fewer than 2^30; their addresses are multiples of 16 bytes
//   scf.if %fits {
//     gpu.launch_func @kernels::@k ...          attn.aligned = true
//   } else {
//     gpu.launch_func @kernels::@k_any ...      attn.aligned = false
//   }

#include "GpuUnits.h"
#include "KernelAttrs.h"
#include "ProductReads.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_SPECIALIZEKERNELS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Rows that are counted in 32 bits, with room for a block behind them.
constexpr int64_t kMostRows = int64_t(1) << 30;

/// Whether `index` is known to be a multiple of the numbers in a chunk.
static bool isChunkStart(OpFoldResult index, int64_t elementBytes) {
  if (std::optional<int64_t> value = getConstantIntValue(index))
    return *value * elementBytes % kChunkBytes == 0;
  scf::ForOp loop = scf::getForInductionVarOwner(cast<Value>(index));
  return loop && isChunkStart(loop.getLowerBound(), elementBytes) &&
         isChunkStart(loop.getStep(), elementBytes);
}

/// The argument of the kernel that `memory` is a part of, if rows of both begin
/// at multiples of 16 bytes when those of the argument do; else null.
static BlockArgument argumentOf(Value memory, int64_t elementBytes) {
  while (auto part = memory.getDefiningOp<memref::SubViewOp>()) {
    int64_t last = part.getSourceType().getRank() - 1;
    if (!isChunkStart(part.getMixedOffsets()[last], elementBytes) ||
        !isConstantIntValue(part.getMixedStrides()[last], 1) ||
        part.getDroppedDims().test(last))
      return {};
    memory = part.getSource();
  }
  return dyn_cast<BlockArgument>(memory);
}

/// The arguments of `function` that products read, if copies of whole chunks can
/// serve all of them under conditions on these alone; else none.
static SmallVector<unsigned> stagedArguments(gpu::GPUFuncOp function) {
  llvm::SetVector<unsigned> arguments;
  WalkResult result = function.walk([&](vector::TransferReadOp read) {
    if (!isReadByProduct(read))
      return WalkResult::advance();
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    int64_t bytes = read.getVectorType().getElementTypeBitWidth() / 8;
    if (!type || !read.getPermutationMap().isMinorIdentity() ||
        !isChunkStart(read.getIndices().back(), bytes))
      return WalkResult::interrupt();
    BlockArgument argument = argumentOf(read.getBase(), bytes);
    if (!argument || argument.getOwner() != &function.getBody().front())
      return WalkResult::interrupt();
    arguments.insert(argument.getArgNumber());
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return {};
  return llvm::to_vector(arguments);
}

/// Build whether rows of `memory` are contiguous and begin at multiples of 16
/// bytes, and their number has 30 bits.
static Value buildFits(OpBuilder &b, Location loc, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  auto data = memref::ExtractStridedMetadataOp::create(b, loc, memory);
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value all = data.getOffset();
  for (Value stride : data.getStrides().drop_back())
    all = arith::OrIOp::create(b, loc, all, stride);
  Value bytes = constant(type.getElementTypeBitWidth() / 8);
  all = arith::MulIOp::create(b, loc, all, bytes);
  all = arith::OrIOp::create(b, loc, all, start);
  all = arith::AndIOp::create(b, loc, all, constant(kChunkBytes - 1));
  Value aligned =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, all, constant(0));
  Value contiguous = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq, data.getStrides().back(), constant(1));
  Value fits = arith::AndIOp::create(b, loc, aligned, contiguous);
  for (auto [i, extent] : llvm::enumerate(data.getSizes())) {
    if (!type.isDynamicDim(i))
      continue;
    Value small = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                        extent, constant(kMostRows));
    fits = arith::AndIOp::create(b, loc, fits, small);
  }
  return fits;
}

/// Let `number`, of 31 bits with a sign or, if `isExtent`, of 30 without, be one to
/// all that is computed from it.
static void narrow(Value number, bool isExtent) {
  OpBuilder b(number.getContext());
  b.setInsertionPointAfterValue(number);
  Location loc = number.getLoc();
  Type i32 = b.getI32Type(), index = b.getIndexType();
  Value word = arith::IndexCastOp::create(b, loc, i32, number), narrow;
  if (isExtent) {
    Value bits = arith::ConstantIntOp::create(b, loc, kMostRows - 1, 32);
    Value low = arith::AndIOp::create(b, loc, word, bits);
    narrow = arith::IndexCastUIOp::create(b, loc, index, low);
  } else {
    Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
    Value high = arith::ShLIOp::create(b, loc, word, one);
    Value back = arith::ShRSIOp::create(b, loc, high, one);
    narrow = arith::IndexCastOp::create(b, loc, index, back);
  }
  number.replaceAllUsesExcept(narrow, word.getDefiningOp());
}

/// Let extents of `arguments` that `function` asks for be narrow.
static void narrowExtents(gpu::GPUFuncOp function,
                          ArrayRef<unsigned> arguments) {
  SmallVector<memref::DimOp> extents;
  for (unsigned argument : arguments)
    for (Operation *user : function.getArgument(argument).getUsers())
      if (auto extent = dyn_cast<memref::DimOp>(user))
        extents.push_back(extent);
  for (memref::DimOp extent : extents)
    narrow(extent, /*isExtent=*/true);
}

/// Whether `value` is an extent of one of the `arguments` of `launch`, or a constant
/// that is no larger.
static bool isExtent(Value value, gpu::LaunchFuncOp launch,
                     ArrayRef<unsigned> arguments) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0 && *constant < kMostRows;
  auto extent = value.getDefiningOp<memref::DimOp>();
  return extent && llvm::any_of(arguments, [&](unsigned argument) {
           return launch.getKernelOperand(argument) == extent.getSource();
         });
}

/// Let numbers that all `launches` hand to `function` be narrow where they are extents
/// of `arguments`, or the difference of two.
static void narrowNumbers(gpu::GPUFuncOp function,
                          ArrayRef<gpu::LaunchFuncOp> launches,
                          ArrayRef<unsigned> arguments) {
  for (BlockArgument argument : function.getArguments()) {
    if (!argument.getType().isIndex() || argument.use_empty())
      continue;
    auto areAll = [&](function_ref<bool(Value, gpu::LaunchFuncOp)> is) {
      return llvm::all_of(launches, [&](gpu::LaunchFuncOp launch) {
        return is(launch.getKernelOperand(argument.getArgNumber()), launch);
      });
    };
    auto isExtentOf = [&](Value value, gpu::LaunchFuncOp launch) {
      return isExtent(value, launch, arguments);
    };
    auto isDifferenceOf = [&](Value value, gpu::LaunchFuncOp launch) {
      auto difference = value.getDefiningOp<arith::SubIOp>();
      return difference && isExtentOf(difference.getLhs(), launch) &&
             isExtentOf(difference.getRhs(), launch);
    };
    if (areAll(isExtentOf))
      narrow(argument, /*isExtent=*/true);
    else if (areAll(isDifferenceOf))
      narrow(argument, /*isExtent=*/false);
  }
}

/// Make the two kernels of `function`, and return the name of the second one.
static StringAttr splitKernel(gpu::GPUFuncOp function,
                              ArrayRef<gpu::LaunchFuncOp> launches,
                              ArrayRef<unsigned> arguments) {
  OpBuilder b(function.getContext());
  auto any = function.clone();
  any.setName((function.getName() + "_any").str());
  any->setAttr(kAlignedAttrName, b.getBoolAttr(false));
  function->setAttr(kAlignedAttrName, b.getBoolAttr(true));
  narrowExtents(function, arguments);
  narrowNumbers(function, launches, arguments);
  SymbolTable symbols(function->getParentOp());
  return symbols.insert(any, std::next(Block::iterator(function)));
}

static void splitLaunch(gpu::LaunchFuncOp launch, StringAttr any,
                        ArrayRef<unsigned> arguments) {
  OpBuilder b(launch);
  Location loc = launch.getLoc();
  Value fits;
  for (unsigned argument : arguments) {
    Value mine = buildFits(b, loc, launch.getKernelOperand(argument));
    fits = fits ? arith::AndIOp::create(b, loc, fits, mine) : mine;
  }
  auto branch = scf::IfOp::create(b, loc, fits, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  auto other = cast<gpu::LaunchFuncOp>(b.clone(*launch));
  other.setKernelAttr(SymbolRefAttr::get(launch.getKernelModuleName(),
                                         {FlatSymbolRefAttr::get(any)}));
  launch->moveBefore(branch.thenBlock()->getTerminator());
}

namespace {
struct SpecializeKernels
    : public attn::impl::SpecializeKernelsBase<SpecializeKernels> {
  void runOnOperation() override {
    llvm::MapVector<gpu::GPUFuncOp, SmallVector<gpu::LaunchFuncOp>> launches;
    getOperation().walk([&](gpu::LaunchFuncOp launch) {
      auto function = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernelAttr());
      if (function && function->hasAttr(kScheduleAttrName))
        launches[function].push_back(launch);
    });
    for (auto &[function, ofFunction] : launches) {
      SmallVector<unsigned> arguments = stagedArguments(function);
      if (arguments.empty())
        continue;
      StringAttr any = splitKernel(function, ofFunction, arguments);
      for (gpu::LaunchFuncOp launch : ofFunction)
        splitLaunch(launch, any, arguments);
    }
  }
};
} // namespace
