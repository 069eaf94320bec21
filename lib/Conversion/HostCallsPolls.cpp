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
//     llvm.call @attn_cuda_poll(%site, %state)
//     llvm.cond_br %is, ^ask, ^done
//
// The state is made of what the loop carries into its next round and of what it has just seen: a thread that is in the same
// state again has got nowhere. Loops in which something else lets others run, as a test of an mbarrier does, call
// @attn_cuda_ask in this place. Where accesses are tracked, other loops call @attn_cuda_round, so that one that never ends
// is seen.

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

/// Return whether others may run in `op` and come back to the thread.
static bool letsOthersRun(Operation &op) {
  return isa<NVVM::MBarrierTestWaitOp, NVVM::MBarrierTryWaitOp,
             NVVM::NanosleepOp, LLVM::CallOp>(op);
}

namespace {
/// What a loop does; the later ones say more.
enum class LoopKind { None, Counts, Asks, Waits };
} // namespace

static LoopKind getKind(Block &block) {
  if (llvm::any_of(block, looksAgain))
    return LoopKind::Waits;
  return llvm::any_of(block, letsOthersRun) ? LoopKind::Asks : LoopKind::Counts;
}

/// Return what the loop does that goes from `last` back to `first`.
static LoopKind getKind(Block *first, Block *last) {
  llvm::SmallPtrSet<Block *, 8> seen = {first};
  SmallVector<Block *> open = {last};
  LoopKind kind = getKind(*first);
  while (!open.empty() && kind != LoopKind::Waits) {
    Block *block = open.pop_back_val();
    if (!seen.insert(block).second)
      continue;
    kind = std::max(kind, getKind(*block));
    llvm::append_range(open, block->getPredecessors());
  }
  return kind;
}

/// Return `value` as an i64, or nothing if it is no number of up to 64 bits.
static Value getNumber(Value value, HostCallBuilder &b) {
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(b, b.loc(), b.i64(), value);
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
    return {};
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != bits)
    value = LLVM::BitcastOp::create(b, b.loc(), bits, value);
  if (bits != b.i64())
    value = LLVM::ZExtOp::create(b, b.loc(), b.i64(), value);
  return value;
}

/// Return the state of the loops that go on from the end of `block`.
static Value buildState(Block &block, HostCallBuilder &b) {
  SmallVector<Value> parts;
  auto branch = cast<BranchOpInterface>(block.getTerminator());
  for (unsigned i = 0; i < block.getNumSuccessors(); ++i)
    llvm::append_range(parts,
                       branch.getSuccessorOperands(i).getForwardedOperands());
  for (Operation &op : block)
    if (looksAgain(op))
      llvm::append_range(parts, op.getResults());
  // The factor of a well-known hash of 64 bits.
  constexpr int64_t kFactor = 0x100000001b3;
  Value state = b.constant(b.i64(), 0);
  for (Value part : parts)
    if (Value number = getNumber(part, b)) {
      state =
          LLVM::MulOp::create(b, b.loc(), state, b.constant(b.i64(), kFactor));
      state = LLVM::XOrOp::create(b, b.loc(), state, number);
    }
  return state;
}

void attn::addPolls(LLVM::LLVMFuncOp function, HostCallBuilder &builder,
                    bool track) {
  DominanceInfo dominance(function);
  for (Block &block : function.getBody()) {
    LoopKind kind = LoopKind::None;
    for (Block *next : block.getSuccessors())
      if (dominance.dominates(next, &block))
        kind = std::max(kind, getKind(next, &block));
    if (kind == LoopKind::None || (kind == LoopKind::Counts && !track))
      continue;
    builder.startAt(block.getTerminator());
    if (kind == LoopKind::Counts)
      builder.call("round", nullptr, {});
    else
      builder.call(kind == LoopKind::Waits ? "poll" : "ask", nullptr,
                   buildState(block, builder));
  }
}
