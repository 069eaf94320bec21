// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares each access with the accesses before it, by the clocks.

#include "SharedCells.h"

#include <algorithm>

using namespace mlir::attn::emulator;

/// Accesses that a crowd looks through before it goes by threads.
constexpr size_t kFew = 8;

void Crowd::clear() {
  few.clear();
  byThread.clear();
  hasAtomics = false;
}

/// Return whether `access` may take the place of `old`: who is ordered behind it is
/// ordered behind `old`, too.
static bool replaces(const Access &access, const Access &old,
                     const Knowledge &knowledge) {
  if (old.moment.time == 0)
    return true;
  bool isSameKind = ((old.kind ^ access.kind) & kAtomic) == 0;
  return isSameKind && (old.moment.agent == access.moment.agent ||
                        knowledge.knows(old.moment));
}

Access &Crowd::place(const Access &access, const Knowledge &knowledge,
                     unsigned threads) {
  uint32_t agent = access.moment.agent;
  if (agent < byThread.size() && replaces(access, byThread[agent], knowledge))
    return byThread[agent];
  for (Access &old : few)
    if (replaces(access, old, knowledge))
      return old;
  if (few.size() >= kFew && byThread.empty() && agent < threads) {
    byThread.resize(threads);
    return byThread[agent];
  }
  return few.emplace_back();
}

void SharedCells::reset(uint32_t size, unsigned blockThreads) {
  threads = blockThreads;
  granules.assign((size + kGranuleBytes - 1) / kGranuleBytes, Granule());
  parts.clear();
  usedCrowds = 1;
}

/// Return the number of a crowd of nobody.
uint32_t SharedCells::addCrowd() {
  if (crowds.size() <= usedCrowds)
    crowds.resize(usedCrowds + 1);
  crowds[usedCrowds].clear();
  return usedCrowds++;
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
  Crowd *crowd = cell.moreReads != 0 ? &crowds[cell.moreReads] : nullptr;
  auto check = [&](const Access &old) {
    if (old.moment.time != 0 && exclude(access, old) &&
        !knowledge.knows(old.moment))
      note(verdict, Fault::Race, old, offset);
  };
  check(cell.read);
  // Plain reads exclude no plain reads.
  if (crowd && ((access.kind & kAtomic) || crowd->hasAtomics))
    crowd->forEach(check);
  if (replaces(access, cell.read, knowledge)) {
    cell.read = access;
    return;
  }
  if (!crowd) {
    cell.moreReads = addCrowd();
    crowd = &crowds[cell.moreReads];
  }
  crowd->place(access, knowledge, threads) = access;
  crowd->hasAtomics |= (access.kind & kAtomic) != 0;
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
  crowds[cell.moreReads].forEach(check);
  crowds[cell.moreReads].clear();
}

/// Check `access` against `write`, the last write to the same bytes.
static void checkWrite(const Access &access, const Access &write,
                       const Knowledge &knowledge, uint32_t offset,
                       Verdict &verdict) {
  bool areAtomic = (access.kind & write.kind & kAtomic) != 0;
  if (write.moment.time == 0) {
    if (!access.isWrite || (access.kind & kUpdate))
      note(verdict, Fault::Uninitialized, Access(), offset);
  } else if ((write.kind & kBarrier) && !(access.kind & kBarrier)) {
    note(verdict, Fault::Barrier, write, offset);
  } else if (!areAtomic && !knowledge.knows(write.moment)) {
    note(verdict, Fault::Race, write, offset);
  } else if ((access.kind & kAsyncProxy) && !(write.kind & kAsyncProxy) &&
             !knowledge.sees(write.moment)) {
    note(verdict, Fault::NoFence, write, offset);
  }
}

void SharedCells::enterCell(Cell &cell, const Access &access,
                            const Knowledge &knowledge, uint32_t offset,
                            Verdict &verdict) {
  checkWrite(access, cell.write, knowledge, offset, verdict);
  bool isAtomic = (access.kind & kAtomic) != 0;
  if (!access.isWrite || isAtomic) {
    addToReads(cell, access, knowledge, offset, verdict);
    // The first value may be written by an atomic access.
    if (access.isWrite && cell.write.moment.time == 0)
      cell.write = access;
    return;
  }
  checkReads(cell, knowledge, offset, verdict);
  cell.write = access;
  if (access.kind & kBarrierEnd)
    cell.write.kind &= static_cast<uint8_t>(~kBarrier);
}

/// Let `to` be as `from`, with a crowd of its own.
void SharedCells::copyCell(Cell &to, const Cell &from) {
  uint32_t own = to.moreReads;
  to = from;
  bool isCrowded = from.moreReads != 0 && !crowds[from.moreReads].empty();
  if (own == 0 && isCrowded)
    own = addCrowd();
  if (isCrowded)
    crowds[own] = crowds[from.moreReads];
  else if (own != 0)
    crowds[own].clear();
  to.moreReads = own;
}

/// Return the cells of `granule` in parts of `unit` bytes or less.
SharedCells::Parts &SharedCells::splitGranule(Granule &granule, uint32_t unit) {
  if (granule.split == 0) {
    parts.emplace_back();
    granule.split = static_cast<uint32_t>(parts.size());
  }
  Parts &cells = parts[granule.split - 1];
  for (uint32_t i = 0; unit < granule.unit && i < kGranuleBytes; i += unit) {
    uint32_t whole = i / granule.unit * granule.unit;
    if (granule.unit == kGranuleBytes)
      copyCell(cells[i], granule.cell);
    else if (i != whole)
      copyCell(cells[i], cells[whole]);
  }
  granule.unit = static_cast<uint8_t>(std::min<uint32_t>(unit, granule.unit));
  return cells;
}

Verdict SharedCells::enter(uint32_t offset, uint32_t size, const Access &access,
                           const Knowledge &knowledge) {
  Verdict verdict;
  uint32_t end = offset + size;
  bool isPlainWrite = access.isWrite && !(access.kind & kAtomic);
  while (offset < end) {
    uint32_t index = offset / kGranuleBytes;
    uint32_t start = index * kGranuleBytes;
    uint32_t stop = std::min(end, start + kGranuleBytes);
    Granule &granule = granules[index];
    // The largest power of two that divides both ends.
    uint32_t ends = (offset - start) | (stop - start);
    uint32_t unit = ends & -ends;
    if (unit >= kGranuleBytes && granule.unit == kGranuleBytes) {
      enterCell(granule.cell, access, knowledge, offset, verdict);
      offset = stop;
      continue;
    }
    Parts &cells = splitGranule(granule, unit);
    for (uint32_t i = offset; i < stop; i += granule.unit)
      enterCell(cells[i - start], access, knowledge, i, verdict);
    // One cell is enough again once one access has written all.
    if (unit >= kGranuleBytes && isPlainWrite) {
      copyCell(granule.cell, cells[0]);
      granule.unit = kGranuleBytes;
    }
    offset = stop;
  }
  return verdict;
}
