// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a target from the command line, from this machine, or from a module, and asks LLVM's tables about it.

#include "attn/Target/TargetInfo.h"
#include "attn/Target/CUDA/Architectures.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;
using namespace mlir::attn;
using llvm::Expected;
using llvm::StringRef;
using llvm::Triple;

std::string attn::withKnownValues(const llvm::Twine &message, StringRef value,
                                  llvm::ArrayRef<StringRef> known) {
  std::string text = message.str();
  if (known.empty())
    return text;
  StringRef nearest = *llvm::min_element(known, [&](StringRef a, StringRef b) {
    return value.edit_distance(a) < value.edit_distance(b);
  });
  return text + "; known: " + llvm::join(known, ", ") +
         "; nearest: " + nearest.str();
}

/// Make LLVM's back ends known to its registry, once a process.
static void initializeBackends() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    // For the inline assembly in lib/Runtime/Cpu.c.
    llvm::InitializeAllAsmParsers();
  });
}

/// Return LLVM's back end for `triple`, of a CPU or of CUDA.
static Expected<const llvm::Target *> lookupBackend(const Triple &triple,
                                                    bool isCuda = false) {
  initializeBackends();
  std::string reason;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, reason);
  if (isCuda && triple.isNVPTX()) {
    if (!target)
      return llvm::createStringError("LLVM was built without NVPTX: " + reason);
    return target;
  }
  if (!target || !triple.isArch64Bit() || !triple.isLittleEndian() ||
      triple.isNVPTX() || triple.isAMDGPU() || triple.isWasm() ||
      triple.isBPF())
    return llvm::createStringError(withKnownValues(
        "expects a target of a 64-bit little-endian CPU, got '" + triple.str() +
            "'",
        triple.str(),
        {"host", "x86_64-linux-gnu", "aarch64-linux-gnu",
         "riscv64-linux-gnu"}));
  return target;
}

/// Return LLVM's description of the CPU and its features, or null.
static std::unique_ptr<llvm::MCSubtargetInfo>
createSubtarget(const TargetInfo &info) {
  Triple triple(info.triple);
  Expected<const llvm::Target *> target = lookupBackend(triple);
  if (!target) {
    llvm::consumeError(target.takeError());
    return nullptr;
  }
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      (*target)->createMCSubtargetInfo(triple, info.cpu, info.features));
}

uint64_t
TargetInfo::findFeatures(llvm::ArrayRef<llvm::StringLiteral> names) const {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget = createSubtarget(*this);
  uint64_t bits = 0;
  for (auto [index, name] : llvm::enumerate(names))
    if (subtarget && subtarget->checkFeatures(("+" + name).str()))
      bits |= uint64_t(1) << index;
  return bits;
}

/// Fill in the vector registers and, as typical of the family, the caches.
static void describe(TargetInfo &info, const llvm::MCSubtargetInfo &subtarget) {
  Triple triple(info.triple);
  auto has = [&](StringRef feature) {
    return subtarget.checkFeatures(feature);
  };
  info.vectorBits = 128;
  info.vectorRegisters = 32;
  info.l1Bytes = 32 * 1024;
  info.l2Bytes = 512 * 1024;
  if (triple.isAArch64()) {
    info.l1Bytes = 64 * 1024;
    info.l2Bytes = 1024 * 1024;
  }
  if (!triple.isX86())
    return;
  info.l2Bytes = 1024 * 1024;
  info.vectorRegisters = 16;
  if (has("+avx512f") && has("+avx512vl") && has("+avx512bw")) {
    info.vectorBits = 512;
    info.vectorRegisters = 32;
  } else if (has("+avx")) {
    info.vectorBits = 256;
  }
  // Measured: an Emerald Rapids, which has these, reads four streams from memory
  // 20 % faster; a Zen 3 30 % slower.
  if (has("+avx512fp16"))
    info.prefetchBytes = 2048;
}

