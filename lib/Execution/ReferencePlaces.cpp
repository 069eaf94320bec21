// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies what belongs to one entry of the batch, be it in pages or among other sequences, into tensors of its own, and
// the results back. A key in a page that is not read is NaN: it must have no effect.

#include "ReferencePlaces.h"

#include "ReferenceParts.h"

#include <cmath>
#include <limits>

using namespace mlir::attn;
using namespace mlir::attn::reference;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

namespace {
/// A query, a key, a value or an output, which may have no batch: then it is rows,
/// heads, channels.
struct Rows {
  Rows(const HostTensor &tensor, AxisOrder order) : tensor(tensor) {
    bool isWhole = tensor.getRank() == 4;
    bool headsFirst = isWhole && order == AxisOrder::HeadsFirst;
    batch = isWhole ? 0 : -1;
    heads = (isWhole ? 1 : 0) + (headsFirst ? 0 : 1);
    rows = (isWhole ? 1 : 0) + (headsFirst ? 1 : 0);
  }

  int64_t getHeads() const { return tensor.getDim(heads); }
  int64_t getRows() const { return tensor.getDim(rows); }
  int64_t getChannels() const { return tensor.getShape().back(); }
  int64_t offset(int64_t b, int64_t h, int64_t row, int64_t channel) const {
    llvm::ArrayRef<int64_t> strides = tensor.getStrides();
    return (batch < 0 ? 0 : b * strides[batch]) + h * strides[heads] +
           row * strides[rows] + channel * strides.back();
  }

  const HostTensor &tensor;
  int64_t batch, heads, rows;
};

/// Where a row or a key is: the batch entry or page, and the number there; nowhere
/// where a page is not read.
struct Place {
  int64_t batch = -1, row = 0;
};

/// One entry of the batch of a problem, as a problem of its own.
class Entry {
public:
  Entry(const AttentionProblem &problem, int64_t number)
      : p(problem), number(number), query(*p.query, p.queryOrder),
        key(*p.key, p.keyOrder), value(*p.value, p.valueOrder) {}

  Error read();
  AttentionProblem getProblem() const;
  void write(const AttentionResult &result, AttentionResult &all) const;

private:
  Error findRows();
  Error findKeys();
  Error copy(const Rows &from, llvm::ArrayRef<Place> places, HostTensor &to);
  Error copyScale(const HostTensor *from, HostTensor &to);
  Error copyScores(const HostTensor *from, HostTensor &to);
  Error copyNumber(const HostTensor *from, HostTensor &to);

  const AttentionProblem &p;
  int64_t number;
  Rows query, key, value;
  llvm::SmallVector<Place> rows, keys;
  HostTensor ownQuery, ownKey, ownValue, keyScale, valueScale, bias, mask,
      lengths, offset;
};
} // namespace

/// Return the first and the end of the rows of a sequence, which must be among
/// `total`.
static Expected<std::pair<int64_t, int64_t>>
readEnds(const HostTensor &ends, int64_t number, int64_t total) {
  int64_t stride = ends.getStrides()[0];
  int64_t first = ends.loadInteger(number * stride),
          end = ends.loadInteger((number + 1) * stride);
  if (first < 0 || end < first || end > total)
    return createStringError("a sequence of rows " + Twine(first) + " to " +
                             Twine(end) + " of " + Twine(total));
  return std::make_pair(first, end);
}

Error Entry::findRows() {
  int64_t first = 0, end = query.getRows();
  if (p.rowEnds) {
    auto found = readEnds(*p.rowEnds, number, end);
    if (!found)
      return found.takeError();
    std::tie(first, end) = *found;
  }
  for (int64_t row = first; row < end; ++row)
    rows.push_back({p.rowEnds ? 0 : number, row});
  return Error::success();
}

