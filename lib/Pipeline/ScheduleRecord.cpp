// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of measured schedules, from and to JSON.

#include "attn/Pipeline/ScheduleRecord.h"

#include "attn/Target/CPU/Link.h"
#include "attn/Transforms/SelectSchedule.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::attn;
using llvm::Error;
using llvm::Expected;
namespace json = llvm::json;

/// What files are written as, and all that is read. Another meaning of a member or
/// of a key takes another number.
static constexpr int64_t kVersion = 1;

//===----------------------------------------------------------------------===//
// What a record is about
//===----------------------------------------------------------------------===//

bool attn::canRecord(SdpaOp op) {
  return !op.isPaged() && !op.hasPackedRows() && !op.getKeyScale() &&
         !op.getValueScale() && !op.getWeights() && op.getScoreMod().empty() &&
         op.getMaskMod().empty();
}

std::string attn::getScheduleKey(SdpaOp op, bool few) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "query " << op.getQuery().getType() << " key " << op.getKey().getType()
     << " value " << op.getValue().getType() << " output "
     << op.getOutput().getType();
  std::pair<StringRef, Value> others[] = {{"bias", op.getBias()},
                                          {"mask", op.getMask()},
                                          {"kv_lengths", op.getKvLengths()},
                                          {"query_offset", op.getQueryOffset()},
                                          {"sinks", op.getSinks()},
                                          {"lse", op.getLse()}};
  for (auto [name, value] : others) {
    if (!value)
      continue;
    os << " " << name << " " << value.getType();
    // How far a triangle is moved decides how many keys count.
    if (APInt number; matchPattern(value, m_ConstantInt(&number)))
      os << " = " << number.getSExtValue();
  }
  if (op.getCausal() != Causal::None)
    os << " causal = " << stringifyCausal(op.getCausal());
  if (std::optional<WindowAttr> window = op.getWindow())
    os << " window = " << *window;
  if (op.getSoftcap())
    os << " softcap";
  if (std::optional<LayoutsAttr> layout = op.getLayout())
    os << " layout = " << *layout;
  RowCount count = getRowCount(op);
  if (count == RowCount::Either)
    os << (few ? " few rows" : " many rows");
  if (!canSplitKeys(op))
    os << " keys in one piece";
  return key;
}

RecordMachine RecordMachine::get(const TargetInfo &target) {
  return {target.cpu,
          llvm::utohexstr(llvm::xxh3_64bits(target.features),
                          /*LowerCase=*/true),
          target.vectorBits};
}

bool RecordMachine::operator==(const RecordMachine &other) const {
  return cpu == other.cpu && features == other.features &&
         vectorBits == other.vectorBits;
}

const ScheduleEntry *ScheduleRecord::find(StringRef key) const {
  auto entry = llvm::find_if(
      entries, [&](const ScheduleEntry &entry) { return entry.key == key; });
  return entry == entries.end() ? nullptr : &*entry;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace mlir::attn {

static bool fromJSON(const json::Value &value, RecordMachine &machine,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("cpu", machine.cpu) &&
         map.map("features", machine.features) &&
         map.map("vector_bits", machine.vectorBits);
}

} // namespace mlir::attn

namespace {
/// An entry whose schedule is text yet.
struct TextEntry {
  ScheduleEntry entry;
  std::string schedule;

  friend bool fromJSON(const json::Value &value, TextEntry &text,
                       json::Path path) {
    json::ObjectMapper map(value, path);
    ScheduleEntry &entry = text.entry;
    return map && map.map("op", entry.key) &&
           map.map("schedule", text.schedule) &&
           map.map("inputs", entry.inputs) &&
           map.map("threads", entry.threads) && map.map("ms", entry.ms) &&
           map.map("cost_model_ms", entry.costModelMs);
  }
};
} // namespace

/// Return the schedule that `text` is. Fails with the reason why it is none.
static Expected<ScheduleAttr> parseSchedule(StringRef text,
                                            MLIRContext *context) {
  std::string reason = "expects an #attn.schedule, got '" + text.str() + "'";
  bool first = true;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (first)
      reason = diagnostic.str();
    first = false;
  });
  if (auto schedule =
          dyn_cast_or_null<ScheduleAttr>(parseAttribute(text, context)))
    return schedule;
  return llvm::createStringError(reason);
}

/// Read `record` from `value`.
static Error readRecord(const json::Value &value, MLIRContext *context,
                        ScheduleRecord &record) {
  json::Path::Root root("record");
  json::ObjectMapper map(value, root);
  int64_t version;
  if (!map || !map.map("version", version))
    return root.getError();
  if (version != kVersion)
    return llvm::createStringError("expects version " + Twine(kVersion) +
                                   " of a record of schedules, got " +
                                   Twine(version));
  std::vector<TextEntry> texts;
  if (!map.map("machine", record.machine) || !map.map("ops", texts))
    return root.getError();
  for (auto [number, text] : llvm::enumerate(texts)) {
    Expected<ScheduleAttr> schedule = parseSchedule(text.schedule, context);
    if (!schedule)
      return llvm::createStringError(
          "schedule of ops[" + Twine(number) +
          "]: " + llvm::toString(schedule.takeError()));
    text.entry.schedule = *schedule;
    record.entries.push_back(std::move(text.entry));
  }
  return Error::success();
}

Expected<ScheduleRecord> ScheduleRecord::read(StringRef path,
                                              MLIRContext *context) {
  auto fail = [&](const Twine &reason) {
    return llvm::createStringError("cannot read '" + path + "': " + reason);
  };
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return fail(file.getError().message());
  Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value)
    return fail(llvm::toString(value.takeError()));
  ScheduleRecord record;
  record.file = path.str();
  if (Error error = readRecord(*value, context, record))
    return fail(llvm::toString(std::move(error)));
  return record;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void writeEntry(const ScheduleEntry &entry, json::OStream &os) {
  std::string schedule;
  llvm::raw_string_ostream(schedule) << entry.schedule;
  os.object([&] {
    os.attribute("op", entry.key);
    os.attribute("schedule", schedule);
    os.attribute("inputs", json::Array(entry.inputs));
    os.attribute("threads", entry.threads);
    os.attribute("ms", entry.ms);
    os.attribute("cost_model_ms", entry.costModelMs);
  });
}

Error ScheduleRecord::write(StringRef path) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream os(stream, /*IndentSize=*/2);
  os.object([&] {
    os.attribute("version", kVersion);
    os.attributeObject("machine", [&] {
      os.attribute("cpu", machine.cpu);
      os.attribute("features", machine.features);
      os.attribute("vector_bits", machine.vectorBits);
    });
    os.attributeArray("ops", [&] {
      for (const ScheduleEntry &entry : entries)
        writeEntry(entry, os);
    });
  });
  os.flush();
  stream << "\n";
  return writeOutput({text.data(), text.size()}, path);
}
