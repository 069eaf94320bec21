// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special registers, barriers and fences as host calls:
//
//   %t = nvvm.read.ptx.sreg.tid.x : i32   ->   %t = llvm.call @attn_cuda_register(%0) : (i32) -> i32
//   nvvm.barrier id = %b                       llvm.call @attn_cuda_barrier(%site, %b, ...)

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
using host_calls::Register;

/// How a special register is known on the host.
struct KnownRegister {
  bool isConstant;
  int32_t value;
};

static KnownRegister reg(Register which) {
  return {/*isConstant=*/false, static_cast<int32_t>(which)};
}

static KnownRegister fixed(int32_t value) {
  return {/*isConstant=*/true, value};
}

/// Return the register that nvvm calls `name`. A cluster is one block.
static std::optional<KnownRegister> lookupRegister(StringRef name) {
  return llvm::StringSwitch<std::optional<KnownRegister>>(name)
      .Case("tid.x", reg(Register::ThreadX))
      .Case("tid.y", reg(Register::ThreadY))
      .Case("tid.z", reg(Register::ThreadZ))
      .Case("ntid.x", reg(Register::BlockSizeX))
      .Case("ntid.y", reg(Register::BlockSizeY))
      .Case("ntid.z", reg(Register::BlockSizeZ))
      .Cases({"ctaid.x", "clusterid.x"}, reg(Register::BlockX))
      .Cases({"ctaid.y", "clusterid.y"}, reg(Register::BlockY))
      .Cases({"ctaid.z", "clusterid.z"}, reg(Register::BlockZ))
      .Cases({"nctaid.x", "nclusterid.x"}, reg(Register::GridSizeX))
      .Cases({"nctaid.y", "nclusterid.y"}, reg(Register::GridSizeY))
      .Cases({"nctaid.z", "nclusterid.z"}, reg(Register::GridSizeZ))
      .Case("laneid", reg(Register::Lane))
      .Case("warpid", reg(Register::Warp))
      .Case("nwarpid", reg(Register::Warps))
      .Case("lanemask.eq", reg(Register::LaneMaskEq))
      .Case("lanemask.le", reg(Register::LaneMaskLe))
      .Case("lanemask.lt", reg(Register::LaneMaskLt))
      .Case("lanemask.ge", reg(Register::LaneMaskGe))
      .Case("lanemask.gt", reg(Register::LaneMaskGt))
      .Case("dynamic.smem.size", reg(Register::DynamicSharedBytes))
      .Case("total.smem.size", reg(Register::TotalSharedBytes))
      .Case("warpsize", fixed(host_calls::kWarpSize))
      .Cases({"cluster.ctaid.x", "cluster.ctaid.y", "cluster.ctaid.z",
              "cluster.ctarank", "smid", "gridid"},
             fixed(0))
      .Cases({"cluster.nctaid.x", "cluster.nctaid.y", "cluster.nctaid.z",
              "cluster.nctarank", "nsmid"},
             fixed(1))
      .Default(std::nullopt);
}

