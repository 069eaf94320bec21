// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in shared memory as host calls:
//
//   %s = nvvm.mbarrier.arrive %m : !llvm.ptr<3> -> i64
//
// becomes
//
//   %s = llvm.call @attn_cuda_mbarrier_arrive(%site, %m, %count, %bytes, %flags) : (...) -> i64

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::host_calls;

/// Call `mbarrier_arrive` in the place of `op`.
static void arrive(Operation *op, Value barrier, Value count, Value bytes,
                   int32_t flags, HostCallBuilder &b) {
  count = count ? count : b.constant(1);
  bytes = bytes ? bytes : b.constant(0);
  Value state = b.call("mbarrier_arrive", b.i64(),
                       {b.address(barrier), count, bytes, b.constant(flags)});
  if (op->getNumResults() == 1)
    op->getResult(0).replaceAllUsesWith(state);
}

/// Call `mbarrier_test` in the place of `op`: a state is an i64, a parity an i32.
static void test(Operation *op, Value barrier, Value stateOrPhase, bool relaxed,
                 HostCallBuilder &b) {
  bool isState = stateOrPhase.getType() == b.i64();
  Value phase =
      isState
          ? stateOrPhase
          : LLVM::ZExtOp::create(b, b.loc(), b.i64(), stateOrPhase).getResult();
  Value done = b.call(
      "mbarrier_test", b.i32(),
      {b.address(barrier), phase, b.constant(!isState), b.constant(relaxed)});
  op->getResult(0).replaceAllUsesWith(b.fromWord(done, b.i1()));
}

/// Return the predicate of an op as a word, 1 where there is none.
static Value getPredicate(Value predicate, HostCallBuilder &b) {
  return predicate ? b.word(predicate) : b.constant(1);
}

static bool convertArrival(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<NVVM::MBarrierArriveOp>([&](auto o) {
        arrive(op, o.getAddr(), o.getCount(), {},
               o.getRelaxed() ? kArriveRelaxed : kArrivePlain, b);
        return true;
      })
      .Case<NVVM::MBarrierArriveDropOp>([&](auto o) {
        arrive(op, o.getAddr(), o.getCount(), {},
               kArriveDrop | (o.getRelaxed() ? kArriveRelaxed : kArrivePlain),
               b);
        return true;
      })
      .Case<NVVM::MBarrierArriveNocompleteOp>([&](auto o) {
        arrive(op, o.getAddr(), o.getCount(), {}, kArriveNoComplete, b);
        return true;
      })
      .Case<NVVM::MBarrierArriveDropNocompleteOp>([&](auto o) {
        arrive(op, o.getAddr(), o.getCount(), {},
               kArriveDrop | kArriveNoComplete, b);
        return true;
      })
      .Case<NVVM::MBarrierArriveDropExpectTxOp>([&](auto o) {
        arrive(op, o.getAddr(), {}, o.getTxcount(),
               kArriveDrop | kArriveExpect |
                   (o.getRelaxed() ? kArriveRelaxed : kArrivePlain),
               b);
        return true;
      })
      .Case<NVVM::MBarrierArriveExpectTxOp>([&](auto o) {
        int32_t flags =
            kArriveExpect | (o.getRelaxed() ? kArriveRelaxed : kArrivePlain);
        if (!o.getPredicate()) {
          arrive(op, o.getAddr(), {}, o.getTxcount(), flags, b);
          return true;
        }
        // Without the predicate: no arrival, which is one of count 0.
        Value zero = b.constant(0);
        Value bytes = LLVM::SelectOp::create(b, b.loc(), o.getPredicate(),
                                             o.getTxcount(), zero);
        arrive(op, o.getAddr(), getPredicate(o.getPredicate(), b), bytes, flags,
               b);
        return true;
      })
      .Default(false);
}

HostConversion attn::convertMBarriers(Operation *op, HostCallBuilder &b) {
  bool known =
      convertArrival(op, b) ||
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<NVVM::MBarrierInitOp>([&](auto o) {
            b.call("mbarrier_init", nullptr,
                   {b.address(o.getAddr()), o.getCount(),
                    getPredicate(o.getPredicate(), b)});
            return true;
          })
          .Case<NVVM::MBarrierInvalOp>([&](auto o) {
            b.call("mbarrier_inval", nullptr, b.address(o.getAddr()));
            return true;
          })
          .Case<NVVM::MBarrierExpectTxOp>([&](auto o) {
            b.call("mbarrier_expect", nullptr,
                   {b.address(o.getAddr()), o.getTxcount()});
            return true;
          })
          .Case<NVVM::MBarrierCompleteTxOp>([&](auto o) {
            b.call("mbarrier_complete", nullptr,
                   {b.address(o.getAddr()), o.getTxcount()});
            return true;
          })
          .Case<NVVM::MBarrierTestWaitOp, NVVM::MBarrierTryWaitOp>([&](auto o) {
            test(op, o.getAddr(), o.getStateOrPhase(), o.getRelaxed(), b);
            return true;
          })
          .Case<NVVM::MBarrierTryWaitParityOp>([&](auto o) {
            b.call("mbarrier_wait", nullptr,
                   {b.address(o.getAddr()), o.getPhase()});
            return true;
          })
          .Default(false);
  if (!known)
    return std::nullopt;
  op->erase();
  return success();
}
