// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes host functions of kernels, which a program that plays the GPU can run thread by thread:
//
//   gpu.module @m {
//     llvm.mlir.global external @tile() {addr_space = 3} : !llvm.array<0 x i8>
//     llvm.func @k(%out: !llvm.ptr) attributes {nvvm.kernel} {
//       nvvm.barrier0
//       llvm.return
//     }
//   }
//
// becomes
//
//   llvm.func @m.k(%out: !llvm.ptr) {
//     llvm.call @attn_cuda_barrier(%site, ...)
//     llvm.return
//   }
//   llvm.func @m.k.launch(%parameters: !llvm.ptr) attributes {attn.kernel = @m::@k, ...} {
//     // Loads each parameter from where %parameters points, as for cuLaunchKernel.
//     llvm.call @m.k(%out)
//     llvm.return
//   }

#include "HostCallBuilder.h"
#include "SharedLayout.h"

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::attn {
#define GEN_PASS_DEF_NVVMTOHOSTCALLS
#include "attn/Conversion/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::host_calls;

/// Fails unless `module` holds only functions and globals of LLVM.
static LogicalResult checkContents(gpu::GPUModuleOp module) {
  for (Operation &op : *module.getBody())
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      return op.emitOpError("is not expected in a gpu.module that goes to the "
                            "host, only llvm.func and llvm.mlir.global are");
  return success();
}

/// Replace `op` if it is a GPU's; an op of LLVM stays.
static LogicalResult convertOp(Operation *op, HostCallBuilder &builder) {
  builder.startAt(op);
  for (auto convert :
       {convertRegisters, convertBarriers, convertMBarriers, convertWarpOps,
        convertMatrixOps, convertWarpGroupOps, convertCopies, convertMath})
    if (HostConversion done = convert(op, builder))
      return *done;
  if (isa<LLVM::Trap>(op)) {
    builder.call("trap", nullptr, {});
    op->erase();
    return success();
  }
  if (isa<LLVM::LLVMDialect>(op->getDialect()) && !isa<LLVM::InlineAsmOp>(op))
    return success();
  return op->emitOpError("has no counterpart on the host");
}

static LogicalResult convertFunction(LLVM::LLVMFuncOp function,
                                     HostCallBuilder &builder, bool track) {
  if (function.isExternal())
    return success();
  builder.startFunction(function);
  addPolls(function, builder, track);
  SmallVector<Operation *> ops;
  function.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (track && failed(trackAccess(op, builder)))
      return failure();
    if (failed(convertOp(op, builder)))
      return failure();
  }
  return success();
}

/// Take away the address spaces of a GPU: its shared and global memory are the
/// host's, and a cast between them does nothing.
static void removeAddressSpaces(gpu::GPUModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LLVM::LLVMPointerType type) {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  module.walk([](LLVM::AddrSpaceCastOp op) {
    op.getResult().replaceAllUsesWith(op.getArg());
    op.erase();
  });
  for (auto global : module.getOps<LLVM::GlobalOp>())
    global.setAddrSpace(0);
}

/// Return the function through which an emulator runs `kernel`.
static LLVM::LLVMFuncOp createLaunch(LLVM::LLVMFuncOp kernel, StringRef name,
                                     ArrayRef<bool> byValue,
                                     HostCallBuilder &builder) {
  builder.setInsertionPointAfter(kernel);
  Location loc = kernel.getLoc();
  Type pointer = builder.ptr();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), pointer);
  auto launch = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  Block *body = launch.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  SmallVector<Value> arguments;
  for (auto [index, argument] : llvm::enumerate(kernel.getArgumentTypes())) {
    Value place = LLVM::GEPOp::create(
        builder, loc, pointer, pointer, body->getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    Value value = LLVM::LoadOp::create(builder, loc, pointer, place);
    if (!byValue[index])
      value = LLVM::LoadOp::create(builder, loc, argument, value,
                                   /*alignment=*/1);
    arguments.push_back(value);
  }
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return launch;
}

/// Return which arguments of `kernel` are passed by value behind a pointer.
static SmallVector<bool> getByValue(LLVM::LLVMFuncOp kernel) {
  SmallVector<bool> byValue;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    byValue.push_back(static_cast<bool>(
        kernel.getArgAttr(i, LLVM::LLVMDialect::getByValAttrName())));
  return byValue;
}

