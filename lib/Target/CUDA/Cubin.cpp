// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cubin is an ELF file with one section .text.KERNEL for each kernel, of instructions of 16 bytes. The low 9 bits of
// an instruction are its operation, bits 12 to 15 its predicate, and of a branch bits 34 to 81 are how far it goes.

#include "attn/Target/CUDA/Cubin.h"
#include "attn/Target/CUDA/Architectures.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::attn;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;

static constexpr size_t kInstructionBytes = 16;

/// Operations, as the machine code of sm_80 to sm_90 numbers them.
enum Operation : unsigned {
  kHmma = 0x03c,
  kHgmma = 0x1f0,
  kImma = 0x037,
  kLdsm = 0x03b,
  kLdgsts = 0x1ae,
  kUtmaldg = 0x1b4,
  kLoadLocal = 0x183,
  kStoreLocal = 0x187,
  kBar = 0x11d,
  kShfl = 0x189,
  kFfma = 0x023,
  kDfma = 0x02b,
  kLds = 0x184,
  kMufu = 0x108,
  kBra = 0x147,
  kNop = 0x118,
  kExit = 0x14d
};

namespace {
struct Instruction {
  unsigned operation;
  /// Number of the instruction that a branch goes to; -1: none.
  int64_t target = -1;
  bool isConditional = false;
};

using Code = std::vector<Instruction>;

/// What lies ahead on a way to the end of a loop.
struct Way {
  int64_t matrix = -1;
  int64_t instructions = 0;
  int64_t next = -1;

  bool isBetterThan(const Way &other) const {
    return matrix != other.matrix ? matrix > other.matrix
                                  : instructions < other.instructions;
  }
};
} // namespace

static bool isMatrix(unsigned operation) {
  return operation == kHmma || operation == kHgmma || operation == kImma;
}

static void count(const Instruction &instruction, InstructionCounts &counts) {
  ++counts.all;
  counts.matrix += isMatrix(instruction.operation);
  switch (instruction.operation) {
  case kLdsm:
    ++counts.matrixLoads;
    break;
  case kLdgsts:
  case kUtmaldg:
    ++counts.copies;
    break;
  case kBar:
    ++counts.barriers;
    break;
  case kShfl:
    ++counts.shuffles;
    break;
  case kMufu:
    ++counts.special;
    break;
  case kFfma:
  case kDfma:
    ++counts.multiplyAdds;
    break;
  case kLds:
    ++counts.sharedLoads;
    break;
  case kLoadLocal:
  case kStoreLocal:
    ++counts.local;
    break;
  default:
    break;
  }
}

/// Decode the instructions of one kernel, without the ones that fill up its end.
static Code decode(StringRef bytes) {
  Code code;
  for (size_t at = 0; at + kInstructionBytes <= bytes.size();
       at += kInstructionBytes) {
    uint64_t low = llvm::support::endian::read64le(bytes.data() + at);
    uint64_t high = llvm::support::endian::read64le(bytes.data() + at + 8);
    Instruction instruction;
    instruction.operation = low & 0x1ff;
    if (instruction.operation == kBra) {
      // Bytes from the next instruction, in units of four.
      uint64_t distance = (low >> 34) | ((high & 0x3ffff) << 30);
      int64_t bytesAway = llvm::SignExtend64<48>(distance) * 4;
      // Since sm_90 the low bits stand elsewhere.
      if (bytesAway % int64_t(kInstructionBytes) != 0 || (low >> 16 & 0xff))
        bytesAway =
            llvm::SignExtend64<56>((distance << 8) | (low >> 16 & 0xff)) * 4;
      instruction.target =
          int64_t(code.size()) + 1 + bytesAway / int64_t(kInstructionBytes);
      constexpr unsigned kAlways = 7;
      instruction.isConditional = (low >> 12 & 0xf) != kAlways;
    }
    code.push_back(instruction);
  }
  while (!code.empty() && (code.back().operation == kNop ||
                           (code.back().operation == kBra &&
                            code.back().target == int64_t(code.size()) - 1)))
    code.pop_back();
  return code;
}

