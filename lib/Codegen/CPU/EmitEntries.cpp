// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the C interface around functions of the llvm dialect. For `@f` with one tensor in and one out:
//
//   llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %message: !llvm.ptr, %size: i64) -> i32    // collects the pointers
//   llvm.func @f_apply(%tensors: !llvm.ptr, %message: !llvm.ptr, %size: i64) -> i32 {
//     %status = llvm.call @attn_rt_open(@f.signature, %tensors, %words)      // checks, and unpacks into words
//     ... on failure return it, else likewise:
//     %number, %got, %wanted = llvm.call @f.check(words of inputs)           // attn_rt_report
//     %extents = llvm.call @f.shape(words of inputs)                         // attn_rt_compare_shapes
//     %status2 = llvm.call @f.body(all words)                                // attn_rt_status
//   }
//   llvm.func @f_shape(...)    // attn_rt_open_shapes, @f.shape, attn_rt_store_shapes
//
// The work is done by lib/Runtime/Entry.c, whose code becomes part of the object.

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/Signature.h"
#include "attn/Target/CPU/RuntimeFeatures.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EMITENTRIES
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Builds the entries of one function.
class EntryBuilder {
public:
  EntryBuilder(LLVM::LLVMFuncOp body, Signature signature)
      : module(body->getParentOfType<ModuleOp>()), b(body), loc(body.getLoc()),
        name(body.getSymName()), body(body), signature(std::move(signature)),
        ptr(LLVM::LLVMPointerType::get(b.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

  LogicalResult build();

private:
  LogicalResult renameBody();
  void buildSignature();
  void buildPlainEntry(StringRef entry, StringRef apply);
  void buildApply(StringRef entry);
  void buildShape(StringRef entry);

  LLVM::LLVMFuncOp declare(StringRef callee, Type result, TypeRange arguments);
  Value call(StringRef callee, ValueRange arguments);
  Value addressOf(StringRef global) {
    return LLVM::AddressOfOp::create(b, loc, ptr, global);
  }
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  }
  Value allocate(int64_t words) {
    return LLVM::AllocaOp::create(b, loc, ptr, i64, constant(words));
  }
  Value element(Value base, int64_t index) {
    return LLVM::GEPOp::create(b, loc, ptr, i64, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  }
  void addTextGlobal(StringRef suffix, StringRef text);
  void addWordsGlobal(StringRef suffix, ArrayRef<int64_t> words);
  LLVM::LLVMFuncOp createEntry(StringRef entry, TypeRange arguments);
  void returnIfFailed(Value status);
  void checkCpu(Value names);
  SmallVector<Value> loadWords(LLVM::LLVMFuncOp callee, Value words);
  Value callShape(Value words);
  void buildCheck(Value words);

  ModuleOp module;
  OpBuilder b;
  Location loc;
  std::string name;
  LLVM::LLVMFuncOp body, check, shape;
  Signature signature;
  Type ptr, i32, i64;
  /// Of the entry that is being built.
  Value message, size;
};

} // namespace

/// Return the number of words that describe the tensors of `list`.
static int64_t countWords(ArrayRef<SignatureTensor> list) {
  int64_t words = 0;
  for (const SignatureTensor &tensor : list)
    words += 3 + 2 * tensor.type.getRank();
  return words;
}

/// Return the number of extents of the tensors of `list`.
static int64_t countExtents(ArrayRef<SignatureTensor> list) {
  int64_t extents = 0;
  for (const SignatureTensor &tensor : list)
    extents += tensor.type.getRank();
  return extents;
}

LLVM::LLVMFuncOp EntryBuilder::declare(StringRef callee, Type result,
                                       TypeRange arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(callee))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(
      b, loc, callee,
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments)));
}

/// Create a function that runs before it is known what the CPU can do.
LLVM::LLVMFuncOp EntryBuilder::createEntry(StringRef entry,
                                           TypeRange arguments) {
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, entry,
      LLVM::LLVMFunctionType::get(i32, llvm::to_vector(arguments)));
  function.setPassthroughAttr(b.getStrArrayAttr({kBaselineAttrName}));
  return function;
}

Value EntryBuilder::call(StringRef callee, ValueRange arguments) {
  LLVM::LLVMFuncOp function = declare(callee, i32, arguments.getTypes());
  return LLVM::CallOp::create(b, loc, function, arguments).getResult();
}

void EntryBuilder::addTextGlobal(StringRef suffix, StringRef text) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
  LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                         LLVM::Linkage::Internal, (name + suffix).str(),
                         b.getStringAttr(text));
}

void EntryBuilder::addWordsGlobal(StringRef suffix, ArrayRef<int64_t> words) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(i64, words.size());
  LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                         LLVM::Linkage::Internal, (name + suffix).str(),
                         b.getI64TensorAttr(words));
}

