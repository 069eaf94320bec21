// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes what a C caller sees of a function:
//
//   attn.signature = {input_names = ["q"], inputs = [tensor<?x8xf32>],
//                     output_names = [""], outputs = [tensor<?x8xf32>]}

#include "attn/Codegen/Signature.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::attn;

std::optional<ElementCode> attn::getElementCode(Type type) {
  if (isa<IndexType>(type))
    return ElementCode{0, 64};
  if (type.isF16() || type.isF32() || type.isF64())
    return ElementCode{2, type.getIntOrFloatBitWidth()};
  if (type.isBF16())
    return ElementCode{4, 16};
  if (isa<Float8E4M3FNType>(type))
    return ElementCode{10, 8};
  if (isa<Float8E5M2Type>(type))
    return ElementCode{12, 8};
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  // A boolean is a byte in memory.
  unsigned bits = integer.getWidth() == 1 ? 8 : integer.getWidth();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return std::nullopt;
  return ElementCode{integer.isUnsigned() ? 1 : 0, bits};
}

/// Append `type` to `list` as a tensor, or complain about number `index` of
/// `function`'s `kind`s.
static LogicalResult append(SmallVectorImpl<SignatureTensor> &list,
                            func::FuncOp function, StringRef kind,
                            unsigned index, Type type, StringAttr name) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && getElementCode(type))
    tensor = RankedTensorType::get({}, type);
  if (!tensor || !getElementCode(tensor.getElementType()) ||
      tensor.getEncoding())
    return function.emitOpError()
           << "expects " << kind << " " << index
           << " to be a ranked tensor or a scalar that C can name, got "
           << type;
  list.push_back({tensor, name ? name.str() : std::string()});
  return success();
}

/// Return whether what is compiled calls, or may call, a function `name` that is not
/// of the module: of the C library, or of what runs beside it.
static bool isCalledBeside(StringRef name) {
  static const llvm::StringSet<> functions = {
      "malloc",   "free",   "memcpy", "memmove",     "memset", "memcmp",
      "snprintf", "dlopen", "dlsym",  "sched_yield", "bcmp",   "strlen"};
  return functions.contains(name) || name.starts_with("attn_rt_") ||
         name.starts_with("attn_cuda_") || name.starts_with("__") ||
         name.starts_with("omp_");
}

FailureOr<Signature> Signature::get(func::FuncOp function) {
  StringRef symbol = function.getSymName();
  if (symbol.empty() || llvm::isDigit(symbol.front()) ||
      !llvm::all_of(symbol,
                    [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return function.emitOpError()
           << "expects a name that is an identifier of C, got '" << symbol
           << "'";
  if (isCalledBeside(symbol))
    return function.emitOpError()
           << "expects another name than that of a function that compiled code "
              "calls, got '"
           << symbol << "'";
  Signature signature;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(append(
            signature.inputs, function, "argument", index, type,
            function.getArgAttrOfType<StringAttr>(index, kNameAttrName))))
      return failure();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(append(
            signature.outputs, function, "result", index, type,
            function.getResultAttrOfType<StringAttr>(index, kNameAttrName))))
      return failure();
  signature.inPlace = findInPlace(function);
  return signature;
}

DictionaryAttr Signature::toAttr(MLIRContext *context) const {
  Builder b(context);
  auto types = [&](ArrayRef<SignatureTensor> list) -> Attribute {
    SmallVector<Type> all;
    for (const SignatureTensor &tensor : list)
      all.push_back(tensor.type);
    return b.getTypeArrayAttr(all);
  };
  auto names = [&](ArrayRef<SignatureTensor> list) -> Attribute {
    SmallVector<StringRef> all;
    for (const SignatureTensor &tensor : list)
      all.push_back(tensor.name);
    return b.getStrArrayAttr(all);
  };
  NamedAttrList members;
  members.set("inputs", types(inputs));
  members.set("input_names", names(inputs));
  members.set("outputs", types(outputs));
  members.set("output_names", names(outputs));
  if (llvm::any_of(inPlace, [](int64_t input) { return input >= 0; }))
    members.set("in_place", b.getDenseI64ArrayAttr(inPlace));
  return members.getDictionary(context);
}

/// Read one half of the attribute.
static LogicalResult read(Operation *function, DictionaryAttr attr,
                          StringRef typesName, StringRef namesName,
                          SmallVectorImpl<SignatureTensor> &list) {
  auto types = attr.getAs<ArrayAttr>(typesName);
  auto names = attr.getAs<ArrayAttr>(namesName);
  if (!types || !names || types.size() != names.size())
    return function->emitOpError()
           << "expects '" << kSignatureAttrName << "' with as many '"
           << namesName << "' as '" << typesName << "'";
  for (auto [type, name] : llvm::zip_equal(types, names)) {
    auto typeAttr = dyn_cast<TypeAttr>(type);
    auto tensor = typeAttr ? dyn_cast<RankedTensorType>(typeAttr.getValue())
                           : RankedTensorType();
    if (!tensor || !isa<StringAttr>(name) ||
        !getElementCode(tensor.getElementType()))
      return function->emitOpError()
             << "expects '" << kSignatureAttrName
             << "' to hold tensor types and their names";
    list.push_back({tensor, cast<StringAttr>(name).str()});
  }
  return success();
}

FailureOr<Signature> Signature::fromAttr(Operation *function) {
  auto attr = function->getAttrOfType<DictionaryAttr>(kSignatureAttrName);
  if (!attr)
    return function->emitOpError()
           << "expects the attribute '" << kSignatureAttrName << "'";
  Signature signature;
  if (failed(read(function, attr, "inputs", "input_names", signature.inputs)) ||
      failed(
          read(function, attr, "outputs", "output_names", signature.outputs)))
    return failure();
  signature.inPlace.assign(signature.outputs.size(), -1);
  if (auto places = attr.getAs<DenseI64ArrayAttr>("in_place")) {
    auto inputs = static_cast<int64_t>(signature.inputs.size());
    if (places.size() != static_cast<int64_t>(signature.outputs.size()) ||
        llvm::any_of(places.asArrayRef(),
                     [&](int64_t input) { return input >= inputs; }))
      return function->emitOpError()
             << "expects 'in_place' of '" << kSignatureAttrName
             << "' to hold an input or -1 for each output";
    signature.inPlace.assign(places.asArrayRef().begin(),
                             places.asArrayRef().end());
  }
  return signature;
}

static std::string label(StringRef kind, const SignatureTensor &tensor,
                         unsigned index) {
  if (tensor.name.empty())
    return (kind + " " + Twine(index)).str();
  return (kind + " '" + tensor.name + "'").str();
}

std::string Signature::inputLabel(unsigned index) const {
  return label("argument", inputs[index], index);
}

std::string Signature::outputLabel(unsigned index) const {
  return label("result", outputs[index], index);
}
