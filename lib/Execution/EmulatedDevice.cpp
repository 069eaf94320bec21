// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator behind the names of the CUDA driver: what lib/Runtime/Cuda.c calls.

#include "attn/Execution/CudaDevice.h"

#include "attn/Execution/CudaEmulator.h"
#include "attn/Target/TargetInfo.h"

#include "llvm/ADT/StringMap.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::attn;

/// Where memory of the driver begins.
static constexpr size_t kAlignment = 256;

namespace {
class EmulatedDevice;

/// A kernel, as cuModuleGetFunction gives it.
struct EmulatedKernel {
  EmulatedDevice *device;
  std::string name;
};

class EmulatedDevice : public CudaDevice {
public:
  EmulatedDevice(std::unique_ptr<CudaEmulator> emulator, int architecture)
      : emulator(std::move(emulator)), architecture(architecture) {}
  ~EmulatedDevice() override;

  Lookup getLookup() const override;
  llvm::Expected<void *> allocate(size_t bytes, StringRef name,
                                  const void *like) override;
  void free(void *place) override;
  llvm::Error copyIn(void *device, const void *host, size_t bytes) override {
    std::memcpy(device, host, bytes);
    return llvm::Error::success();
  }
  llvm::Error copyOut(void *host, const void *device, size_t bytes) override {
    std::memcpy(host, device, bytes);
    return llvm::Error::success();
  }
  llvm::Error synchronize() override;
  llvm::Expected<std::vector<double>>
  time(unsigned count, llvm::function_ref<llvm::Error()> launch) override {
    return llvm::createStringError("expects a GPU to time kernels");
  }
  void setSeed(uint64_t seed) override;
  uint64_t countBlockLaunches() const override { return blockLaunches; }
  std::vector<std::string> takeReports() override {
    return emulator->takeReports();
  }

  std::unique_ptr<CudaEmulator> emulator;
  int architecture;
  llvm::StringMap<std::unique_ptr<EmulatedKernel>> kernels;
  std::vector<char *> allocations;
  uint64_t blockLaunches = 0;
  /// Why the last launch failed.
  std::string failure;
};
} // namespace

/// The device whose functions this thread calls: the driver's have no place for it.
static thread_local EmulatedDevice *current = nullptr;

namespace {
/// The driver's functions, with its numbers for what is asked.
struct Driver {
  static int init(unsigned) { return 0; }
  static int getContext(void **context) {
    *context = current;
    return 0;
  }
  static int setContext(void *) { return 0; }
  static int retainContext(void **context, int) { return getContext(context); }
  static int getDevice(int *device) {
    *device = 0;
    return 0;
  }
  static int getAttribute(int *value, int attribute, int) {
    constexpr int kMajor = 75;
    *value = attribute == kMajor ? current->architecture / 10
                                 : current->architecture % 10;
    return 0;
  }
  static int load(void **module, const void *) {
    *module = current;
    return 0;
  }
  static int unload(void *) { return 0; }
  static int getFunction(void **function, void *module, const char *name) {
    auto *device = static_cast<EmulatedDevice *>(module);
    std::unique_ptr<EmulatedKernel> &kernel = device->kernels[name];
    if (!kernel)
      kernel.reset(new EmulatedKernel{device, name});
    *function = kernel.get();
    return 0;
  }
  static int setAttribute(void *, int, int) { return 0; }
  static int launch(void *function, unsigned gridX, unsigned gridY,
                    unsigned gridZ, unsigned blockX, unsigned blockY,
                    unsigned blockZ, unsigned shared, void *, void **parameters,
                    void **) {
    auto *kernel = static_cast<EmulatedKernel *>(function);
    kernel->device->blockLaunches += shared > 0;
    llvm::Error error = kernel->device->emulator->launch(
        kernel->name, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared,
        parameters);
    if (!error)
      return 0;
    constexpr int kLaunchFailed = 719;
    kernel->device->failure = llvm::toString(std::move(error));
    return kLaunchFailed;
  }
  static int getError(int, const char **text) {
    *text = current->failure.c_str();
    return 0;
  }
};
} // namespace

