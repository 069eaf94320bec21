// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for products and for what they read of shared memory:
//
//   %k = attn_gpu.read_shared %at : vector<64x64xf16>
//   %s = vector.contract {(m, k), (n, k) -> (m, n)} %q, %k, %zero
//
// becomes, for each 16 rows of keys and 32 of k,
//
//   %b:4 = nvvm.ldmatrix ...
//   nvvm.mma.sync A[...] B[%b0, %b1] C[...]       m16n8k16, once for each 16 rows of %q and half of the loaded keys
//
// What is loaded of the right side serves all rows of the warp. The left side, if it lies in shared memory, is loaded
// where it is read when it is small and the product stands in a loop, else beside the product. A left side that was
// computed is in the right registers already.

#include "FragmentDistributor.h"
#include "InsideReads.h"
#include "KernelAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::attn;

/// Registers for a left side that stays in them through a loop.
constexpr int64_t kLeftRegisters = 32;

/// 16-bit numbers in a chunk of 16 bytes.
constexpr int64_t kChunkNumbers = 8;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// Return two neighbours as the register that a matrix instruction takes.
static Value packPair(FragmentDistributor &d, Value low, Value high) {
  Type element = low.getType();
  Value pair;
  auto extract = low.getDefiningOp<vector::ExtractOp>();
  auto next = high.getDefiningOp<vector::ExtractOp>();
  if (extract && next && extract.getSource() == next.getSource() &&
      extract.getStaticPosition() == ArrayRef<int64_t>{0} &&
      next.getStaticPosition() == ArrayRef<int64_t>{1} &&
      extract.getSourceVectorType().getNumElements() == 2)
    pair = extract.getSource();
  else
    pair = vector::FromElementsOp::create(
        d.b, d.loc, VectorType::get(2, element), ValueRange{low, high});
  if (element.isF16())
    return pair;
  return LLVM::BitcastOp::create(d.b, d.loc, d.b.getI32Type(), pair);
}

namespace {
/// One product by matrix instructions.
struct MatrixProduct {
  FragmentDistributor &d;
  vector::ContractionOp op;
  RowSplit split;
  SharedTile right;
  bool rightRows;
  int64_t columnTiles, depth;
  Fragment acc;
  Type element;
  std::map<std::pair<int64_t, int64_t>, SmallVector<Value>> leftLoaded;

  /// Registers of the left side's 16 rows `tile` and 16 columns `k`.
  SmallVector<Value> left(int64_t tile, int64_t k) {
    if (attn_gpu::ReadSharedOp read = sharedTileOf(op.getLhs())) {
      const Fragment &loaded = d.fragment(op.getLhs(), FragmentLayout::Left);
      if (!loaded.empty()) {
        auto from = loaded.begin() + (tile * depth / 16 + k) * 4;
        return SmallVector<Value>(from, from + 4);
      }
      SmallVector<Value> &known = leftLoaded[{tile, k}];
      if (known.empty())
        known = d.loadMatrices(d.sharedTile(read), LanePattern::Left, tile * 16,
                               k * 16 / kChunkNumbers, split);
      return known;
    }
    const Fragment &given = d.fragment(op.getLhs(), FragmentLayout::Tile);
    SmallVector<Value> registers;
    for (int64_t half : {0, 1})
      for (int64_t row : {0, 1}) {
        int64_t i = (tile * depth / 8 + 2 * k + half) * 4 + row * 2;
        registers.push_back(packPair(d, given[i], given[i + 1]));
      }
    return registers;
  }

