// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module to calls of NAME_apply and NAME_shape_apply.

#include "attn/Execution/Executor.h"

#include "CudaCalls.h"
#include "JitLibrary.h"
#include "ScratchMeter.h"
#include "TensorDescriptor.h"

#include "attn/Execution/InterpreterBridge.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Target/CPU/Emit.h"
#include "attn/Target/CUDA/Emit.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::attn;

Executor::Executor() = default;
Executor::~Executor() = default;

llvm::Error Executor::readSignatures(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    SmallVector<ResultType> types;
    for (Type type : function.getResultTypes()) {
      auto kind = getElementKind(getElementTypeOrSelf(type));
      auto shaped = dyn_cast<RankedTensorType>(type);
      if (!kind || (isa<ShapedType>(type) && !shaped))
        return llvm::createStringError("'" + function.getName() +
                                       "' has a result of an unknown type");
      types.push_back({*kind, shaped ? shaped.getRank() : 0});
    }
    results[function.getName()] = std::move(types);
  }
  return llvm::Error::success();
}

llvm::Error Executor::load(ModuleOp compiled, const CompileOptions &options,
                           const CudaRunOptions &cuda) {
  TargetInfo target = TargetInfo::get(compiled);
  std::unique_ptr<CudaDevice> device;
  if (target.isCuda()) {
    auto found = cuda.isEmulated ? createEmulatedDevice(compiled, cuda)
                                 : createDriverDevice();
    if (!found)
      return found.takeError();
    device = std::move(*found);
    CudaOptions binaryOptions;
    binaryOptions.ptxas = cuda.ptxas;
    binaryOptions.isForEmulator = cuda.isEmulated;
    FailureOr<SmallVector<CudaBinary>> binaries = SmallVector<CudaBinary>();
    if (!cuda.isEmulated)
      binaries =
          emitCudaBinaries(compiled, binaryOptions, /*needsCubins=*/false);
    if (failed(binaries))
      return llvm::createStringError("no machine code could be made");
    embedBinaries(compiled, *binaries, binaryOptions);
    target = getHostTarget();
  }
  auto object = emitCpu(compiled, target, CpuOutput::Object, options.optLevel);
  if (failed(object))
    return llvm::createStringError("no machine code could be made");
  auto jit = JitLibrary::load(*object);
  if (!jit)
    return jit.takeError();
  library = std::move(*jit);
  if (!device)
    return llvm::Error::success();
  auto calls = CudaCalls::create(*library, std::move(device));
  if (!calls)
    return calls.takeError();
  kernels = std::move(*calls);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Executor>>
Executor::compile(ModuleOp module, const CompileOptions &options,
                  const CudaRunOptions &cuda) {
  std::unique_ptr<Executor> executor(new Executor());
  if (llvm::Error error = executor->readSignatures(module))
    return std::move(error);
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  if (failed(runPipeline(pm, *copy, options)))
    return llvm::createStringError("the module could not be compiled");
  if (llvm::Error error = executor->load(*copy, options, cuda))
    return std::move(error);
  return executor;
}

DLDataType mlir::attn::getDataType(ElementKind kind) {
  auto bits = static_cast<uint8_t>(8 * getByteSize(kind));
  if (kind == ElementKind::BF16)
    return {/*code=*/4, bits, /*lanes=*/1};
  if (kind == ElementKind::F8E4M3FN)
    return {/*code=*/10, bits, /*lanes=*/1};
  if (kind == ElementKind::F8E5M2)
    return {/*code=*/12, bits, /*lanes=*/1};
  if (kind == ElementKind::I1)
    return {/*code=*/6, bits, /*lanes=*/1};
  return {static_cast<uint8_t>(isFloat(kind) ? 2 : 0), bits, /*lanes=*/1};
}

DLTensor mlir::attn::toDLTensor(const HostTensor &tensor) {
  return {tensor.getData(),
          {kCpuDevice, /*device_id=*/0},
          static_cast<int32_t>(tensor.getRank()),
          getDataType(tensor.getKind()),
          const_cast<int64_t *>(tensor.getShape().data()),
          const_cast<int64_t *>(tensor.getStrides().data()),
          /*byte_offset=*/0};
}

llvm::Error Executor::call(StringRef function, StringRef suffix,
                           ArrayRef<HostTensor> inputs,
                           ArrayRef<HostTensor> outputs,
                           SmallVectorImpl<int64_t> *shapes) const {
  using Entry = int (*)(DLTensor *const *, char *, size_t);
  auto address = library->lookup((function + suffix).str());
  if (!address)
    return address.takeError();
  SmallVector<DLTensor> tensors;
  for (const HostTensor &tensor : inputs)
    tensors.push_back(toDLTensor(tensor));
  for (const HostTensor &tensor : outputs)
    tensors.push_back(toDLTensor(tensor));
  if (shapes) {
    int64_t *next = shapes->data();
    for (const ResultType &type : results.lookup(function)) {
      tensors.push_back({nullptr,
                         {kCpuDevice, /*device_id=*/0},
                         static_cast<int32_t>(type.rank),
                         getDataType(type.kind),
                         next,
                         nullptr,
                         /*byte_offset=*/0});
      next += type.rank;
    }
  }
  SmallVector<DLTensor *> pointers;
  for (DLTensor &tensor : tensors)
    pointers.push_back(&tensor);
  char message[kMessageBytes] = "";
  auto entry = reinterpret_cast<Entry>(*address);
  if (entry(pointers.data(), message, kMessageBytes) == 0)
    return llvm::Error::success();
  return llvm::createStringError(StringRef(message));
}

llvm::Error Executor::run(StringRef function, ArrayRef<HostTensor> inputs,
                          ArrayRef<HostTensor> outputs) const {
  if (kernels)
    return kernels->run(function, inputs, outputs);
  return call(function, "_apply", inputs, outputs, nullptr);
}

llvm::Expected<std::vector<double>>
Executor::timeOnDevice(StringRef function, ArrayRef<HostTensor> inputs,
                       ArrayRef<HostTensor> outputs, unsigned count) const {
  if (!kernels)
    return llvm::createStringError("expects kernels to time on a GPU");
  return kernels->time(function, inputs, outputs, count);
}

llvm::Expected<SmallVector<HostTensor>>
Executor::createOutputs(StringRef function, ArrayRef<HostTensor> inputs) const {
  auto types = results.find(function);
  if (types == results.end())
    return llvm::createStringError("no function is called '" + function + "'");
  SmallVector<int64_t> extents;
  for (const ResultType &type : types->second)
    extents.append(type.rank, 0);
  if (llvm::Error error = call(function, "_shape_apply", inputs, {}, &extents))
    return std::move(error);
  SmallVector<HostTensor> outputs;
  ArrayRef<int64_t> next = extents;
  for (const ResultType &type : types->second) {
    auto tensor = HostTensor::create(type.kind, next.take_front(type.rank));
    if (!tensor)
      return tensor.takeError();
    outputs.push_back(*tensor);
    next = next.drop_front(type.rank);
  }
  return outputs;
}

void Executor::setThreads(unsigned threads) const {
  if (threads > 0 && library->getSetNumThreads())
    library->getSetNumThreads()(static_cast<int>(threads));
}

unsigned Executor::getThreads() const {
  if (!library->getGetMaxThreads())
    return 1;
  return static_cast<unsigned>(library->getGetMaxThreads()());
}

void Executor::setEmulatorSeed(uint64_t seed) const {
  if (kernels)
    kernels->getDevice().setSeed(seed);
}

uint64_t Executor::countBlockLaunches() const {
  return kernels ? kernels->getDevice().countBlockLaunches() : 0;
}

void Executor::resetPeakMemory() { resetScratchPeak(); }

int64_t Executor::getPeakMemory() { return getScratchPeak(); }
