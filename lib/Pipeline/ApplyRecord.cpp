// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes schedules that were measured before into the IR:
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125 : ...
//
// becomes
//
//   %o = attn.sdpa %q, %k, %v scale = 0.125
//        schedule = <block_m = 512, block_n = 256, rows = 4, columns = 64, lanes = 16> : ...
//
// Nothing is measured here, and ops that the record does not know are left to SelectSchedule.

#include "attn/Pipeline/Passes.h"
#include "attn/Transforms/SelectSchedule.h"

namespace mlir::attn {
#define GEN_PASS_DEF_APPLYRECORD
#include "attn/Pipeline/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return the schedule of `record` for `op`, or null. Fails with a diagnostic where
/// it is one for other vectors.
static FailureOr<ScheduleAttr> findSchedule(SdpaOp op, bool few,
                                            const ScheduleRecord &record,
                                            const TargetInfo &target) {
  const ScheduleEntry *entry = record.find(getScheduleKey(op, few));
  if (!entry)
    return ScheduleAttr();
  int64_t lanes = target.lanes(getAccumulatorBits(op));
  if (entry->schedule.getLanes() == lanes)
    return entry->schedule;
  return op.emitOpError() << "expects a schedule of " << lanes << " lanes in '"
                          << record.file << "', got "
                          << entry->schedule.getLanes();
}

/// Give `op` the schedules of `record` if it has any.
static LogicalResult apply(OpBuilder &b, SdpaOp op,
                           const ScheduleRecord &record,
                           const TargetInfo &target) {
  if (!canRecord(op))
    return success();
  ScheduleAttr found[2];
  for (bool few : {false, true}) {
    FailureOr<ScheduleAttr> schedule = findSchedule(op, few, record, target);
    if (failed(schedule))
      return failure();
    found[few] = *schedule;
  }
  if (!found[false] && !found[true])
    return success();
  setSchedule(b, op, [&](bool few) {
    return found[few] ? found[few] : chooseSchedule(op, target, few);
  });
  return success();
}

namespace {
struct ApplyRecord : attn::impl::ApplyRecordBase<ApplyRecord> {
  using ApplyRecordBase::ApplyRecordBase;
  explicit ApplyRecord(std::shared_ptr<const ScheduleRecord> record)
      : record(std::move(record)) {}

  LogicalResult initialize(MLIRContext *context) override {
    if (record)
      return success();
    llvm::Expected<ScheduleRecord> read = ScheduleRecord::read(file, context);
    if (!read)
      return emitError(UnknownLoc::get(context),
                       llvm::toString(read.takeError()));
    record = std::make_shared<ScheduleRecord>(std::move(*read));
    return success();
  }

  void runOnOperation() override {
    TargetInfo target = TargetInfo::get(getOperation());
    if (!(record->machine == RecordMachine::get(target))) {
      getOperation().emitWarning()
          << "'" << record->file << "' holds schedules for '"
          << record->machine.cpu << "' with vectors of "
          << record->machine.vectorBits << " bits and other features than '"
          << target.cpu << "' has here; none is used";
      return;
    }
    SmallVector<SdpaOp> ops;
    getOperation().walk([&](SdpaOp op) {
      if (!op.getSchedule())
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (SdpaOp op : ops)
      if (failed(apply(builder, op, *record, target)))
        return signalPassFailure();
  }

private:
  std::shared_ptr<const ScheduleRecord> record;
};
} // namespace

std::unique_ptr<Pass>
attn::createApplyRecord(std::shared_ptr<const ScheduleRecord> record) {
  return std::make_unique<ApplyRecord>(std::move(record));
}
