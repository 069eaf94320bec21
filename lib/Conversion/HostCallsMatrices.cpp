// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of small matrices, and the loads and stores that lay them out over a warp, as host calls. Registers go
// through a buffer on the thread's stack:
//
//   %d = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%c0, ...] {shape = ...}
//
// becomes
//
//   llvm.store %a0, %buffer : vector<2xf16>, !llvm.ptr      // and so on: all of A, B, C
//   llvm.call @attn_cuda_mma(%site, %buffer, %m, %n, %k, %type_a, %type_b, %type_d)
//   %d = llvm.load %buffer : !llvm.struct<...>

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;
using host_calls::Element;

/// Return how calls name `type`, if the emulator multiplies such elements.
static std::optional<Element> getElement(std::optional<NVVM::MMATypes> type) {
  if (!type)
    return std::nullopt;
  switch (*type) {
  case NVVM::MMATypes::f16:
    return Element::F16;
  case NVVM::MMATypes::bf16:
    return Element::BF16;
  case NVVM::MMATypes::tf32:
    return Element::TF32;
  case NVVM::MMATypes::f32:
    return Element::F32;
  case NVVM::MMATypes::f64:
    return Element::F64;
  case NVVM::MMATypes::s8:
    return Element::S8;
  case NVVM::MMATypes::u8:
    return Element::U8;
  case NVVM::MMATypes::s32:
    return Element::S32;
  case NVVM::MMATypes::e4m3:
    return Element::E4M3;
  case NVVM::MMATypes::e5m2:
    return Element::E5M2;
  default:
    return std::nullopt;
  }
}

/// Return the type of the elements of A or B.
static std::optional<Element>
getOperandElement(std::optional<NVVM::MMATypes> written, ValueRange operands) {
  if (!written)
    written = NVVM::MmaOp::inferOperandMMAType(operands[0].getType(),
                                               /*isAccumulator=*/false);
  return getElement(written);
}

/// Return whether a product of shape `m`, `n`, `k` is laid out as the emulator
/// knows it: each register holds neighbours along k.
static bool isKnownShape(NVVM::MMAShapeAttr shape, Element a) {
  if (a == Element::F64)
    return shape.getM() == 8 && shape.getN() == 8 && shape.getK() == 4;
  // Elements in a register, and so in the four lanes that share a row.
  int64_t elements = a == Element::F16 || a == Element::BF16 ? 2
                     : a == Element::TF32                    ? 1
                                                             : 4;
  return shape.getM() == 16 && shape.getN() == 8 &&
         (shape.getK() == 4 * elements || shape.getK() == 8 * elements);
}

static LogicalResult convertMma(NVVM::MmaOp op, HostCallBuilder &b) {
  std::optional<Element> a =
      getOperandElement(op.getMultiplicandAPtxType(), op.getOperandA());
  std::optional<Element> c =
      getOperandElement(op.getMultiplicandBPtxType(), op.getOperandB());
  std::optional<Element> from = getElement(op.accumPtxType());
  std::optional<Element> to = getElement(op.resultPtxType());
  bool plain = op.getLayoutA() == NVVM::MMALayout::row &&
               op.getLayoutB() == NVVM::MMALayout::col;
  if (!a || !c || !from || from != to || !plain ||
      op.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite ||
      !isKnownShape(op.getShape(), *a))
    return op.emitOpError("of this shape and these types has no counterpart on "
                          "the host");
  uint64_t end = b.fill(op.getOperandA());
  end = b.fill(op.getOperandB(), end);
  b.fill(op.getOperandC(), end);
  NVVM::MMAShapeAttr shape = op.getShape();
  b.call("mma", nullptr,
         {b.buffer(0), b.constant(shape.getM()), b.constant(shape.getN()),
          b.constant(shape.getK()), b.kind(*a), b.kind(*c), b.kind(*to)});
  op.getResult().replaceAllUsesWith(b.load(op.getType()));
  op.erase();
  return success();
}

/// Return whether a load or store moves 8x8 matrices of 16-bit elements.
template <typename Op>
static bool isPlainMatrix(Op op) {
  return op.getShape().getM() == 8 && op.getShape().getN() == 8 &&
         op.getEltType() == NVVM::LdStMatrixEltType::B16;
}

static LogicalResult convertLoad(NVVM::LdMatrixOp op, HostCallBuilder &b) {
  if (!isPlainMatrix(op))
    return op.emitOpError(
        "of other than 8x8 matrices of 16-bit elements has no "
        "counterpart on the host");
  bool transposed = op.getLayout() == NVVM::MMALayout::col;
  b.call("ldmatrix", nullptr,
         {b.address(op.getPtr()), b.constant(op.getNum()),
          b.constant(transposed), b.buffer(4 * op.getNum())});
  op.getResult().replaceAllUsesWith(b.load(op.getType()));
  op.erase();
  return success();
}

static LogicalResult convertStore(NVVM::StMatrixOp op, HostCallBuilder &b) {
  if (!isPlainMatrix(op))
    return op.emitOpError(
        "of other than 8x8 matrices of 16-bit elements has no "
        "counterpart on the host");
  bool transposed = op.getLayout() == NVVM::MMALayout::col;
  b.fill(op.getSources());
  b.call("stmatrix", nullptr,
         {b.address(op.getPtr()), b.constant(op.getSources().size()),
          b.constant(transposed), b.buffer(0)});
  op.erase();
  return success();
}

HostConversion attn::convertMatrixOps(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, HostConversion>(op)
      .Case<NVVM::MmaOp>([&](auto o) { return convertMma(o, b); })
      .Case<NVVM::LdMatrixOp>([&](auto o) { return convertLoad(o, b); })
      .Case<NVVM::StMatrixOp>([&](auto o) { return convertStore(o, b); })
      .Default(std::nullopt);
}
