// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the threads of a warp do together, as host calls:
//
//   %r = nvvm.shfl.sync bfly %mask, %v, %offset, %clamp : f32 -> f32
//
// becomes
//
//   %w = llvm.bitcast %v : f32 to i32
//   %s = llvm.call @attn_cuda_shuffle(%site, %mask, %w, %offset, %clamp, %kind, %valid) : (...) -> i32
//   %r = llvm.bitcast %s : i32 to f32

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

/// Lanes that take part where an op names none: all.
constexpr int64_t kAllLanes = -1;

/// Return a struct of `first` and the boolean that the last call left in the buffer.
static Value withPredicate(Value first, Type type, HostCallBuilder &b) {
  Value flag = b.fromWord(b.load(b.i32()), b.i1());
  Value pair = LLVM::PoisonOp::create(b, b.loc(), type);
  pair = LLVM::InsertValueOp::create(b, b.loc(), pair, first,
                                     ArrayRef<int64_t>{0});
  return LLVM::InsertValueOp::create(b, b.loc(), pair, flag,
                                     ArrayRef<int64_t>{1});
}

static host_calls::Shuffle getShuffle(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::bfly:
    return host_calls::Shuffle::Xor;
  case NVVM::ShflKind::up:
    return host_calls::Shuffle::Up;
  case NVVM::ShflKind::down:
    return host_calls::Shuffle::Down;
  case NVVM::ShflKind::idx:
    return host_calls::Shuffle::Index;
  }
  llvm_unreachable("every shuffle is handled");
}

static Value convertShuffle(NVVM::ShflOp op, HostCallBuilder &b) {
  Value word = b.call("shuffle", b.i32(),
                      {op.getThreadMask(), b.word(op.getVal()), op.getOffset(),
                       op.getMaskAndClamp(), b.kind(getShuffle(op.getKind())),
                       b.buffer(4)});
  Value moved = b.fromWord(word, op.getVal().getType());
  if (!isa<LLVM::LLVMStructType>(op.getType()))
    return moved;
  return withPredicate(moved, op.getType(), b);
}

static host_calls::Vote getVote(NVVM::VoteSyncKind kind) {
  switch (kind) {
  case NVVM::VoteSyncKind::any:
    return host_calls::Vote::Any;
  case NVVM::VoteSyncKind::all:
    return host_calls::Vote::All;
  case NVVM::VoteSyncKind::ballot:
    return host_calls::Vote::Ballot;
  case NVVM::VoteSyncKind::uni:
    return host_calls::Vote::Uniform;
  }
  llvm_unreachable("every vote is handled");
}

static Value convertVote(NVVM::VoteSyncOp op, HostCallBuilder &b) {
  Value word = b.call(
      "vote", b.i32(),
      {op.getMask(), b.word(op.getPred()), b.kind(getVote(op.getKind()))});
  return b.fromWord(word, op.getType());
}

static host_calls::Redux getRedux(NVVM::ReduxOp op) {
  using host_calls::Redux;
  auto variant = [&](Redux plain, Redux abs, Redux nan, Redux absNan) {
    if (op.getAbs())
      return op.getNan() ? absNan : abs;
    return op.getNan() ? nan : plain;
  };
  switch (op.getKind()) {
  case NVVM::ReduxKind::ADD:
    return Redux::Add;
  case NVVM::ReduxKind::AND:
    return Redux::And;
  case NVVM::ReduxKind::MAX:
    return Redux::Max;
  case NVVM::ReduxKind::MIN:
    return Redux::Min;
  case NVVM::ReduxKind::OR:
    return Redux::Or;
  case NVVM::ReduxKind::UMAX:
    return Redux::UMax;
  case NVVM::ReduxKind::UMIN:
    return Redux::UMin;
  case NVVM::ReduxKind::XOR:
    return Redux::Xor;
  case NVVM::ReduxKind::FMIN:
    return variant(Redux::FMin, Redux::FMinAbs, Redux::FMinNan,
                   Redux::FMinAbsNan);
  case NVVM::ReduxKind::FMAX:
    return variant(Redux::FMax, Redux::FMaxAbs, Redux::FMaxNan,
                   Redux::FMaxAbsNan);
  }
  llvm_unreachable("every reduction is handled");
}

static Value convertRedux(NVVM::ReduxOp op, HostCallBuilder &b) {
  Value word =
      b.call("redux", b.i32(),
             {op.getMaskAndClamp(), b.word(op.getVal()), b.kind(getRedux(op))});
  return b.fromWord(word, op.getType());
}

static Value convertMatch(NVVM::MatchSyncOp op, HostCallBuilder &b) {
  bool all = op.getKind() == NVVM::MatchSyncKind::all;
  Value value = op.getVal();
  if (value.getType() != b.i64())
    value = LLVM::ZExtOp::create(b, b.loc(), b.i64(), value);
  Value mask =
      b.call("match", b.i32(),
             {op.getThreadMask(), value, b.constant(all), b.buffer(4)});
  return all ? withPredicate(mask, op.getType(), b) : mask;
}

HostConversion attn::convertWarpOps(Operation *op, HostCallBuilder &b) {
  if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op)) {
    b.call("sync_warp", nullptr, sync.getMask());
    op->erase();
    return success();
  }
  Value result =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case<NVVM::ShflOp>([&](auto o) { return convertShuffle(o, b); })
          .Case<NVVM::VoteSyncOp>([&](auto o) { return convertVote(o, b); })
          .Case<NVVM::ReduxOp>([&](auto o) { return convertRedux(o, b); })
          .Case<NVVM::MatchSyncOp>([&](auto o) { return convertMatch(o, b); })
          .Case<NVVM::ElectSyncOp>([&](auto o) {
            Value mask =
                o.getMembermask() ? o.getMembermask() : b.constant(kAllLanes);
            return b.fromWord(b.call("elect", b.i32(), mask), b.i1());
          })
          .Default(Value());
  if (!result)
    return std::nullopt;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}
