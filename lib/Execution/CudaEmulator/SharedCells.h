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
  kInBackground = 4,
  /// A write that reads what it replaces, too.
  kUpdate = 8,
  /// By an op on an mbarrier; the last one gives its bytes back.
  kBarrier = 16,
  kBarrierEnd = 32
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
enum class Fault : uint8_t { None, Race, Uninitialized, NoFence, Barrier };

/// A fault and, for those between two accesses, the earlier one; `offset` is the
/// byte at which it was seen.
struct Verdict {
  Fault fault = Fault::None;
  Access other;
  uint32_t offset = 0;
};

/// Accesses to the same bytes that are not ordered among each other: any few, and of
/// more one for each thread.
class Crowd {
public:
  void clear();
  bool empty() const { return few.empty(); }

  /// Return the place of `access`, made by somebody who knows `knowledge` in a block
  /// of `threads`: that of an access that says no more than this one, or a new one.
  Access &place(const Access &access, const Knowledge &knowledge,
                unsigned threads);

  /// Call `apply` for each access.
  template <typename Function>
  void forEach(Function apply) const {
    for (const Access &access : few)
      apply(access);
    for (const Access &access : byThread)
      if (access.moment.time != 0)
        apply(access);
  }

  bool hasAtomics = false;

private:
  std::vector<Access> few;
  std::vector<Access> byThread;
};

/// Shadow of the shared memory of a block. Sixteen bytes that were always accessed
/// together share one cell; each part of them that was not has its own.
class SharedCells {
public:
  /// Start anew with `bytes` bytes that none of `threads` threads has accessed.
  void reset(uint32_t bytes, unsigned threads);

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
    /// Number of a crowd of further such accesses that are not ordered; 0 is none.
    uint32_t moreReads = 0;
  };

  struct Granule {
    Cell cell;
    /// Number of the cells of its parts, 0 if they were never needed.
    uint32_t split = 0;
    /// Bytes of a part.
    uint8_t unit = kGranuleBytes;
  };

  /// Cells of the parts of a granule, each at the number of its first byte.
  using Parts = std::array<Cell, kGranuleBytes>;

  void enterCell(Cell &cell, const Access &access, const Knowledge &knowledge,
                 uint32_t offset, Verdict &verdict);
  void addToReads(Cell &cell, const Access &access, const Knowledge &knowledge,
                  uint32_t offset, Verdict &verdict);
  void checkReads(Cell &cell, const Knowledge &knowledge, uint32_t offset,
                  Verdict &verdict);
  Parts &splitGranule(Granule &granule, uint32_t unit);
  void copyCell(Cell &to, const Cell &from);
  uint32_t addCrowd();

  unsigned threads = 0;
  std::vector<Granule> granules;
  std::vector<Parts> parts;
  /// Those from `usedCrowds` on are kept for their memory. Number 0 is no crowd.
  std::vector<Crowd> crowds;
  uint32_t usedCrowds = 1;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_SHAREDCELLS_H
