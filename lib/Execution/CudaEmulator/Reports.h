// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an emulated launch did wrong, in words.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_REPORTS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_REPORTS_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace mlir::attn::emulator {

/// The number of a string in the list of places that calls name.
using Site = uint32_t;

/// A site that is none.
constexpr Site kNoSite = ~0u;

/// Collects reports from all workers: each kind of problem at each pair of places
/// once, with a count, and no more of them than are asked for.
class Reports {
public:
  Reports(std::vector<std::string> sites, unsigned most)
      : sites(std::move(sites)), most(most) {}

  /// Add a problem: `kind` and both sites tell it from others, `text` describes
  /// its first case.
  void add(const std::string &kind, Site site, Site other, std::string text);

  /// Return the text of a site.
  std::string describe(Site site) const;

  /// Return all reports and forget them.
  std::vector<std::string> take();

private:
  using Key = std::tuple<std::string, Site, Site>;

  struct Entry {
    std::string text;
    uint64_t count;
  };

  std::vector<std::string> sites;
  unsigned most;
  std::mutex mutex;
  std::map<Key, size_t> places;
  std::vector<Entry> entries;
  uint64_t others = 0;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_REPORTS_H