Error Entry::findKeys() {
  if (!p.pageTable) {
    int64_t first = 0, end = key.getRows();
    if (p.keyEnds) {
      auto found = readEnds(*p.keyEnds, number, end);
      if (!found)
        return found.takeError();
      std::tie(first, end) = *found;
    }
    for (int64_t row = first; row < end; ++row)
      keys.push_back({p.keyEnds ? 0 : number, row});
    return Error::success();
  }
  int64_t page = key.getRows(), pages = p.pageTable->getDim(1),
          pool = p.key->getDim(0), count = page * pages;
  int64_t length = count, low = 0, high = INT64_MAX;
  if (p.kvLengths)
    length = std::clamp<int64_t>(
        p.kvLengths->loadInteger(number * p.kvLengths->getStrides()[0]), 0,
        count);
  int64_t position = 0;
  if (p.queryOffset)
    position = p.queryOffset->loadInteger(
        p.queryOffset->getRank() ? number * p.queryOffset->getStrides()[0] : 0);
  else if (p.causal == Diagonal::BottomRight)
    position = length - static_cast<int64_t>(rows.size());
  if (p.windowLeft)
    low = addSaturating(position, -*p.windowLeft);
  if (p.windowRight)
    high =
        addSaturating(addSaturating(position, rows.size() - 1), *p.windowRight);
  if ((p.windowLeft || p.windowRight) && rows.empty())
    high = -1;
  for (int64_t at = 0; at < pages; ++at) {
    // Whether its page holds a key that counts.
    bool isRead =
        std::max(at * page, low) < std::min((at + 1) * page, length) &&
        at * page <= high;
    int64_t entry =
        p.pageTable->loadInteger(p.pageTable->getOffset({number, at}));
    if (isRead && (entry < 0 || entry >= pool))
      return createStringError("page " + Twine(entry) + " of " + Twine(pool));
    for (int64_t row = 0; row < page; ++row)
      keys.push_back(isRead ? Place{entry, row} : Place{});
  }
  return Error::success();
}

Error Entry::copy(const Rows &from, llvm::ArrayRef<Place> places,
                  HostTensor &to) {
  int64_t heads = from.getHeads(), channels = from.getChannels();
  auto made = HostTensor::create(
      from.tensor.getKind(),
      {1, heads, static_cast<int64_t>(places.size()), channels});
  if (!made)
    return made.takeError();
  to = *made;
  int64_t next = 0;
  for (int64_t h = 0; h < heads; ++h)
    for (Place place : places)
      for (int64_t c = 0; c < channels; ++c, ++next) {
        if (place.batch >= 0)
          to.store(next,
                   from.tensor.load(from.offset(place.batch, h, place.row, c)));
        else if (isFloat(to.getKind()))
          to.store(next, std::nan(""));
      }
  return Error::success();
}

/// Return the element of `tensor` at `index`, aligned to the right; an extent of 1
/// is the same for all.
static double loadBroadcast(const HostTensor &tensor,
                            llvm::ArrayRef<int64_t> index) {
  int64_t offset = 0, rank = tensor.getRank();
  llvm::ArrayRef<int64_t> own = index.take_back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (tensor.getDim(dim) != 1)
      offset += own[dim] * tensor.getStrides()[dim];
  return tensor.load(offset);
}

Error Entry::copyScale(const HostTensor *from, HostTensor &to) {
  if (!from)
    return Error::success();
  int64_t heads = key.getHeads();
  auto made = HostTensor::create(from->getKind(),
                                 {1, heads, static_cast<int64_t>(keys.size())});
  if (!made)
    return made.takeError();
  to = *made;
  int64_t next = 0;
  for (int64_t h = 0; h < heads; ++h)
    for (Place place : keys)
      to.store(next++, place.batch < 0
                           ? std::nan("")
                           : loadBroadcast(*from, {place.batch, h, place.row}));
  return Error::success();
}

Error Entry::copyScores(const HostTensor *from, HostTensor &to) {
  if (!from)
    return Error::success();
  int64_t heads = query.getHeads(), count = rows.size(), width = keys.size();
  auto made = HostTensor::create(from->getKind(), {1, heads, count, width});
  if (!made)
    return made.takeError();
  to = *made;
  int64_t next = 0;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width; ++j)
        to.store(next++, loadBroadcast(*from, {number, h, i, j}));
  return Error::success();
}

Error Entry::copyNumber(const HostTensor *from, HostTensor &to) {
  if (!from)
    return Error::success();
  auto made = HostTensor::create(from->getKind(), {1});
  if (!made)
    return made.takeError();
  to = *made;
  to.storeInteger(0, from->loadInteger(
                         from->getRank() ? number * from->getStrides()[0] : 0));
  return Error::success();
}

