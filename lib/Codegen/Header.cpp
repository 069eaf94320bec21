// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the C header of a module's functions, for C99 and C++:
//
//   /* query: f32 [1, 8, ?, 64] ... */
//   int attend(const DLTensor *query, ..., DLTensor *output, char *message, size_t size);
//   int attend_shape(...);
//   int attend_apply(DLTensor *const *tensors, char *message, size_t size);
//
// and likewise attend_pack and attend_packed where the function has weights to pack.

#include "attn/Codegen/Signature.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::attn;

/// The structs and the error codes that all headers share.
static constexpr char kPrologue[] =
#include "attn/Codegen/HeaderPrologue.inc"
    ;

static constexpr char kContract[] = R"(
/*
 * Every function below returns 0 (ATTN_OK) or an error code, and on an error
 * writes what is wrong into `message`, at most `size` bytes with the final NUL;
 * `message` may be null where `size` is 0.
 *
 * NAME computes. The caller allocates outputs, whose innermost stride is 1 and
 * which share no memory with any other tensor; one that may be an argument may also
 * be all of its memory, with its strides, which is then written in place. Inputs may
 * have any strides.
 * A boolean tensor is a byte an element, zero for false.
 *
 * NAME_shape writes the extents of the outputs into their `shape`; `ndim` and
 * `shape` of an output must be set, and the data of all tensors is not read.
 *
 * NAME_apply and NAME_shape_apply are the same for callers that have all
 * pointers in one array, inputs first.
 *
 * All of them may be called by several threads at once.
 */
)";

/// What is said before the first function with weights to pack.
static constexpr char kPackingContract[] = R"(
/*
 * NAME_pack packs the weights of a layer into one block, and NAME_packed computes
 * what NAME does, with the block in place of the weights: the same bits, without
 * the packing that NAME does on each call. A block is good for one NAME on one kind
 * of CPU, may be copied, kept and read by several threads at once, and has stride
 * 1; on a cache line of 64 bytes it is fastest. NAME_pack_shape writes its size.
 * What NAME_pack did not write is refused with ATTN_ERROR_DATA.
 */
)";

/// Words of C and C++ that no parameter can be called, and our own parameters.
static bool isTaken(StringRef name) {
  static const llvm::StringSet<> words = {
      "auto",     "break",    "case",     "char",      "const",    "continue",
      "default",  "do",       "double",   "else",      "enum",     "extern",
      "float",    "for",      "goto",     "if",        "inline",   "int",
      "long",     "register", "restrict", "return",    "short",    "signed",
      "sizeof",   "static",   "struct",   "switch",    "typedef",  "union",
      "unsigned", "void",     "volatile", "while",     "and",      "or",
      "not",      "xor",      "bool",     "catch",     "class",    "delete",
      "explicit", "export",   "false",    "friend",    "mutable",  "namespace",
      "new",      "operator", "private",  "protected", "public",   "template",
      "this",     "throw",    "true",     "try",       "typename", "using",
      "virtual",  "message",  "size",     "tensors"};
  return words.contains(name);
}

/// Return a name for a parameter that C accepts and that is not in `used`.
static std::string getParameterName(const SignatureTensor &tensor,
                                    StringRef kind, unsigned index,
                                    llvm::StringSet<> &used) {
  std::string name = tensor.name;
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  if (name.empty() || llvm::isDigit(name.front()) || isTaken(name))
    name = (kind + Twine(index)).str();
  while (!used.insert(name).second)
    name += "_";
  return name;
}

/// Print one line about a tensor: ` *   query: f32 [1, 8, ?, 64]`, and `place`, the
/// argument that it may be, unless that is empty.
static void printTensor(llvm::raw_ostream &os, StringRef name,
                        RankedTensorType type, StringRef place = "") {
  os << " *   " << name << ": ";
  if (type.getElementType().isInteger(1))
    os << "bool";
  else if (isa<IndexType>(type.getElementType()))
    os << "i64";
  else
    os << type.getElementType();
  os << " [";
  llvm::interleaveComma(type.getShape(), os, [&](int64_t extent) {
    if (ShapedType::isDynamic(extent))
      os << "?";
    else
      os << extent;
  });
  os << "]";
  if (!place.empty())
    os << ", may be " << place;
  os << "\n";
}

