// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the binaries of all architectures and puts them into the host's module, as lib/Runtime/Cuda.h has it:
//
//   gpu.module @kernels { ... }
//
// becomes
//
//   llvm.mlir.global internal constant @attn.binary0("\7FELF...")
//   llvm.mlir.global internal @attn.code() : !llvm.struct<(i64, ptr, i64, ptr, ptr, i64)> { ... }

#include "attn/Target/CUDA/Emit.h"
#include "attn/Target/CUDA/Architectures.h"
#include "attn/Target/CUDA/Cubin.h"
#include "attn/Target/CUDA/KernelNames.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::attn;

/// AttnCudaImage's kinds.
enum ImageKind : int64_t { kCubin = 0, kExactCubin = 1, kPtx = 2 };

/// Return how the kernels of `module` are launched.
static llvm::StringMap<KernelLaunch> getLaunches(ModuleOp module) {
  llvm::StringMap<KernelLaunch> launches;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
      KernelLaunch &launch = launches[kernel.getName()];
      if (auto block = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid"))
        launch.threads = block.size() > 0 ? block[0] : 0;
      if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttrName))
        launch.dynamicSharedBytes = bytes.getInt();
    }
  return launches;
}

/// What there is no machine code without.
static constexpr llvm::StringLiteral kNoPtxas =
    "none is in PATH, in a CUDA toolkit or in Python's package "
    "nvidia-cuda-nvcc; --ptxas= names another";

/// Print what is known of the kernels of `module` where there is no ptxas.
static void reportLaunches(ModuleOp module, llvm::raw_ostream &os) {
  llvm::StringMap<KernelLaunch> launches = getLaunches(module);
  SmallVector<StringRef> names(launches.keys());
  llvm::sort(names);
  for (StringRef name : names) {
    KernelLaunch launch = launches.lookup(name);
    os << name << ": " << launch.dynamicSharedBytes
       << " bytes of dynamic shared memory, blocks of " << launch.threads
       << " threads\n";
  }
  os << "registers, spills and instructions are what ptxas says, but "
     << kNoPtxas << "\n";
}

/// Print what the machine code of `binaries`, the kernels of `module`, needs.
static LogicalResult report(ModuleOp module, ArrayRef<CudaBinary> binaries,
                            llvm::raw_ostream &os) {
  for (const CudaBinary &binary : binaries) {
    auto kernels = readCubin(binary.cubin);
    if (!kernels)
      return module.emitError(llvm::toString(kernels.takeError()));
    printKernels(os, binary.architecture, *kernels, parsePtxasLog(binary.log),
                 getLaunches(module));
  }
  return success();
}

FailureOr<SmallVector<CudaBinary>>
attn::emitCudaBinaries(ModuleOp module, const CudaOptions &options,
                       bool needsCubins) {
  auto ptxas = findPtxas(options.ptxas);
  if (!ptxas)
    return module.emitError(llvm::toString(ptxas.takeError()));
  if (needsCubins && !*ptxas)
    return module.emitError("expects ptxas for a cubin, but ")
           << kNoPtxas << ", and PTX needs none";
  SmallVector<CudaBinary> binaries;
  for (const std::string &architecture :
       TargetInfo::get(module).architectures) {
    CudaBinary binary;
    binary.architecture = architecture;
    FailureOr<std::string> ptx =
        emitPtx(module, architecture, options.optLevel);
    if (failed(ptx))
      return failure();
    binary.ptx = std::move(*ptx);
    if (*ptxas) {
      auto result = runPtxas(**ptxas, binary.ptx, architecture);
      if (!result)
        return module.emitError(llvm::toString(result.takeError()));
      binary.cubin = std::move(result->cubin);
      binary.log = std::move(result->log);
    }
    binaries.push_back(std::move(binary));
  }
  if (options.report && !*ptxas)
    reportLaunches(module, *options.report);
  else if (options.report && failed(report(module, binaries, *options.report)))
    return failure();
  return binaries;
}

namespace {
/// Writes the tables of the run-time library into the host's module.
class CodeWriter {
public:
  explicit CodeWriter(ModuleOp module)
      : module(module), b(module.getContext()), loc(module.getLoc()),
        ptr(LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()) {
    b.setInsertionPointToStart(module.getBody());
  }

  void write(ArrayRef<CudaBinary> binaries, ArrayRef<std::string> kernels);
  void exportDriver();

private:
  void addImage(StringRef architecture, ImageKind kind, StringRef bytes);
  void addBytes(StringRef name, StringRef bytes);
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  }
  Value addressOf(StringRef name) {
    return LLVM::AddressOfOp::create(b, loc, ptr, name);
  }
  /// Add a global of `type` whose words `build` makes.
  void addTable(StringRef name, Type type, bool isConstant,
                function_ref<Value(Value)> build);
  Value insert(Value into, Value value, ArrayRef<int64_t> at) {
    return LLVM::InsertValueOp::create(b, loc, into, value, at);
  }

