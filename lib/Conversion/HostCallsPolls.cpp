// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets others run while a thread asks memory again and again for what they do:
//
//   ^ask:
//     %x = llvm.load volatile %flag : !llvm.ptr<3> -> i32
//     %is = llvm.icmp "eq" %x, %zero : i32
//     llvm.cond_br %is, ^ask, ^done
//
// becomes
//
//   ^ask:
//     %x = llvm.load volatile ...
//     %is = llvm.icmp ...
//     llvm.call @attn_cuda_poll(%site)
//     llvm.cond_br %is, ^ask, ^done
//
// Where accesses are tracked, other loops call @attn_cuda_round in this place, so that one that never ends is seen.

#include "HostCallBuilder.h"

#include "mlir/IR/Dominance.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::attn;

/// Return whether `op` is what loops look with at memory that others write. A sum
/// in memory is none: its loops end by themselves.
static bool looksAgain(Operation &op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return load.getVolatile_() ||
           load.getOrdering() != LLVM::AtomicOrdering::not_atomic;
  if (auto update = dyn_cast<LLVM::AtomicRMWOp>(op))
    return update.getBinOp() == LLVM::AtomicBinOp::xchg;
  return isa<LLVM::AtomicCmpXchgOp>(op);
}

/// Return whether a block of the loop that goes from `last` back to `first` looks
/// at memory again.
static bool mayWait(Block *first, Block *last) {
  llvm::SmallPtrSet<Block *, 8> seen = {first};
  SmallVector<Block *> open = {last};
  bool isWaiting = llvm::any_of(*first, looksAgain);
  while (!open.empty() && !isWaiting) {
    Block *block = open.pop_back_val();
    if (!seen.insert(block).second)
      continue;
    isWaiting = llvm::any_of(*block, looksAgain);
    llvm::append_range(open, block->getPredecessors());
  }
  return isWaiting;
}

void attn::addPolls(LLVM::LLVMFuncOp function, HostCallBuilder &builder,
                    bool track) {
  DominanceInfo dominance(function);
  for (Block &block : function.getBody()) {
    bool isLoop = false, isWaiting = false;
    for (Block *next : block.getSuccessors())
      if (dominance.dominates(next, &block)) {
        isLoop = true;
        isWaiting |= mayWait(next, &block);
      }
    if (!isWaiting && !(isLoop && track))
      continue;
    builder.startAt(block.getTerminator());
    builder.call(isWaiting ? "poll" : "round", nullptr, {});
  }
}
