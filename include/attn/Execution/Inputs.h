// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function of a module runs, and on what.

#ifndef ATTN_EXECUTION_INPUTS_H
#define ATTN_EXECUTION_INPUTS_H

#include "attn/Execution/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::attn {

/// An error of whoever asked: a function, an argument or a file that does not
/// exist or does not fit. Tools exit with 2 for it, and with 1 for others.
class UsageError : public llvm::ErrorInfo<UsageError> {
public:
  static char ID;

  UsageError(const Twine &message) : message(message.str()) {}
  void log(raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::invalid_argument);
  }

private:
  std::string message;
};

/// Return the public function called `name`, or the only one where `name` is
/// empty.
llvm::Expected<func::FuncOp> selectFunction(ModuleOp module, StringRef name);

/// Make the arguments of `function` from `specs`, one for each argument:
/// `SHAPExTYPE[=SEED]`, or `@FILE.npy`. Without any, arguments of static shape
/// are filled from their number.
llvm::Expected<SmallVector<HostTensor>> makeInputs(func::FuncOp function,
                                                   ArrayRef<std::string> specs);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_INPUTS_H
