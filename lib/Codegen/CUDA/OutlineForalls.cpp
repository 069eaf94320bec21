// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parallel loops as kernels: a thread block for each step where the schedule has warps, else a thread.

#include "GpuUnits.h"
#include "KernelOutliner.h"
#include "ThreadKernel.h"

#include "attn/IR/AttrNames.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::attn;

/// The most blocks along y and z. Along x there are 2^31 - 1.
static constexpr int64_t kMostBlocks = 65535;

/// Map the induction variables of `forall` to `numbers`, which count from 0.
static void mapInductionVars(OpBuilder &b, scf::ForallOp forall,
                             ValueRange numbers, IRMapping &mapping) {
  Location loc = forall.getLoc();
  for (auto [dim, number] : llvm::enumerate(numbers)) {
    auto get = [&](OpFoldResult value) {
      Value result = getValueOrCreateConstantIndexOp(b, loc, value);
      return mapping.lookupOrDefault(result);
    };
    Value step = get(forall.getMixedStep()[dim]);
    Value first = get(forall.getMixedLowerBound()[dim]);
    Value scaled = arith::MulIOp::create(b, loc, number, step);
    mapping.map(forall.getInductionVar(dim),
                arith::AddIOp::create(b, loc, first, scaled).getResult());
  }
}

/// Return how many steps dimension `dim` of `forall` has.
static Value countSteps(OpBuilder &b, scf::ForallOp forall, int64_t dim,
                        function_ref<Value(Value)> map) {
  Location loc = forall.getLoc();
  auto get = [&](OpFoldResult value) {
    return map(getValueOrCreateConstantIndexOp(b, loc, value));
  };
  Value first = get(forall.getMixedLowerBound()[dim]);
  Value end = get(forall.getMixedUpperBound()[dim]);
  Value extent = arith::SubIOp::create(
      b, loc, arith::MaxSIOp::create(b, loc, end, first), first);
  return arith::CeilDivUIOp::create(b, loc, extent,
                                    get(forall.getMixedStep()[dim]));
}

/// Clone the body of `forall`.
static void cloneBody(OpBuilder &b, scf::ForallOp forall, IRMapping &mapping) {
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, mapping);
}

/// Return the axis of the grid for each dimension of `forall`.
static FailureOr<SmallVector<gpu::Dimension>> getAxes(scf::ForallOp forall) {
  auto mapping = forall.getMapping();
  SmallVector<gpu::Dimension> axes;
  for (int64_t dim = 0; dim < forall.getRank(); ++dim) {
    auto block = mapping ? dyn_cast<gpu::GPUBlockMappingAttr>((*mapping)[dim])
                         : gpu::GPUBlockMappingAttr();
    if (!block || block.isLinearMapping() || block.getMappingId() > 2) {
      forall.emitOpError("expects a #gpu.block<x>, y or z for each dimension");
      return failure();
    }
    axes.push_back(static_cast<gpu::Dimension>(block.getMappingId()));
  }
  return axes;
}

/// Return whether dimension `dim` of `forall` may have more steps than a grid has
/// blocks along y and z.
static bool mayExceedGrid(scf::ForallOp forall, int64_t dim) {
  auto first = getConstantIntValue(forall.getMixedLowerBound()[dim]),
       end = getConstantIntValue(forall.getMixedUpperBound()[dim]),
       step = getConstantIntValue(forall.getMixedStep()[dim]);
  return !first || !end || !step ||
         llvm::divideCeil(std::max(*end - *first, int64_t(0)), *step) >
             kMostBlocks;
}

/// Return the dimensions of `forall` from that along z to that along x if their steps
/// have to be counted together, along x; else none.
static SmallVector<int64_t> getCountedTogether(scf::ForallOp forall,
                                               ArrayRef<gpu::Dimension> axes) {
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq(forall.getRank()));
  llvm::sort(dims, [&](int64_t a, int64_t b) { return axes[a] > axes[b]; });
  bool fits = llvm::none_of(dims, [&](int64_t dim) {
    return axes[dim] != gpu::Dimension::x && mayExceedGrid(forall, dim);
  });
  return fits ? SmallVector<int64_t>() : dims;
}

