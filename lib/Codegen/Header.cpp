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

#include "attn/Codegen/CudaPasses.h"
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

static constexpr char kCudaContract[] = R"(
/*
 * Every function below returns 0 (ATTN_OK) or an error code, and on an error
 * writes what is wrong into `message`, at most `size` bytes with the final NUL;
 * `message` may be null where `size` is 0.
 *
 * NAME launches kernels on `stream` (a CUstream or cudaStream_t; null: the default
 * one) in the current context, or in the primary one of the tensors' device, which
 * becomes current, where none is, and returns at once. Data of all tensors, scalars
 * too, is in the memory of that GPU. Outputs have innermost stride 1 and share no
 * memory with any other tensor; one that may be an argument may also be all of its
 * memory, with its strides, which is then written in place. Inputs may have any
 * strides. A boolean tensor is a byte an element. The kernels are loaded by the
 * first call in a context; later ones may be captured into a graph.
 *
 * `workspace` is memory of the GPU, aligned to 256 bytes, of the size that
 * NAME_workspace gives, for which the data of tensors is not looked at. It may be
 * used again once the kernels are done, and null where the size is 0.
 *
 * Some functions check data: lengths, pages, positions. Where a check fails nothing
 * is computed, and the first 24 bytes of the workspace say why: copied to the host,
 * they are what NAME_status explains.
 *
 * NAME_shape writes the extents of the outputs into their `shape`; `ndim` and
 * `shape` of an output must be set, and the data of all tensors is not read.
 *
 * Weights are read where they lie, in rows: there is no NAME_pack and no
 * NAME_packed, which a CPU has.
 *
 * NAME_apply and the like are the same for callers that have all pointers in one
 * array, inputs first. All of them may be called by several threads at once.
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

/// Return whether `name` is a word of C or C++.
static bool isKeyword(StringRef name) {
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
      "virtual"};
  return words.contains(name);
}

/// Return whether no parameter can be called `name`: a word, or one of our own.
static bool isTaken(StringRef name) {
  static const llvm::StringSet<> words = {
      "message", "size", "tensors", "workspace", "stream", "bytes", "status"};
  return isKeyword(name) || words.contains(name);
}

/// Return what a C caller sees of `function`. Fails where C cannot name it.
static FailureOr<Signature> getCSignature(func::FuncOp function) {
  if (isKeyword(function.getSymName()))
    return function.emitOpError()
           << "expects a name that is no word of C or C++, got '"
           << function.getSymName() << "'";
  return Signature::get(function);
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

/// Print the documentation of one function and return its parameters that are
/// tensors, each with a comma.
static std::string printTensors(llvm::raw_ostream &os, StringRef symbol,
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
  return parameters;
}

/// Print the documentation and the declarations of one function.
static void printFunction(llvm::raw_ostream &os, StringRef symbol,
                          const Signature &signature) {
  std::string parameters = printTensors(os, symbol, signature) +
                           "char *message,\n    size_t size);\n";
  os << "int " << symbol << "(" << parameters;
  os << "int " << symbol << "_shape(" << parameters;
  for (StringRef suffix : {"_apply", "_shape_apply"})
    os << "int " << symbol << suffix
       << "(DLTensor *const *tensors, char *message,\n    size_t size);\n";
}

/// The same of a function of a GPU.
static void printCudaFunction(llvm::raw_ostream &os, StringRef symbol,
                              const Signature &signature) {
  std::string tensors = printTensors(os, symbol, signature);
  const StringRef array = "DLTensor *const *tensors, ";
  const StringRef end = "char *message,\n    size_t size);\n";
  for (auto [suffix, list] :
       {std::pair<StringRef, StringRef>("", tensors), {"_apply", array}})
    os << "int " << symbol << suffix << "(" << list
       << "void *workspace, void *stream,\n    " << end;
  for (auto [suffix, list] :
       {std::pair<StringRef, StringRef>("", tensors), {"_apply", array}}) {
    os << "int " << symbol << "_shape" << suffix << "(" << list << end;
    os << "int " << symbol << "_workspace" << suffix << "(" << list
       << "int64_t *bytes,\n    " << end;
  }
  os << "int " << symbol << "_status(const int64_t status[3], " << end;
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

/// Print what stands before the functions, and `contract`.
static void printBegin(llvm::raw_ostream &os, ArrayRef<func::FuncOp> functions,
                       StringRef contract) {
  // Different headers have different guards, made of the names they declare.
  std::string guard = "ATTN_COMPILED";
  for (func::FuncOp function : functions)
    guard += "_" + function.getSymName().str();
  os << "/* Written by attnc: the C interface of compiled functions. */\n\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <stddef.h>\n\n"
     << kPrologue << contract;
}

static constexpr char kBeginC[] =
    "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
static constexpr char kEndC[] = "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";

LogicalResult attn::writeHeader(ModuleOp module, ModuleOp scheduled,
                                llvm::raw_ostream &os) {
  SmallVector<func::FuncOp> functions = getPublicFunctions(module);
  printBegin(os, functions, kContract);
  auto packingOf = [&](func::FuncOp function) {
    auto other =
        scheduled ? scheduled.lookupSymbol<func::FuncOp>(function.getSymName())
                  : func::FuncOp();
    return other ? other->getAttrOfType<DictionaryAttr>(kPackedAttrName)
                 : DictionaryAttr();
  };
  if (llvm::any_of(functions, packingOf))
    os << kPackingContract;
  os << kBeginC;
  for (func::FuncOp function : functions) {
    FailureOr<Signature> signature = getCSignature(function);
    if (failed(signature))
      return failure();
    printFunction(os, function.getSymName(), *signature);
    if (DictionaryAttr packing = packingOf(function))
      printPacking(os, function.getSymName(), *signature, packing);
  }
  os << kEndC;
  return success();
}

LogicalResult attn::writeCudaHeader(ModuleOp module, llvm::raw_ostream &os) {
  SmallVector<func::FuncOp> functions = getPublicFunctions(module);
  printBegin(os, functions, kCudaContract);
  os << kBeginC;
  for (func::FuncOp function : functions) {
    FailureOr<Signature> signature = getCSignature(function);
    if (failed(signature))
      return failure();
    printCudaFunction(os, function.getSymName(), *signature);
  }
  os << kEndC;
  return success();
}
