// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles kernels for the host, and runs the blocks of a launch on worker threads.

#include "attn/Execution/CudaEmulator.h"

#include "../JitLibrary.h"
#include "Block.h"
#include "HostFunctions.h"

#include "attn/Conversion/HostCalls.h"
#include "attn/Conversion/Passes.h"
#include "attn/Target/CPU/Emit.h"
#include "attn/Target/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::attn::emulator;

/// Threads and bytes of shared memory that a block has at most.
constexpr uint64_t kMostThreads = 1024;
constexpr uint64_t kMostSharedBytes = 227 * 1024;

namespace {
/// What is known of a kernel before it is launched.
struct Kernel {
  std::string name;
  /// Null where kernels of several modules have this name.
  void (*entry)(void **) = nullptr;
  int64_t staticBytes = 0;
  int64_t dynamicOffset = -1;
  SmallVector<int32_t> blockSize;
};
} // namespace

struct CudaEmulator::Impl {
  CudaEmulatorOptions options;
  std::unique_ptr<JitLibrary> library;
  llvm::StringMap<Kernel> kernels;
  std::unique_ptr<Reports> reports;
  Buffers buffers;
  BankCounts counts;
  /// One block for each worker, kept for its stacks and memory.
  std::vector<std::unique_ptr<emulator::Block>> blocks;

  llvm::Error readKernels(ModuleOp host);
  llvm::Error registerConstants(ModuleOp host);
  llvm::Expected<Launch> prepare(StringRef name, std::array<uint32_t, 3> grid,
                                 std::array<uint32_t, 3> block,
                                 uint32_t sharedBytes, void **parameters);
  bool run(const Launch &launch);
};