static int64_t countMatrix(const Code &code, int64_t first, int64_t last) {
  return std::count_if(
      code.begin() + first, code.begin() + last + 1,
      [](const Instruction &i) { return isMatrix(i.operation); });
}

/// The first and the last instruction of a loop.
using Loop = std::pair<int64_t, int64_t>;

/// Return the loops that `counts` accepts and that have no other such loop in them.
static std::vector<Loop>
findInnermost(const Code &code, llvm::function_ref<bool(const Loop &)> counts) {
  std::vector<Loop> loops, innermost;
  for (int64_t at = 0, end = code.size(); at < end; ++at) {
    int64_t target = code[at].target;
    if (target >= 0 && target < at && counts({target, at}))
      loops.push_back({target, at});
  }
  for (const Loop &loop : loops)
    if (llvm::none_of(loops, [&](const Loop &o) {
          return o != loop && o.first >= loop.first && o.second <= loop.second;
        }))
      innermost.push_back(loop);
  return innermost;
}

/// Return what loops of fused multiply-adds issue.
static std::vector<InstructionCounts> countExactLoops(const Code &code) {
  auto countLoop = [&](const Loop &loop) {
    InstructionCounts counts;
    for (int64_t at = loop.first; at <= loop.second; ++at)
      count(code[at], counts);
    return counts;
  };
  std::vector<InstructionCounts> all;
  for (const Loop &loop : findInnermost(code, [&](const Loop &candidate) {
         InstructionCounts counts = countLoop(candidate);
         return 2 * counts.multiplyAdds > counts.all;
       }))
    all.push_back(countLoop(loop));
  return all;
}

/// Count the way from `first` to `last` that issues the most matrix products, and
/// of these the shortest. Only branches forward are taken.
static InstructionCounts countShortest(const Code &code, int64_t first,
                                       int64_t last) {
  std::vector<Way> ways(last - first + 1);
  for (int64_t at = last; at >= first; --at) {
    Way &own = ways[at - first];
    bool isMatrixProduct = isMatrix(code[at].operation);
    if (at == last) {
      own = {isMatrixProduct, 1, -1};
      continue;
    }
    Way best;
    auto consider = [&](int64_t next) {
      if (next <= at || next > last || ways[next - first].matrix < 0)
        return;
      Way way = ways[next - first];
      way.next = next;
      if (best.matrix < 0 || way.isBetterThan(best))
        best = way;
    };
    consider(code[at].target);
    if (code[at].target < 0 || code[at].isConditional)
      consider(at + 1);
    if (best.matrix < 0)
      continue;
    own = {best.matrix + isMatrixProduct, best.instructions + 1, best.next};
  }
  InstructionCounts counts;
  for (int64_t at = first; at >= 0 && ways[at - first].matrix >= 0;
       at = ways[at - first].next) {
    count(code[at], counts);
    if (ways[at - first].next < 0)
      break;
  }
  return counts;
}

/// Find the loop with the most matrix products that has no other such loop in it;
/// false where there is none. (What stands apart and goes back to where it left off is
/// none: no way leads to its end.)
static bool findLoop(const Code &code, int64_t &first, int64_t &last) {
  int64_t most = 0;
  for (auto [begin, end] : findInnermost(code, [&](const Loop &loop) {
         return countShortest(code, loop.first, loop.second).matrix > 0;
       })) {
    int64_t matrix = countMatrix(code, begin, end);
    if (matrix <= most)
      continue;
    most = matrix;
    first = begin;
    last = end;
  }
  return most > 0;
}

/// Describe the kernel of which `bytes` are the code.
static CubinKernel describe(StringRef name, StringRef bytes) {
  CubinKernel kernel;
  kernel.name = name.str();
  Code code = decode(bytes);
  for (const Instruction &instruction : code)
    count(instruction, kernel.whole);
  int64_t first = 0, last = 0;
  if (!findLoop(code, first, last)) {
    kernel.exactLoops = countExactLoops(code);
    return kernel;
  }
  for (int64_t at = first; at <= last; ++at)
    count(code[at], kernel.loop);
  kernel.shortest = countShortest(code, first, last);
  return kernel;
}