/// Take the name of the entry away from the function that it will call.
LogicalResult EntryBuilder::renameBody() {
  for (StringRef suffix : {"_apply", "_shape", "_shape_apply"})
    if (module.lookupSymbol((name + suffix).str()))
      return body.emitOpError()
             << "expects no other function of the name '" << name << suffix
             << "', which its C interface needs";
  check = module.lookupSymbol<LLVM::LLVMFuncOp>(checkFunctionName(name));
  shape = module.lookupSymbol<LLVM::LLVMFuncOp>(shapeFunctionName(name));
  body.setSymName(bodyFunctionName(name));
  body->removeAttr(kSignatureAttrName);
  for (LLVM::LLVMFuncOp function : {body, check, shape})
    if (function)
      function.setLinkage(LLVM::Linkage::Internal);
  int64_t inputs = countWords(signature.inputs);
  int64_t words = inputs + countWords(signature.outputs);
  if (int64_t(body.getNumArguments()) != words ||
      (check && int64_t(check.getNumArguments()) != inputs) ||
      (shape && int64_t(shape.getNumArguments()) != inputs))
    return body.emitOpError() << "expects the arguments of its '"
                              << kSignatureAttrName << "', which are " << words
                              << " words, got " << body.getNumArguments();
  return success();
}

/// Write the signature as lib/Runtime/Entry.h wants it.
void EntryBuilder::buildSignature() {
  SmallVector<int64_t> words = {int64_t(signature.inputs.size()),
                                int64_t(signature.outputs.size())};
  auto append = [&](const SignatureTensor &tensor) {
    std::optional<ElementCode> element =
        getElementCode(tensor.type.getElementType());
    words.append({element->code, element->bits, tensor.type.getRank()});
    for (int64_t extent : tensor.type.getShape())
      words.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  };
  llvm::for_each(signature.inputs, append);
  llvm::for_each(signature.outputs, append);
  llvm::append_range(words, signature.inPlace);
  addWordsGlobal(".signature", words);
  std::string names = name + '\0';
  for (unsigned i = 0, e = signature.inputs.size(); i < e; ++i)
    names += signature.inputLabel(i) + '\0';
  for (unsigned i = 0, e = signature.outputs.size(); i < e; ++i)
    names += signature.outputLabel(i) + '\0';
  addTextGlobal(".names", names);
}

/// Return `status` from the entry where it is not 0, and go on elsewhere.
void EntryBuilder::returnIfFailed(Value status) {
  Value zero = LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(0));
  Value good =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, status, zero);
  Block *before = b.getInsertionBlock();
  Block *next = b.createBlock(before->getParent());
  Block *fail = b.createBlock(before->getParent());
  LLVM::ReturnOp::create(b, loc, status);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, good, next, fail);
  b.setInsertionPointToStart(next);
}

/// Return from the entry where the CPU lacks what the code needs.
void EntryBuilder::checkCpu(Value names) {
  if (uint64_t features = getRuntimeFeatures(TargetInfo::get(module)))
    returnIfFailed(
        call("attn_rt_check_cpu", {names, constant(features), message, size}));
}

/// Load the first words as arguments of `callee`.
SmallVector<Value> EntryBuilder::loadWords(LLVM::LLVMFuncOp callee,
                                           Value words) {
  SmallVector<Value> values;
  for (auto [index, type] : llvm::enumerate(callee.getArgumentTypes()))
    values.push_back(LLVM::LoadOp::create(b, loc, type, element(words, index)));
  return values;
}

/// Call `f.shape` and return a pointer to the extents of all outputs.
Value EntryBuilder::callShape(Value words) {
  int64_t count = countExtents(signature.outputs);
  Value extents = allocate(std::max<int64_t>(count, 1));
  if (!shape || count == 0)
    return extents;
  Value result =
      LLVM::CallOp::create(b, loc, shape, loadWords(shape, words)).getResult();
  for (int64_t i = 0; i < count; ++i) {
    Value extent =
        count == 1 ? result : LLVM::ExtractValueOp::create(b, loc, result, i);
    LLVM::StoreOp::create(b, loc, extent, element(extents, i));
  }
  return extents;
}

