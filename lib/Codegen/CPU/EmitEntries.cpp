// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the C interface around functions of the llvm dialect. For `@f` with one tensor in and one out:
//
//   llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %message: !llvm.ptr, %size: i64) -> i32    // collects the pointers
//   llvm.func @f_apply(%tensors: !llvm.ptr, %message: !llvm.ptr, %size: i64) -> i32 {
//     %status = llvm.call @attn_rt_open(@f.signature, %tensors, %words)      // checks, and unpacks into words
//     ... on failure return it, else likewise:
//     %number, %got, %wanted = llvm.call @f.check(%words)                    // attn_rt_report
//     %extents = llvm.call @f.shape(%words)                                  // attn_rt_compare_shapes
//     %status2 = llvm.call @f.body(%words)                                   // attn_rt_status
//   }
//   llvm.func @f_shape(...)    // attn_rt_open_shapes, @f.shape, attn_rt_store_shapes
//
// The work is done by lib/Runtime/Entry.c, whose code becomes part of the object.

#include "../EntryBuilder.h"

#include "attn/Codegen/CpuPasses.h"
#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EMITENTRIES
#include "attn/Codegen/CpuPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {
/// The entries of a CPU.
class CpuEntryBuilder : EntryBuilder {
public:
  using EntryBuilder::EntryBuilder;

  LogicalResult build();

private:
  void buildApply(StringRef entry);
};
} // namespace

/// int f_apply(tensors, message, size): check, then run.
void CpuEntryBuilder::buildApply(StringRef entry) {
  LLVM::LLVMFuncOp function = startEntry(entry, {ptr, ptr, i64});
  Value tensors = function.getArgument(0);
  Value words = allocate(countWords(signature.inputs) +
                         countWords(signature.outputs) + 1);
  Value table = addressOf(name + ".signature");
  Value names = addressOf(name + ".names");
  checkCpu(names);
  returnIfFailed(
      call("attn_rt_open", {table, names, tensors, words, message, size}));
  buildCheck(words);
  compareShapes(tensors, words);
  Value status = LLVM::CallOp::create(b, loc, body, words).getResult();
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

LogicalResult CpuEntryBuilder::build() {
  if (failed(renameBody({"_apply", "_shape", "_shape_apply"})))
    return failure();
  buildSignature();
  buildApply(name + "_apply");
  buildPlainEntry(name, name + "_apply", {ptr, i64});
  buildShape(name + "_shape_apply");
  buildPlainEntry(name + "_shape", name + "_shape_apply", {ptr, i64});
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
          failed(CpuEntryBuilder(function, *signature).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
