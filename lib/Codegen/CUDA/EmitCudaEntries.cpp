// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the C interface around functions that launch kernels. For `@f` with one tensor in and one out:
//
//   llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr, %workspace: !llvm.ptr, %stream: !llvm.ptr, %message: !llvm.ptr,
//                %size: i64) -> i32
//   llvm.func @f_apply(%tensors: !llvm.ptr, %workspace, %stream, %message, %size) -> i32 {
//     %status = llvm.call @attn_rt_open_cuda(@f.signature, %tensors, %words)     // checks, and unpacks into words
//     ... on failure return it, else as for a CPU: @f.check, @f.shape; then
//     %status2 = llvm.call @attn_rt_cuda_begin(%call, @attn.code, %stream, ...)  // finds the kernels
//     llvm.call @f.body(all words, words of the workspace, %call)                // launches
//     %status3 = llvm.call @attn_rt_cuda_end(%call)
//   }
//   llvm.func @f_workspace(%x, %y, %bytes, %message, %size)     // how large the workspace must be
//   llvm.func @f_status(%words, %message, %size)                // what the status at its beginning means
//   llvm.func @f_shape(...)                                     // as for a CPU
//
// `@attn.code`, the kernels as machine code, comes from Target/CUDA.

#include "../EntryBuilder.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Workspace.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EMITCUDAENTRIES
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Words of a memref of rank 1, and of lib/Runtime/Cuda.h's AttnCudaCall at most.
static constexpr int64_t kWorkspaceWords = 5, kCallWords = 16;

namespace {
/// The entries of a GPU.
class CudaEntryBuilder : EntryBuilder {
public:
  using EntryBuilder::EntryBuilder;

  LogicalResult build();

private:
  Value open(StringRef callee, Value tensors);
  Value callWorkspace(Value words);
  void buildApply(StringRef entry);
  void buildWorkspace(StringRef entry);
  void buildStatus(StringRef entry);

  LLVM::LLVMFuncOp workspaceSize;
};
} // namespace

/// Check the tensors with `callee` and return their words.
Value CudaEntryBuilder::open(StringRef callee, Value tensors) {
  Value words = allocate(countWords(signature.inputs) +
                         countWords(signature.outputs) + 1);
  returnIfFailed(
      call(callee, {addressOf(name + ".signature"), addressOf(name + ".names"),
                    tensors, words, message, size}));
  return words;
}

/// Return how many bytes of workspace the call needs.
Value CudaEntryBuilder::callWorkspace(Value words) {
  return LLVM::CallOp::create(b, loc, workspaceSize, words).getResult();
}

/// int f_apply(tensors, workspace, stream, message, size): check, then launch.
void CudaEntryBuilder::buildApply(StringRef entry) {
  LLVM::LLVMFuncOp function = startEntry(entry, {ptr, ptr, ptr, ptr, i64});
  Value tensors = function.getArgument(0), workspace = function.getArgument(1);
  Value words = open("attn_rt_open_cuda", tensors);
  buildCheck(words);
  compareShapes(tensors, words);
  Value bytes = callWorkspace(words), launches = allocate(kCallWords);
  returnIfFailed(
      call("attn_rt_cuda_begin",
           {launches, addressOf(kCodeSymbolName),
            addressOf(name + ".signature"), addressOf(name + ".names"), tensors,
            workspace, bytes, function.getArgument(2), message, size}));
  LLVM::CallOp::create(b, loc, body,
                       ValueRange{words, workspace, workspace, constant(0),
                                  bytes, constant(1), launches});
  LLVM::ReturnOp::create(b, loc, call("attn_rt_cuda_end", {launches}));
}

/// int f_workspace_apply(tensors, bytes, message, size).
void CudaEntryBuilder::buildWorkspace(StringRef entry) {
  LLVM::LLVMFuncOp function = startEntry(entry, {ptr, ptr, ptr, i64});
  Value tensors = function.getArgument(0);
  Value words = open("attn_rt_open_extents", tensors);
  LLVM::StoreOp::create(b, loc, callWorkspace(words), function.getArgument(1));
  LLVM::ReturnOp::create(
      b, loc, LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(0)));
}

/// int f_status(words, message, size): 0, or what the check that failed says.
void CudaEntryBuilder::buildStatus(StringRef entry) {
  LLVM::LLVMFuncOp function = startEntry(entry, {ptr, ptr, i64});
  Value zero = LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(0));
  if (module.lookupSymbol(name + ".messages") &&
      body->hasAttr(kGuardedAttrName)) {
    SmallVector<Value> numbers;
    for (int64_t i = 0; i < kStatusWords; ++i)
      numbers.push_back(LLVM::LoadOp::create(
          b, loc, i64, element(function.getArgument(0), i)));
    returnIfWrong(numbers);
  }
  LLVM::ReturnOp::create(b, loc, zero);
}

LogicalResult CudaEntryBuilder::build() {
  workspaceSize =
      module.lookupSymbol<LLVM::LLVMFuncOp>(workspaceFunctionName(name));
  if (!workspaceSize)
    return body.emitOpError("expects a function that says how large its "
                            "workspace is");
  if (failed(renameBody({"_apply", "_shape", "_shape_apply", "_workspace",
                         "_workspace_apply", "_status"},
                        /*more=*/kWorkspaceWords + 1)))
    return failure();
  takeWords(workspaceSize, /*more=*/0);
  buildSignature();
  buildApply(name + "_apply");
  buildPlainEntry(name, name + "_apply", {ptr, ptr, ptr, i64});
  buildShape(name + "_shape_apply");
  buildPlainEntry(name + "_shape", name + "_shape_apply", {ptr, i64});
  buildWorkspace(name + "_workspace_apply");
  buildPlainEntry(name + "_workspace", name + "_workspace_apply",
                  {ptr, ptr, i64});
  buildStatus(name + "_status");
  return success();
}

/// Declare the machine code, which is not there yet.
static void declareCode(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(b, module.getLoc(), b.getI64Type(),
                         /*isConstant=*/false, LLVM::Linkage::External,
                         kCodeSymbolName, Attribute());
}

namespace {
struct EmitCudaEntries : attn::impl::EmitCudaEntriesBase<EmitCudaEntries> {
  void runOnOperation() override {
    declareCode(getOperation());
    SmallVector<LLVM::LLVMFuncOp> functions;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (function->hasAttr(kSignatureAttrName))
        functions.push_back(function);
      if (!function.isExternal() && function.getSymName().contains('.'))
        function.setLinkage(LLVM::Linkage::Internal);
    }
    for (LLVM::LLVMFuncOp function : functions) {
      FailureOr<Signature> signature = Signature::fromAttr(function);
      if (failed(signature) ||
          failed(CudaEntryBuilder(function, *signature).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
