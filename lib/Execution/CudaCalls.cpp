// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies tensors to a device, calls NAME_workspace_apply and NAME_apply, asks NAME_status, and copies back.

#include "CudaCalls.h"

#include "TensorDescriptor.h"

#include "attn/Codegen/Workspace.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The bytes of a tensor, with those between its elements.
struct Extent {
  char *begin;
  size_t bytes;
};

/// One call: what it has on the device.
class DeviceCall {
public:
  DeviceCall(const JitLibrary &library, CudaDevice &device, StringRef function)
      : library(library), device(device), function(function) {}
  ~DeviceCall() {
    for (void *memory : memories)
      device.free(memory);
  }

  /// Bring `tensors` to the device, then the workspace.
  llvm::Error prepare(ArrayRef<HostTensor> tensors, size_t inputs);
  llvm::Error launch();
  /// Fail where a check of data has failed, and say so if one of `tensors`, from
  /// number `first` on, was written all the same.
  llvm::Error checkStatus(ArrayRef<HostTensor> tensors, size_t first);
  /// Copy the tensors from number `first` on back.
  llvm::Error fetch(ArrayRef<HostTensor> tensors, size_t first);

private:
  llvm::Expected<void *> findPlace(ArrayRef<HostTensor> before,
                                   const Extent &extent, StringRef name);
  llvm::Error allocateWorkspace();
  llvm::Error checkUntouched(ArrayRef<HostTensor> tensors, size_t first);
  llvm::Error callEntry(StringRef suffix,
                        llvm::function_ref<int(void *, char *)> call);

  const JitLibrary &library;
  CudaDevice &device;
  StringRef function;
  SmallVector<DLTensor> descriptors;
  SmallVector<DLTensor *> pointers;
  /// What was allocated, and where each tensor is.
  SmallVector<void *> memories, places;
  void *workspace = nullptr;
};

} // namespace

/// Return which bytes `tensor` reaches.
static Extent getExtent(const HostTensor &tensor) {
  if (tensor.getSize() == 0)
    return {tensor.getData(), 0};
  int64_t low = 0, high = 0;
  for (auto [extent, stride] :
       llvm::zip_equal(tensor.getShape(), tensor.getStrides()))
    (stride < 0 ? low : high) += (extent - 1) * stride;
  int64_t unit = getByteSize(tensor.getKind());
  return {tensor.getData() + low * unit,
          static_cast<size_t>((high - low + 1) * unit)};
}

/// Call what `function` followed by `suffix` is; the error is its message.
llvm::Error
DeviceCall::callEntry(StringRef suffix,
                      llvm::function_ref<int(void *, char *)> call) {
  auto address = library.lookup((function + suffix).str());
  if (!address)
    return address.takeError();
  char message[kMessageBytes] = "";
  if (call(*address, message) == 0)
    return llvm::Error::success();
  return llvm::createStringError(StringRef(message));
}

llvm::Error DeviceCall::allocateWorkspace() {
  int64_t bytes = 0;
  using Entry = int (*)(DLTensor *const *, int64_t *, char *, size_t);
  if (llvm::Error error =
          callEntry("_workspace_apply", [&](void *address, char *message) {
            return reinterpret_cast<Entry>(address)(pointers.data(), &bytes,
                                                    message, kMessageBytes);
          }))
    return error;
  if (bytes == 0)
    return llvm::Error::success();
  auto memory = device.allocate(bytes, "workspace", nullptr);
  if (!memory)
    return memory.takeError();
  memories.push_back(workspace = *memory);
  return llvm::Error::success();
}

/// Return the place of `extent` on the device: that of one of the tensors before it
/// which is the same memory, or a new one with its content.
llvm::Expected<void *> DeviceCall::findPlace(ArrayRef<HostTensor> before,
                                             const Extent &extent,
                                             StringRef name) {
  if (extent.bytes > 0)
    for (auto [tensor, place] : llvm::zip_equal(before, places)) {
      Extent other = getExtent(tensor);
      if (other.begin == extent.begin && other.bytes == extent.bytes)
        return place;
    }
  auto memory = device.allocate(extent.bytes, name, extent.begin);
  if (!memory)
    return memory.takeError();
  memories.push_back(*memory);
  // What lies between the elements of an output stays as it is.
  if (extent.bytes > 0)
    if (llvm::Error error = device.copyIn(*memory, extent.begin, extent.bytes))
      return std::move(error);
  return *memory;
}

