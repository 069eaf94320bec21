// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks for memory before it is read, where a loop says that it pays:
//
//   scf.for %i = ... {
//     vector.transfer_read %k[%row, %i]
//   } {attn.prefetch = 8 : index}
//
// becomes
//
//   scf.for %i = ... {
//     memref.prefetch %k[%row + 8, %i], read, locality<3>, data
//     vector.transfer_read %k[%row, %i]
//   }
//
// Rows beyond the last are asked for too: that is no access, and nothing comes of it. A memref that is not there yet when
// tiles become vectors cannot be asked for, so this waits for memory.

#include "attn/Codegen/CpuPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::attn {
#define GEN_PASS_DEF_PREFETCHSTREAMS
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Bytes that come together from memory.
static constexpr int64_t kLineBytes = 64;

/// Ask for what `loop` reads `rows` rows on.
static void prefetch(scf::ForOp loop, int64_t rows) {
  // Bytes of each row that are asked for: lines come whole.
  llvm::DenseMap<Value, int64_t> bytesOf;
  for (auto read : loop.getBody()->getOps<vector::TransferReadOp>()) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    if (!type || type.getRank() != 2)
      continue;
    Value row = read.getIndices()[0];
    int64_t &bytes = bytesOf[row];
    if (bytes % kLineBytes == 0) {
      OpBuilder b(read);
      Location loc = read.getLoc();
      Value ahead = arith::AddIOp::create(
          b, loc, row, arith::ConstantIndexOp::create(b, loc, rows));
      memref::PrefetchOp::create(
          b, loc, read.getBase(), ValueRange{ahead, read.getIndices()[1]},
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
    }
    VectorType vector = read.getVectorType();
    bytes += vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
  }
}

namespace {
struct PrefetchStreams
    : public attn::impl::PrefetchStreamsBase<PrefetchStreams> {
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      if (auto rows =
              dyn_cast_or_null<IntegerAttr>(loop->removeAttr("attn.prefetch")))
        prefetch(loop, rows.getInt());
    });
  }
};
} // namespace
