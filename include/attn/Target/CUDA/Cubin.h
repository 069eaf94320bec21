// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads machine code of GPUs, so that what a kernel will issue can be counted where there is no GPU.

#ifndef ATTN_TARGET_CUDA_CUBIN_H
#define ATTN_TARGET_CUDA_CUBIN_H

#include "attn/Target/CUDA/Ptxas.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>
#include <vector>

namespace mlir::attn {

/// Instructions by kind.
struct InstructionCounts {
  int64_t all = 0;
  /// Matrix products, matrix loads from shared memory, asynchronous copies into it.
  int64_t matrix = 0, matrixLoads = 0, copies = 0;
  int64_t barriers = 0, shuffles = 0, special = 0;
  /// Fused multiply-adds of f32 and f64, and loads of shared memory by threads.
  int64_t multiplyAdds = 0, sharedLoads = 0;
  /// Loads and stores of memory that belongs to one thread.
  int64_t local = 0;
};

/// One kernel of a cubin.
struct CubinKernel {
  std::string name;
  int64_t registers = 0;
  InstructionCounts whole;
  /// One trip of the loop with the most matrix products; and the shortest way
  /// through it that issues all of them, so without what is done only where needed.
  InstructionCounts loop, shortest;
  /// Where there is none, one trip of each innermost loop that is mostly fused
  /// multiply-adds.
  std::vector<InstructionCounts> exactLoops;
};

/// Read the kernels of `cubin`. Fails where it is not what ptxas writes.
llvm::Expected<std::vector<CubinKernel>> readCubin(llvm::ArrayRef<char> cubin);

/// Return how many blocks of `threads` threads with `registers` each and
/// `sharedBytes` of shared memory are resident on a multiprocessor of
/// `architecture` at once; 0 where it is not known or none fits.
int64_t countResidentBlocks(llvm::StringRef architecture, int64_t threads,
                            int64_t registers, int64_t sharedBytes);

/// How a kernel is launched.
struct KernelLaunch {
  int64_t threads = 0, dynamicSharedBytes = 0;
};

/// Print what ptxas and the machine code say of each kernel, a line or three each:
///
///   f_k0 (sm_80): 1000 instructions, 168 registers, 0 bytes of stack, 0 of spills, 49152 of shared memory, 3 blocks
///       of 128 threads
///     loop: 443 instructions, 64 matrix products (6.92 for each), 36 matrix loads, 8 copies, ...
///     shortest way: ...
///
/// and of a kernel without matrix products
///
///     exact loop: 1126 instructions, 1024 multiply-adds (1.10 for each), 96 loads of shared memory, 0 shuffles
void printKernels(llvm::raw_ostream &os, llvm::StringRef architecture,
                  llvm::ArrayRef<CubinKernel> kernels,
                  const llvm::StringMap<KernelResources> &resources,
                  const llvm::StringMap<KernelLaunch> &launches);

} // namespace mlir::attn

#endif // ATTN_TARGET_CUDA_CUBIN_H
