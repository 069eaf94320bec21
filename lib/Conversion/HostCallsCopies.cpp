// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies as host calls:
//
//   nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %bytes : ...
//
// becomes
//
//   llvm.call @attn_cuda_copy(%site, %to, %from, %size, %bytes)

#include "HostCallBuilder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

/// Put coordinates into the buffer and return it.
static Value storeCoordinates(ValueRange coordinates, HostCallBuilder &b) {
  b.fill(coordinates);
  return b.buffer(0);
}

static Value getPredicate(Value predicate, HostCallBuilder &b) {
  return predicate ? b.word(predicate) : b.constant(1);
}

static LogicalResult
convertTensorLoad(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op,
                  HostCallBuilder &b) {
  if (op.getMode() != NVVM::TMALoadMode::TILE || op.getMulticastMask() ||
      op.getGroup())
    return op.emitOpError(
        "with a mode, a multicast or a group of blocks has no "
        "counterpart on the host");
  Value coordinates = storeCoordinates(op.getCoordinates(), b);
  b.call("tensor_load", nullptr,
         {b.address(op.getDstMem()), b.address(op.getTmaDescriptor()),
          b.address(op.getMbar()), coordinates,
          b.constant(op.getCoordinates().size()),
          getPredicate(op.getPredicate(), b)});
  op.erase();
  return success();
}

static LogicalResult
convertTensorStore(NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op,
                   HostCallBuilder &b) {
  if (op.getMode() != NVVM::TMAStoreMode::TILE)
    return op.emitOpError("with a mode has no counterpart on the host");
  Value coordinates = storeCoordinates(op.getCoordinates(), b);
  b.call("tensor_store", nullptr,
         {b.address(op.getTmaDescriptor()), b.address(op.getSrcMem()),
          coordinates, b.constant(op.getCoordinates().size()),
          getPredicate(op.getPredicate(), b)});
  op.erase();
  return success();
}

static LogicalResult
convertBulkLoad(NVVM::CpAsyncBulkGlobalToSharedClusterOp op,
                HostCallBuilder &b) {
  if (op.getMulticastMask())
    return op.emitOpError("with a multicast has no counterpart on the host");
  b.call("bulk_load", nullptr,
         {b.address(op.getDstMem()), b.address(op.getSrcMem()),
          b.address(op.getMbar()), op.getSize()});
  op.erase();
  return success();
}

static LogicalResult convertBulkStore(NVVM::CpAsyncBulkSharedCTAToGlobalOp op,
                                      HostCallBuilder &b) {
  if (op.getByteMask())
    return op.emitOpError(
        "with a mask of bytes has no counterpart on the host");
  b.call("bulk_store", nullptr,
         {b.address(op.getDstMem()), b.address(op.getSrcMem()), op.getSize()});
  op.erase();
  return success();
}

static HostConversion convertBulk(Operation *op, HostCallBuilder &b) {
  return llvm::TypeSwitch<Operation *, HostConversion>(op)
      .Case<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(
          [&](auto o) { return convertTensorLoad(o, b); })
      .Case<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(
          [&](auto o) { return convertTensorStore(o, b); })
      .Case<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(
          [&](auto o) { return convertBulkLoad(o, b); })
      .Case<NVVM::CpAsyncBulkSharedCTAToGlobalOp>(
          [&](auto o) { return convertBulkStore(o, b); })
      .Default(std::nullopt);
}

HostConversion attn::convertCopies(Operation *op, HostCallBuilder &b) {
  if (HostConversion bulk = convertBulk(op, b))
    return bulk;
  bool known =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<NVVM::CpAsyncOp>([&](auto o) {
            Value size = b.constant(o.getSize());
            Value bytes = o.getCpSize() ? o.getCpSize() : size;
            b.call("copy", nullptr,
                   {b.address(o.getDst()), b.address(o.getSrc()), size, bytes});
            return true;
          })
          .Case<NVVM::CpAsyncCommitGroupOp>([&](auto) {
            b.call("copy_commit", nullptr, {});
            return true;
          })
          .Case<NVVM::CpAsyncWaitGroupOp>([&](auto o) {
            b.call("copy_wait", nullptr, b.constant(o.getN()));
            return true;
          })
          .Case<NVVM::CpAsyncMBarrierArriveOp>([&](auto o) {
            b.call("copy_arrive", nullptr,
                   {b.address(o.getAddr()), b.constant(o.getNoinc())});
            return true;
          })
          .Case<NVVM::CpAsyncBulkCommitGroupOp>([&](auto) {
            b.call("bulk_commit", nullptr, {});
            return true;
          })
          .Case<NVVM::CpAsyncBulkWaitGroupOp>([&](auto o) {
            // To have read is to have done: global memory is not watched.
            b.call("bulk_wait", nullptr, b.constant(o.getGroup()));
            return true;
          })
          .Default(false);
  if (!known)
    return std::nullopt;
  op->erase();
  return success();
}
