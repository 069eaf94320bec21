// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tracker remembers of each byte of a block's shared memory: who wrote it last, and who has read it since.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_SHAREDCELLS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_SHAREDCELLS_H

#include "Clocks.h"
#include "Reports.h"

#include <array>

namespace mlir::attn::emulator {

/// How an access reaches memory.
enum AccessKind : uint8_t {
  kPlain = 0,
  /// Never at odds with another atomic access.
  kAtomic = 1,
  /// Through the asynchronous proxy: by a tensor copy or a warpgroup's product.
  kAsyncProxy = 2,
  /// By a copy or a product that a thread has started and not waited for.
  kInBackground = 4
};

/// One access: when, by which thread or at whose request, and from where.
struct Access {
  Moment moment;
  uint16_t thread = 0;
  uint8_t kind = kPlain;
  bool isWrite = false;
  Site site = kNoSite;
};

/// What is wrong with an access.
enum class Fault : uint8_t { None, Race, Uninitialized, NoFence };

/// A fault and, for those between two accesses, the earlier one; `offset` is the
/// byte at which it was seen.
struct Verdict {
  Fault fault = Fault::None;
  Access other;
  uint32_t offset = 0;
};

/// Shadow of the shared memory of a block. Sixteen bytes that were always accessed
/// together share one cell.
class SharedCells {
public:
  /// Start anew with `bytes` bytes that nobody has accessed.
  void reset(uint32_t bytes);

  /// Enter an access of `bytes` bytes from `offset` on, made by somebody who knows
  /// `knowledge`. Returns the first fault, if any.
  Verdict enter(uint32_t offset, uint32_t bytes, const Access &access,
                const Knowledge &knowledge);

private:
  /// Bytes that one cell covers at most.
  static constexpr uint32_t kGranuleBytes = 16;

  /// The last plain write, and what has read or updated the bytes since.
  struct Cell {
    Access write;
    Access read;
    /// Number of a list of further such accesses that are not ordered; 0 is none.
    uint32_t moreReads = 0;
  };

  struct Granule {
    Cell cell;
    /// Number of the cells of the single bytes, 0 if they were never needed.
    uint32_t split = 0;
    /// Whether the single bytes' cells count.
    bool isSplit = false;
  };

  void enterCell(Cell &cell, const Access &access, const Knowledge &knowledge,
                 uint32_t offset, Verdict &verdict);
  void addToReads(Cell &cell, const Access &access, const Knowledge &knowledge,
                  uint32_t offset, Verdict &verdict);
  void checkReads(Cell &cell, const Knowledge &knowledge, uint32_t offset,
                  Verdict &verdict);
  std::array<Cell, kGranuleBytes> &splitGranule(Granule &granule);

  std::vector<Granule> granules;
  std::vector<std::array<Cell, kGranuleBytes>> bytes;
  std::vector<std::vector<Access>> lists;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_SHAREDCELLS_H
