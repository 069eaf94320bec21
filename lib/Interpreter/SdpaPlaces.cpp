// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on pages and on sequences in one tensor. The rows and the keys of an entry of the batch, or of a sequence, are
// copied; attention of one entry is computed on them; its rows go where they belong. Pages that no key needs are not read.

#include "Sdpa.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// How a tensor of attention is indexed. Without a batch it is rows, heads,
/// channels.
struct Axes {
  Axes(ArrayRef<int64_t> shape, Layout layout) : shape(shape) {
    bool isWhole = shape.size() == 4;
    rowsFirst = !isWhole || layout == Layout::bshd;
    ArrayRef<int64_t> own = shape.drop_front(isWhole ? 1 : 0);
    rows = own[rowsFirst ? 0 : 1];
    heads = own[rowsFirst ? 1 : 0];
    channels = own[2];
  }

  int64_t at(int64_t b, int64_t h, int64_t row) const {
    int64_t place = rowsFirst ? row * heads + h : h * rows + row;
    return (b * heads * rows + place) * channels;
  }

  ArrayRef<int64_t> shape;
  bool rowsFirst;
  int64_t rows, heads, channels;
};

/// Where a row or a key is; not there where its page is not read.
struct Place {
  int64_t batch = 0, row = 0;
  bool isThere = true;
};

/// Computes the entries.
class PlacedSdpa {
public:
  PlacedSdpa(Machine &machine, Operation *op, const SdpaInputs &in,
             const SdpaPlaces &places)
      : machine(machine), op(op), in(in), places(places),
        query(in.query->shape, in.queryLayout),
        key(in.key->shape, in.keyLayout),
        value(in.value->shape, in.valueLayout) {}

  FailureOr<SdpaOutputs> run();

private:
  LogicalResult runEntry(int64_t number, SdpaOutputs &all);
  FailureOr<SmallVector<Place>> rowsOf(int64_t number);
  FailureOr<SmallVector<Place>> keysOf(int64_t number, int64_t rows);
  LogicalResult readEnds(const TensorValue &ends, int64_t number, int64_t total,
                         int64_t &first, int64_t &end);
  std::optional<int64_t> offsetOf(int64_t number);
  TensorValue copy(const TensorValue &tensor, const Axes &axes,
                   ArrayRef<Place> from);
  TensorValue copyScale(const TensorValue &scale, ArrayRef<Place> from);
  TensorValue copyScores(const TensorValue &tensor, int64_t number,
                         int64_t rows, int64_t keys);

  Machine &machine;
  Operation *op;
  const SdpaInputs &in;
  const SdpaPlaces &places;
  Axes query, key, value;
};
} // namespace

LogicalResult PlacedSdpa::readEnds(const TensorValue &ends, int64_t number,
                                   int64_t total, int64_t &first,
                                   int64_t &end) {
  first = ends.cells[number].integer;
  end = ends.cells[number + 1].integer;
  if (first >= 0 && first <= end && end <= total)
    return success();
  return op->emitOpError("expects rows of a sequence among ")
         << total << ", got " << first << " to " << end;
}

FailureOr<SmallVector<Place>> PlacedSdpa::rowsOf(int64_t number) {
  int64_t first = 0, end = query.rows;
  if (places.rowEnds &&
      failed(readEnds(*places.rowEnds, number, query.rows, first, end)))
    return failure();
  SmallVector<Place> rows;
  for (; first < end; ++first)
    rows.push_back({places.rowEnds ? 0 : number, first});
  return rows;
}

std::optional<int64_t> PlacedSdpa::offsetOf(int64_t number) {
  if (!in.offset)
    return std::nullopt;
  if (!in.offset->isTensor())
    return in.offset->getScalar().integer;
  const TensorValue &offsets = in.offset->getTensor();
  return offsets.cells[offsets.getRank() == 0 ? 0 : number].integer;
}

FailureOr<SmallVector<Place>> PlacedSdpa::keysOf(int64_t number, int64_t rows) {
  SmallVector<Place> keys;
  if (!places.table) {
    int64_t first = 0, end = key.rows;
    if (places.keyEnds &&
        failed(readEnds(*places.keyEnds, number, key.rows, first, end)))
      return failure();
    for (; first < end; ++first)
      keys.push_back({places.keyEnds ? 0 : number, first});
    return keys;
  }
  int64_t pages = places.table->shape[1], pool = key.shape[0],
          length = pages * key.rows;
  if (in.lengths)
    length = std::clamp<int64_t>(in.lengths->cells[number].integer, 0, length);
  int64_t position = in.causal == Causal::BottomRight
                         ? length - rows
                         : offsetOf(number).value_or(0);
  int64_t last = addSaturating(position, rows - 1);
  for (int64_t page = 0; page < pages; ++page) {
    bool isRead = false;
    for (int64_t row = 0; row < key.rows && !isRead; ++row) {
      int64_t j = page * key.rows + row;
      bool seen = !in.left && !in.right;
      if (!seen && rows > 0)
        seen = (!in.left || j >= addSaturating(position, -*in.left)) &&
               (!in.right || j <= addSaturating(last, *in.right));
      isRead = seen && j < length;
    }
    int64_t entry = places.table->cells[number * pages + page].integer;
    if (isRead && (entry < 0 || entry >= pool))
      return op->emitOpError("expects a page below ")
             << pool << " in 'page_table', got " << entry;
    for (int64_t row = 0; row < key.rows; ++row)
      keys.push_back({entry, row, isRead});
  }
  return keys;
}

