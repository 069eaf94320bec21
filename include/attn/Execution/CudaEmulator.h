// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs CUDA kernels on the CPU, and watches what they do: one block at a time on each worker, each thread a fiber.
//
// Values are those of a GPU but for the order in which matrix instructions add. What a GPU would leave to chance is
// reported: accesses to shared memory that nothing orders, copies that were not waited for, memory that was never
// written or is not there, barriers that not all reach, loops that do not end. Which thread runs next, and when copies
// are made, can be drawn from a seed.

#ifndef ATTN_EXECUTION_CUDAEMULATOR_H
#define ATTN_EXECUTION_CUDAEMULATOR_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace mlir::attn {

/// When an asynchronous copy is made: when it starts, at the last moment before it
/// has to be done, or at one of the two as the seed draws. Each of the first two
/// hides mistakes that the other one shows.
enum class CopyTiming { Early, Late, Drawn };

struct CudaEmulatorOptions {
  /// Check every access. Takes about twice the time.
  bool track = true;
  /// 0: threads run in order, as far as they can. Else a schedule is drawn.
  uint64_t seed = 0;
  CopyTiming copies = CopyTiming::Late;
  /// Blocks that run at the same time; 0 is one on each core.
  unsigned workers = 1;
  /// Different problems that are described; the rest is counted.
  unsigned mostReports = 20;
};

/// How often matrix loads and stores, eight rows at a time, asked for shared
/// memory, and how many more times than that its banks were needed.
struct BankCounts {
  uint64_t phases = 0;
  uint64_t conflicts = 0;
};

/// The kernels of a module, compiled for this machine.
class CudaEmulator {
public:
  /// Compile the kernels in the `gpu.module`s of `module`, which hold ops of llvm,
  /// nvvm and attn_gpu. The module is not changed. Fails with a diagnostic for an
  /// op that the emulator does not know.
  static llvm::Expected<std::unique_ptr<CudaEmulator>>
  create(ModuleOp module, const CudaEmulatorOptions &options = {});

  ~CudaEmulator();

  /// Run a kernel, `name` or `module::name`, and return when it is done. Where two
  /// modules have a kernel of that name, only the latter is one.
  /// `parameters` points to one pointer for each parameter of the `llvm.func`, as
  /// for cuLaunchKernel. Fails if the kernel cannot be started; what goes wrong in
  /// it is reported.
  llvm::Error launch(llvm::StringRef name, std::array<uint32_t, 3> grid,
                     std::array<uint32_t, 3> block, uint32_t sharedBytes,
                     void **parameters);

  /// Allow kernels `bytes` bytes at `data`, which reports call `name`. As long as
  /// no buffer is registered any global memory may be accessed.
  void registerBuffer(const void *data, uint64_t bytes, llvm::StringRef name);
  void unregisterBuffer(const void *data);

  /// Use another schedule and other times of copies from now on.
  void setSchedule(uint64_t seed, CopyTiming copies);

  /// Return what went wrong since the last call, and forget it.
  std::vector<std::string> takeReports();

  /// Return the counts over all launches so far.
  BankCounts getBankCounts() const;

private:
  struct Impl;
  explicit CudaEmulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Fill the 128 bytes of `map` as cuTensorMapEncodeTiled does, for tensor copies of
/// the emulator: the same arguments in the same order, with the driver's numbers for
/// the enums. Returns 0, or 1 (invalid value).
/// `checkTensorMap` says why it would not take its arguments, or nothing if it would.
extern "C" int attn_cuda_encode_tensor_map(
    void *map, int dataType, uint32_t rank, void *data, const uint64_t *sizes,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
    int interleave, int swizzle, int promotion, int fill);
std::string checkTensorMap(const void *map, int dataType, uint32_t rank,
                           const void *data, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_CUDAEMULATOR_H
