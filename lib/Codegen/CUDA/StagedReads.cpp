// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the tiles of memory that products read. A tile of several pages is several reads:
//
//   %0 = vector.transfer_read %page0[%c0, %c0] ... vector<16x64xf16>
//   %1 = vector.insert_strided_slice %0, %none {offsets = [0, 0]} : vector<16x64xf16> into vector<64x64xf16>
//   %2 = vector.transfer_read %page1[%c0, %c0] ...
//   %3 = vector.insert_strided_slice %2, %1 {offsets = [16, 0]} ...        the tile
//   vector.contract ... %q, %3, ...

#include "StagedReads.h"
#include "ProductReads.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::attn;

/// What tiles are aligned to: the banks of shared memory, once round.
constexpr int64_t kTileAlignment = 128;

StagedRead::StagedRead(Operation *tile, ArrayRef<Part> parts)
    : tile(tile), parts(parts.begin(), parts.end()) {
  vector::TransferReadOp first = parts.front().read;
  for (AffineExpr result : first.getPermutationMap().getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      dims.push_back(dim.getPosition());
  bytes = llvm::alignTo(getType().getNumElements() * elementBytes(),
                        kTileAlignment);
}

/// Whether the kernel writes nothing to `memory`, an argument or a part of one.
static bool isOnlyRead(gpu::GPUFuncOp function, Value memory) {
  auto argumentOf = [](Value memory) {
    while (auto part = memory.getDefiningOp<memref::SubViewOp>())
      memory = part.getSource();
    return dyn_cast<BlockArgument>(memory);
  };
  BlockArgument argument = argumentOf(memory);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return false;
  return !function
              .walk([&](MemoryEffectOpInterface op) {
                SmallVector<MemoryEffects::EffectInstance> effects;
                op.getEffects(effects);
                return WalkResult(
                    failure(llvm::any_of(effects, [&](auto &effect) {
                      return isa<MemoryEffects::Write>(effect.getEffect()) &&
                             effect.getValue() &&
                             argumentOf(effect.getValue()) == argument;
                    })));
              })
              .wasInterrupted();
}

/// Whether `value` can be computed for another iteration of `loop`: nothing but
/// the induction variable, pure ops inside it and numbers that nobody writes.
static bool dependsOnIterationOnly(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<memref::LoadOp>(op);
  return op && op->getNumRegions() == 0 &&
         (isPure(op) ||
          (load && isOnlyRead(loop->getParentOfType<gpu::GPUFuncOp>(),
                              load.getMemRef()))) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return dependsOnIterationOnly(operand, loop);
         });
}

/// Whether `op` stands in a loop over single keys.
static bool isForSingleKeys(Operation *op) {
  while ((op = op->getParentOp()))
    if (auto loop = dyn_cast<scf::ForOp>(op);
        loop && getConstantIntValue(loop.getStep()) == 1)
      return true;
  return false;
}

scf::ForOp attn::findLoopAhead(const StagedRead &staged) {
  Operation *parent = staged.tile->getParentOp();
  while (isa<scf::IfOp>(parent))
    parent = parent->getParentOp();
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || isForSingleKeys(staged.tile))
    return {};
  for (StagedRead::Part part : staged.parts)
    if (!dependsOnIterationOnly(part.read.getBase(), loop) ||
        !llvm::all_of(part.read.getIndices(), [&](Value index) {
          return dependsOnIterationOnly(index, loop);
        }))
      return {};
  return loop;
}

void attn::boundRead(OpBuilder &b, StagedRead &staged, scf::ForOp loop) {
  Location loc = loop.getLoc();
  vector::TransferReadOp read = staged.parts.front().read;
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  auto type = cast<MemRefType>(read.getBase().getType());
  int64_t rows = read.getVectorType().getDimSize(0);
  if (staged.parts.size() > 1 || type.getRank() != 2 || staged.dims[0] != 0 ||
      step != rows || read.getIndices()[0] != loop.getInductionVar() ||
      !loop.isDefinedOutsideOfLoop(read.getBase()))
    return;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value lower = loop.getLowerBound();
  Value span = arith::SubIOp::create(b, loc, loop.getUpperBound(), lower);
  Value blocks = arith::DivSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, span, constant(rows - 1)),
      constant(rows));
  Value end = arith::AddIOp::create(
      b, loc, lower, arith::MulIOp::create(b, loc, blocks, constant(rows)));
  Value extent = memref::DimOp::create(b, loc, read.getBase(), 0);
  end = arith::MinSIOp::create(b, loc, end, extent);
  end = arith::MaxSIOp::create(b, loc, end, constant(0));
  OpFoldResult columns = memref::getMixedSize(b, loc, read.getBase(), 1);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  staged.bounded = memref::SubViewOp::create(
      b, loc, read.getBase(), ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{end, columns}, ArrayRef<OpFoldResult>{one, one});
}

/// Fail unless `read` can be a copy.
static LogicalResult check(vector::TransferReadOp read) {
  VectorType type = read.getVectorType();
  auto isDim = [](AffineExpr result) { return isa<AffineDimExpr>(result); };
  bool isZero = matchPattern(read.getPadding(), m_AnyZeroFloat()) ||
                matchPattern(read.getPadding(), m_Zero());
  if (!isa<MemRefType>(read.getBase().getType()) || type.getRank() != 2 ||
      !llvm::all_of(read.getPermutationMap().getResults(), isDim) ||
      read.getMask() || !isZero)
    return read.emitOpError()
           << "expects a matrix without mask or broadcast, padded "
              "with 0, where a product reads it";
  int64_t rowBits = type.getDimSize(1) * type.getElementTypeBitWidth();
  if (rowBits % 128 != 0)
    return read.emitOpError()
           << "expects rows of a multiple of 16 bytes where a "
              "product reads them, got "
           << type;
  return success();
}

/// Return the reads that `tile` is put together of, one row after the other.
static SmallVector<StagedRead::Part, 1> findParts(Operation *tile) {
  SmallVector<StagedRead::Part, 1> parts;
  while (auto insert = dyn_cast_or_null<vector::InsertStridedSliceOp>(tile)) {
    if (auto read =
            insert.getValueToStore().getDefiningOp<vector::TransferReadOp>())
      parts.push_back(
          {read, cast<IntegerAttr>(insert.getOffsets()[0]).getInt()});
    tile = insert.getDest().getDefiningOp();
  }
  if (auto read = dyn_cast_or_null<vector::TransferReadOp>(tile))
    parts.push_back({read, 0});
  std::reverse(parts.begin(), parts.end());
  return parts;
}

FailureOr<SmallVector<StagedRead>>
attn::findStagedReads(gpu::GPUFuncOp function) {
  SmallVector<StagedRead> reads;
  WalkResult result = function.walk([&](Operation *op) {
    if (!isa<vector::TransferReadOp, vector::InsertStridedSliceOp>(op) ||
        !isReadByProduct(op->getResult(0)) ||
        llvm::any_of(op->getUsers(),
                     llvm::IsaPred<vector::InsertStridedSliceOp>))
      return WalkResult::advance();
    reads.emplace_back(op, findParts(op));
    for (StagedRead::Part part : reads.back().parts)
      if (failed(check(part.read)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return reads;
}
