// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.cache_append by its definition. The quotient that is stored in a byte is one of f32, whatever the arithmetic: the
// byte is a result, and not near one.

#include "Sdpa.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Return `value` over `scale` as `type`, a type of a byte, keeps it.
static Cell toByte(Machine &machine, double value, double scale, Type type) {
  float quotient = static_cast<float>(value) / static_cast<float>(scale);
  if (type.isInteger()) {
    if (std::isnan(quotient))
      return integerCell(0);
    quotient = std::nearbyint(std::clamp(quotient, -128.0f, 127.0f));
    return integerCell(static_cast<int64_t>(quotient));
  }
  float most = isa<Float8E5M2Type>(type) ? 57344.0f : 448.0f;
  if (!std::isnan(quotient))
    quotient = std::clamp(quotient, -most, most);
  return realCell(machine.round(quotient, type));
}

static LogicalResult runCacheAppend(Machine &machine, CacheAppendOp op) {
  if (!op.getResult())
    return op.emitOpError("has no value on memrefs");
  const TensorValue &rows = machine.getTensor(op.getRows());
  const TensorValue &positions = machine.getTensor(op.getPositions());
  const TensorValue *table = machine.getOptionalTensor(op.getPageTable()),
                    *scale = machine.getOptionalTensor(op.getScale());
  TensorValue cache = machine.getTensor(op.getCache());
  Type type = cache.elementType;
  bool isByte = type.isInteger() || isa<Float8E4M3FNType, Float8E5M2Type>(type);
  Layout from = op.getRowsLayout(), to = op.getCacheLayout();
  int64_t batch = rows.shape[kBatchDim], heads = rows.shape[headDim(from)],
          count = rows.shape[sequenceDim(from)],
          channels = rows.shape[kChannelDim],
          page = cache.shape[sequenceDim(to)];
  int64_t keys = table ? page * table->shape[1] : page;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < count; ++i) {
      int64_t position = positions.getRank() == 2
                             ? positions.cells[b * count + i].integer
                             : positions.cells[b].integer + i;
      if (position < 0 || position >= keys)
        return op.emitOpError("expects positions below ")
               << keys << ", got " << position;
      int64_t entry = b;
      if (table)
        entry = table->cells[b * table->shape[1] + position / page].integer;
      if (entry < 0 || entry >= cache.shape[kBatchDim])
        return op.emitOpError("expects pages below ")
               << cache.shape[kBatchDim] << ", got " << entry;
      position %= page;
      for (int64_t g = 0; g < heads; ++g)
        for (int64_t d = 0; d < channels; ++d) {
          int64_t source[] = {b, g, i, d}, place[] = {entry, g, position, d};
          if (from == Layout::bshd)
            std::swap(source[1], source[2]);
          if (to == Layout::bshd)
            std::swap(place[1], place[2]);
          double value = rows.real(source);
          double by =
              scale ? broadcast(*scale, {entry, g, position}).real : 1.0;
          cache.cells[cache.offsetOf(place)] =
              isByte ? toByte(machine, value, by, type)
                     : realCell(machine.round(value, type));
        }
    }
  machine.set(op.getResult(), std::move(cache));
  return success();
}

void mlir::attn::addCacheHandlers(Machine &machine) {
  addHandler<CacheAppendOp, runCacheAppend>(machine);
}
