// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the C header of a module's functions, for C99 and C++:
//
//   /* query: f32 [1, 8, ?, 64] ... */
//   int attend(const DLTensor *query, ..., DLTensor *output, char *message, size_t size);
//   int attend_shape(...);
//   int attend_apply(DLTensor *const *tensors, char *message, size_t size);

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
 * which share no memory with any other tensor. Inputs may have any strides.
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

/// Print one line about a tensor: ` *   query: f32 [1, 8, ?, 64]`.
static void printTensor(llvm::raw_ostream &os, StringRef name,
                        RankedTensorType type) {
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
  os << "]\n";
}

/// Print the documentation and the three declarations of one function.
static LogicalResult printFunction(llvm::raw_ostream &os,
                                   func::FuncOp function) {
  FailureOr<Signature> signature = Signature::get(function);
  if (failed(signature))
    return failure();
  llvm::StringSet<> used;
  std::string parameters;
  llvm::raw_string_ostream list(parameters);
  os << "\n/*\n * " << function.getSymName() << "\n";
  for (auto [index, tensor] : llvm::enumerate(signature->inputs)) {
    std::string name = getParameterName(tensor, "argument", index, used);
    printTensor(os, name, tensor.type);
    list << "const DLTensor *" << name << ", ";
  }
  os << " * gives\n";
  for (auto [index, tensor] : llvm::enumerate(signature->outputs)) {
    std::string name = getParameterName(tensor, "result", index, used);
    printTensor(os, name, tensor.type);
    list << "DLTensor *" << name << ", ";
  }
  os << " */\n";
  list << "char *message,\n    size_t size);\n";
  os << "int " << function.getSymName() << "(" << parameters;
  os << "int " << function.getSymName() << "_shape(" << parameters;
  for (StringRef suffix : {"_apply", "_shape_apply"})
    os << "int " << function.getSymName() << suffix
       << "(DLTensor *const *tensors, char *message,\n    size_t size);\n";
  return success();
}

/// Return the functions that C can call.
static SmallVector<func::FuncOp> getPublicFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(function);
  return functions;
}

LogicalResult attn::writeHeader(ModuleOp module, llvm::raw_ostream &os) {
  SmallVector<func::FuncOp> functions = getPublicFunctions(module);
  // Different headers have different guards, made of the names they declare.
  std::string guard = "ATTN_COMPILED";
  for (func::FuncOp function : functions)
    guard += "_" + function.getSymName().str();
  os << "/* Written by attnc: the C interface of compiled functions. */\n\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <stddef.h>\n\n"
     << kPrologue << kContract
     << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (func::FuncOp function : functions)
    if (failed(printFunction(os, function)))
      return failure();
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return success();
}
