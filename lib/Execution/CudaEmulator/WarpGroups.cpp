// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of a warpgroup (wgmma): D (64xN) += A (64xK) * B (KxN), where a row of K is 32 bytes.
//
// A thread of warp w and lane 4g + q holds of D rows 16w + g and 16w + g + 8, in number 4j + 2r + c the column
// 8j + 2q + c of row g + 8r. A descriptor says where A or B lies: its start, the distances between its parts, and the
// swizzle.

#include "Block.h"
#include "Elements.h"
#include "HostFunctions.h"

#include <algorithm>
#include <cstring>

using namespace mlir::attn;
using namespace mlir::attn::emulator;
using host_calls::Element;
using host_calls::kWarpGroupSize;
using host_calls::kWarpSize;

/// Rows of A and D, bytes of a row of K, and the unit in which matrices lie.
constexpr uint32_t kRows = 64;
constexpr uint32_t kDepthBytes = 32;
constexpr uint32_t kUnitBytes = 16;
constexpr uint32_t kGroupRows = 8;

/// Columns of D, and numbers of K, at most.
constexpr uint32_t kMostColumns = 256;
constexpr uint32_t kMostDepth = 32;

/// In the number of sums that a thread has changed: the fences so far stand below.
constexpr uint64_t kChanged = uint64_t(1) << 63;

/// Sums of which it is remembered when they were used.
constexpr size_t kMostUses = 64;

namespace {
/// Where a matrix lies, of which 8 rows by 16 bytes are a part.
struct Placement {
  uint64_t start, leading, stride;
  uint32_t span;
  bool isTransposed;

  Placement(uint64_t descriptor, bool isTransposed);

  /// Return the number of the byte `byte` of row `row`, of K where the matrix is
  /// transposed.
  uint64_t getNumber(uint32_t row, uint32_t byte) const;
};
} // namespace

Placement::Placement(uint64_t descriptor, bool isTransposed)
    : start((descriptor & 0x3fff) << 4),
      leading((descriptor >> 16 & 0x3fff) << 4),
      stride((descriptor >> 32 & 0x3fff) << 4), isTransposed(isTransposed) {
  // None, 128, 64 and 32 bytes.
  constexpr uint32_t kSpans[] = {0, 128, 64, 32};
  span = kSpans[descriptor >> 62];
}

uint64_t Placement::getNumber(uint32_t row, uint32_t byte) const {
  uint64_t group = row / kGroupRows, rest = row % kGroupRows;
  if (span != 0) {
    uint64_t number = start + group * stride + rest * span + byte % span +
                      byte / span * leading;
    return swizzleNumber(number, span);
  }
  // Without swizzle the two distances change places.
  uint64_t unit = byte / kUnitBytes;
  return start + rest * kUnitBytes + byte % kUnitBytes +
         (isTransposed ? unit * stride + group * leading
                       : group * stride + unit * leading);
}

void WarpGroups::reset() {
  size_t threads = block.getThreads().size();
  groups.assign((threads + kWarpGroupSize - 1) / kWarpGroupSize, Group());
  states.assign(threads, State());
}

void WarpGroups::fence() { ++states[block.self().index].fences; }

void WarpGroups::commit() {
  State &state = states[block.self().index];
  state.groups.commit(state.started);
}

void WarpGroups::wait(uint32_t pending) {
  uint32_t self = block.self().index;
  State &state = states[self];
  std::optional<Time> number = state.groups.wait(pending);
  if (!number)
    return;
  state.finished = std::max(state.finished, *number);
  Group &group = groups[self / kWarpGroupSize];
  Tracker *tracker = block.getTracker();
  if (tracker && group.agent != 0)
    tracker->clocks.learn(self, group.agent, state.finished);
}

void WarpGroups::useSums(uint64_t number, Site site) {
  uint32_t self = block.self().index;
  State &state = states[self];
  if (number != 0)
    state.uses[number] = state.fences;
  if (state.uses.size() > kMostUses)
    state.uses.erase(state.uses.begin());
  if (number > state.finished && number <= state.started)
    block.report("product not waited for", site,
                 block.nameThread(self) + " (" + block.describe(site) +
                     ") uses sums of a product (" +
                     block.describe(state.lastSite) +
                     ") before it has waited for it",
                 state.lastSite);
}

