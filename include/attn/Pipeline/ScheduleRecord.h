// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that were measured on a machine, and the file that keeps them:
//
//   { "version": 1,
//     "machine": { "cpu": "znver3", "features": "5a0f...", "vector_bits": 256 },
//     "ops": [ { "op": "query tensor<1x8x1024x64xf32> key ...",
//                "schedule": "#attn.schedule<block_m = 512, ...>",
//                "inputs": [ "1x8x1024x64xf32", ... ],
//                "threads": 2, "ms": 5.1, "cost_model_ms": 5.4 } ] }

#ifndef ATTN_PIPELINE_SCHEDULERECORD_H
#define ATTN_PIPELINE_SCHEDULERECORD_H

#include "attn/IR/AttnOps.h"
#include "attn/Target/TargetInfo.h"

#include "llvm/Support/Error.h"

namespace mlir::attn {

/// Return whether a record can have a schedule for `op`. What pages, packed
/// sequences, scales and regions take is in no key, and the tuner has no arguments
/// for them; where weights are written, that is most of the time.
bool canRecord(SdpaOp op);

/// Return all of `op` that its speed depends on, as text; with `few` for the
/// kernel of few rows where the number of rows is dynamic. The op is as phase
/// core leaves it.
std::string getScheduleKey(SdpaOp op, bool few);

/// On what schedules were measured.
struct RecordMachine {
  std::string cpu;
  /// A hash of all features, in hexadecimal digits.
  std::string features;
  int64_t vectorBits = 0;

  static RecordMachine get(const TargetInfo &target);
  bool operator==(const RecordMachine &other) const;
};

/// What was measured for one op.
struct ScheduleEntry {
  /// As getScheduleKey returns it.
  std::string key;
  ScheduleAttr schedule;
  /// `SHAPExTYPE` of each tensor that it was measured with, which says what stood
  /// for dynamic extents.
  std::vector<std::string> inputs;
  int64_t threads = 0;
  /// Shortest times of a call: with `schedule`, and as the cost model chooses.
  double ms = 0, costModelMs = 0;
};

/// Measured schedules of one machine.
struct ScheduleRecord {
  /// Where it was read from, for messages.
  std::string file;
  RecordMachine machine;
  std::vector<ScheduleEntry> entries;

  /// Read `path`. Fails where it is no record of a version that is known, or has a
  /// schedule that is none.
  static llvm::Expected<ScheduleRecord> read(StringRef path,
                                             MLIRContext *context);

  /// Write to `path`, which is as it was or complete afterwards.
  llvm::Error write(StringRef path) const;

  /// Return the entry for `key`, or null.
  const ScheduleEntry *find(StringRef key) const;
};

} // namespace mlir::attn

#endif // ATTN_PIPELINE_SCHEDULERECORD_H
