// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that entries are built from.

#include "EntryBuilder.h"

#include "attn/Codegen/RuntimeChecks.h"
#include "attn/Target/CPU/RuntimeFeatures.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::attn;

int64_t attn::countWords(ArrayRef<SignatureTensor> list) {
  int64_t words = 0;
  for (const SignatureTensor &tensor : list)
    words += 3 + 2 * tensor.type.getRank();
  return words;
}

int64_t attn::countExtents(ArrayRef<SignatureTensor> list) {
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

LLVM::LLVMFuncOp EntryBuilder::startEntry(StringRef entry,
                                          TypeRange arguments) {
  b.setInsertionPointToEnd(module.getBody());
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, entry,
      LLVM::LLVMFunctionType::get(i32, llvm::to_vector(arguments)));
  function.setPassthroughAttr(b.getStrArrayAttr({kBaselineAttrName}));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  message = *std::prev(function.args_end(), 2);
  size = function.getArguments().back();
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

LogicalResult EntryBuilder::renameBody(ArrayRef<StringRef> suffixes,
                                       int64_t more) {
  for (StringRef suffix : suffixes)
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
  if (int64_t(body.getNumArguments()) != words + more ||
      (check && int64_t(check.getNumArguments()) != inputs) ||
      (shape && int64_t(shape.getNumArguments()) != inputs))
    return body.emitOpError()
           << "expects the arguments of its '" << kSignatureAttrName << "'"
           << (more > 0 ? " and of the launch" : "") << ", which are "
           << words + more << " words, got " << body.getNumArguments();
  takeWords(body, more);
  for (LLVM::LLVMFuncOp function : {check, shape})
    if (function)
      takeWords(function, /*more=*/0);
  return success();
}

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

void EntryBuilder::checkCpu(Value names) {
  if (uint64_t features = getRuntimeFeatures(TargetInfo::get(module)))
    returnIfFailed(
        call("attn_rt_check_cpu", {names, constant(features), message, size}));
}

Value EntryBuilder::callShape(Value words) {
  int64_t count = countExtents(signature.outputs);
  Value extents = allocate(std::max<int64_t>(count, 1));
  if (!shape || count == 0)
    return extents;
  Value result = LLVM::CallOp::create(b, loc, shape, words).getResult();
  for (int64_t i = 0; i < count; ++i) {
    Value extent =
        count == 1 ? result : LLVM::ExtractValueOp::create(b, loc, result, i);
    LLVM::StoreOp::create(b, loc, extent, element(extents, i));
  }
  return extents;
}

bool EntryBuilder::buildMessages() {
  auto messages =
      check ? check->getAttrOfType<ArrayAttr>(kMessagesAttrName) : ArrayAttr();
  auto kinds = check ? check->getAttrOfType<DenseI64ArrayAttr>(kKindsAttrName)
                     : DenseI64ArrayAttr();
  if (!messages || !kinds)
    return false;
  std::string table;
  for (Attribute text : messages)
    table += cast<StringAttr>(text).str() + '\0';
  addTextGlobal(".messages", table);
  addWordsGlobal(".kinds", kinds);
  return true;
}

void EntryBuilder::returnIfWrong(ValueRange numbers) {
  Value good = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, numbers[0],
                                    constant(0));
  Block *before = b.getInsertionBlock();
  Block *next = b.createBlock(before->getParent());
  Block *fail = b.createBlock(before->getParent());
  LLVM::ReturnOp::create(
      b, loc,
      call("attn_rt_report",
           {addressOf(name + ".messages"), addressOf(name + ".kinds"),
            numbers[0], numbers[1], numbers[2], message, size}));
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, good, next, fail);
  b.setInsertionPointToStart(next);
}

void EntryBuilder::buildCheck(Value words) {
  if (!buildMessages())
    return;
  Value result = LLVM::CallOp::create(b, loc, check, words).getResult();
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < 3; ++i)
    numbers.push_back(LLVM::ExtractValueOp::create(b, loc, result, i));
  returnIfWrong(numbers);
}

void EntryBuilder::compareShapes(Value tensors, Value words) {
  if (shape && countExtents(signature.outputs) > 0)
    returnIfFailed(
        call("attn_rt_compare_shapes",
             {addressOf(name + ".signature"), addressOf(name + ".names"),
              tensors, callShape(words), message, size}));
}

void EntryBuilder::buildPlainEntry(StringRef entry, StringRef apply,
                                   TypeRange more) {
  int64_t count = signature.inputs.size() + signature.outputs.size();
  SmallVector<Type> types(count, ptr);
  llvm::append_range(types, more);
  LLVM::LLVMFuncOp function = startEntry(entry, types);
  Value tensors = allocate(std::max<int64_t>(count, 1));
  for (int64_t i = 0; i < count; ++i)
    LLVM::StoreOp::create(b, loc, function.getArgument(i), element(tensors, i));
  SmallVector<Value> arguments = {tensors};
  llvm::append_range(arguments, function.getArguments().drop_front(count));
  Value status = call(apply, arguments);
  LLVM::ReturnOp::create(b, loc, status);
}

void EntryBuilder::buildShape(StringRef entry) {
  LLVM::LLVMFuncOp function = startEntry(entry, {ptr, ptr, i64});
  Value tensors = function.getArgument(0);
  Value words = allocate(countWords(signature.inputs) + 1);
  Value table = addressOf(name + ".signature");
  Value names = addressOf(name + ".names");
  checkCpu(names);
  returnIfFailed(call("attn_rt_open_shapes",
                      {table, names, tensors, words, message, size}));
  LLVM::ReturnOp::create(
      b, loc, call("attn_rt_store_shapes", {table, tensors, callShape(words)}));
}
