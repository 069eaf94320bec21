// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a module as the kind of file that is asked for:
//
//   x.mlir x.ll x.s x.o    what emitCpu gives
//   x.so x                 the same, linked
//   x.ptx x.cubin          the kernels of a GPU

#include "attn/Pipeline/Output.h"
#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Signature.h"
#include "attn/IR/AttnOps.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Target/CPU/Emit.h"
#include "attn/Target/CPU/Link.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::attn;
using llvm::Error;
using llvm::Expected;

Expected<OutputKind> attn::findOutputByName(StringRef name) {
  SmallVector<StringRef> names;
  for (const OutputInfo &info : kOutputs) {
    if (info.name == name)
      return info.kind;
    names.push_back(info.name);
  }
  return llvm::createStringError(withKnownValues(
      "expects a kind of output, got '" + name + "'", name, names));
}

Expected<OutputKind> attn::findOutputByPath(StringRef path) {
  if (path == "-")
    return OutputKind::Mlir;
  StringRef suffix = llvm::sys::path::extension(path);
  SmallVector<StringRef> suffixes;
  for (const OutputInfo &info : kOutputs) {
    if (info.suffix == suffix)
      return info.kind;
    if (!info.suffix.empty())
      suffixes.push_back(info.suffix);
  }
  return llvm::createStringError(withKnownValues(
      "expects a suffix of the output or --emit, got '" + suffix + "'", suffix,
      suffixes));
}

Expected<OutputKind> attn::chooseOutput(StringRef name, StringRef path,
                                        Phase stopAfter) {
  bool stops = stopAfter != Phase::Object;
  if (name.empty() && (stops || path.empty()))
    return OutputKind::Mlir;
  Expected<OutputKind> kind =
      name.empty() ? findOutputByPath(path) : findOutputByName(name);
  if (!kind)
    return kind.takeError();
  if (*kind != OutputKind::Mlir && stops)
    return llvm::createStringError("expects --emit=mlir with --stop-after=" +
                                   getPhaseInfo(stopAfter).name +
                                   ", got --emit=" + name);
  bool links = *kind == OutputKind::Shared || *kind == OutputKind::Executable;
  if (links && (path.empty() || path == "-"))
    return llvm::createStringError("expects -o OUTPUT for what is linked");
  return *kind;
}

/// Return `module` printed.
static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

Error attn::checkOutput(OutputKind kind, const TargetInfo &target) {
  bool isDevice = kind == OutputKind::Ptx || kind == OutputKind::Cubin;
  if (isDevice && target.architectures.size() != 1)
    return llvm::createStringError(
        target.isCuda()
            ? "expects one architecture for a file of PTX or a cubin, got " +
                  std::to_string(target.architectures.size())
            : "expects --target=sm_80 or the like for PTX or a cubin, got '" +
                  target.triple + "'");
  if (target.isCuda() && kind == OutputKind::Executable)
    return llvm::createStringError(
        "expects an object or a shared library for a GPU, got an executable");
  return Error::success();
}

Error attn::checkOutput(const CompileOptions &options,
                        std::optional<OutputKind> kind) {
  Expected<TargetInfo> target = TargetInfo::parse(options.target);
  if (!target)
    return target.takeError();
  const PhaseInfo &last = getPhaseInfo(options.stopAfter);
  if (last.onlyCuda && !target->isCuda())
    return llvm::createStringError(
        "expects --target=sm_80 or the like with --stop-after=" + last.name);
  return kind ? checkOutput(*kind, *target) : Error::success();
}

/// Return the error of a module that has a diagnostic.
static Error cannotCompile(const TargetInfo &target) {
  return llvm::createStringError(
      "cannot compile for '" + (target.isCuda() ? target.cpu : target.triple) +
      "'");
}

/// Write the kernels of `module` for its one architecture.
static Error writeDevice(ModuleOp module, OutputKind kind, StringRef path,
                         const CudaOptions &cuda) {
  TargetInfo target = TargetInfo::get(module);
  bool isPtx = kind == OutputKind::Ptx;
  if (isPtx && !cuda.report) {
    FailureOr<std::string> ptx = emitPtx(module, target.cpu, cuda.optLevel);
    if (failed(ptx))
      return cannotCompile(target);
    return writeOutput({ptx->data(), ptx->size()}, path);
  }
  auto binaries = emitCudaBinaries(module, cuda, /*needsCubins=*/!isPtx);
  if (failed(binaries))
    return cannotCompile(target);
  const CudaBinary &binary = binaries->front();
  return isPtx ? writeOutput({binary.ptx.data(), binary.ptx.size()}, path)
               : writeOutput(binary.cubin, path);
}

/// Put the binaries of the kernels of `module` into its host's part.
static Error embedKernels(ModuleOp module, const CudaOptions &cuda) {
  auto binaries = emitCudaBinaries(module, cuda, /*needsCubins=*/false);
  if (failed(binaries))
    return cannotCompile(TargetInfo::get(module));
  if (llvm::all_of(*binaries,
                   [](const CudaBinary &b) { return b.cubin.empty(); }))
    module.emitWarning(
        "finds no ptxas: the kernels are there as PTX alone, which "
        "the driver compiles when they are first called");
  embedBinaries(module, *binaries, cuda);
  return Error::success();
}

Error attn::writeModule(ModuleOp module, OutputKind kind, StringRef path,
                        StringRef linker, unsigned optLevel,
                        const CudaOptions &cuda) {
  if (kind == OutputKind::Mlir) {
    std::string text = print(module);
    return writeOutput({text.data(), text.size()}, path);
  }
  TargetInfo target = TargetInfo::get(module);
  if (Error error = checkOutput(kind, target))
    return error;
  if (kind == OutputKind::Ptx || kind == OutputKind::Cubin)
    return writeDevice(module, kind, path, cuda);
  if (target.isCuda()) {
    if (Error error = embedKernels(module, cuda))
      return error;
    target = getHostTarget();
  }
  CpuOutput form = kind == OutputKind::LlvmIr     ? CpuOutput::LlvmIr
                   : kind == OutputKind::Assembly ? CpuOutput::Assembly
                                                  : CpuOutput::Object;
  FailureOr<SmallVector<char, 0>> bytes =
      emitCpu(module, target, form, optLevel);
  if (failed(bytes))
    return cannotCompile(target);
  if (kind != OutputKind::Shared && kind != OutputKind::Executable)
    return writeOutput(*bytes, path);
  LinkOptions options;
  options.linker = linker.str();
  options.shared = kind == OutputKind::Shared;
  return link({ArrayRef<char>(*bytes)}, target, options, path);
}

LogicalResult attn::printHeader(ModuleOp module, StringRef target,
                                llvm::raw_ostream &os) {
  CompileOptions options;
  options.target = target.str();
  if (isForCuda(module, options))
    return writeCudaHeader(module, os);
  // What can be packed is known once weights are tiled.
  bool mayPack = module
                     .walk([](Operation *op) {
                       return isa<MhaOp, linalg::GenericOp>(op)
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (!mayPack)
    return writeHeader(module, /*scheduled=*/ModuleOp(), os);
  OwningOpRef<ModuleOp> scheduled = module.clone();
  options.stopAfter = Phase::Schedule;
  PassManager pm(module.getContext());
  buildCpuPipeline(pm, options);
  if (failed(pm.run(*scheduled)))
    return failure();
  return writeHeader(module, *scheduled, os);
}

Error attn::writeHeaderFile(ModuleOp module, StringRef target, StringRef path) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(printHeader(module, target, stream)))
    return llvm::createStringError("cannot write a C header");
  return writeOutput({text.data(), text.size()}, path);
}