HostConversion attn::convertRegisters(Operation *op, HostCallBuilder &b) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("nvvm.read.ptx.sreg."))
    return std::nullopt;
  Type type = op->getResult(0).getType();
  Value value;
  if (name == "clock" || name == "clock64" || name == "globaltimer" ||
      name == "globaltimer.lo") {
    value = b.call("clock", b.i64(), {});
    if (type != b.i64())
      value = LLVM::TruncOp::create(b, b.loc(), type, value);
  } else if (std::optional<KnownRegister> known = lookupRegister(name)) {
    value = known->isConstant
                ? b.constant(type, known->value)
                : b.callPure("register", b.i32(), b.constant(known->value));
  } else {
    return op->emitOpError("has no counterpart on the host");
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

/// Return the number with which a barrier's reduction is called.
static host_calls::BarrierReduction
getReduction(std::optional<NVVM::BarrierReduction> kind) {
  if (!kind)
    return host_calls::BarrierReduction::None;
  switch (*kind) {
  case NVVM::BarrierReduction::POPC:
    return host_calls::BarrierReduction::PopCount;
  case NVVM::BarrierReduction::AND:
    return host_calls::BarrierReduction::And;
  case NVVM::BarrierReduction::OR:
    return host_calls::BarrierReduction::Or;
  }
  llvm_unreachable("every reduction is handled");
}

static void convertBarrier(NVVM::BarrierOp op, HostCallBuilder &b) {
  Value id = op.getBarrierId() ? op.getBarrierId() : b.constant(0);
  Value threads =
      op.getNumberOfThreads() ? op.getNumberOfThreads() : b.constant(0);
  Value predicate =
      op.getReductionPredicate() ? op.getReductionPredicate() : b.constant(0);
  Value result = b.call(
      "barrier", b.i32(),
      {id, threads, b.kind(getReduction(op.getReductionOp())), predicate});
  if (op.getRes())
    op.getRes().replaceAllUsesWith(result);
}

static void convertBarrier0(HostCallBuilder &b) {
  b.call("barrier", b.i32(),
         {b.constant(0), b.constant(0),
          b.kind(host_calls::BarrierReduction::None), b.constant(0)});
}

/// Return the number with which a fence between proxies is called.
static host_calls::ProxyFence getFence(NVVM::ProxyKind kind) {
  bool isAsync = kind == NVVM::ProxyKind::async ||
                 kind == NVVM::ProxyKind::async_global ||
                 kind == NVVM::ProxyKind::async_shared;
  return isAsync ? host_calls::ProxyFence::Async
                 : host_calls::ProxyFence::Other;
}

/// Convert the barriers of a block and of a cluster.
static bool convertBlockBarriers(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<NVVM::Barrier0Op>([&](auto) {
        convertBarrier0(b);
        return true;
      })
      .Case<NVVM::BarrierOp>([&](auto barrier) {
        convertBarrier(barrier, b);
        return true;
      })
      .Case<NVVM::BarrierArriveOp>([&](auto arrive) {
        Value id =
            arrive.getBarrierId() ? arrive.getBarrierId() : b.constant(0);
        b.call("barrier_arrive", nullptr, {id, arrive.getNumberOfThreads()});
        return true;
      })
      .Case<NVVM::ClusterArriveOp>([&](auto) {
        b.call("cluster_arrive", nullptr, b.constant(0));
        return true;
      })
      .Case<NVVM::ClusterArriveRelaxedOp>([&](auto) {
        b.call("cluster_arrive", nullptr, b.constant(1));
        return true;
      })
      .Case<NVVM::ClusterWaitOp>([&](auto) {
        b.call("cluster_wait", nullptr, {});
        return true;
      })
      .Default(false);
}

/// Convert what a thread does by itself: fences, and what concerns its existence.
static bool convertThreadOps(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<NVVM::FenceProxyOp>([&](auto fence) {
        b.call("fence_proxy", nullptr, b.kind(getFence(fence.getKind())));
        return true;
      })
      .Case<NVVM::FenceMbarrierInitOp>([&](auto) {
        b.call("fence_mbarrier_init", nullptr, {});
        return true;
      })
      .Case<NVVM::SetMaxRegisterOp>([&](auto set) {
        b.call("set_max_register", nullptr, b.constant(set.getRegCount()));
        return true;
      })
      .Case<NVVM::Exit>([&](auto) {
        b.call("exit", nullptr, {});
        return true;
      })
      .Case<NVVM::MembarOp, NVVM::FenceScClusterOp>([&](auto) {
        // Of two blocks, which run on two threads of the host.
        LLVM::FenceOp::create(b, b.loc(), LLVM::AtomicOrdering::seq_cst, "");
        return true;
      })
      .Case<NVVM::NanosleepOp>([&](auto) {
        b.call("yield", nullptr, {});
        return true;
      })
      .Default(false);
}

/// Return whether `op` does nothing here. What waits for other grids or fetches
/// early has no effect.
static bool hasNoEffect(Operation *op) {
  return isa<NVVM::FenceSyncRestrictOp, NVVM::FenceProxyAcquireOp,
             NVVM::FenceProxyReleaseOp, NVVM::GriddepcontrolOp,
             NVVM::PrefetchOp, NVVM::CpAsyncBulkPrefetchOp,
             NVVM::CpAsyncBulkTensorPrefetchOp, NVVM::PMEventOp,
             NVVM::Breakpoint>(op);
}

HostConversion attn::convertBarriers(Operation *op, HostCallBuilder &b) {
  if (!hasNoEffect(op) && !convertBlockBarriers(op, b) &&
      !convertThreadOps(op, b))
    return std::nullopt;
  op->erase();
  return success();
}
