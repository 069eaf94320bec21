// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic that only a GPU has, as host calls:
//
//   %y = attn_gpu.exp2 %x                    ->   %y = llvm.call @attn_cuda_exp2(%x) : (f32) -> f32
//   %z = llvm.call @__nv_tanhf(%y)                the same: of lib/Runtime/CudaMath.c, here as on a GPU

#include "HostCallBuilder.h"

#include "attn/IR/AttnGpuOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the run-time function that computes an approximate intrinsic of f32.
/// A subnormal operand counts as 0 in most of them, also where the intrinsic without
/// `ftz` keeps it.
static StringRef lookupIntrinsic(StringRef name) {
  if (!name.consume_front("llvm.nvvm."))
    return "";
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"ex2.approx.ftz.f", "ex2.approx.ftz.f32"}, "exp2")
      .Cases({"ex2.approx.f", "ex2.approx.f32"}, "exp2_subnormal")
      .Cases({"lg2.approx.ftz.f", "lg2.approx.f"}, "log2")
      .Cases({"rcp.approx.ftz.f", "rcp.rn.f", "rcp.rn.ftz.f"}, "reciprocal")
      .Cases({"rsqrt.approx.ftz.f", "rsqrt.approx.f"}, "rsqrt")
      .Cases({"sqrt.approx.ftz.f", "sqrt.approx.f", "sqrt.rn.f", "sqrt.f"},
             "sqrt")
      .Cases({"tanh.approx.f", "tanh.approx.f32"}, "tanh")
      .Cases({"sin.approx.ftz.f", "sin.approx.f"}, "sin")
      .Cases({"cos.approx.ftz.f", "cos.approx.f"}, "cos")
      .Default("");
}

static LogicalResult convertIntrinsic(LLVM::CallIntrinsicOp op,
                                      HostCallBuilder &b) {
  if (!op.getIntrin().starts_with("llvm.nvvm."))
    return success();
  StringRef name = lookupIntrinsic(op.getIntrin());
  if (name.empty())
    return op.emitOpError("of '")
           << op.getIntrin() << "' has no counterpart on the host";
  Value result = b.callPure(name, op->getResult(0).getType(), op.getArgs());
  op->getResult(0).replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// Convert two f32 to a vector of 16-bit numbers; the second one comes first.
template <typename Op>
static Value convertPair(Op op, HostCallBuilder &b) {
  bool nearest = op.getRnd() == NVVM::FPRoundingMode::RN ||
                 op.getRnd() == NVVM::FPRoundingMode::NONE;
  if (!nearest || op.getRandomBits() ||
      op.getSat() != NVVM::SaturationMode::NONE)
    return {};
  auto type = cast<VectorType>(op.getType());
  Value pair = LLVM::PoisonOp::create(b, b.loc(), type);
  int64_t place = 0;
  for (Value source : {op.getSrcLo(), op.getSrcHi()}) {
    if (op.getRelu()) {
      Value zero = LLVM::ZeroOp::create(b, b.loc(), source.getType());
      source = LLVM::MaximumOp::create(b, b.loc(), source, zero);
    }
    Value narrow =
        LLVM::FPTruncOp::create(b, b.loc(), type.getElementType(), source);
    pair = LLVM::InsertElementOp::create(b, b.loc(), pair, narrow,
                                         b.constant(place++));
  }
  return pair;
}

HostConversion attn::convertMath(Operation *op, HostCallBuilder &b) {
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return convertIntrinsic(intrinsic, b);
  bool known = isa<attn_gpu::Exp2Op, NVVM::RcpApproxFtzF32Op, NVVM::PermuteOp,
                   NVVM::ConvertFloatToTF32Op, NVVM::ConvertF32x2ToF16x2Op,
                   NVVM::ConvertF32x2ToBF16x2Op, NVVM::MapaOp>(op);
  if (!known)
    return std::nullopt;
  Value result =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case<attn_gpu::Exp2Op>(
              [&](auto o) { return b.callPure("exp2", o.getType(), o.getX()); })
          .Case<NVVM::RcpApproxFtzF32Op>([&](auto o) {
            return b.callPure("reciprocal", o.getType(), o.getArg());
          })
          .Case<NVVM::PermuteOp>([&](auto o) {
            Value high = o.getHi() ? o.getHi() : b.constant(0);
            return b.callPure(
                "permute", b.i32(),
                {o.getLo(), high, o.getSelector(), b.kind(o.getMode())});
          })
          .Case<NVVM::ConvertFloatToTF32Op>([&](auto o) {
            return b.callPure("to_tf32", b.i32(), o.getSrc());
          })
          .Case<NVVM::ConvertF32x2ToF16x2Op, NVVM::ConvertF32x2ToBF16x2Op>(
              [&](auto o) { return convertPair(o, b); })
          // A cluster is one block: its shared memory is that of the block.
          .Case<NVVM::MapaOp>([&](auto o) {
            return LLVM::AddrSpaceCastOp::create(b, b.loc(), o.getType(),
                                                 o.getA())
                .getResult();
          })
          .Default(Value());
  if (!result)
    return op->emitOpError(
        "with these attributes has no counterpart on the host");
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

LogicalResult attn::convertLibraryCalls(Operation *module) {
  constexpr StringLiteral kFail = "attn_cuda_assert_fail";
  SymbolTable symbols(module);
  auto result = module->walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee()
                      ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee())
                      : LLVM::LLVMFuncOp();
    StringRef name = callee ? callee.getName() : "";
    if (callee && (!callee.isExternal() || name.starts_with("attn_cuda_") ||
                   name.starts_with("__nv_")))
      return WalkResult::advance();
    if (name != "__assertfail") {
      call.emitOpError("of ")
          << (callee ? Twine("'" + name + "'").str() : std::string("a pointer"))
          << " has no counterpart on the host";
      return WalkResult::interrupt();
    }
    if (failed(symbols.rename(callee, kFail)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