/// Check the CPU's name and describe the target.
static Expected<TargetInfo> complete(TargetInfo info) {
  Triple triple(info.triple);
  Expected<const llvm::Target *> target = lookupBackend(triple);
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      (*target)->createMCSubtargetInfo(triple, "", ""));
  if (!info.cpu.empty() && !generic->isCPUStringValid(info.cpu)) {
    llvm::SmallVector<StringRef> known;
    for (const llvm::SubtargetSubTypeKV &entry :
         generic->getAllProcessorDescriptions())
      known.push_back(entry.Key);
    return llvm::createStringError(
        withKnownValues("expects a CPU of '" + triple.getArchName() +
                            "', got '" + info.cpu + "'",
                        info.cpu, known));
  }
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget = createSubtarget(info);
  describe(info, *subtarget);
  return info;
}

/// Return the number in a file of Linux's description of a cache ("48K"), or
/// nothing where there is no such file.
static std::optional<int64_t> readCacheSize(StringRef index) {
  std::string folder =
      ("/sys/devices/system/cpu/cpu0/cache/" + index + "/").str();
  auto read = [&](StringRef name) -> std::string {
    auto file = llvm::MemoryBuffer::getFileAsStream(folder + name.str());
    return file ? (*file)->getBuffer().trim().str() : std::string();
  };
  std::string type = read("type"), text = read("size");
  StringRef size = text;
  int64_t number;
  if ((type != "Data" && type != "Unified") || size.consumeInteger(10, number))
    return std::nullopt;
  return number * (size == "K" ? 1024 : size == "M" ? 1024 * 1024 : 1);
}

/// Return in what this machine is not as the CPU of `info`: LLVM reads each feature
/// of a target that it is given in all of its tables, several times a compilation.
static std::string getHostFeatures(const TargetInfo &info) {
  std::unique_ptr<llvm::MCSubtargetInfo> usual = createSubtarget(info);
  llvm::StringMap<bool> table = llvm::sys::getHostCPUFeatures();
  // Sorted, so that the same machine gives the same IR.
  llvm::SmallVector<StringRef> names(table.keys());
  llvm::sort(names);
  llvm::SubtargetFeatures features;
  for (StringRef name : names)
    if (!usual ||
        usual->checkFeatures(("+" + name).str()) != table.lookup(name))
      features.AddFeature(name, table.lookup(name));
  return features.getString();
}

Expected<TargetInfo> TargetInfo::host() {
  TargetInfo info;
  info.triple = llvm::sys::getProcessTriple();
  info.cpu = llvm::sys::getHostCPUName().str();
  info.features = getHostFeatures(info);
  Expected<TargetInfo> result = complete(std::move(info));
  if (!result)
    return result;
  // Entry 1 is the instruction cache everywhere.
  if (std::optional<int64_t> size = readCacheSize("index0"))
    result->l1Bytes = *size;
  if (std::optional<int64_t> size = readCacheSize("index2"))
    result->l2Bytes = *size;
  return result;
}

Expected<TargetInfo> TargetInfo::parse(StringRef text) {
  if (text == "host")
    return host();
  if (namesArchitectures(text))
    return parseArchitectures(text);
  auto [triple, cpu] = text.split(':');
  TargetInfo info;
  info.triple = Triple::normalize(triple);
  info.cpu = cpu.str();
  if (info.cpu.empty())
    info.cpu = Triple(info.triple).isX86() ? "x86-64" : "generic";
  if (!Triple(info.triple).isOSBinFormatELF() ||
      Triple(info.triple).getArch() == Triple::UnknownArch)
    return llvm::createStringError(withKnownValues(
        "expects a target of an ELF system, got '" + triple + "'", triple,
        {"host", "x86_64-linux-gnu", "aarch64-linux-gnu",
         "riscv64-linux-gnu"}));
  return complete(std::move(info));
}

