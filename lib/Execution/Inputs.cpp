// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects a function and makes its arguments.

#include "attn/Execution/Inputs.h"

#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/Npy.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::attn;

char UsageError::ID = 0;

static llvm::Error usageError(const Twine &message) {
  return llvm::make_error<UsageError>(message);
}

llvm::Expected<func::FuncOp> mlir::attn::selectFunction(ModuleOp module,
                                                        StringRef name) {
  SmallVector<func::FuncOp> functions;
  SmallVector<StringRef> names;
  for (func::FuncOp function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic())
      continue;
    functions.push_back(function);
    names.push_back(function.getName());
    if (function.getName() == name)
      return function;
  }
  if (functions.empty())
    return usageError("the input has no public function");
  if (!name.empty())
    return usageError("no public function is called '" + name +
                      "'; the nearest is '" + nearestName(name, names) + "'");
  if (functions.size() > 1)
    return usageError("expects --function= with one of " +
                      llvm::join(names, ", "));
  return functions.front();
}

/// Return the words that stand for argument `number` in messages.
static std::string describe(func::FuncOp function, unsigned number) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "argument " << number << " of '" << function.getName() << "', "
     << function.getArgumentTypes()[number];
  return text;
}

static llvm::Expected<HostTensor> makeTensor(StringRef spec,
                                             uint64_t defaultSeed) {
  if (spec.consume_front("@"))
    return readNpy(spec);
  llvm::Expected<TensorSpec> parsed = TensorSpec::parse(spec);
  if (!parsed)
    return parsed.takeError();
  return parsed->create(defaultSeed);
}

/// Fails unless `tensor` can be an argument of `type`, whose elements are kept
/// as `kind`.
static llvm::Error checkFits(const HostTensor &tensor, Type type,
                             ElementKind kind, const Twine &argument) {
  ArrayRef<int64_t> wanted;
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    wanted = shaped.getShape();
  bool fits = tensor.getKind() == kind &&
              succeeded(verifyCompatibleShape(tensor.getShape(), wanted));
  if (fits)
    return llvm::Error::success();
  return usageError(argument + ", does not take " + tensor.getTypeName());
}

llvm::Expected<SmallVector<HostTensor>>
mlir::attn::makeInputs(func::FuncOp function, ArrayRef<std::string> specs) {
  unsigned count = function.getNumArguments();
  if (!specs.empty() && specs.size() != count)
    return usageError("expects --input= for each of the " + Twine(count) +
                      " arguments of '" + function.getName() + "', got " +
                      Twine(specs.size()));
  SmallVector<HostTensor> inputs;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    std::string argument = describe(function, number);
    std::optional<ElementKind> kind =
        getElementKind(getElementTypeOrSelf(type));
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (!kind || (isa<ShapedType>(type) && !shaped))
      return usageError(argument + ", is of a type that cannot be given");
    std::string spec;
    if (!specs.empty())
      spec = specs[number];
    else if (shaped && !shaped.hasStaticShape())
      return usageError(argument +
                        ", has no static shape: give --input= for each");
    llvm::Expected<HostTensor> tensor =
        spec.empty()
            ? TensorSpec{*kind,
                         shaped
                             ? llvm::SmallVector<int64_t, 4>(shaped.getShape())
                             : llvm::SmallVector<int64_t, 4>(),
                         std::nullopt}
                  .create(number)
            : makeTensor(spec, number);
    if (!tensor)
      return usageError(argument + ": " + llvm::toString(tensor.takeError()));
    // What numpy has no name for comes as bytes.
    if (tensor->getKind() == ElementKind::I8 &&
        (*kind == ElementKind::F8E4M3FN || *kind == ElementKind::F8E5M2))
      *tensor = tensor->reinterpret(*kind);
    if (llvm::Error error = checkFits(*tensor, type, *kind, argument))
      return std::move(error);
    inputs.push_back(*tensor);
  }
  return inputs;
}