uint64_t WarpGroups::changeSums(uint64_t number, Site site) {
  useSums(number, site);
  return kChanged | states[block.self().index].fences;
}

/// Say why a product of the running thread needs a fence before it, or return null
/// if it needs none: nobody but products may have used its sums since the last one.
const char *WarpGroups::findMissingFence(const WarpGroupProduct &product) {
  const State &state = states[block.self().index];
  if (state.fences == 0)
    return "starts a product with no wgmma.fence before it";
  if (!block.getTracker())
    return nullptr;
  uint64_t number = 0;
  std::memcpy(&number, product.sums + product.n / 2, sizeof(number));
  auto use = state.uses.find(number);
  bool isUsed = use != state.uses.end() && use->second == state.fences;
  bool isChanged = number == (kChanged | state.fences);
  return isUsed || isChanged ? "starts a product with no wgmma.fence since the "
                               "thread has used its sums"
                             : nullptr;
}

void WarpGroups::threadExited() {
  uint32_t self = block.self().index;
  const State &state = states[self];
  if (state.finished < state.started)
    block.report("product not waited for", state.lastSite,
                 block.nameThread(self) + " ends before its product is done (" +
                     block.describe(state.lastSite) + ")");
}

/// Enter that `rows` rows of a matrix are read.
void WarpGroups::enterMatrix(uint64_t descriptor, bool isTransposed,
                             uint32_t rows, uint32_t elementBytes,
                             Moment moment, Site site,
                             const Knowledge &knowledge) {
  Placement placement(descriptor, isTransposed);
  // Transposed, each number of K is a row.
  uint32_t count = isTransposed ? kDepthBytes / elementBytes : rows;
  uint32_t bytes = isTransposed ? rows * elementBytes : kDepthBytes;
  for (uint32_t row = 0; row < count; ++row)
    for (uint32_t byte = 0; byte < bytes; byte += kUnitBytes) {
      char *address = block.fromNumber(placement.getNumber(row, byte));
      uint32_t offset = block.checkShared(address, kUnitBytes, kUnitBytes, site,
                                          "an operand of a product");
      if (Tracker *tracker = block.getTracker())
        tracker->enterBackground(offset, kUnitBytes, /*isWrite=*/false,
                                 kAsyncProxy, moment, site, knowledge);
    }
}

/// Enter what the product reads: for all threads that take part.
void WarpGroups::enterOperands(uint32_t index) {
  Group &group = groups[index];
  const WarpGroupProduct &product = *group.products[0];
  Knowledge all;
  if (Tracker *tracker = block.getTracker()) {
    if (group.agent == 0)
      group.agent = tracker->clocks.addAgent();
    all = tracker->clocks.get(index * kWarpGroupSize);
    for (uint32_t i = 1; i < kWarpGroupSize; ++i)
      all.meet(tracker->clocks.get(index * kWarpGroupSize + i));
  }
  Moment moment{group.started, group.agent};
  for (uint32_t step = 0; step < product.steps; ++step) {
    if (product.a)
      enterMatrix(product.a[step],
                  (product.flags & host_calls::kWgmmaTransposeA) != 0, kRows,
                  getBits(product.typeA) / 8, moment, group.site, all);
    enterMatrix(product.b[step],
                (product.flags & host_calls::kWgmmaTransposeB) != 0, product.n,
                getBits(product.typeB) / 8, moment, group.site, all);
  }
}

/// Read a matrix of `rows` rows of K to `to`, with the given distances.
static void readMatrix(Block &block, uint64_t descriptor, bool isTransposed,
                       uint32_t rows, Element type, float sign, float *to,
                       uint32_t rowStep, uint32_t depthStep) {
  Placement placement(descriptor, isTransposed);
  uint32_t elementBytes = getBits(type) / 8;
  uint32_t depth = kDepthBytes / elementBytes;
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t k = 0; k < depth; ++k) {
      uint64_t number = isTransposed
                            ? placement.getNumber(k, row * elementBytes)
                            : placement.getNumber(row, k * elementBytes);
      uint32_t word = 0;
      std::memcpy(&word, block.fromNumber(number), elementBytes);
      to[row * rowStep + k * depthStep] = sign * getElement(type, word, 0);
    }
}