CudaEmulator::CudaEmulator(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
CudaEmulator::~CudaEmulator() = default;

/// Return the addresses of all functions that kernels call.
static SmallVector<std::pair<StringRef, void *>> getFunctions() {
  SmallVector<std::pair<StringRef, void *>> all;
  for (ArrayRef<HostFunction> table :
       {getThreadFunctions(), getMathFunctions(), getWarpFunctions(),
        getMatrixFunctions(), getWarpGroupFunctions(), getCopyFunctions()})
    for (const HostFunction &function : table)
      all.emplace_back(function.name, function.address);
  return all;
}

/// Return the sites that the calls of `host` name by numbers.
static std::vector<std::string> getSites(ModuleOp host) {
  std::vector<std::string> sites;
  if (auto attr = host->getAttrOfType<ArrayAttr>(host_calls::kSitesAttrName))
    for (StringAttr site : attr.getAsRange<StringAttr>())
      sites.push_back(site.str());
  return sites;
}

llvm::Error CudaEmulator::Impl::readKernels(ModuleOp host) {
  for (auto function : host.getOps<LLVM::LLVMFuncOp>()) {
    auto symbol =
        function->getAttrOfType<SymbolRefAttr>(host_calls::kKernelAttrName);
    if (!symbol)
      continue;
    auto address = library->lookup(function.getName());
    if (!address)
      return address.takeError();
    Kernel kernel;
    kernel.name = symbol.getLeafReference().str();
    kernel.entry = reinterpret_cast<void (*)(void **)>(*address);
    kernel.staticBytes =
        function->getAttrOfType<IntegerAttr>(host_calls::kStaticSharedAttrName)
            .getInt();
    kernel.dynamicOffset =
        function->getAttrOfType<IntegerAttr>(host_calls::kDynamicSharedAttrName)
            .getInt();
    if (auto size = function->getAttrOfType<DenseI32ArrayAttr>(
            host_calls::kBlockSizeAttrName))
      llvm::append_range(kernel.blockSize, size.asArrayRef());
    std::string qualified =
        (symbol.getRootReference().getValue() + "::" + kernel.name).str();
    kernels[qualified] = kernel;
    auto [place, isNew] = kernels.try_emplace(kernel.name, std::move(kernel));
    if (!isNew)
      place->second.entry = nullptr;
  }
  return llvm::Error::success();
}

/// Allow accesses to the constants of the kernels.
llvm::Error CudaEmulator::Impl::registerConstants(ModuleOp host) {
  DataLayout layout(host);
  for (auto global : host.getOps<LLVM::GlobalOp>()) {
    auto address = library->lookup(global.getName());
    if (!address)
      return address.takeError();
    buffers.addConstant(
        *address, layout.getTypeSize(global.getGlobalType()).getFixedValue());
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CudaEmulator>>
CudaEmulator::create(ModuleOp module, const CudaEmulatorOptions &options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  OwningOpRef<ModuleOp> host = module.clone();
  PassManager pm(module.getContext());
  NVVMToHostCallsOptions passOptions;
  passOptions.track = options.track;
  pm.addPass(createNVVMToHostCalls(passOptions));
  if (failed(pm.run(*host)))
    return llvm::createStringError("the kernels could not be made to run here");
  // So that the addresses of constants can be asked for.
  for (auto global : host->getOps<LLVM::GlobalOp>())
    global.setLinkage(LLVM::Linkage::External);
  auto target = TargetInfo::host();
  if (!target)
    return target.takeError();
  auto object = emitCpu(*host, *target, CpuOutput::Object, /*optLevel=*/2);
  if (failed(object))
    return llvm::createStringError("no machine code could be made of kernels");
  auto library = JitLibrary::load(*object, getFunctions());
  if (!library)
    return library.takeError();
  impl->library = std::move(*library);
  impl->reports =
      std::make_unique<Reports>(getSites(*host), options.mostReports);
  if (llvm::Error error = impl->readKernels(*host))
    return std::move(error);
  if (llvm::Error error = impl->registerConstants(*host))
    return std::move(error);
  return std::unique_ptr<CudaEmulator>(new CudaEmulator(std::move(impl)));
}

/// Return the bytes of a block's shared memory where a launch gives `dynamicBytes`.
static uint64_t getSharedBytes(const Kernel &kernel, uint64_t dynamicBytes) {
  return kernel.dynamicOffset < 0
             ? static_cast<uint64_t>(kernel.staticBytes)
             : static_cast<uint64_t>(kernel.dynamicOffset) + dynamicBytes;
}

/// Fails unless a launch is one that a GPU would start.
static llvm::Error checkLaunch(const Kernel &kernel,
                               std::array<uint32_t, 3> grid,
                               std::array<uint32_t, 3> block,
                               uint32_t sharedBytes) {
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  if (threads == 0 || threads > kMostThreads)
    return llvm::createStringError("kernel '" + kernel.name +
                                   "' expects 1 to 1024 threads a block, got " +
                                   std::to_string(threads));
  if (uint64_t(grid[0]) * grid[1] * grid[2] == 0)
    return llvm::createStringError("kernel '" + kernel.name +
                                   "' expects a grid of at least one block");
  for (size_t axis = 0; axis < kernel.blockSize.size(); ++axis)
    if (static_cast<uint32_t>(kernel.blockSize[axis]) != block[axis])
      return llvm::createStringError(
          "kernel '" + kernel.name + "' expects blocks of " +
          std::to_string(kernel.blockSize[axis]) + " threads on axis " +
          std::to_string(axis) + ", got " + std::to_string(block[axis]));
  if (sharedBytes > 0 && kernel.dynamicOffset < 0)
    return llvm::createStringError("kernel '" + kernel.name +
                                   "' has no dynamic shared memory, got " +
                                   std::to_string(sharedBytes) + " bytes");
  uint64_t allBytes = getSharedBytes(kernel, sharedBytes);
  if (allBytes > kMostSharedBytes)
    return llvm::createStringError(
        "kernel '" + kernel.name + "' expects up to " +
        std::to_string(kMostSharedBytes) + " bytes of shared memory, got " +
        std::to_string(allBytes));
  return llvm::Error::success();
}

llvm::Expected<Launch>
CudaEmulator::Impl::prepare(StringRef name, std::array<uint32_t, 3> grid,
                            std::array<uint32_t, 3> block, uint32_t sharedBytes,
                            void **parameters) {
  auto found = kernels.find(name);
  if (found == kernels.end())
    return llvm::createStringError("no kernel is called '" + name + "'");
  const Kernel &kernel = found->second;
  if (!kernel.entry)
    return llvm::createStringError("kernels of several modules are called '" +
                                   name + "', expects 'module::" + name + "'");
  if (llvm::Error error = checkLaunch(kernel, grid, block, sharedBytes))
    return std::move(error);
  Launch launch;
  launch.kernel = kernel.name;
  launch.entry = kernel.entry;
  launch.parameters = parameters;
  llvm::copy(grid, launch.grid);
  llvm::copy(block, launch.block);
  launch.dynamicBytes = sharedBytes;
  launch.sharedBytes =
      static_cast<uint32_t>(getSharedBytes(kernel, sharedBytes));
  launch.options = options;
  launch.reports = reports.get();
  launch.buffers = &buffers;
  return launch;
}

bool CudaEmulator::Impl::run(const Launch &launch) {
  uint64_t count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  uint64_t workers = options.workers;
  if (workers == 0)
    workers = std::max(1u, std::thread::hardware_concurrency());
  workers = std::min(workers, count);
  while (blocks.size() < workers)
    blocks.push_back(std::make_unique<emulator::Block>());
  std::atomic<uint64_t> next{0};
  std::atomic<bool> isRun{true};
  auto work = [&](emulator::Block &block) {
    for (uint64_t i = next++; i < count && isRun; i = next++) {
      auto x = static_cast<uint32_t>(i % launch.grid[0]);
      auto y = static_cast<uint32_t>(i / launch.grid[0] % launch.grid[1]);
      auto z = static_cast<uint32_t>(i / launch.grid[0] / launch.grid[1]);
      if (!block.run(launch, x, y, z))
        isRun = false;
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < workers; ++i)
    threads.emplace_back(work, std::ref(*blocks[i]));
  work(*blocks[0]);
  for (std::thread &thread : threads)
    thread.join();
  counts = {};
  for (auto &block : blocks) {
    counts.phases += block->collectives.phases;
    counts.conflicts += block->collectives.conflicts;
  }
  return isRun;
}

llvm::Error CudaEmulator::launch(StringRef name, std::array<uint32_t, 3> grid,
                                 std::array<uint32_t, 3> block,
                                 uint32_t sharedBytes, void **parameters) {
  auto launch = impl->prepare(name, grid, block, sharedBytes, parameters);
  if (!launch)
    return launch.takeError();
  if (!impl->run(*launch))
    return llvm::createStringError("no memory for the threads of a block");
  return llvm::Error::success();
}

void CudaEmulator::registerBuffer(const void *data, uint64_t bytes,
                                  StringRef name) {
  impl->buffers.add(data, bytes, name.str());
}

void CudaEmulator::unregisterBuffer(const void *data) {
  impl->buffers.remove(data);
}

void CudaEmulator::setSchedule(uint64_t seed, CopyTiming copies) {
  impl->options.seed = seed;
  impl->options.copies = copies;
}

std::vector<std::string> CudaEmulator::takeReports() {
  return impl->reports->take();
}

BankCounts CudaEmulator::getBankCounts() const { return impl->counts; }
