// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first GPU of this machine, by the CUDA driver, which is opened at run time.

#include "attn/Execution/CudaDevice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <dlfcn.h>

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The functions of the driver that memory and times need. The names with _v2 are
/// those that its header gives to programs.
struct MemoryFunctions {
  int (*init)(unsigned);
  int (*getDevice)(int *, int);
  int (*retainContext)(void **, int);
  int (*setContext)(void *);
  int (*allocate)(uint64_t *, size_t);
  int (*free)(uint64_t);
  int (*copyIn)(uint64_t, const void *, size_t);
  int (*copyOut)(void *, uint64_t, size_t);
  int (*synchronize)();
  int (*createEvent)(void **, unsigned);
  int (*recordEvent)(void *, void *);
  int (*destroyEvent)(void *);
  int (*elapsed)(float *, void *, void *);
  int (*getError)(int, const char **);
};

class DriverDevice : public CudaDevice {
public:
  llvm::Error open();

  Lookup getLookup() const override { return nullptr; }
  llvm::Expected<void *> allocate(size_t bytes, StringRef,
                                  const void *) override;
  void free(void *memory) override {
    functions.free(reinterpret_cast<uint64_t>(memory));
  }
  llvm::Error copyIn(void *device, const void *host, size_t bytes) override {
    return check(
        functions.copyIn(reinterpret_cast<uint64_t>(device), host, bytes),
        "copy to the GPU");
  }
  llvm::Error copyOut(void *host, const void *device, size_t bytes) override {
    return check(
        functions.copyOut(host, reinterpret_cast<uint64_t>(device), bytes),
        "copy from the GPU");
  }
  llvm::Error synchronize() override {
    return check(functions.synchronize(), "finish on the GPU");
  }
  llvm::Expected<std::vector<double>>
  time(unsigned count, llvm::function_ref<llvm::Error()> launch) override;

private:
  llvm::Error check(int result, StringRef what) const;

  MemoryFunctions functions = {};
};

} // namespace

llvm::Error DriverDevice::check(int result, StringRef what) const {
  if (result == 0)
    return llvm::Error::success();
  const char *text = nullptr;
  if (functions.getError(result, &text) != 0 || !text)
    text = "unknown error";
  return llvm::createStringError("cannot " + what + ": CUDA error " +
                                 Twine(result) + ": " + text);
}

llvm::Error DriverDevice::open() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return llvm::createStringError(
        "expects a GPU, but there is no CUDA driver (libcuda.so.1) on this "
        "machine; --device=cuda-emulated needs none");
  std::pair<void *, const char *> names[] = {
      {&functions.init, "cuInit"},
      {&functions.getDevice, "cuDeviceGet"},
      {&functions.retainContext, "cuDevicePrimaryCtxRetain"},
      {&functions.setContext, "cuCtxSetCurrent"},
      {&functions.allocate, "cuMemAlloc_v2"},
      {&functions.free, "cuMemFree_v2"},
      {&functions.copyIn, "cuMemcpyHtoD_v2"},
      {&functions.copyOut, "cuMemcpyDtoH_v2"},
      {&functions.synchronize, "cuCtxSynchronize"},
      {&functions.createEvent, "cuEventCreate"},
      {&functions.recordEvent, "cuEventRecord"},
      {&functions.destroyEvent, "cuEventDestroy_v2"},
      {&functions.elapsed, "cuEventElapsedTime"},
      {&functions.getError, "cuGetErrorString"}};
  for (auto [place, name] : names) {
    void *address = dlsym(library, name);
    if (!address)
      return llvm::createStringError(
          "expects a CUDA driver with the function " + Twine(name));
    *static_cast<void **>(place) = address;
  }
  int device = 0;
  void *context = nullptr;
  if (llvm::Error error = check(functions.init(0), "start the CUDA driver"))
    return error;
  if (llvm::Error error = check(functions.getDevice(&device, 0), "find a GPU"))
    return error;
  if (llvm::Error error = check(functions.retainContext(&context, device),
                                "make a context on the GPU"))
    return error;
  return check(functions.setContext(context), "enter the GPU's context");
}

llvm::Expected<void *> DriverDevice::allocate(size_t bytes, StringRef,
                                              const void *) {
  uint64_t memory = 0;
  // The driver allocates no nothing.
  size_t whole = std::max<size_t>(bytes, 1);
  if (llvm::Error error =
          check(functions.allocate(&memory, whole),
                ("allocate " + Twine(whole) + " bytes on the GPU").str()))
    return std::move(error);
  return reinterpret_cast<void *>(memory);
}

llvm::Expected<std::vector<double>>
DriverDevice::time(unsigned count, llvm::function_ref<llvm::Error()> launch) {
  std::vector<void *> events(count + 1, nullptr);
  llvm::scope_exit destroy([&] {
    for (void *event : events)
      if (event)
        functions.destroyEvent(event);
  });
  for (void *&event : events)
    if (llvm::Error error =
            check(functions.createEvent(&event, 0), "make an event"))
      return std::move(error);
  for (unsigned i = 0; i <= count; ++i) {
    if (llvm::Error error = check(
            functions.recordEvent(events[i], /*stream=*/nullptr), "record"))
      return std::move(error);
    if (i == count)
      break;
    if (llvm::Error error = launch())
      return std::move(error);
  }
  if (llvm::Error error = synchronize())
    return std::move(error);
  std::vector<double> times;
  for (unsigned i = 0; i < count; ++i) {
    float milliseconds = 0;
    if (llvm::Error error =
            check(functions.elapsed(&milliseconds, events[i], events[i + 1]),
                  "read the time"))
      return std::move(error);
    times.push_back(milliseconds);
  }
  return times;
}

llvm::Expected<std::unique_ptr<CudaDevice>> mlir::attn::createDriverDevice() {
  auto device = std::make_unique<DriverDevice>();
  if (llvm::Error error = device->open())
    return std::move(error);
  return device;
}
