// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of f32 by matrix instructions on numbers of tf32, which have 11 bits:
//
//   %s = vector.contract {(m, k), (n, k) -> (m, n)} %q, %k, %zero : ... f32
//
// becomes, for each 16 rows of %q, 8 columns and 8 of k,
//
//   %a = nvvm.convert.float.to.tf32 ...  {rnd = rna}
//   nvvm.mma.sync A[%a...] B[%b...] C[...]        m16n8k8
//
// or, where each number is the sum of two, a = nearest tf32 of x and b = nearest tf32 of x - a, three of these instructions,
// the small products first: b a', a b', a a'. Numbers of the left side are converted where they are read, those of the right
// one for all rows of the warp.
//
// Which columns and which k an instruction takes is free as long as both sides agree. A thread has the columns 4q to
// 4q + 3 of 16: 2c + j of them is column 2q + c of instruction j, so that a row of a right side is read in pairs, and what
// an instruction has summed up is the left side of another as it is: instruction j takes k = 4q + j and 4q + 2 + j.

#include "FragmentDistributor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <limits>

using namespace mlir;
using namespace mlir::attn;

/// Depth of an instruction, and columns of the two that share columns of a thread.
constexpr int64_t kDepth = 8, kPairColumns = 16;

/// Bits of a sign, and of what 1 and infinity have in common.
constexpr int64_t kSignOrOneBits = static_cast<int32_t>(0xbf800000);

/// All bits but that of a sign.
constexpr int64_t kSizeBits = 0x7fffffff;

/// Numbers in a chunk of 16 bytes.
constexpr int64_t kChunkNumbers = 4;

namespace {
/// The numbers of tf32 that stand for registers of one side of an instruction: by
/// part, the largest first, by register.
using Parts = SmallVector<SmallVector<Value>>;

struct Tf32Product {
  FragmentDistributor &d;
  vector::ContractionOp op;
  RowSplit rowSplit;
  SharedTile right;
  int64_t units, depth;
  Fragment acc;

  Value convert(Value x) {
    return NVVM::ConvertFloatToTF32Op::create(
        d.b, d.loc, d.b.getI32Type(), x, NVVM::FPRoundingMode::RNA,
        NVVM::SaturationMode::NONE, /*relu=*/false);
  }

  Value constant(float number) {
    return arith::ConstantOp::create(d.b, d.loc, d.b.getF32FloatAttr(number));
  }
  Value asFloat(Value bits) {
    return arith::BitcastOp::create(d.b, d.loc, d.b.getF32Type(), bits);
  }

  /// Return two numbers whose sum is `x`, the first one as near as it can be; of an
  /// infinity 1 and the rest, so that no product of the first numbers is infinite, nor
  /// one of 0 and infinity.
  std::pair<Value, Value> split(Value x) {
    Value nearest = convert(x);
    Value one =
        arith::AndIOp::create(d.b, d.loc, nearest, d.integer(kSignOrOneBits));
    // (The op for a size becomes a call on this road.)
    Value bits = arith::BitcastOp::create(d.b, d.loc, d.b.getI32Type(), x);
    Value size =
        asFloat(arith::AndIOp::create(d.b, d.loc, bits, d.integer(kSizeBits)));
    Value isFinite =
        arith::CmpFOp::create(d.b, d.loc, arith::CmpFPredicate::OLT, size,
                              constant(std::numeric_limits<float>::infinity()));
    Value first = arith::SelectOp::create(d.b, d.loc, isFinite, nearest, one);
    Value rest = arith::SubFOp::create(d.b, d.loc, x, asFloat(first));
    return {first, convert(rest)};
  }

  Parts partsOf(ArrayRef<Value> numbers) {
    Parts parts(d.tf32Parts);
    for (Value x : numbers) {
      if (!x.getType().isF32())
        x = asFloat(x);
      if (d.tf32Parts == 1) {
        parts[0].push_back(convert(x));
        continue;
      }
      auto [first, second] = split(x);
      parts[0].push_back(first);
      parts[1].push_back(second);
    }
    return parts;
  }

  /// Where the thread's sum of row `row` and column `c` of unit `n` stands.
  Value &sumAt(int64_t row, int64_t n, int64_t c) {
    return acc[((row / 2 * units + n) * 2 + row % 2) * d.side + c];
  }

  /// Instruction `j` of unit `n`, on 16 rows `tile`.
  void multiply(int64_t tile, int64_t n, int64_t j, ArrayRef<Value> left,
                ArrayRef<Value> rightRegisters) {
    Type f32 = d.b.getF32Type();
    auto type = LLVM::LLVMStructType::getLiteral(d.b.getContext(),
                                                 {f32, f32, f32, f32});
    constexpr auto types = NVVM::MMATypes::tf32;
    SmallVector<Value *> sums;
    SmallVector<Value> c;
    for (int64_t i = 0; i < 4; ++i) {
      sums.push_back(&sumAt(tile * 2 + i / 2, n, i % 2 * 2 + j));
      c.push_back(*sums.back());
    }
    Value sum = NVVM::MmaOp::create(
        d.b, d.loc, type, left, rightRegisters, c, {16, 8, kDepth},
        std::nullopt, std::nullopt, std::array{types, types},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, place] : llvm::enumerate(sums))
      *place = LLVM::ExtractValueOp::create(d.b, d.loc, sum, i);
  }
  void multiply(int64_t tile, int64_t n, int64_t j, const Parts &left,
                const Parts &right) {
    if (d.tf32Parts == 2) {
      multiply(tile, n, j, left[1], right[0]);
      multiply(tile, n, j, left[0], right[1]);
    }
    multiply(tile, n, j, left[0], right[0]);
  }