TensorValue PlacedSdpa::copy(const TensorValue &tensor, const Axes &axes,
                             ArrayRef<Place> from) {
  TensorValue result(tensor.elementType,
                     {1, axes.heads, int64_t(from.size()), axes.channels},
                     tensor.isFloat() ? realCell(0) : integerCell(0));
  Cell *next = result.cells.data();
  for (int64_t h = 0; h < axes.heads; ++h)
    for (Place place : from) {
      if (place.isThere)
        std::copy_n(tensor.cells.data() + axes.at(place.batch, h, place.row),
                    axes.channels, next);
      next += axes.channels;
    }
  return result;
}

TensorValue PlacedSdpa::copyScale(const TensorValue &scale,
                                  ArrayRef<Place> from) {
  TensorValue result(scale.elementType, {1, key.heads, int64_t(from.size())},
                     realCell(0));
  Cell *next = result.cells.data();
  for (int64_t h = 0; h < key.heads; ++h)
    for (Place place : from) {
      if (place.isThere)
        *next = broadcast(scale, {place.batch, h, place.row});
      ++next;
    }
  return result;
}

TensorValue PlacedSdpa::copyScores(const TensorValue &tensor, int64_t number,
                                   int64_t rows, int64_t keys) {
  TensorValue result(tensor.elementType, {1, query.heads, rows, keys},
                     realCell(0));
  Cell *next = result.cells.data();
  for (int64_t h = 0; h < query.heads; ++h)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < keys; ++j)
        *next++ = broadcast(tensor, {number, h, i, j});
  return result;
}

LogicalResult PlacedSdpa::runEntry(int64_t number, SdpaOutputs &all) {
  FailureOr<SmallVector<Place>> rows = rowsOf(number);
  if (failed(rows))
    return failure();
  int64_t count = rows->size();
  FailureOr<SmallVector<Place>> keys = keysOf(number, count);
  if (failed(keys))
    return failure();
  int64_t width = keys->size();
  TensorValue ownQuery = copy(*in.query, query, *rows),
              ownKey = copy(*in.key, key, *keys),
              ownValue = copy(*in.value, value, *keys), keyScale, valueScale,
              bias, mask, lengths;
  SdpaInputs own = in;
  own.firstEntry = number;
  own.query = &ownQuery;
  own.key = &ownKey;
  own.value = &ownValue;
  own.queryLayout = own.keyLayout = own.valueLayout = own.outputLayout =
      Layout::bhsd;
  auto use = [](const TensorValue *&given, TensorValue &place,
                TensorValue value) {
    place = std::move(value);
    given = &place;
  };
  if (in.keyScale)
    use(own.keyScale, keyScale, copyScale(*in.keyScale, *keys));
  if (in.valueScale)
    use(own.valueScale, valueScale, copyScale(*in.valueScale, *keys));
  if (in.bias)
    use(own.bias, bias, copyScores(*in.bias, number, count, width));
  if (in.mask)
    use(own.mask, mask, copyScores(*in.mask, number, count, width));
  if (in.lengths)
    use(own.lengths, lengths,
        TensorValue(in.lengths->elementType, {1}, in.lengths->cells[number]));
  if (std::optional<int64_t> offset = offsetOf(number))
    own.offset = RuntimeValue(integerCell(*offset));
  FailureOr<SdpaOutputs> result = computeSdpa(machine, op, own);
  if (failed(result))
    return failure();
  Axes output(all.output.shape, in.outputLayout);
  const Cell *from = result->output.cells.data(),
             *lse = result->lse.cells.data();
  for (int64_t h = 0; h < query.heads; ++h)
    for (Place row : *rows) {
      std::copy_n(from, output.channels,
                  all.output.cells.data() + output.at(row.batch, h, row.row));
      from += output.channels;
      int64_t at = (row.batch * query.heads + h) * query.rows + row.row;
      all.lse.cells[at] = *lse++;
    }
  return success();
}

FailureOr<SdpaOutputs> PlacedSdpa::run() {
  bool isWhole = query.shape.size() == 4;
  SmallVector<int64_t, 4> shape, lse;
  if (isWhole) {
    shape.push_back(query.shape[0]);
    lse.push_back(query.shape[0]);
  }
  bool rowsFirst = !isWhole || in.outputLayout == Layout::bshd;
  shape.append({rowsFirst ? query.rows : query.heads,
                rowsFirst ? query.heads : query.rows, value.channels});
  lse.append({query.heads, query.rows});
  Type type = in.query->elementType;
  SdpaOutputs all{TensorValue(type, shape, realCell(0)),
                  TensorValue(type, lse, realCell(0)),
                  /*weights=*/{}};
  int64_t count =
      places.rowEnds ? places.rowEnds->shape[0] - 1 : query.shape[0];
  for (int64_t number = 0; number < count; ++number)
    if (failed(runEntry(number, all)))
      return failure();
  return all;
}

FailureOr<SdpaOutputs> mlir::attn::computePlacedSdpa(Machine &machine,
                                                     Operation *op,
                                                     const SdpaInputs &in,
                                                     const SdpaPlaces &places) {
  return PlacedSdpa(machine, op, in, places).run();
}