/// Print the documentation and the declarations of one function.
static void printFunction(llvm::raw_ostream &os, StringRef symbol,
                          const Signature &signature) {
  llvm::StringSet<> used;
  std::string parameters;
  SmallVector<std::string> arguments;
  llvm::raw_string_ostream list(parameters);
  os << "\n/*\n * " << symbol << "\n";
  for (auto [index, tensor] : llvm::enumerate(signature.inputs)) {
    std::string name = getParameterName(tensor, "argument", index, used);
    arguments.push_back(name);
    printTensor(os, name, tensor.type);
    list << "const DLTensor *" << name << ", ";
  }
  os << " * gives\n";
  for (auto [index, tensor] : llvm::enumerate(signature.outputs)) {
    std::string name = getParameterName(tensor, "result", index, used);
    int64_t place = index < signature.inPlace.size() ? signature.inPlace[index]
                                                     : int64_t(-1);
    printTensor(os, name, tensor.type,
                place < 0 ? StringRef() : StringRef(arguments[place]));
    list << "DLTensor *" << name << ", ";
  }
  os << " */\n";
  list << "char *message,\n    size_t size);\n";
  os << "int " << symbol << "(" << parameters;
  os << "int " << symbol << "_shape(" << parameters;
  for (StringRef suffix : {"_apply", "_shape_apply"})
    os << "int " << symbol << suffix
       << "(DLTensor *const *tensors, char *message,\n    size_t size);\n";
}

/// Print the declarations of `symbol`_pack and `symbol`_packed, the entries that
/// `packing`, what OutlinePacking wrote on the function, tells of.
static void printPacking(llvm::raw_ostream &os, StringRef symbol,
                         const Signature &signature, DictionaryAttr packing) {
  auto arguments = packing.getAs<DenseI64ArrayAttr>("arguments");
  auto type = packing.getAs<TypeAttr>("type");
  if (!arguments || arguments.empty() || !type)
    return;
  SignatureTensor block{cast<RankedTensorType>(type.getValue()),
                        kPackedName.str()};
  Signature pack, packed;
  pack.outputs = {block};
  packed.outputs = signature.outputs;
  SmallVector<int64_t> numbers(signature.inputs.size(), -1);
  for (auto [index, tensor] : llvm::enumerate(signature.inputs)) {
    bool isWeight = llvm::is_contained(arguments.asArrayRef(), int64_t(index));
    if (isWeight)
      pack.inputs.push_back(tensor);
    if (int64_t(index) == arguments[0])
      packed.inputs.push_back(block);
    if (isWeight)
      continue;
    numbers[index] = packed.inputs.size();
    packed.inputs.push_back(tensor);
  }
  for (int64_t place : signature.inPlace)
    packed.inPlace.push_back(place < 0 ? -1 : numbers[place]);
  printFunction(os, (symbol + "_pack").str(), pack);
  printFunction(os, (symbol + "_packed").str(), packed);
}

/// Return the functions that C can call.
static SmallVector<func::FuncOp> getPublicFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(function);
  return functions;
}

LogicalResult attn::writeHeader(ModuleOp module, ModuleOp scheduled,
                                llvm::raw_ostream &os) {
  SmallVector<func::FuncOp> functions = getPublicFunctions(module);
  // Different headers have different guards, made of the names they declare.
  std::string guard = "ATTN_COMPILED";
  for (func::FuncOp function : functions)
    guard += "_" + function.getSymName().str();
  os << "/* Written by attnc: the C interface of compiled functions. */\n\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <stddef.h>\n\n"
     << kPrologue << kContract;
  auto packingOf = [&](func::FuncOp function) {
    auto other =
        scheduled ? scheduled.lookupSymbol<func::FuncOp>(function.getSymName())
                  : func::FuncOp();
    return other ? other->getAttrOfType<DictionaryAttr>(kPackedAttrName)
                 : DictionaryAttr();
  };
  if (llvm::any_of(functions, packingOf))
    os << kPackingContract;
  os << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (func::FuncOp function : functions) {
    FailureOr<Signature> signature = Signature::get(function);
    if (failed(signature))
      return failure();
    printFunction(os, function.getSymName(), *signature);
    if (DictionaryAttr packing = packingOf(function))
      printPacking(os, function.getSymName(), *signature, packing);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return success();
}