  /// Both sides lie in shared memory, rows of the right one are columns.
  void rowsByRows(SharedTile left) {
    for (int64_t k = 0; k < depth; k += kDepth) {
      SmallVector<Parts> rows;
      for (int64_t tile = 0; tile < rowSplit.tiles; ++tile)
        rows.push_back(partsOf(d.loadMatrices(
            left, LanePattern::Left, tile * 16, k / kChunkNumbers, rowSplit)));
      for (int64_t n = 0; n < units; ++n) {
        SmallVector<Value> loaded =
            d.loadMatrices(right, LanePattern::RightMixedRows, n * kPairColumns,
                           k / kChunkNumbers);
        for (int64_t j : {0, 1}) {
          Parts column = partsOf(ArrayRef(loaded).slice(j * 2, 2));
          for (int64_t tile = 0; tile < rowSplit.tiles; ++tile)
            multiply(tile, n, j, rows[tile], column);
        }
      }
    }
  }

  /// Two neighbours in row `row`, and unit `n`, of the rows of `offset`.
  SmallVector<Value> loadPair(Value offset, int64_t row, int64_t n) {
    Value at = d.swizzledPointer(right, offset, row,
                                 n * kPairColumns * right.elementBytes());
    Value pair =
        LLVM::LoadOp::create(d.b, d.loc, VectorType::get(2, d.b.getF32Type()),
                             at, /*alignment=*/2 * right.elementBytes());
    return {vector::ExtractOp::create(d.b, d.loc, pair, 0),
            vector::ExtractOp::create(d.b, d.loc, pair, 1)};
  }

  /// The left side was computed, rows of the right one are k.
  void computedByColumns(const Fragment &left) {
    int64_t leftUnits = depth / kPairColumns;
    Value bytes = arith::MulIOp::create(d.b, d.loc, d.group,
                                        d.integer(2 * right.elementBytes()));
    Value offset = d.swizzledOffset(right, d.firstColumn, bytes);
    for (int64_t k = 0; k < leftUnits * 2; ++k) {
      int64_t unit = k / 2, j = k % 2;
      SmallVector<Parts> rows;
      for (int64_t tile = 0; tile < rowSplit.tiles; ++tile) {
        SmallVector<Value> registers;
        for (int64_t i = 0; i < 4; ++i)
          registers.push_back(
              left[((tile * leftUnits + unit) * 2 + i % 2) * d.side +
                   i / 2 * 2 + j]);
        rows.push_back(partsOf(registers));
      }
      for (int64_t n = 0; n < units; ++n) {
        SmallVector<Value> first = loadPair(offset, unit * kPairColumns + j, n);
        SmallVector<Value> second =
            loadPair(offset, unit * kPairColumns + j + 2, n);
        for (int64_t c : {0, 1}) {
          Parts column = partsOf({first[c], second[c]});
          for (int64_t tile = 0; tile < rowSplit.tiles; ++tile)
            multiply(tile, n, c, rows[tile], column);
        }
      }
    }
  }
};
} // namespace

LogicalResult attn::distributeTf32Contract(FragmentDistributor &d,
                                           vector::ContractionOp op,
                                           bool rightRows) {
  auto type = cast<VectorType>(op.getResultType());
  attn_gpu::ReadSharedOp left = sharedTileOf(op.getLhs());
  // Other products are as right without.
  if (rightRows != static_cast<bool>(left))
    return distributeExactContract(d, op, rightRows);
  FailureOr<RowSplit> split = d.split(op, type.getDimSize(0));
  if (failed(split))
    return failure();
  int64_t depth = op.getLhsType().getDimSize(1);
  if (depth % kPairColumns != 0 || type.getDimSize(1) % kPairColumns != 0)
    return op.emitOpError()
           << "expects multiples of 16 with a 'precision' of tf32 or tf32x3, "
              "got "
           << type.getDimSize(1) << " columns and depth " << depth;
  Tf32Product product{d,
                      op,
                      *split,
                      d.sharedTile(sharedTileOf(op.getRhs())),
                      type.getDimSize(1) / kPairColumns,
                      depth,
                      d.fragment(op.getAcc(), FragmentLayout::Tile)};
  if (left)
    product.rowsByRows(d.sharedTile(left));
  else
    product.computedByColumns(d.fragment(op.getLhs(), FragmentLayout::Tile));
  d.set(op.getResult(), FragmentLayout::Tile, std::move(product.acc));
  return success();
}