  struct Image {
    int64_t architecture;
    ImageKind kind;
    std::string symbol;
  };

  ModuleOp module;
  OpBuilder b;
  Location loc;
  Type ptr, i64;
  SmallVector<Image> images;
};
} // namespace

void CodeWriter::addBytes(StringRef name, StringRef bytes) {
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name,
                                       b.getStringAttr(bytes));
  global.setAlignment(16);
}

void CodeWriter::addImage(StringRef architecture, ImageKind kind,
                          StringRef bytes) {
  StringRef digits = architecture.drop_until(llvm::isDigit);
  int64_t number = 0;
  digits.consumeInteger(10, number);
  if (kind == kCubin && !digits.empty())
    kind = kExactCubin;
  std::string symbol = "attn.binary" + std::to_string(images.size());
  addBytes(symbol, bytes);
  images.push_back({number, kind, symbol});
}

void CodeWriter::addTable(StringRef name, Type type, bool isConstant,
                          function_ref<Value(Value)> build) {
  auto global = LLVM::GlobalOp::create(
      b, loc, type, isConstant, LLVM::Linkage::Internal, name, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&global.getInitializerRegion());
  Value value = LLVM::ZeroOp::create(b, loc, type);
  LLVM::ReturnOp::create(b, loc, build(value));
}

void CodeWriter::write(ArrayRef<CudaBinary> binaries,
                       ArrayRef<std::string> kernels) {
  for (const CudaBinary &binary : binaries)
    if (!binary.cubin.empty())
      addImage(binary.architecture, kCubin,
               StringRef(binary.cubin.data(), binary.cubin.size()));
  // The driver compiles PTX for GPUs that are newer than all of these; what needs
  // an architecture with a letter runs nowhere else.
  for (const CudaBinary &binary : binaries)
    if (!llvm::isAlpha(binary.architecture.back()))
      addImage(binary.architecture, kPtx, binary.ptx + '\0');
  // The emulator has the kernels already; something must be there to be loaded.
  if (binaries.empty())
    addImage("sm_0", kPtx, StringRef("\0", 1));
  std::string names;
  for (const std::string &kernel : kernels)
    names += kernel + '\0';
  addBytes("attn.kernels", names + '\0');
  auto image =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {i64, i64, ptr, i64});
  auto list = LLVM::LLVMArrayType::get(image, images.size());
  addTable("attn.images", list, /*isConstant=*/true, [&](Value table) {
    for (auto [index, own] : llvm::enumerate(images)) {
      int64_t at = index;
      table = insert(table, constant(own.architecture), {at, 0});
      table = insert(table, constant(own.kind), {at, 1});
      table = insert(table, addressOf(own.symbol), {at, 2});
    }
    return table;
  });
  auto code = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               {i64, ptr, i64, ptr, ptr, i64});
  addTable(kCodeSymbolName, code, /*isConstant=*/false, [&](Value table) {
    table = insert(table, constant(images.size()), {0});
    table = insert(table, addressOf("attn.images"), {1});
    table = insert(table, constant(kernels.size()), {2});
    return insert(table, addressOf("attn.kernels"), {3});
  });
}

/// Let who loads the object bring the driver.
void CodeWriter::exportDriver() {
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {ptr});
  LLVM::LLVMFuncOp::create(b, loc, "attn_cuda_set_driver", type);
  auto function = LLVM::LLVMFuncOp::create(b, loc, "attn_set_driver", type);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  LLVM::CallOp::create(b, loc, TypeRange(), "attn_cuda_set_driver",
                       function.getArguments());
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

void attn::embedBinaries(ModuleOp module, ArrayRef<CudaBinary> binaries,
                         const CudaOptions &options) {
  // In the order in which LaunchesToCalls numbered them.
  SmallVector<std::string> kernels;
  for (auto own : module.getOps<gpu::GPUModuleOp>())
    for (auto kernel : own.getOps<LLVM::LLVMFuncOp>())
      if (kernel->hasAttr("nvvm.kernel"))
        kernels.push_back(kernel.getName().str());
  for (auto own : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
    own.erase();
  if (Operation *declared = module.lookupSymbol(kCodeSymbolName))
    declared->erase();
  CodeWriter writer(module);
  writer.write(binaries, kernels);
  if (options.isForEmulator)
    writer.exportDriver();
}

TargetInfo attn::getHostTarget() {
  TargetInfo host;
  host.triple = llvm::sys::getProcessTriple();
  bool isX86 = llvm::Triple(host.triple).isX86();
  // The host only computes sizes: any CPU of the family will do.
  host.cpu = isX86 ? "x86-64" : "generic";
  host.vectorBits = 128;
  return host;
}
