// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of run-time functions, declared when first called:
//
//   nvvm.barrier0   ->   llvm.call @attn_cuda_barrier(%site, %id, %threads, ...) : (i32, i32, i32, ...) -> i32

#include "HostCallBuilder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::attn;

/// What the names of all run-time functions start with.
constexpr StringLiteral kPrefix = "attn_cuda_";

/// Alignment of the buffer of a function: that of the widest register.
constexpr unsigned kBufferAlignment = 16;

void HostCallBuilder::startAt(Operation *op) {
  current = op;
  setInsertionPoint(op);
}

void HostCallBuilder::startFunction(LLVM::LLVMFuncOp next) {
  function = next;
  space = nullptr;
  spaceBytes = 0;
}

Value HostCallBuilder::constant(Type type, int64_t value) {
  return LLVM::ConstantOp::create(*this, loc(), type,
                                  getIntegerAttr(type, value));
}

/// Append `file:line:column` to `text`, of the innermost place that is known.
static void printPlace(llvm::raw_ostream &stream, Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
           << file.getColumn();
    return;
  }
  if (auto name = dyn_cast<NameLoc>(loc))
    return printPlace(stream, name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    printPlace(stream, call.getCallee());
    stream << " (called at ";
    printPlace(stream, call.getCaller());
    stream << ")";
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (!isa<UnknownLoc>(part))
        return printPlace(stream, part);
  stream << "an unknown place";
}

Value HostCallBuilder::site() {
  llvm::SmallString<64> text;
  llvm::raw_svector_ostream stream(text);
  stream << current->getName() << " at ";
  printPlace(stream, current->getLoc());
  StringAttr attr = getStringAttr(text);
  auto [known, isNew] =
      numbers.try_emplace(attr, static_cast<int64_t>(sites.size()));
  if (isNew)
    sites.push_back(attr);
  return constant(known->second);
}

ArrayAttr HostCallBuilder::getSites() { return getArrayAttr(sites); }

Value HostCallBuilder::word(Value value) {
  Type type = value.getType();
  if (type == i32())
    return value;
  if (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 32)
    return LLVM::ZExtOp::create(*this, loc(), i32(), value);
  return LLVM::BitcastOp::create(*this, loc(), i32(), value);
}

Value HostCallBuilder::fromWord(Value value, Type type) {
  if (type == i32())
    return value;
  if (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 32)
    return LLVM::TruncOp::create(*this, loc(), type, value);
  return LLVM::BitcastOp::create(*this, loc(), type, value);
}

Value HostCallBuilder::address(Value pointer) {
  if (pointer.getType() == ptr())
    return pointer;
  return LLVM::AddrSpaceCastOp::create(*this, loc(), ptr(), pointer);
}

Value HostCallBuilder::buffer(uint64_t bytes) {
  OpBuilder::InsertionGuard guard(*this);
  if (!space) {
    setInsertionPointToStart(&function.getBody().front());
    Value count = LLVM::ConstantOp::create(*this, function.getLoc(), i32(),
                                           getI32IntegerAttr(0));
    space = LLVM::AllocaOp::create(*this, function.getLoc(), ptr(), getI8Type(),
                                   count, kBufferAlignment);
  }
  if (bytes > spaceBytes) {
    spaceBytes = bytes;
    auto count = space.getArraySize().getDefiningOp<LLVM::ConstantOp>();
    count.setValueAttr(getI32IntegerAttr(static_cast<int32_t>(bytes)));
  }
  return space;
}

/// Return `space` + `offset`.
static Value offsetBy(HostCallBuilder &builder, Value space, uint64_t offset) {
  if (offset == 0)
    return space;
  return LLVM::GEPOp::create(
      builder, builder.loc(), builder.ptr(), builder.getI8Type(), space,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

uint64_t HostCallBuilder::fill(ValueRange values, uint64_t offset) {
  DataLayout layout;
  uint64_t end = offset;
  for (Value value : values)
    end += layout.getTypeSize(value.getType()).getFixedValue();
  Value start = buffer(end);
  for (Value value : values) {
    LLVM::StoreOp::create(*this, loc(), value, offsetBy(*this, start, offset),
                          /*alignment=*/4);
    offset += layout.getTypeSize(value.getType()).getFixedValue();
  }
  return offset;
}

Value HostCallBuilder::load(Type type, uint64_t offset) {
  uint64_t end = offset + DataLayout().getTypeSize(type).getFixedValue();
  Value from = offsetBy(*this, buffer(end), offset);
  return LLVM::LoadOp::create(*this, loc(), type, from, /*alignment=*/4);
}

LLVM::LLVMFuncOp HostCallBuilder::declare(StringRef name, Type result,
                                          ValueRange operands) {
  std::string symbol = (kPrefix + name).str();
  if (auto known = host.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
    return known;
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToEnd(host.getBody());
  auto type = LLVM::LLVMFunctionType::get(
      result ? result : LLVM::LLVMVoidType::get(getContext()),
      llvm::to_vector(operands.getTypes()));
  return LLVM::LLVMFuncOp::create(*this, host.getLoc(), symbol, type);
}

Value HostCallBuilder::call(StringRef name, Type result, ValueRange operands) {
  SmallVector<Value> all = {site()};
  llvm::append_range(all, operands);
  LLVM::LLVMFuncOp callee = declare(name, result, all);
  auto call = LLVM::CallOp::create(*this, loc(), callee, all);
  return result ? call.getResult() : Value();
}

Value HostCallBuilder::callPure(StringRef name, Type result,
                                ValueRange operands) {
  LLVM::LLVMFuncOp callee = declare(name, result, operands);
  // Other, arguments, inaccessible, errno and the target's two.
  SmallVector<LLVM::ModRefInfo> none(6, LLVM::ModRefInfo::NoModRef);
  callee.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(getContext(), none));
  callee.setWillReturn(true);
  callee.setNoUnwind(true);
  return LLVM::CallOp::create(*this, loc(), callee, operands).getResult();
}