/// Return the size of a block that `kernel` insists on, or nothing.
static DenseI32ArrayAttr getBlockSize(LLVM::LLVMFuncOp kernel) {
  return kernel->getAttrOfType<DenseI32ArrayAttr>(
      NVVM::NVVMDialect::getReqntidAttrName());
}

/// Take away what only a GPU understands of a function.
static void removeGpuAttributes(LLVM::LLVMFuncOp function) {
  SmallVector<StringAttr> names;
  for (NamedAttribute attr : function->getDiscardableAttrs())
    names.push_back(attr.getName());
  for (StringAttr name : names)
    function->removeDiscardableAttr(name);
  function.removeArgAttrsAttr();
  function.setCConv(LLVM::CConv::C);
}

/// Give `function`, a kernel or one that is called, its place on the host.
static void finishFunction(LLVM::LLVMFuncOp function, gpu::GPUModuleOp module,
                           StringRef plainName, const SharedLayout &shared,
                           HostCallBuilder &builder) {
  bool isKernel = function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
  SmallVector<bool> byValue = getByValue(function);
  DenseI32ArrayAttr blockSize = getBlockSize(function);
  removeGpuAttributes(function);
  if (!isKernel)
    return;
  LLVM::LLVMFuncOp launch = createLaunch(
      function, (function.getName() + ".launch").str(), byValue, builder);
  launch->setAttr(kKernelAttrName,
                  SymbolRefAttr::get(
                      module.getNameAttr(),
                      FlatSymbolRefAttr::get(builder.getContext(), plainName)));
  launch->setAttr(kStaticSharedAttrName,
                  builder.getI64IntegerAttr(shared.staticBytes));
  launch->setAttr(kDynamicSharedAttrName,
                  builder.getI64IntegerAttr(shared.dynamicOffset));
  if (blockSize)
    launch->setAttr(kBlockSizeAttrName, blockSize);
}

/// Put the module's name before that of each symbol that it defines, and return the
/// names that they had.
static llvm::DenseMap<Operation *, std::string>
qualifyNames(gpu::GPUModuleOp module) {
  llvm::DenseMap<Operation *, std::string> plain;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && function.isExternal())
      continue;
    StringAttr name = SymbolTable::getSymbolName(&op);
    plain[&op] = name.str();
    auto qualified = StringAttr::get(op.getContext(),
                                     module.getName() + "." + name.getValue());
    // What is not used by name elsewhere in the module has nothing to replace.
    (void)SymbolTable::replaceAllSymbolUses(&op, qualified, module);
    SymbolTable::setSymbolName(&op, qualified);
  }
  return plain;
}

static LogicalResult convertModule(gpu::GPUModuleOp module, ModuleOp host,
                                   HostCallBuilder &builder, bool track) {
  if (failed(checkContents(module)) || failed(convertLibraryCalls(module)))
    return failure();
  if (track)
    trackAccumulators(module, builder);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (failed(convertFunction(function, builder, track)))
      return failure();
  FailureOr<SharedLayout> shared = placeShared(module, builder);
  if (failed(shared))
    return failure();
  removeAddressSpaces(module);
  auto plainNames = qualifyNames(module);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && function.isExternal() &&
        host.lookupSymbol(function.getName())) {
      op.erase();
      continue;
    }
    op.moveBefore(host.getBody(), host.getBody()->end());
    if (function && !function.isExternal())
      finishFunction(function, module, plainNames[&op], *shared, builder);
  }
  module.erase();
  return success();
}

namespace {
struct NVVMToHostCalls : attn::impl::NVVMToHostCallsBase<NVVMToHostCalls> {
  using NVVMToHostCallsBase::NVVMToHostCallsBase;

  void runOnOperation() override {
    ModuleOp host = getOperation();
    HostCallBuilder builder(host);
    for (Operation &op : llvm::make_early_inc_range(*host.getBody()))
      if (!isa<gpu::GPUModuleOp>(op))
        op.erase();
    auto modules = llvm::to_vector(host.getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp module : modules)
      if (failed(convertModule(module, host, builder, track)))
        return signalPassFailure();
    host->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
    host->setAttr(kSitesAttrName, builder.getSites());
  }
};
} // namespace
