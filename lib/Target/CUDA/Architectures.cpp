// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a list of architectures and finds what fits all of them:
//
//   sm_90,sm_86   ->   architectures = ["sm_86", "sm_90"], shared_block_bytes = 101376, ...

#include "attn/Target/CUDA/Architectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::attn;
using llvm::StringRef;

/// In the order in which code for one also runs on the ones after it, but for
/// those with a letter, whose code runs there only.
static constexpr Architecture kArchitectures[] = {
    {"sm_80", 164 * 1024, 64, 32, "A100 SXM 80 GB", 19500, 312000, 2039},
    {"sm_86", 100 * 1024, 48, 16, "A40", 37400, 149700, 696},
    {"sm_89", 100 * 1024, 48, 24, "L40", 90500, 181000, 864},
    {"sm_90", 228 * 1024, 64, 32, "H100 SXM", 66900, 989400, 3350},
    {"sm_90a", 228 * 1024, 64, 32, "H100 SXM", 66900, 989400, 3350},
};

const Architecture *attn::findArchitecture(StringRef name) {
  const auto *row = llvm::find_if(
      kArchitectures, [&](const Architecture &a) { return a.name == name; });
  return row == std::end(kArchitectures) ? nullptr : row;
}

/// Return the error for a name that is not in the table.
static llvm::Error unknownArchitecture(StringRef name) {
  llvm::SmallVector<StringRef> known;
  for (const Architecture &row : kArchitectures)
    known.push_back(row.name);
  return llvm::createStringError(withKnownValues(
      "expects an architecture of CUDA, got '" + name + "'", name, known));
}

llvm::Expected<TargetInfo> attn::parseArchitectures(StringRef text) {
  llvm::SmallVector<StringRef> names;
  llvm::SplitString(text, names, ",");
  llvm::SmallVector<const Architecture *> rows;
  for (StringRef name : names) {
    const Architecture *row = findArchitecture(name.trim());
    if (!row)
      return unknownArchitecture(name.trim());
    rows.push_back(row);
  }
  // The rows of one table compare by their addresses.
  llvm::sort(rows);
  rows.erase(llvm::unique(rows), rows.end());
  TargetInfo info;
  info.triple = "nvptx64-nvidia-cuda";
  info.cpu = rows.front()->name.str();
  // What drivers since CUDA 12.0 compile, and the oldest that knows sm_90a.
  info.features = "+ptx80";
  info.processorRegisters = kProcessorRegisters;
  info.threadRegisters = kThreadRegisters;
  info.sharedProcessorBytes = rows.front()->sharedBytes;
  info.processorWarps = rows.front()->warps;
  for (const Architecture *row : rows) {
    info.architectures.push_back(row->name.str());
    info.sharedProcessorBytes =
        std::min(info.sharedProcessorBytes, row->sharedBytes);
    info.processorWarps = std::min(info.processorWarps, row->warps);
  }
  info.sharedBlockBytes = info.sharedProcessorBytes - kReservedSharedBytes;
  return info;
}