  /// acc[tile, column] += left[tile, k] * right.
  void multiply(int64_t tile, int64_t column, int64_t k,
                ArrayRef<Value> rightRegisters) {
    Type f32 = d.b.getF32Type();
    auto type = LLVM::LLVMStructType::getLiteral(d.b.getContext(),
                                                 {f32, f32, f32, f32});
    auto types = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    auto c =
        MutableArrayRef<Value>(acc).slice((tile * columnTiles + column) * 4, 4);
    SmallVector<Value> a = left(tile, k);
    Value sum = NVVM::MmaOp::create(
        d.b, d.loc, type, a, rightRegisters, ValueRange(ArrayRef<Value>(c)),
        {16, 8, 16}, std::nullopt, std::nullopt, std::array{types, types},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (int64_t i = 0; i < 4; ++i)
      c[i] = LLVM::ExtractValueOp::create(d.b, d.loc, sum, i);
  }

  /// The right side is (n, k): 8 columns of n and 32 of k at once, or 16 and 16.
  void multiplyRows() {
    bool wide = depth % 32 == 0;
    int64_t kStep = wide ? 2 : 1, nStep = wide ? 1 : 2;
    // Two loads, then their products: enough apart that no product waits.
    int64_t group = wide ? 2 : 1;
    for (int64_t k = 0; k < depth / 16; k += kStep)
      for (int64_t n = 0; n < columnTiles; n += nStep * group) {
        SmallVector<SmallVector<Value>> loaded;
        for (int64_t i = 0; i < group && n + i * nStep < columnTiles; ++i)
          loaded.push_back(d.loadMatrices(
              right, wide ? LanePattern::RightRows32 : LanePattern::RightRows16,
              (n + i * nStep) * 8, k * 16 / kChunkNumbers));
        for (int64_t part : {0, 1})
          for (auto [i, registers] : llvm::enumerate(loaded))
            for (int64_t tile = 0; tile < split.tiles; ++tile)
              multiply(tile, n + (wide ? i : part), wide ? k + part : k,
                       ArrayRef(registers).slice(part * 2, 2));
      }
  }

  /// The right side is (k, n): 16 of k and 16 columns of n at once, transposed.
  void multiplyColumns() {
    for (int64_t k = 0; k < depth / 16; ++k)
      for (int64_t n = 0; n < columnTiles; n += 2) {
        SmallVector<Value> registers = d.loadMatrices(
            right, LanePattern::RightColumns, k * 16, n * 8 / kChunkNumbers);
        for (int64_t part : {0, 1})
          for (int64_t tile = 0; tile < split.tiles; ++tile)
            multiply(tile, n + part, k, ArrayRef(registers).slice(part * 2, 2));
      }
  }
};
} // namespace

/// Whether the right side of `op` is (n, k), or (k, n); else an error.
static FailureOr<bool> hasRightRows(vector::ContractionOp op) {
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto is = [&](AffineMap map, AffineExpr x, AffineExpr y) {
    return map == AffineMap::get(3, 0, {x, y}, op.getContext());
  };
  bool left = is(maps[0], m, k) && is(maps[2], m, n);
  if (op.getKind() != vector::CombiningKind::ADD || op.getNumOperands() != 3 ||
      !left || !(is(maps[1], n, k) || is(maps[1], k, n)))
    return op.emitOpError()
           << "expects the sum of (m, k) x (n, k) or of (m, k) "
              "x (k, n) into (m, n)";
  return is(maps[1], n, k);
}

LogicalResult attn::distributeContract(FragmentDistributor &d,
                                       vector::ContractionOp op) {
  FailureOr<bool> rightRows = hasRightRows(op);
  if (failed(rightRows))
    return failure();
  attn_gpu::ReadSharedOp right = sharedTileOf(op.getRhs());
  if (!right)
    return op.emitOpError()
           << "expects the right side to be read from memory, not computed";
  Type element = op.getLhsType().getElementType();
  auto type = cast<VectorType>(op.getResultType());
  bool isSingle = element.isF32() && op.getRhsType().getElementType().isF32() &&
                  type.getElementType().isF32();
  if (d.tf32Parts > 0 && !isSingle)
    return op.emitOpError()
           << "expects f32 on both sides with a 'precision' of tf32 or "
              "tf32x3, got "
           << element << " and " << op.getRhsType().getElementType();
  if (d.tf32Parts > 0)
    return distributeTf32Contract(d, op, *rightRows);
  if (!isHalf(element) || op.getRhsType().getElementType() != element ||
      !type.getElementType().isF32())
    return distributeExactContract(d, op, *rightRows);
  if (d.side != kMatrixSide)
    return op.emitOpError()
           << "expects 'lanes' of the schedule to be 2 for a product of "
           << element << ", got " << d.side;
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  int64_t depth = op.getLhsType().getDimSize(1);
  if (depth % 16 != 0 || type.getDimSize(1) % 16 != 0)
    return op.emitOpError()
           << "expects multiples of 16, got " << type.getDimSize(1)
           << " columns and depth " << depth;
  MatrixProduct product{
      d,          op,
      *split,     d.sharedTile(right),
      *rightRows, type.getDimSize(1) / 8,
      depth,      d.fragment(op.getAcc(), FragmentLayout::Tile),
      element,    {}};
  if (*rightRows)
    product.multiplyRows();
  else
    product.multiplyColumns();
  d.set(op.getResult(), FragmentLayout::Tile, std::move(product.acc));
  return success();
}

/// Whether all products that read `op` as a left side stand in a loop that `op`
/// stands before.
static bool isReadInLoop(attn_gpu::ReadSharedOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Block *block = user->getBlock();
    return block != op->getBlock() &&
           op->getBlock()->findAncestorOpInBlock(*user);
  });
}