Expected<std::vector<CubinKernel>> mlir::attn::readCubin(ArrayRef<char> cubin) {
  llvm::MemoryBufferRef buffer(StringRef(cubin.data(), cubin.size()), "cubin");
  auto file = llvm::object::ELFObjectFile<llvm::object::ELF64LE>::create(
      buffer, /*InitContent=*/false);
  if (!file)
    return file.takeError();
  const auto &elf = file->getELFFile();
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  std::vector<CubinKernel> kernels;
  for (const auto &section : *sections) {
    Expected<StringRef> name = elf.getSectionName(section);
    if (!name)
      return name.takeError();
    if (!name->consume_front(".text."))
      continue;
    auto bytes = elf.getSectionContents(section);
    if (!bytes)
      return bytes.takeError();
    CubinKernel kernel =
        describe(*name, StringRef(reinterpret_cast<const char *>(bytes->data()),
                                  bytes->size()));
    kernel.registers = section.sh_info >> 24;
    kernels.push_back(std::move(kernel));
  }
  llvm::sort(kernels, [](const CubinKernel &a, const CubinKernel &b) {
    return a.name < b.name;
  });
  return kernels;
}

int64_t mlir::attn::countResidentBlocks(StringRef architecture, int64_t threads,
                                        int64_t registers,
                                        int64_t sharedBytes) {
  const Architecture *row = findArchitecture(architecture);
  if (!row || threads <= 0)
    return 0;
  constexpr int64_t kWarp = 32, kRegisterUnit = 256;
  int64_t warps = llvm::divideCeil(threads, kWarp);
  int64_t ofWarp =
      llvm::alignTo(std::max<int64_t>(registers, 1) * kWarp, kRegisterUnit);
  int64_t blocks = std::min(row->blocks, row->warps / warps);
  blocks = std::min(blocks, kProcessorRegisters / ofWarp / warps);
  return std::min(blocks,
                  row->sharedBytes / (sharedBytes + kReservedSharedBytes));
}

/// Print one trip of a loop.
static void printCounts(llvm::raw_ostream &os, StringRef what,
                        const InstructionCounts &counts) {
  os << "  " << what << ": " << counts.all << " instructions, " << counts.matrix
     << " matrix products ("
     << llvm::format("%.2f", double(counts.all) / double(counts.matrix))
     << " for each), " << counts.matrixLoads << " matrix loads, "
     << counts.copies << " copies, " << counts.special << " special, "
     << counts.shuffles << " shuffles, " << counts.barriers << " barriers, "
     << counts.local << " of local memory\n";
}

/// Print one trip of a loop of fused multiply-adds.
static void printExactLoop(llvm::raw_ostream &os,
                           const InstructionCounts &counts) {
  os << "  exact loop: " << counts.all << " instructions, "
     << counts.multiplyAdds << " multiply-adds ("
     << llvm::format("%.2f", double(counts.all) / double(counts.multiplyAdds))
     << " for each), " << counts.sharedLoads << " loads of shared memory, "
     << counts.shuffles << " shuffles, " << counts.local
     << " of local memory\n";
}

void mlir::attn::printKernels(llvm::raw_ostream &os, StringRef architecture,
                              ArrayRef<CubinKernel> kernels,
                              const llvm::StringMap<KernelResources> &resources,
                              const llvm::StringMap<KernelLaunch> &launches) {
  for (const CubinKernel &kernel : kernels) {
    KernelResources own = resources.lookup(kernel.name);
    KernelLaunch launch = launches.lookup(kernel.name);
    int64_t shared = own.sharedBytes + launch.dynamicSharedBytes;
    int64_t registers = std::max(own.registers, kernel.registers);
    os << kernel.name << " (" << architecture << "): " << kernel.whole.all
       << " instructions, " << registers << " registers, " << own.stackBytes
       << " bytes of stack, " << own.spillBytes << " of spills, " << shared
       << " of shared memory, "
       << countResidentBlocks(architecture, launch.threads, registers, shared)
       << " blocks of " << launch.threads << " threads\n";
    for (const InstructionCounts &counts : kernel.exactLoops)
      printExactLoop(os, counts);
    if (kernel.loop.matrix == 0)
      continue;
    printCounts(os, "loop", kernel.loop);
    printCounts(os, "shortest way", kernel.shortest);
  }
}
