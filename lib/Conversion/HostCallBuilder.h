// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the calls that convert-nvvm-to-host-calls puts in the place of a GPU's instructions.

#ifndef ATTN_LIB_CONVERSION_HOSTCALLBUILDER_H
#define ATTN_LIB_CONVERSION_HOSTCALLBUILDER_H

#include "attn/Conversion/HostCalls.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::attn {

/// Builds calls of the emulator's run-time functions before one op after another.
class HostCallBuilder : public OpBuilder {
public:
  explicit HostCallBuilder(ModuleOp host)
      : OpBuilder(host.getContext()), host(host) {}

  /// Build before `op` from here on; what is built has its location.
  void startAt(Operation *op);

  /// Forget the buffer of the last function.
  void startFunction(LLVM::LLVMFuncOp function);

  Location loc() const { return current->getLoc(); }
  Type i1() { return getI1Type(); }
  Type i32() { return getI32Type(); }
  Type i64() { return getI64Type(); }
  Type ptr() { return LLVM::LLVMPointerType::get(getContext()); }
  Value constant(int64_t value) { return constant(i32(), value); }
  template <typename Enum>
  Value kind(Enum value) {
    return constant(static_cast<int64_t>(value));
  }
  Value constant(Type type, int64_t value);

  /// Return the number of the current op in the list of sites.
  Value site();

  /// Return `value` as an i32: integers of fewer bits have zeros above.
  Value word(Value value);
  /// Return the i32 `value` as what `type` says; the other way of `word`.
  Value fromWord(Value value, Type type);
  /// Return a pointer of any address space as one of the host.
  Value address(Value pointer);

  /// Return a place on the stack for `bytes`, the same for all calls of a
  /// function: it is in use only while a call is made.
  Value buffer(uint64_t bytes);
  /// Store `values` one behind the other in the buffer, from `offset` on, and
  /// return the offset behind the last.
  uint64_t fill(ValueRange values, uint64_t offset = 0);
  /// Load a value of `type` from the buffer at `offset`.
  Value load(Type type, uint64_t offset = 0);

  /// Call `attn_cuda_NAME`; the first operand is the site. Returns the result,
  /// or a null value if `result` is null.
  Value call(StringRef name, Type result, ValueRange operands);
  /// The same without a site; the call has no effect and gives the same for the
  /// same operands.
  Value callPure(StringRef name, Type result, ValueRange operands);

  /// Return the texts of all sites, in the order of their numbers.
  ArrayAttr getSites();

private:
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ValueRange operands);

  ModuleOp host;
  Operation *current = nullptr;
  LLVM::LLVMFuncOp function;
  LLVM::AllocaOp space;
  uint64_t spaceBytes = 0;
  SmallVector<Attribute> sites;
  llvm::DenseMap<Attribute, int64_t> numbers;
};

/// Replace `op` by what the host can execute. Each returns nothing if `op` is not
/// of its kind, else whether it could; a failure comes with a message.
using HostConversion = std::optional<LogicalResult>;
HostConversion convertRegisters(Operation *op, HostCallBuilder &builder);
HostConversion convertBarriers(Operation *op, HostCallBuilder &builder);
HostConversion convertMBarriers(Operation *op, HostCallBuilder &builder);
HostConversion convertWarpOps(Operation *op, HostCallBuilder &builder);
HostConversion convertMatrixOps(Operation *op, HostCallBuilder &builder);
HostConversion convertWarpGroupOps(Operation *op, HostCallBuilder &builder);
HostConversion convertCopies(Operation *op, HostCallBuilder &builder);
HostConversion convertMath(Operation *op, HostCallBuilder &builder);

/// Announce what `op` is about to do with memory to the tracker. Fails for what it
/// does not know.
LogicalResult trackAccess(Operation *op, HostCallBuilder &builder);

/// Let others run in loops of `function` that may wait for what others write; with
/// `track` the rounds of other loops are counted.
void addPolls(LLVM::LLVMFuncOp function, HostCallBuilder &builder, bool track);

/// Lets the tracker see whether results of a warpgroup's products are used before
/// they are there: their structs in `module` get a number more, which product it was.
void trackAccumulators(Operation *module, HostCallBuilder &builder);

/// Let `module` call the run time's function for a failed assertion, and leave calls of
/// functions of real numbers, which are linked in. Fails at a call of any other
/// function that has no body.
LogicalResult convertLibraryCalls(Operation *module);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_HOSTCALLBUILDER_H