/// Return which step of each dimension of `forall` block number `block` of all has, if
/// `dims` are counted together. There are less than 2^31 blocks.
static SmallVector<Value> splitBlock(OpBuilder &b, scf::ForallOp forall,
                                     Value block, ArrayRef<int64_t> dims,
                                     function_ref<Value(Value)> map) {
  Location loc = forall.getLoc();
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
  };
  SmallVector<Value> numbers(dims.size());
  Value rest = narrow(block);
  for (int64_t dim : llvm::reverse(dims)) {
    Value number = rest;
    if (dim != dims.front()) {
      Value count = narrow(countSteps(b, forall, dim, map));
      number = arith::RemUIOp::create(b, loc, rest, count);
      rest = arith::DivUIOp::create(b, loc, rest, count);
    }
    numbers[dim] = arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  }
  return numbers;
}

/// One thread block a step of `forall`.
LogicalResult KernelOutliner::outlineBlocks(scf::ForallOp forall,
                                            int64_t warps) {
  Location loc = forall.getLoc();
  OpBuilder builder(forall);
  LaunchShape shape;
  shape.threads = kWarp * warps;
  FailureOr<SmallVector<gpu::Dimension>> axes = getAxes(forall);
  if (failed(axes))
    return failure();
  SmallVector<int64_t> together = getCountedTogether(forall, *axes);
  for (int64_t dim = 0; dim < forall.getRank(); ++dim) {
    Value count = countSteps(builder, forall, dim, [](Value v) { return v; });
    Value &blocks =
        shape.blocks[together.empty() ? static_cast<int64_t>((*axes)[dim]) : 0];
    blocks =
        blocks ? arith::MulIOp::create(builder, loc, blocks, count) : count;
  }
  IRMapping values;
  auto kernel = createKernel(forall, shape, values);
  if (failed(kernel))
    return failure();
  if (Attribute schedule = forall->getAttr(kScheduleAttrName))
    (*kernel)->setAttr(kScheduleAttrName, schedule);
  // Without a word ptxas takes too few registers, for more blocks at once.
  (*kernel)->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
  OpBuilder inner((*kernel).getBody().front().getTerminator());
  SmallVector<Value> numbers;
  if (together.empty())
    for (gpu::Dimension axis : *axes)
      numbers.push_back(gpu::BlockIdOp::create(inner, loc, axis));
  else
    numbers = splitBlock(
        inner, forall, gpu::BlockIdOp::create(inner, loc, gpu::Dimension::x),
        together, [&](Value v) { return values.lookupOrDefault(v); });
  mapInductionVars(inner, forall, numbers, values);
  cloneBody(inner, forall, values);
  forall.erase();
  return success();
}

/// One thread a step of `forall`.
LogicalResult KernelOutliner::outlineForall(scf::ForallOp forall) {
  Location loc = forall.getLoc();
  OpBuilder builder(forall);
  bool isKnown = llvm::none_of(forall->getOperands(), [&](Value operand) {
    return device.isOnDevice(operand);
  });
  auto countAll = [&](OpBuilder &at, function_ref<Value(Value)> map,
                      SmallVectorImpl<OpFoldResult> &steps) {
    Value total = constant(at, loc, 1);
    for (int64_t dim = 0; dim < forall.getRank(); ++dim) {
      Value count = countSteps(at, forall, dim, map);
      steps.push_back(count);
      total = arith::MulIOp::create(at, loc, total, count);
    }
    return total;
  };
  LaunchShape shape;
  shape.threads = kThreads;
  SmallVector<OpFoldResult> ignored;
  shape.blocks[0] = isKnown
                        ? arith::CeilDivUIOp::create(
                              builder, loc,
                              countAll(
                                  builder, [](Value v) { return v; }, ignored),
                              constant(builder, loc, kThreads))
                              .getResult()
                        : constant(builder, loc, kBlocksOfUnknown);
  IRMapping mapping;
  auto kernel = createKernel(forall, shape, mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  SmallVector<OpFoldResult> steps;
  Value total = countAll(
      inner, [&](Value v) { return mapping.lookupOrDefault(v); }, steps);
  forPlaces(inner, loc, total, isKnown, [&](OpBuilder &at, Value place) {
    mapInductionVars(at, forall, delinearize(at, loc, place, steps), mapping);
    cloneBody(at, forall, mapping);
  });
  forall.erase();
  return lowerToLoops(kernel->getBody());
}
