// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links objects into this process with LLJIT.

#include "JitLibrary.h"

#include "ScratchMeter.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace mlir::attn;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// Return whether `object` calls the run-time library of OpenMP.
static Expected<bool> needsOpenMP(llvm::MemoryBufferRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return llvm::joinErrors(flags.takeError(), name.takeError());
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) &&
        (name->starts_with("__kmpc_") || name->starts_with("omp_")))
      return true;
  }
  return false;
}

/// Return the paths at which libomp may be, the likeliest first. LLVM's own
/// comes last: it is a guess by the place of the library that we run with.
static llvm::SmallVector<std::string> openMPPaths() {
  llvm::SmallVector<std::string> paths = {"libomp.so.5", "libomp.so"};
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&llvm::outs), &info) != 0 &&
      info.dli_fname) {
    llvm::SmallString<128> path = llvm::sys::path::parent_path(info.dli_fname);
    llvm::sys::path::append(path, "libomp.so.5");
    paths.push_back(path.str().str());
  }
  return paths;
}

Error JitLibrary::loadOpenMP() {
  for (const std::string &path : openMPPaths()) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
      continue;
    setNumThreads =
        reinterpret_cast<void (*)(int)>(dlsym(handle, "omp_set_num_threads"));
    getMaxThreads =
        reinterpret_cast<int (*)()>(dlsym(handle, "omp_get_max_threads"));
    auto generator = llvm::orc::DynamicLibrarySearchGenerator::Load(
        path.c_str(), jit->getDataLayout().getGlobalPrefix());
    if (!generator)
      return generator.takeError();
    jit->getMainJITDylib().addGenerator(std::move(*generator));
    return Error::success();
  }
  return llvm::createStringError(
      "expects libomp.so.5 for parallel loops, found none");
}

Error JitLibrary::define(llvm::ArrayRef<NamedFunction> functions) {
  if (functions.empty())
    return Error::success();
  llvm::orc::SymbolMap symbols;
  for (const auto &[name, address] : functions)
    symbols[jit->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return jit->getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols)));
}

/// Let what is loaded allocate through functions that count.
Error JitLibrary::defineAllocators() {
  llvm::SmallVector<NamedFunction> functions;
  for (const MeteredFunction &function : getMeteredFunctions())
    functions.emplace_back(function.name, function.address);
  return define(functions);
}

Expected<std::unique_ptr<JitLibrary>>
JitLibrary::load(llvm::ArrayRef<char> object,
                 llvm::ArrayRef<NamedFunction> functions) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto library = std::make_unique<JitLibrary>();
  library->jit = std::move(*jit);
  // What goes wrong is returned and not printed.
  JitLibrary *self = library.get();
  self->jit->getExecutionSession().setErrorReporter([self](Error error) {
    self->complaints += llvm::toString(std::move(error)) + "; ";
  });
  if (Error error = library->defineAllocators())
    return std::move(error);
  if (Error error = library->define(functions))
    return std::move(error);
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      library->jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library->jit->getMainJITDylib().addGenerator(std::move(*process));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      StringRef(object.data(), object.size()), "attn-object");
  Expected<bool> parallel = needsOpenMP(*buffer);
  if (!parallel)
    return parallel.takeError();
  if (*parallel)
    if (Error error = library->loadOpenMP())
      return std::move(error);
  if (Error error = library->jit->addObjectFile(std::move(buffer)))
    return std::move(error);
  return library;
}

Expected<void *> JitLibrary::lookup(StringRef symbol) const {
  auto address = jit->lookup(symbol);
  if (!address)
    return llvm::createStringError(complaints +
                                   llvm::toString(address.takeError()));
  return address->toPtr<void *>();
}