Error Entry::read() {
  if (Error error = findRows())
    return error;
  if (Error error = findKeys())
    return error;
  if (Error error = copy(query, rows, ownQuery))
    return error;
  if (Error error = copy(key, keys, ownKey))
    return error;
  if (Error error = copy(value, keys, ownValue))
    return error;
  if (Error error = copyScale(p.keyScale, keyScale))
    return error;
  if (Error error = copyScale(p.valueScale, valueScale))
    return error;
  if (Error error = copyScores(p.bias, bias))
    return error;
  if (Error error = copyScores(p.mask, mask))
    return error;
  if (Error error = copyNumber(p.kvLengths, lengths))
    return error;
  return copyNumber(p.queryOffset, offset);
}

AttentionProblem Entry::getProblem() const {
  AttentionProblem own = p;
  own.firstEntry = number;
  auto use = [](const HostTensor *&place, const HostTensor &tensor) {
    if (place)
      place = &tensor;
  };
  use(own.query, ownQuery);
  use(own.key, ownKey);
  use(own.value, ownValue);
  use(own.keyScale, keyScale);
  use(own.valueScale, valueScale);
  use(own.bias, bias);
  use(own.mask, mask);
  use(own.kvLengths, lengths);
  use(own.queryOffset, offset);
  own.pageTable = own.rowEnds = own.keyEnds = nullptr;
  own.queryOrder = own.keyOrder = own.valueOrder = own.outputOrder =
      AxisOrder::HeadsFirst;
  return own;
}

void Entry::write(const AttentionResult &result, AttentionResult &all) const {
  Rows output(all.output, p.outputOrder), mayShow(all.mayShow, p.outputOrder);
  int64_t heads = query.getHeads(), channels = value.getChannels(), next = 0,
          nextRow = 0;
  llvm::ArrayRef<int64_t> strides = all.lse.getStrides();
  for (int64_t h = 0; h < heads; ++h)
    for (Place row : rows) {
      int64_t at = h * strides[strides.size() - 2] + row.row * strides.back();
      if (strides.size() == 3)
        at += row.batch * strides[0];
      all.lse.store(at, result.lse.load(nextRow++));
      for (int64_t c = 0; c < channels; ++c, ++next) {
        int64_t to = output.offset(row.batch, h, row.row, c);
        all.output.store(to, result.output.load(next));
        all.mayShow.storeInteger(mayShow.offset(row.batch, h, row.row, c),
                                 result.mayShow.loadInteger(next));
      }
    }
  all.largestScore = std::max(all.largestScore, result.largestScore);
  all.largestFinalScore =
      std::max(all.largestFinalScore, result.largestFinalScore);
  all.largestValue = std::max(all.largestValue, result.largestValue);
  all.attended += result.attended;
}

/// Allocate the results of `p`, like the query.
static Error allocate(const AttentionProblem &p, ElementKind outputKind,
                      ElementKind lseKind, AttentionResult &result) {
  Rows query(*p.query, p.queryOrder);
  int64_t rank = p.query->getRank(), rows = query.getRows(),
          heads = query.getHeads();
  llvm::SmallVector<int64_t, 4> shape, lse;
  if (rank == 4) {
    shape.push_back(p.query->getDim(0));
    lse.push_back(shape[0]);
  }
  bool headsFirst = rank == 4 && p.outputOrder == AxisOrder::HeadsFirst;
  shape.push_back(headsFirst ? heads : rows);
  shape.push_back(headsFirst ? rows : heads);
  shape.push_back(p.value->getShape().back());
  lse.append({heads, rows});
  for (auto [tensor, kind, extents] :
       {std::tuple<HostTensor *, ElementKind, llvm::ArrayRef<int64_t>>{
            &result.output, outputKind, shape},
        {&result.lse, lseKind, lse},
        {&result.mayShow, ElementKind::I1, shape}}) {
    auto made = HostTensor::create(kind, extents);
    if (!made)
      return made.takeError();
    *tensor = *made;
  }
  return Error::success();
}

Expected<AttentionResult> mlir::attn::computeByEntry(
    const AttentionProblem &problem, ElementKind outputKind,
    ElementKind lseKind,
    llvm::function_ref<Expected<AttentionResult>(const AttentionProblem &)>
        compute) {
  AttentionResult all;
  if (Error error = allocate(problem, outputKind, lseKind, all))
    return std::move(error);
  int64_t count = problem.rowEnds ? problem.rowEnds->getDim(0) - 1
                                  : problem.query->getDim(0);
  for (int64_t number = 0; number < count; ++number) {
    Entry entry(problem, number);
    if (Error error = entry.read())
      return std::move(error);
    auto result = compute(entry.getProblem());
    if (!result)
      return result;
    entry.write(*result, all);
  }
  return all;
}
