// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler knows about the processor that it compiles for. It is written once on the module, as
//
//   module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu", cpu = "icelake-server",
//       features = "", vector_bits = 512, vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}}
//
// and read from there by every pass: the IR alone says what a pass will do. A GPU is one with further numbers:
//
//   module attributes {attn.target = {triple = "nvptx64-nvidia-cuda", cpu = "sm_80", features = "+ptx80",
//       architectures = ["sm_80", "sm_90"], shared_block_bytes = 166912, ...}} {}

#ifndef ATTN_TARGET_TARGETINFO_H
#define ATTN_TARGET_TARGETINFO_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::attn {

/// Name of the module's attribute that holds a TargetInfo.
inline constexpr llvm::StringLiteral kTargetAttrName = "attn.target";

/// A processor: who it is, and what the schedules depend on.
struct TargetInfo {
  std::string triple = "x86_64-unknown-linux-gnu";
  std::string cpu = "x86-64-v3";
  /// As LLVM writes them: "+avx2,-fma".
  std::string features;
  /// Width in bits of the vector registers that code should use.
  int64_t vectorBits = 256;
  int64_t vectorRegisters = 16;
  /// Bytes of one core's data caches.
  int64_t l1Bytes = 32 * 1024;
  int64_t l2Bytes = 1024 * 1024;
  /// How far ahead of where several streams are read code should ask for them; 0
  /// where the processor finds them alone and is only held up.
  int64_t prefetchBytes = 0;

  /// Of a GPU, the architectures that binaries are made for, the least capable
  /// first, which is `cpu` too. Empty for a CPU.
  std::vector<std::string> architectures;
  /// What fits all of them: bytes of shared memory that one block may use, and
  /// that a multiprocessor has; its 32-bit registers and resident warps; and the
  /// registers that one thread may use.
  int64_t sharedBlockBytes = 0;
  int64_t sharedProcessorBytes = 0;
  int64_t processorRegisters = 0;
  int64_t processorWarps = 0;
  int64_t threadRegisters = 0;

  /// Return true for a GPU of CUDA.
  bool isCuda() const { return !architectures.empty(); }

  /// Return how many elements of `bits` bits one vector register holds.
  int64_t lanes(int64_t bits) const { return vectorBits / bits; }

  /// Return the target that `text` names: `host`, `TRIPLE`, `TRIPLE:CPU`, or
  /// architectures of CUDA, as in `sm_80,sm_90`. Fails with a
  /// message that lists what is known and what is nearest.
  static llvm::Expected<TargetInfo> parse(llvm::StringRef text);

  /// Return this very machine, its caches included.
  static llvm::Expected<TargetInfo> host();

  /// Return the target of the module around `op`; the defaults above where none
  /// is written.
  static TargetInfo get(Operation *op);

  /// Write the target on `module`.
  void set(ModuleOp module) const;

  /// Return a bit for each of `names`, features as LLVM calls them ("avx512f"),
  /// that the CPU has.
  uint64_t findFeatures(llvm::ArrayRef<llvm::StringLiteral> names) const;

  /// Return LLVM's code generator for this target, optimizing at `optLevel`
  /// (0 to 3).
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
  createTargetMachine(unsigned optLevel) const;
};

/// Return `message` followed by the known values and the nearest to `value`:
/// "; known: a, b; nearest: a".
std::string withKnownValues(const llvm::Twine &message, llvm::StringRef value,
                            llvm::ArrayRef<llvm::StringRef> known);

} // namespace mlir::attn

#endif // ATTN_TARGET_TARGETINFO_H
