// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares each access with the accesses before it, by the clocks.

#include "SharedCells.h"

#include <algorithm>

using namespace mlir::attn::emulator;

void SharedCells::reset(uint32_t size) {
  granules.assign((size + kGranuleBytes - 1) / kGranuleBytes, Granule());
  bytes.clear();
  lists.assign(1, {});
}

static void note(Verdict &verdict, Fault fault, const Access &other,
                 uint32_t offset) {
  if (verdict.fault == Fault::None)
    verdict = {fault, other, offset};
}

/// Return whether `access` and `old`, of which none is a plain write, exclude each
/// other: an atomic update and a plain read do.
static bool exclude(const Access &access, const Access &old) {
  bool isAtomic = (access.kind & kAtomic) != 0;
  bool wasAtomic = (old.kind & kAtomic) != 0;
  return isAtomic != wasAtomic && (isAtomic ? access : old).isWrite;
}

void SharedCells::addToReads(Cell &cell, const Access &access,
                             const Knowledge &knowledge, uint32_t offset,
                             Verdict &verdict) {
  Access *place = nullptr;
  auto visit = [&](Access &old) {
    bool isKnown = old.moment.time == 0 || knowledge.knows(old.moment);
    if (!isKnown && exclude(access, old))
      note(verdict, Fault::Race, old, offset);
    // Who is ordered behind this one is ordered behind that one, too.
    bool isSameKind = ((old.kind ^ access.kind) & kAtomic) == 0;
    if (old.moment.time == 0 ||
        (isSameKind && (isKnown || old.moment.agent == access.moment.agent)))
      place = &old;
  };
  visit(cell.read);
  if (cell.moreReads != 0)
    for (Access &old : lists[cell.moreReads])
      visit(old);
  if (place) {
    *place = access;
    return;
  }
  if (cell.moreReads == 0) {
    cell.moreReads = static_cast<uint32_t>(lists.size());
    lists.emplace_back();
  }
  lists[cell.moreReads].push_back(access);
}

void SharedCells::checkReads(Cell &cell, const Knowledge &knowledge,
                             uint32_t offset, Verdict &verdict) {
  auto check = [&](const Access &read) {
    if (read.moment.time != 0 && !knowledge.knows(read.moment))
      note(verdict, Fault::Race, read, offset);
  };
  check(cell.read);
  cell.read = Access();
  if (cell.moreReads == 0)
    return;
  for (const Access &read : lists[cell.moreReads])
    check(read);
  lists[cell.moreReads].clear();
}

void SharedCells::enterCell(Cell &cell, const Access &access,
                            const Knowledge &knowledge, uint32_t offset,
                            Verdict &verdict) {
  const Access &write = cell.write;
  bool isAtomic = (access.kind & kAtomic) != 0;
  if (write.moment.time == 0) {
    if (!access.isWrite || isAtomic)
      note(verdict, Fault::Uninitialized, Access(), offset);
  } else if (!knowledge.knows(write.moment)) {
    note(verdict, Fault::Race, write, offset);
  } else if ((access.kind & kAsyncProxy) && !(write.kind & kAsyncProxy) &&
             !knowledge.sees(write.moment)) {
    note(verdict, Fault::NoFence, write, offset);
  }
  if (!access.isWrite || isAtomic) {
    addToReads(cell, access, knowledge, offset, verdict);
    return;
  }
  checkReads(cell, knowledge, offset, verdict);
  cell.write = access;
}

std::array<SharedCells::Cell, SharedCells::kGranuleBytes> &
SharedCells::splitGranule(Granule &granule) {
  if (granule.isSplit)
    return bytes[granule.split - 1];
  if (granule.split == 0) {
    bytes.emplace_back();
    granule.split = static_cast<uint32_t>(bytes.size());
  }
  granule.isSplit = true;
  auto &cells = bytes[granule.split - 1];
  for (Cell &cell : cells) {
    cell = granule.cell;
    // Each byte has a list of its own.
    if (granule.cell.moreReads != 0 && !lists[granule.cell.moreReads].empty()) {
      cell.moreReads = static_cast<uint32_t>(lists.size());
      std::vector<Access> copy = lists[granule.cell.moreReads];
      lists.push_back(std::move(copy));
    } else {
      cell.moreReads = 0;
    }
  }
  return cells;
}

Verdict SharedCells::enter(uint32_t offset, uint32_t size, const Access &access,
                           const Knowledge &knowledge) {
  Verdict verdict;
  uint32_t end = offset + size;
  while (offset < end) {
    uint32_t index = offset / kGranuleBytes;
    uint32_t start = index * kGranuleBytes;
    uint32_t stop = std::min(end, start + kGranuleBytes);
    Granule &granule = granules[index];
    bool isWhole = offset == start && stop == start + kGranuleBytes;
    if (isWhole && !granule.isSplit) {
      enterCell(granule.cell, access, knowledge, offset, verdict);
    } else {
      auto &cells = splitGranule(granule);
      for (uint32_t i = offset; i < stop; ++i)
        enterCell(cells[i - start], access, knowledge, i, verdict);
      // One cell is enough again once one access has written all.
      if (isWhole && access.isWrite) {
        granule.cell = cells[0];
        granule.cell.moreReads = 0;
        granule.isSplit = false;
      }
    }
    offset = stop;
  }
  return verdict;
}