/// Return the function called `name`.
static void *lookup(const char *name) {
  static const llvm::StringMap<void *> functions = {
      {"cuInit", reinterpret_cast<void *>(&Driver::init)},
      {"cuCtxGetCurrent", reinterpret_cast<void *>(&Driver::getContext)},
      {"cuCtxSetCurrent", reinterpret_cast<void *>(&Driver::setContext)},
      {"cuDevicePrimaryCtxRetain",
       reinterpret_cast<void *>(&Driver::retainContext)},
      {"cuCtxGetDevice", reinterpret_cast<void *>(&Driver::getDevice)},
      {"cuDeviceGetAttribute", reinterpret_cast<void *>(&Driver::getAttribute)},
      {"cuModuleLoadData", reinterpret_cast<void *>(&Driver::load)},
      {"cuModuleUnload", reinterpret_cast<void *>(&Driver::unload)},
      {"cuModuleGetFunction", reinterpret_cast<void *>(&Driver::getFunction)},
      {"cuFuncSetAttribute", reinterpret_cast<void *>(&Driver::setAttribute)},
      {"cuLaunchKernel", reinterpret_cast<void *>(&Driver::launch)},
      {"cuGetErrorString", reinterpret_cast<void *>(&Driver::getError)}};
  return functions.lookup(name);
}

EmulatedDevice::~EmulatedDevice() {
  for (char *memory : allocations)
    std::free(memory);
  if (current == this)
    current = nullptr;
}

CudaDevice::Lookup EmulatedDevice::getLookup() const { return lookup; }

/// Return how far behind a multiple of kAlignment `memory` is.
static size_t getOffset(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory) % kAlignment;
}

llvm::Expected<void *> EmulatedDevice::allocate(size_t bytes, StringRef name,
                                                const void *like) {
  current = this;
  // Nothing is not a place: round up, and allow what was asked for only.
  size_t whole =
      (getOffset(like) + bytes + kAlignment) / kAlignment * kAlignment;
  auto *memory = static_cast<char *>(std::aligned_alloc(kAlignment, whole));
  if (!memory)
    return llvm::createStringError("expects memory of " + Twine(bytes) +
                                   " bytes");
  // Not a number in every type, as nobody has written it.
  std::memset(memory, 0xff, whole);
  allocations.push_back(memory);
  char *place = memory + getOffset(like);
  emulator->registerBuffer(place, bytes, name);
  return place;
}

void EmulatedDevice::free(void *place) {
  emulator->unregisterBuffer(place);
  char *memory = static_cast<char *>(place) - getOffset(place);
  llvm::erase(allocations, memory);
  std::free(memory);
}

void EmulatedDevice::setSeed(uint64_t seed) {
  constexpr uint64_t kEarly = 1;
  if (seed == kEarly)
    return emulator->setSchedule(/*seed=*/0, CopyTiming::Early);
  emulator->setSchedule(seed, seed == 0 ? CopyTiming::Late : CopyTiming::Drawn);
}

llvm::Error EmulatedDevice::synchronize() {
  current = this;
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CudaDevice>>
mlir::attn::createEmulatedDevice(ModuleOp module,
                                 const CudaRunOptions &options) {
  CudaEmulatorOptions settings;
  settings.track = options.track;
  auto emulator = CudaEmulator::create(module, settings);
  if (!emulator)
    return emulator.takeError();
  std::string cpu = TargetInfo::get(module).cpu;
  StringRef digits = cpu;
  digits.consume_front("sm_");
  int architecture = 0;
  digits.consumeInteger(10, architecture);
  auto device =
      std::make_unique<EmulatedDevice>(std::move(*emulator), architecture);
  device->setSeed(options.seed);
  return device;
}