llvm::Error DeviceCall::prepare(ArrayRef<HostTensor> tensors, size_t inputs) {
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    Extent extent = getExtent(tensor);
    std::string name = index < inputs
                           ? "argument " + std::to_string(index)
                           : "result " + std::to_string(index - inputs);
    auto place = findPlace(tensors.take_front(index), extent, name);
    if (!place)
      return place.takeError();
    places.push_back(*place);
    DLTensor own = toDLTensor(tensor);
    own.data = static_cast<char *>(*place) + (tensor.getData() - extent.begin);
    own.device.device_type = kCudaDevice;
    descriptors.push_back(own);
  }
  for (DLTensor &tensor : descriptors)
    pointers.push_back(&tensor);
  return allocateWorkspace();
}

llvm::Error DeviceCall::launch() {
  using Entry = int (*)(DLTensor *const *, void *, void *, char *, size_t);
  return callEntry("_apply", [&](void *address, char *message) {
    return reinterpret_cast<Entry>(address)(pointers.data(), workspace,
                                            /*stream=*/nullptr, message,
                                            kMessageBytes);
  });
}

/// Fail unless `tensors` are on the device as they were brought there.
llvm::Error DeviceCall::checkUntouched(ArrayRef<HostTensor> tensors,
                                       size_t first) {
  for (size_t index = first; index < tensors.size(); ++index) {
    Extent extent = getExtent(tensors[index]);
    std::string own(extent.bytes, '\0');
    if (llvm::Error error =
            device.copyOut(own.data(), memories[index], extent.bytes))
      return error;
    if (own != StringRef(extent.begin, extent.bytes))
      return llvm::createStringError(
          "result " + Twine(index - first) +
          " is written though a check of data has failed");
  }
  return llvm::Error::success();
}

llvm::Error DeviceCall::checkStatus(ArrayRef<HostTensor> tensors,
                                    size_t first) {
  if (!workspace)
    return llvm::Error::success();
  int64_t status[kStatusWords] = {};
  if (llvm::Error error = device.copyOut(status, workspace, sizeof status))
    return error;
  using Entry = int (*)(const int64_t *, char *, size_t);
  llvm::Error failed = callEntry("_status", [&](void *address, char *message) {
    return reinterpret_cast<Entry>(address)(status, message, kMessageBytes);
  });
  if (!failed)
    return failed;
  return llvm::joinErrors(std::move(failed), checkUntouched(tensors, first));
}

llvm::Error DeviceCall::fetch(ArrayRef<HostTensor> tensors, size_t first) {
  for (size_t index = first; index < tensors.size(); ++index) {
    Extent extent = getExtent(tensors[index]);
    if (extent.bytes == 0)
      continue;
    if (llvm::Error error =
            device.copyOut(extent.begin, places[index], extent.bytes))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<CudaCalls>>
CudaCalls::create(const JitLibrary &library,
                  std::unique_ptr<CudaDevice> device) {
  if (CudaDevice::Lookup lookup = device->getLookup()) {
    auto setDriver = library.lookup("attn_set_driver");
    if (!setDriver)
      return setDriver.takeError();
    reinterpret_cast<void (*)(CudaDevice::Lookup)>(*setDriver)(lookup);
  }
  return std::unique_ptr<CudaCalls>(new CudaCalls(library, std::move(device)));
}

llvm::Error CudaCalls::run(StringRef function, ArrayRef<HostTensor> inputs,
                           ArrayRef<HostTensor> outputs) const {
  SmallVector<HostTensor> tensors(inputs);
  llvm::append_range(tensors, outputs);
  DeviceCall call(library, *device, function);
  if (llvm::Error error = call.prepare(tensors, inputs.size()))
    return error;
  if (llvm::Error error = call.launch())
    return error;
  if (llvm::Error error = device->synchronize())
    return error;
  std::vector<std::string> reports = device->takeReports();
  if (!reports.empty())
    return llvm::createStringError("the emulator reports:\n" +
                                   llvm::join(reports, "\n"));
  // What a call that is refused has written is to be seen, too.
  llvm::Error status = call.checkStatus(tensors, inputs.size());
  llvm::Error fetched = call.fetch(tensors, inputs.size());
  return llvm::joinErrors(std::move(status), std::move(fetched));
}

llvm::Expected<std::vector<double>>
CudaCalls::time(StringRef function, ArrayRef<HostTensor> inputs,
                ArrayRef<HostTensor> outputs, unsigned count) const {
  SmallVector<HostTensor> tensors(inputs);
  llvm::append_range(tensors, outputs);
  DeviceCall call(library, *device, function);
  if (llvm::Error error = call.prepare(tensors, inputs.size()))
    return std::move(error);
  // The first loads the kernels.
  if (llvm::Error error = call.launch())
    return std::move(error);
  return device->time(count, [&] { return call.launch(); });
}
