// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be asked of a compilation. A tool fills one of these; no library reads a flag or the environment.

#ifndef ATTN_PIPELINE_OPTIONS_H
#define ATTN_PIPELINE_OPTIONS_H

#include <memory>
#include <string>

namespace mlir::attn {

struct ScheduleRecord;

/// The steps of compilation, in order. Kernels and Nvvm are those of a GPU only.
enum class Phase {
  Input,
  Core,
  Schedule,
  Tiles,
  Linalg,
  Vectors,
  Buffers,
  Kernels,
  Nvvm,
  Llvm,
  Object
};

struct CompileOptions {
  /// As TargetInfo::parse takes it; empty: what the module says, else host.
  std::string target;
  /// How a GPU multiplies f32 where an op does not say: exact, tf32 or tf32x3;
  /// empty: exact.
  std::string precision;
  /// The last phase to run.
  Phase stopAfter = Phase::Object;
  /// Of LLVM's code generator, 0 to 3; at 0 its IR is not optimized either.
  unsigned optLevel = 2;
  /// Check what each phase promises.
  bool verifyPhases = true;
  /// Add a main function around the only public one.
  bool executable = false;
  /// Folder that gets the IR after each phase, `3-schedule.mlir`; empty: none.
  std::string dumpFolder;
  /// Schedules for ops that have none; null: the cost model's.
  std::shared_ptr<const ScheduleRecord> record;
};

} // namespace mlir::attn

#endif // ATTN_PIPELINE_OPTIONS_H