/// Lay out the part of A that each thread holds in four registers.
static void readRegisters(const WarpGroupProduct *const *products,
                          uint32_t step, Element type,
                          float (&a)[kRows][kMostDepth]) {
  constexpr uint32_t kRegisters = 4;
  for (uint32_t thread = 0; thread < kWarpGroupSize; ++thread) {
    const uint32_t *words = products[thread]->registersA + kRegisters * step;
    uint32_t row = thread / kWarpSize * 16 + thread % kWarpSize / 4;
    for (uint32_t i = 0; i < kRegisters; ++i)
      for (uint32_t e = 0; e < 2; ++e)
        a[row + kGroupRows * (i % 2)][8 * (i / 2) + 2 * (thread % 4) + e] =
            getElement(type, words[i], e);
  }
}

/// Call `apply(row, column, number)` for each number of D that `thread` holds.
template <typename Function>
static void forEachSum(uint32_t thread, uint32_t columns, Function apply) {
  uint32_t row = thread / kWarpSize * 16 + thread % kWarpSize / 4;
  for (uint32_t i = 0; i < columns / 2; ++i)
    apply(row + kGroupRows * (i / 2 % 2),
          8 * (i / 4) + 2 * (thread % 4) + i % 2, i);
}

void WarpGroups::run(uint32_t index) {
  Group &group = groups[index];
  const WarpGroupProduct &product = *group.products[0];
  ++group.started;
  enterOperands(index);
  static thread_local float a[kRows][kMostDepth];
  static thread_local float b[kMostDepth][kMostColumns];
  static thread_local float d[kRows][kMostColumns];
  bool isZero = (product.flags & host_calls::kWgmmaZero) != 0;
  for (uint32_t t = 0; t < kWarpGroupSize; ++t)
    forEachSum(t, product.n, [&](uint32_t row, uint32_t column, uint32_t i) {
      d[row][column] = isZero ? 0.f : bitsToFloat(group.products[t]->sums[i]);
    });
  float signA = product.flags & host_calls::kWgmmaNegateA ? -1.f : 1.f;
  float signB = product.flags & host_calls::kWgmmaNegateB ? -1.f : 1.f;
  uint32_t depth = kDepthBytes * 8 / getBits(product.typeB);
  for (uint32_t step = 0; step < product.steps; ++step) {
    if (product.a)
      readMatrix(block, product.a[step],
                 (product.flags & host_calls::kWgmmaTransposeA) != 0, kRows,
                 product.typeA, signA, &a[0][0], kMostDepth, 1);
    else
      readRegisters(group.products, step, product.typeA, a);
    readMatrix(block, product.b[step],
               (product.flags & host_calls::kWgmmaTransposeB) != 0, product.n,
               product.typeB, signB, &b[0][0], 1, kMostColumns);
    for (uint32_t row = 0; row < kRows; ++row)
      for (uint32_t k = 0; k < depth; ++k)
        for (uint32_t column = 0; column < product.n; ++column)
          d[row][column] += a[row][k] * b[k][column];
  }
  uint64_t number = group.started;
  for (uint32_t t = 0; t < kWarpGroupSize; ++t) {
    uint32_t *sums = group.products[t]->sums;
    forEachSum(t, product.n, [&](uint32_t row, uint32_t column, uint32_t i) {
      sums[i] = floatToBits(d[row][column]);
    });
    std::memcpy(sums + product.n / 2, &number, sizeof(number));
    State &state = states[index * kWarpGroupSize + t];
    state.started = group.started;
    state.lastSite = group.site;
  }
}

/// Return whether all threads of a group have room for the same sums and operands.
static bool areAlike(const WarpGroupProduct *const *products) {
  const WarpGroupProduct &first = *products[0];
  return std::all_of(products, products + kWarpGroupSize, [&](auto *other) {
    return other->n == first.n && other->steps == first.steps &&
           other->typeA == first.typeA && other->typeB == first.typeB &&
           other->flags == first.flags && !other->a == !first.a;
  });
}

