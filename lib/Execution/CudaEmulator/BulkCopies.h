// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of boxes and of runs of bytes by the copy engine (TMA), in both directions.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_BULKCOPIES_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_BULKCOPIES_H

#include "Clocks.h"
#include "CommitGroups.h"
#include "Reports.h"
#include "TensorMap.h"

#include <deque>

namespace mlir::attn::emulator {

class Block;

/// What is copied: a box of a tensor at coordinates, or `bytes` bytes at `data`.
struct BulkSource {
  const TensorMap *map = nullptr;
  int32_t coordinates[kMostDimensions] = {};
  char *data = nullptr;
  uint64_t bytes = 0;
};

class BulkCopies {
public:
  explicit BulkCopies(Block &block) : block(block) {}

  void reset();

  /// Return what a tensor copy of the running thread copies. What is no map ends
  /// the block.
  BulkSource getBox(const void *map, const int32_t *coordinates, uint32_t rank,
                    Site site);

  /// Copy to shared memory, and arrive at `barrier` with the bytes.
  void load(char *to, const BulkSource &from, void *barrier, Site site);
  /// Copy from shared memory.
  void store(const BulkSource &to, char *from, Site site);
  /// Make a group of the stores since the last one.
  void commit();
  /// Wait until at most `pending` groups of the thread are not done.
  void wait(uint32_t pending);

  /// Make one load that is not made yet. Returns false if there is none.
  bool finishOne();
  /// The thread ends.
  void threadExited();

private:
  struct Load {
    char *to;
    BulkSource from;
    uint32_t barrier;
    Site site;
  };

  struct Store {
    Time number;
    BulkSource to;
    char *from;
  };

  /// What one thread stores. Stores are numbered from 1.
  struct Queue {
    Time started = 0;
    Time finished = 0;
    Agent agent = 0;
    Site lastSite = kNoSite;
    CommitGroups groups;
    std::deque<Store> stores;
  };

  void copyRow(const TensorMap &map, char *global, int64_t at, uint64_t number,
               bool isInside, bool isLoad);
  void copyBox(const BulkSource &box, char *shared, bool isLoad);
  void copy(const BulkSource &global, char *shared, bool isLoad);
  void checkGlobal(const BulkSource &global, Site site);
  void finishStores(Queue &queue, Time number);

  Block &block;
  std::deque<Load> loads;
  std::vector<Queue> queues;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_BULKCOPIES_H