TargetInfo TargetInfo::get(Operation *op) {
  TargetInfo info;
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto attr =
      module ? module->getAttrOfType<DictionaryAttr>(kTargetAttrName) : nullptr;
  if (!attr)
    return info;
  auto readString = [&](StringRef name, std::string &field) {
    if (auto text = attr.getAs<StringAttr>(name))
      field = text.str();
  };
  auto readInt = [&](StringRef name, int64_t &field) {
    if (auto number = attr.getAs<IntegerAttr>(name))
      field = number.getInt();
  };
  readString("triple", info.triple);
  readString("cpu", info.cpu);
  readString("features", info.features);
  readInt("vector_bits", info.vectorBits);
  readInt("vector_registers", info.vectorRegisters);
  readInt("l1_bytes", info.l1Bytes);
  readInt("l2_bytes", info.l2Bytes);
  readInt("prefetch_bytes", info.prefetchBytes);
  if (auto names = attr.getAs<ArrayAttr>("architectures"))
    for (Attribute name : names)
      if (auto text = dyn_cast<StringAttr>(name))
        info.architectures.push_back(text.str());
  readInt("shared_block_bytes", info.sharedBlockBytes);
  readInt("shared_processor_bytes", info.sharedProcessorBytes);
  readInt("processor_registers", info.processorRegisters);
  readInt("processor_warps", info.processorWarps);
  readInt("thread_registers", info.threadRegisters);
  return info;
}

/// Return the fields of a GPU.
static llvm::SmallVector<NamedAttribute> getCudaFields(Builder &b,
                                                       const TargetInfo &info) {
  llvm::SmallVector<StringRef> names(info.architectures.begin(),
                                     info.architectures.end());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  return {b.getNamedAttr("triple", b.getStringAttr(info.triple)),
          b.getNamedAttr("cpu", b.getStringAttr(info.cpu)),
          b.getNamedAttr("features", b.getStringAttr(info.features)),
          b.getNamedAttr("architectures", b.getStrArrayAttr(names)),
          number("shared_block_bytes", info.sharedBlockBytes),
          number("shared_processor_bytes", info.sharedProcessorBytes),
          number("processor_registers", info.processorRegisters),
          number("processor_warps", info.processorWarps),
          number("thread_registers", info.threadRegisters)};
}

void TargetInfo::set(ModuleOp module) const {
  Builder b(module.getContext());
  if (isCuda()) {
    module->setAttr(kTargetAttrName,
                    b.getDictionaryAttr(getCudaFields(b, *this)));
    return;
  }
  llvm::SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("triple", b.getStringAttr(triple)),
      b.getNamedAttr("cpu", b.getStringAttr(cpu)),
      b.getNamedAttr("features", b.getStringAttr(features)),
      b.getNamedAttr("vector_bits", b.getI64IntegerAttr(vectorBits)),
      b.getNamedAttr("vector_registers", b.getI64IntegerAttr(vectorRegisters)),
      b.getNamedAttr("l1_bytes", b.getI64IntegerAttr(l1Bytes)),
      b.getNamedAttr("l2_bytes", b.getI64IntegerAttr(l2Bytes))};
  if (prefetchBytes > 0)
    fields.push_back(
        b.getNamedAttr("prefetch_bytes", b.getI64IntegerAttr(prefetchBytes)));
  module->setAttr(kTargetAttrName, b.getDictionaryAttr(fields));
}

Expected<std::unique_ptr<llvm::TargetMachine>>
TargetInfo::createTargetMachine(unsigned optLevel) const {
  Triple llvmTriple(triple);
  Expected<const llvm::Target *> target = lookupBackend(llvmTriple, isCuda());
  if (!target)
    return target.takeError();
  std::optional<llvm::CodeGenOptLevel> level =
      llvm::CodeGenOpt::getLevel(optLevel);
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      llvmTriple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      /*CM=*/std::nullopt, level.value_or(llvm::CodeGenOptLevel::Default)));
  if (!machine)
    return llvm::createStringError("expects a target that LLVM generates code "
                                   "for, got '" +
                                   triple + "'");
  return machine;
}