/// Return whether all threads of a group, which are alike, name the same matrices.
static bool areUniform(const WarpGroupProduct *const *products) {
  const WarpGroupProduct &first = *products[0];
  for (uint32_t t = 1; t < kWarpGroupSize; ++t)
    for (uint32_t step = 0; step < first.steps; ++step)
      if (products[t]->b[step] != first.b[step] ||
          (first.a && products[t]->a[step] != first.a[step]))
        return false;
  return true;
}

void WarpGroups::multiply(const WarpGroupProduct &product, Site site) {
  uint32_t self = block.self().index;
  uint32_t index = self / kWarpGroupSize;
  auto report = [&](const char *kind, const std::string &text,
                    Site other = kNoSite) {
    block.report(kind, site,
                 block.nameThread(self) + " (" + block.describe(site) + ") " +
                     text,
                 other);
  };
  if ((index + 1) * kWarpGroupSize > block.getThreads().size()) {
    report("misuse", "is in a warpgroup of less than 128 threads");
    block.abort();
  }
  if (const char *fault = findMissingFence(product)) {
    report("missing wgmma.fence", fault);
    ++states[self].fences;
  }
  Group &group = groups[index];
  if (group.arrived > 0 && group.site != site)
    report("divergent collective",
           "starts a product while others of its warpgroup are at " +
               block.describe(group.site),
           group.site);
  group.site = site;
  group.products[self % kWarpGroupSize] = &product;
  if (++group.arrived < kWarpGroupSize) {
    block.wait("a product of the warpgroup", site);
    return;
  }
  if (!areAlike(group.products)) {
    report("misuse", "starts another product than the rest of its warpgroup");
    block.abort();
  }
  if (!areUniform(group.products))
    report("misuse", "has other descriptors than the rest of its warpgroup");
  run(index);
  group.arrived = 0;
  for (uint32_t t = 0; t < kWarpGroupSize; ++t)
    if (index * kWarpGroupSize + t != self)
      block.wake(index * kWarpGroupSize + t);
}

static void multiplyShared(Site site, uint32_t *sums, uint64_t a, uint64_t b,
                           uint32_t n, Element typeA, Element typeB,
                           int32_t flags) {
  WarpGroupProduct product;
  product.sums = sums;
  product.a = &a;
  product.b = &b;
  product.n = n;
  product.typeA = typeA;
  product.typeB = typeB;
  product.flags = flags;
  Block::current().warpGroups.multiply(product, site);
}

static void multiplyRegisters(Site site, uint32_t *sums, uint32_t offset,
                              uint32_t steps, uint32_t n, Element type,
                              int32_t flags) {
  WarpGroups &groups = Block::current().warpGroups;
  const char *operands = reinterpret_cast<const char *>(sums) + offset;
  WarpGroupProduct product;
  product.sums = sums;
  product.b = reinterpret_cast<const uint64_t *>(operands);
  product.registersA =
      reinterpret_cast<const uint32_t *>(operands + steps * sizeof(uint64_t));
  product.steps = steps;
  product.n = n;
  product.typeA = product.typeB = type;
  product.flags = flags;
  groups.fence();
  groups.multiply(product, site);
  groups.commit();
}

static void fence(Site) { Block::current().warpGroups.fence(); }
static void commit(Site) { Block::current().warpGroups.commit(); }
static void wait(Site, uint32_t pending) {
  Block::current().warpGroups.wait(pending);
}
static void useSums(Site site, uint64_t number) {
  Block::current().warpGroups.useSums(number, site);
}
static uint64_t changeSums(Site site, uint64_t number) {
  return Block::current().warpGroups.changeSums(number, site);
}

llvm::ArrayRef<HostFunction> emulator::getWarpGroupFunctions() {
  static const HostFunction functions[] = {
      {"attn_cuda_wgmma", multiplyShared},
      {"attn_cuda_wgmma_registers", multiplyRegisters},
      {"attn_cuda_wgmma_fence", fence},
      {"attn_cuda_wgmma_commit", commit},
      {"attn_cuda_wgmma_wait", wait},
      {"attn_cuda_use_accumulator", useSums},
      {"attn_cuda_change_accumulator", changeSums}};
  return functions;
}