/// Whether the function of `op` needs registers for more than products: where copies are
/// of single numbers, and where a bias or a mask is read.
static bool needsRegisters(attn_gpu::ReadSharedOp op) {
  auto function = op->getParentOfType<gpu::GPUFuncOp>();
  if (KernelSchedule::get(function).copiesNumbers)
    return true;
  return function
      .walk([](scf::IfOp branch) {
        return branch->hasAttr(kInsideAttrName) ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Load the numbers of a tile one by one.
static void loadTile(FragmentDistributor &d, attn_gpu::ReadSharedOp op,
                     RowSplit split) {
  SharedTile tile = d.sharedTile(op);
  Type element = tile.type.getElementType();
  Fragment out;
  int64_t columnTiles = tile.type.getDimSize(1) / d.unit(), side = d.side;
  Value base = arith::AddIOp::create(d.b, d.loc, d.firstRow(split), d.group);
  for (int64_t i = 0; i < split.tiles * columnTiles * 2 * side; ++i) {
    int64_t unit = i / (2 * side);
    int64_t row = unit / columnTiles * 16 + i / side % 2 * 8;
    int64_t column = unit % columnTiles * d.unit() + i % side;
    Value at = d.elementPointer(
        tile, arith::AddIOp::create(d.b, d.loc, base, d.integer(row)),
        arith::AddIOp::create(d.b, d.loc, d.firstColumn, d.integer(column)));
    out.push_back(LLVM::LoadOp::create(d.b, d.loc, element, at));
  }
  d.set(op, FragmentLayout::Tile, std::move(out));
}

LogicalResult attn::distributeReadShared(FragmentDistributor &d,
                                         attn_gpu::ReadSharedOp op) {
  auto type = cast<VectorType>(op.getResult().getType());
  bool isLeft = d.needs(op, FragmentLayout::Left),
       isTile = d.needs(op, FragmentLayout::Tile);
  if (!isLeft && !isTile)
    return success();
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  if (isTile)
    loadTile(d, op, *split);
  int64_t steps = type.getDimSize(1) / 16;
  if (!isLeft || !isHalf(type.getElementType()) || !isReadInLoop(op) ||
      split->tiles * steps * 4 > kLeftRegisters || needsRegisters(op))
    return success();
  Fragment registers;
  for (int64_t tile = 0; tile < split->tiles; ++tile)
    for (int64_t k = 0; k < steps; ++k)
      llvm::append_range(registers,
                         d.loadMatrices(d.sharedTile(op), LanePattern::Left,
                                        tile * 16, k * 2, *split));
  d.set(op, FragmentLayout::Left, std::move(registers));
  return success();
}
