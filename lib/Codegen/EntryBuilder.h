// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the C interface around a function of the llvm dialect: what the entries of a CPU and of a GPU have in common.
// The work is done by lib/Runtime/Entry.c, whose code becomes part of the object.

#ifndef ATTN_LIB_CODEGEN_ENTRYBUILDER_H
#define ATTN_LIB_CODEGEN_ENTRYBUILDER_H

#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::attn {

/// Return the number of words that describe the tensors of `list`.
int64_t countWords(ArrayRef<SignatureTensor> list);

/// Return the number of extents of the tensors of `list`.
int64_t countExtents(ArrayRef<SignatureTensor> list);

/// Builds the entries of one function.
class EntryBuilder {
public:
  EntryBuilder(LLVM::LLVMFuncOp body, Signature signature)
      : module(body->getParentOfType<ModuleOp>()), b(body), loc(body.getLoc()),
        name(body.getSymName()), body(body), signature(std::move(signature)),
        ptr(LLVM::LLVMPointerType::get(b.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

protected:
  /// Take the name of the entry away from the function that it will call, which has
  /// `more` arguments after the words of tensors, and let it read these. Fails with a
  /// diagnostic where the names of entries are taken.
  LogicalResult renameBody(ArrayRef<StringRef> suffixes, int64_t more = 0);

  /// Write the signature as lib/Runtime/Entry.h wants it.
  void buildSignature();

  /// int f(inputs..., outputs..., more...): all pointers in one array for `apply`.
  void buildPlainEntry(StringRef entry, StringRef apply, TypeRange more);

  /// What f_shape calls: like f_apply, but writes the outputs' extents.
  void buildShape(StringRef entry);

  LLVM::LLVMFuncOp declare(StringRef callee, Type result, TypeRange arguments);

  /// Call `callee`, which returns a status, and return that.
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

  /// Start a function that runs before it is known what the CPU can do, and whose last
  /// arguments are `message` and `size`.
  LLVM::LLVMFuncOp startEntry(StringRef entry, TypeRange arguments);

  /// Return `status` from the entry where it is not 0, and go on elsewhere.
  void returnIfFailed(Value status);

  /// Return from the entry where the CPU lacks what the code needs.
  void checkCpu(Value names);

  /// Let `function` take a pointer to words instead of words, which are all of its
  /// arguments but the last `more`.
  void takeWords(LLVM::LLVMFuncOp function, int64_t more);

  /// Call `f.shape` and return a pointer to the extents of all outputs.
  Value callShape(Value words);

  /// Write the messages of `f.check`, if it has any, and return whether it has.
  bool buildMessages();

  /// Return what attn_rt_report says of the three numbers from the entry where the
  /// first is not 0, and go on elsewhere.
  void returnIfWrong(ValueRange numbers);

  /// Call `f.check` and return from the entry where a check fails.
  void buildCheck(Value words);

  /// Return from the entry where the outputs have other extents than they must.
  void compareShapes(Value tensors, Value words);

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

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_ENTRYBUILDER_H
