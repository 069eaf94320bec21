// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds allocations that are never needed at once:
//
//   %a = memref.alloc() ...             from op 1 to op 2
//   %b = memref.alloc() ...             from op 2 to op 3
//   %c = memref.alloc() ...             from op 3 to op 4: in the memory of %a
//   linalg ... outs(%a)                 op 1
//   linalg ... ins(%a) outs(%b)         op 2
//   linalg ... ins(%b) outs(%c)         op 3
//   linalg ... ins(%c) outs(%result)    op 4
//
// Places are those in the body of the function, so that a loop is one place: kernels of a call run in this order. What is
// computed from an element counts as a need of the allocation too, since later kernels read the element again.

#include "WorkspaceSlots.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The first and the last place where something is needed.
struct Life {
  int64_t first, last;
};

/// What is known of memory that is shared.
struct SlotState {
  int64_t last;
  /// Of the largest; nothing if an extent is dynamic.
  std::optional<int64_t> bytes;
};
} // namespace

int64_t attn::countKnownBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
  int64_t bytes = llvm::divideCeil(bits, 8);
  for (int64_t extent : type.getShape())
    if (ShapedType::isStatic(extent))
      bytes *= extent;
  return bytes;
}

bool attn::haveSameSize(memref::AllocOp a, memref::AllocOp b) {
  return countKnownBytes(a.getType()) == countKnownBytes(b.getType()) &&
         llvm::equal(a.getDynamicSizes(), b.getDynamicSizes());
}

/// Add to `values` what may be, or hold, or follow from, what `user` is given.
static void addFollowing(Operation *user, llvm::SetVector<Value> &values) {
  values.insert(user->result_begin(), user->result_end());
  Operation *owner =
      user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user;
  if (isa<func::FuncOp>(owner))
    return;
  values.insert(owner->result_begin(), owner->result_end());
  for (Region &region : owner->getRegions())
    for (Block &block : region)
      values.insert(block.args_begin(), block.args_end());
}

/// Return where in `body` `alloc` is needed.
static Life findLife(memref::AllocOp alloc, Block &body,
                     const llvm::DenseMap<Operation *, int64_t> &places) {
  Life life = {std::numeric_limits<int64_t>::max(), -1};
  llvm::SetVector<Value> values;
  values.insert(alloc.getResult());
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : Value(values[i]).getUsers()) {
      int64_t place = places.lookup(body.findAncestorOpInBlock(*user));
      life.first = std::min(life.first, place);
      life.last = std::max(life.last, place);
      addFollowing(user, values);
    }
  return life;
}

/// Return by how much `slot` grows if `alloc` comes into it and how much of it that
/// would leave; the smaller the better.
static std::pair<int64_t, int64_t>
rate(const WorkspaceSlot &slot, const SlotState &state, memref::AllocOp alloc) {
  if (llvm::any_of(slot, [&](memref::AllocOp other) {
        return haveSameSize(alloc, other);
      }))
    return {0, 0};
  // Sharing is never worse than memory of one's own.
  if (!state.bytes || !alloc.getDynamicSizes().empty())
    return {std::numeric_limits<int64_t>::max(), 0};
  int64_t more = countKnownBytes(alloc.getType()) - *state.bytes;
  return {std::max<int64_t>(more, 0), std::max<int64_t>(-more, 0)};
}

SmallVector<WorkspaceSlot> attn::findSlots(func::FuncOp function,
                                           ArrayRef<memref::AllocOp> allocs) {
  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, int64_t> places;
  for (auto [place, op] : llvm::enumerate(body))
    places[&op] = place;
  SmallVector<Life> lives;
  for (memref::AllocOp alloc : allocs)
    lives.push_back(findLife(alloc, body, places));
  auto order = llvm::to_vector(llvm::seq<size_t>(0, allocs.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(lives[a].first, a) < std::pair(lives[b].first, b);
  });
  SmallVector<WorkspaceSlot> slots;
  SmallVector<SlotState> states;
  for (size_t number : order) {
    memref::AllocOp alloc = allocs[number];
    const Life &life = lives[number];
    std::optional<size_t> best;
    for (size_t i = 0; i < slots.size(); ++i)
      if (states[i].last < life.first &&
          (!best || rate(slots[i], states[i], alloc) <
                        rate(slots[*best], states[*best], alloc)))
        best = i;
    std::optional<int64_t> bytes;
    if (alloc.getDynamicSizes().empty())
      bytes = countKnownBytes(alloc.getType());
    if (!best) {
      slots.push_back({alloc});
      states.push_back({life.last, bytes});
      continue;
    }
    slots[*best].push_back(alloc);
    SlotState &state = states[*best];
    state.last = life.last;
    if (state.bytes)
      state.bytes = bytes ? std::max(*state.bytes, *bytes) : bytes;
  }
  return slots;
}
