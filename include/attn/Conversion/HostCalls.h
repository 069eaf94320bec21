// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convert-nvvm-to-host-calls writes and the emulator of CUDA reads: names of attributes, and the numbers that
// stand for kinds in the calls. Knows nothing of MLIR, so that the emulator's run time can include it.

#ifndef ATTN_CONVERSION_HOSTCALLS_H
#define ATTN_CONVERSION_HOSTCALLS_H

#include <cstdint>

namespace mlir::attn::host_calls {

/// On the module: an array of strings, `nvvm.barrier0 at x.mlir:12:5`; calls say
/// by a number in it where they come from.
inline constexpr char kSitesAttrName[] = "attn.sites";

/// On a launch function: the kernel that it runs, as a reference `@module::@kernel`.
inline constexpr char kKernelAttrName[] = "attn.kernel";

/// On a launch function: bytes of the shared memory whose size is known, and the
/// offset of the memory whose size a launch gives, or -1 if there is none.
inline constexpr char kStaticSharedAttrName[] = "attn.static_shared_bytes";
inline constexpr char kDynamicSharedAttrName[] = "attn.dynamic_shared_offset";

/// On a launch function, where known: the three sizes that a block must have.
inline constexpr char kBlockSizeAttrName[] = "attn.block_size";

/// Where the shared memory of a block starts in its window of addresses. Not 0,
/// so that a null pointer is nowhere in it.
constexpr int32_t kSharedWindow = 1024;

/// Threads of a warp and of a warpgroup.
constexpr unsigned kWarpSize = 32;
constexpr unsigned kWarpGroupSize = 128;

/// Special registers, in the order of x, y, z where there are three.
enum class Register : int32_t {
  ThreadX,
  ThreadY,
  ThreadZ,
  BlockSizeX,
  BlockSizeY,
  BlockSizeZ,
  BlockX,
  BlockY,
  BlockZ,
  GridSizeX,
  GridSizeY,
  GridSizeZ,
  Lane,
  Warp,
  Warps,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedBytes,
  TotalSharedBytes
};

/// Types of the elements that matrix instructions take.
enum class Element : int32_t {
  F16,
  BF16,
  TF32,
  F32,
  F64,
  S8,
  U8,
  S32,
  E4M3,
  E5M2
};

/// Kinds of shuffles, votes and reductions over a warp.
enum class Shuffle : int32_t { Xor, Up, Down, Index };
enum class Vote : int32_t { Any, All, Ballot, Uniform };
enum class Redux : int32_t {
  Add,
  And,
  Max,
  Min,
  Or,
  UMax,
  UMin,
  Xor,
  FMin,
  FMax,
  FMinAbs,
  FMaxAbs,
  FMinNan,
  FMaxNan,
  FMinAbsNan,
  FMaxAbsNan
};

/// What a barrier computes of the threads' predicates.
enum class BarrierReduction : int32_t { None, PopCount, And, Or };

/// What else an arrival at an mbarrier does, as a set of bits.
enum ArriveFlag : int32_t {
  kArrivePlain = 0,
  kArriveDrop = 1,
  kArriveExpect = 2,
  kArriveRelaxed = 4,
  kArriveNoComplete = 8
};

/// What an access to memory is, as a set of bits; the logarithm of the alignment
/// that it needs stands above.
enum AccessFlag : int32_t {
  kAccessRead = 0,
  kAccessWrite = 1,
  kAccessAtomic = 2,
  /// A write that reads what it replaces.
  kAccessUpdate = 4,
  /// What a release hands on, an acquire that reads it learns.
  kAccessAcquire = 8,
  kAccessRelease = 16
};
constexpr int32_t kAccessAlignmentShift = 8;

/// How matrices of a warpgroup's product lie, as a set of bits.
enum WgmmaFlag : int32_t {
  kWgmmaTransposeA = 1,
  kWgmmaTransposeB = 2,
  kWgmmaNegateA = 4,
  kWgmmaNegateB = 8,
  kWgmmaZero = 16
};

/// What a fence between proxies orders.
enum class ProxyFence : int32_t { Async, Other };

} // namespace mlir::attn::host_calls

#endif // ATTN_CONVERSION_HOSTCALLS_H
