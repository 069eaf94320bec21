// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by the 128 threads of a warpgroup, which read shared memory behind the threads' backs.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_WARPGROUPS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_WARPGROUPS_H

#include "Clocks.h"
#include "CommitGroups.h"
#include "Reports.h"

#include "attn/Conversion/HostCalls.h"

#include <map>

namespace mlir::attn::emulator {

class Block;

/// What a thread brings to a product.
struct WarpGroupProduct {
  /// The accumulator, and behind it room for the number of the product.
  uint32_t *sums = nullptr;
  /// One descriptor of B for each step, and either descriptors of A or four
  /// registers a step.
  const uint64_t *a = nullptr;
  const uint32_t *registersA = nullptr;
  const uint64_t *b = nullptr;
  uint32_t steps = 1;
  uint32_t n = 0;
  host_calls::Element typeA{}, typeB{};
  int32_t flags = 0;
};

class WarpGroups {
public:
  explicit WarpGroups(Block &block) : block(block) {}

  void reset();

  void fence();
  void commit();
  void wait(uint32_t pending);
  void multiply(const WarpGroupProduct &product, Site site);
  /// A thread uses sums: `number` is the product that they came from, or what
  /// `changeSums` has returned for them.
  void useSums(uint64_t number, Site site);
  /// A thread changes such sums. Returns their new number.
  uint64_t changeSums(uint64_t number, Site site);
  /// The thread ends.
  void threadExited();

private:
  struct Group {
    uint32_t arrived = 0;
    Site site = kNoSite;
    const WarpGroupProduct *products[host_calls::kWarpGroupSize] = {};
    Time started = 0;
    Agent agent = 0;
  };

  /// What one thread has under way. Products of a warpgroup are numbered from 1.
  struct State {
    /// Fences so far, and how many there were when sums were last used, by number.
    uint64_t fences = 0;
    std::map<uint64_t, uint64_t> uses;
    Time started = 0;
    Time finished = 0;
    Site lastSite = kNoSite;
    CommitGroups groups;
  };

  const char *findMissingFence(const WarpGroupProduct &product);
  void run(uint32_t index);
  void enterOperands(uint32_t index);
  void enterMatrix(uint64_t descriptor, bool isTransposed, uint32_t rows,
                   uint32_t elementBytes, Moment moment, Site site,
                   const Knowledge &knowledge);

  Block &block;
  std::vector<Group> groups;
  std::vector<State> states;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_WARPGROUPS_H