/// Call `f.check` and return from the entry where a check fails.
void EntryBuilder::buildCheck(Value words) {
  auto messages =
      check ? check->getAttrOfType<ArrayAttr>("attn.messages") : ArrayAttr();
  auto kinds = check ? check->getAttrOfType<DenseI64ArrayAttr>("attn.kinds")
                     : DenseI64ArrayAttr();
  if (!messages || !kinds)
    return;
  std::string table;
  for (Attribute text : messages)
    table += cast<StringAttr>(text).str() + '\0';
  addTextGlobal(".messages", table);
  addWordsGlobal(".kinds", kinds);
  Value result =
      LLVM::CallOp::create(b, loc, check, loadWords(check, words)).getResult();
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < 3; ++i)
    numbers.push_back(LLVM::ExtractValueOp::create(b, loc, result, i));
  Value good = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, numbers[0],
                                    constant(0));
  Block *before = b.getInsertionBlock();
  Block *next = b.createBlock(before->getParent());
  Block *fail = b.createBlock(before->getParent());
  Value status =
      call("attn_rt_report",
           {addressOf(name + ".messages"), addressOf(name + ".kinds"),
            numbers[0], numbers[1], numbers[2], message, size});
  LLVM::ReturnOp::create(b, loc, status);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, good, next, fail);
  b.setInsertionPointToStart(next);
}

/// int f(inputs..., outputs..., message, size): all pointers in one array.
void EntryBuilder::buildPlainEntry(StringRef entry, StringRef apply) {
  int64_t count = signature.inputs.size() + signature.outputs.size();
  SmallVector<Type> types(count + 1, ptr);
  types.push_back(i64);
  LLVM::LLVMFuncOp function = createEntry(entry, types);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Value tensors = allocate(std::max<int64_t>(count, 1));
  for (int64_t i = 0; i < count; ++i)
    LLVM::StoreOp::create(b, loc, function.getArgument(i), element(tensors, i));
  Value status = call(apply, {tensors, function.getArgument(count),
                              function.getArgument(count + 1)});
  LLVM::ReturnOp::create(b, loc, status);
}

/// int f_apply(tensors, message, size): check, then run.
void EntryBuilder::buildApply(StringRef entry) {
  LLVM::LLVMFuncOp function = createEntry(entry, {ptr, ptr, i64});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Value tensors = function.getArgument(0);
  message = function.getArgument(1);
  size = function.getArgument(2);
  Value words = allocate(countWords(signature.inputs) +
                         countWords(signature.outputs) + 1);
  Value table = addressOf(name + ".signature");
  Value names = addressOf(name + ".names");
  checkCpu(names);
  returnIfFailed(
      call("attn_rt_open", {table, names, tensors, words, message, size}));
  buildCheck(words);
  if (shape && countExtents(signature.outputs) > 0)
    returnIfFailed(
        call("attn_rt_compare_shapes",
             {table, names, tensors, callShape(words), message, size}));
  Value status =
      LLVM::CallOp::create(b, loc, body, loadWords(body, words)).getResult();
  Value zero = LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(0));
  Value good =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, status, zero);
  Block *before = b.getInsertionBlock();
  Block *done = b.createBlock(&function.getBody());
  LLVM::ReturnOp::create(b, loc, zero);
  Block *fail = b.createBlock(&function.getBody());
  LLVM::ReturnOp::create(
      b, loc, call("attn_rt_status", {names, status, message, size}));
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, good, done, fail);
}

/// What f_shape calls: like f_apply, but writes the outputs' extents.
void EntryBuilder::buildShape(StringRef entry) {
  LLVM::LLVMFuncOp function = createEntry(entry, {ptr, ptr, i64});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Value tensors = function.getArgument(0);
  message = function.getArgument(1);
  size = function.getArgument(2);
  Value words = allocate(countWords(signature.inputs) + 1);
  Value table = addressOf(name + ".signature");
  Value names = addressOf(name + ".names");
  checkCpu(names);
  returnIfFailed(call("attn_rt_open_shapes",
                      {table, names, tensors, words, message, size}));
  LLVM::ReturnOp::create(
      b, loc, call("attn_rt_store_shapes", {table, tensors, callShape(words)}));
}

LogicalResult EntryBuilder::build() {
  if (failed(renameBody()))
    return failure();
  b.setInsertionPointToEnd(module.getBody());
  buildSignature();
  buildApply(name + "_apply");
  buildPlainEntry(name, name + "_apply");
  buildShape(name + "_shape_apply");
  buildPlainEntry(name + "_shape", name + "_shape_apply");
  return success();
}

namespace {
struct EmitEntries : attn::impl::EmitEntriesBase<EmitEntries> {
  void runOnOperation() override {
    SmallVector<LLVM::LLVMFuncOp> functions;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(kSignatureAttrName))
        functions.push_back(function);
    // What only these call has a dot in its name, which C cannot have.
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal() && function.getSymName().contains('.'))
        function.setLinkage(LLVM::Linkage::Internal);
    for (LLVM::LLVMFuncOp function : functions) {
      FailureOr<Signature> signature = Signature::fromAttr(function);
      if (failed(signature) ||
          failed(EntryBuilder(function, *signature).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
