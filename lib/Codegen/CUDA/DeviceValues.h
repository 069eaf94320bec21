// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a function on memory the host can know. What is read from memory is known on the device only, and so
// is all that follows from it:
//
//   %n = memref.dim %k, %c2                   host
//   %length = memref.load %lengths[%b]        device
//   %rest = arith.subi %n, %length            device: computed again in each kernel that needs it

#ifndef ATTN_LIB_CODEGEN_CUDA_DEVICEVALUES_H
#define ATTN_LIB_CODEGEN_CUDA_DEVICEVALUES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::attn {

/// Tells values of the host from those of the device; remembers what it found.
class DeviceValues {
public:
  /// Return true if only the device can compute `value`.
  bool isOnDevice(Value value);

  /// Return true if a bound, a condition or a number that `op`, a loop or a branch,
  /// carries is known on the device only.
  bool isControlledByDevice(Operation *op);

private:
  bool compute(Value value);
  llvm::DenseMap<Value, bool> known;
};

/// Return true if `op`, or an op in it, reads or writes memory.
bool touchesMemory(Operation *op);

/// Return true if `op`, or an op in it, writes memory.
bool writesMemory(Operation *op);

/// Clone what computes `value` to where `builder` stands and return the clone.
/// `mapping` says what is there already, and `isGiven` what need not be computed.
/// Fails where an op on the way may not be repeated.
FailureOr<Value> cloneComputation(OpBuilder &builder, Value value,
                                  IRMapping &mapping,
                                  function_ref<bool(Value)> isGiven);

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_CUDA_DEVICEVALUES_H
