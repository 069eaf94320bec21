// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts operations without running the function where that is possible.

#include "attn/Execution/OperationCount.h"

#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/SingleAttention.h"

using namespace mlir;
using namespace mlir::attn;

/// Return how many heads `tensor` has. Without a batch it is rows, heads, channels.
static int64_t countHeads(const HostTensor &tensor, AxisOrder order) {
  bool isSecond = tensor.getRank() == 3 || order == AxisOrder::HeadsFirst;
  return tensor.getDim(isSecond ? 1 : 2);
}

/// Return how many rows it has: of an entry of the batch or a page, or of all
/// sequences.
static int64_t countRows(const HostTensor &tensor, AxisOrder order) {
  if (tensor.getRank() == 3)
    return tensor.getDim(0);
  return tensor.getDim(order == AxisOrder::HeadsFirst ? 2 : 1);
}

/// Return element `b` of a vector, or a scalar.
static int64_t elementOf(const HostTensor &tensor, int64_t b) {
  return tensor.loadInteger(
      tensor.getRank() == 0 ? 0 : b * tensor.getStrides().front());
}

/// Return how many rows sequence `b` has that `ends` tell, or `all` without them.
static int64_t countOwn(const HostTensor *ends, int64_t b, int64_t all) {
  return ends ? elementOf(*ends, b + 1) - elementOf(*ends, b) : all;
}

/// Return how many entries the batch has.
static int64_t countEntries(const AttentionProblem &p) {
  return p.rowEnds ? p.rowEnds->getDim(0) - 1 : p.query->getDim(0);
}

/// Rows of which each key is looked at to count those that a region leaves. Of more
/// rows some stand for all.
static constexpr int64_t kCountedRows = 256;

/// Return how many keys from `first` to `end` a row at `position` keeps, over all
/// heads.
static int64_t countKept(const AttentionProblem &p, int64_t b,
                         __int128 position, int64_t first, int64_t end) {
  int64_t heads = countHeads(*p.query, p.queryOrder);
  if (!p.maskMod)
    return (end - first) * heads;
  int64_t kept = 0;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t j = first; j < end; ++j)
      kept += p.maskMod->evaluateMask(b, h, static_cast<int64_t>(position), j);
  return kept;
}

int64_t mlir::attn::countAttended(const AttentionProblem &p) {
  int64_t allRows = countRows(*p.query, p.queryOrder);
  int64_t allKeys = countRows(*p.key, p.keyOrder);
  if (p.pageTable)
    allKeys *= p.pageTable->getDim(1);
  int64_t attended = 0;
  for (int64_t b = 0, e = countEntries(p); b < e; ++b) {
    int64_t rows = countOwn(p.rowEnds, b, allRows);
    int64_t keys = countOwn(p.keyEnds, b, allKeys);
    if (p.kvLengths)
      keys = std::clamp<int64_t>(elementOf(*p.kvLengths, b), 0, keys);
    int64_t offset = 0;
    if (p.queryOffset)
      offset = elementOf(*p.queryOffset, b);
    else if (p.causal == Diagonal::BottomRight)
      offset = keys - rows;
    int64_t step = p.maskMod ? std::max<int64_t>(rows / kCountedRows, 1) : 1;
    for (int64_t i = 0; i < rows; i += step) {
      // Wide enough for every sum of two 64-bit numbers.
      __int128 position = __int128(i) + offset;
      __int128 first = 0, end = keys;
      if (p.causal != Diagonal::None)
        end = std::min(end, position + 1);
      if (p.windowLeft)
        first = std::max(first, position - *p.windowLeft);
      if (p.windowRight)
        end = std::min(end, position + *p.windowRight + 1);
      if (end > first)
        attended += std::min(step, rows - i) *
                    countKept(p, b, position, static_cast<int64_t>(first),
                              static_cast<int64_t>(end));
    }
  }
  return attended;
}

/// Return the operations of a linear attention step by step: the write, the read
/// of each query, and with a delta rule that of the key.
static int64_t countLinear(const LinearProblem &p) {
  int64_t steps = countRows(*p.key, p.keyOrder) *
                  countHeads(*p.key, p.keyOrder) * (p.beta ? 2 : 1);
  int64_t reads =
      countRows(*p.query, p.queryOrder) * countHeads(*p.query, p.queryOrder);
  return 2 * p.query->getDim(0) * (steps + reads) * p.query->getDim(3) *
         p.value->getDim(3);
}

llvm::Expected<int64_t>
mlir::attn::countOperations(func::FuncOp function,
                            ArrayRef<HostTensor> inputs) {
  if (SdpaOp op = getSingleAttention(function)) {
    AttentionProblem problem = getProblem(op, inputs);
    return 2 * countAttended(problem) *
           (problem.query->getShape().back() +
            problem.value->getShape().back());
  }
  if (LinearAttentionOp op = getSingleLinearAttention(function))
    return countLinear(getProblem(op, inputs));
  AttentionStatistics statistics;
  auto results =
      interpretOnHost(function, inputs, Arithmetic::Exact, statistics);
  if (!results)
    return results.takeError();
  return statistics.operations;
}

/// Return how many bytes of keys and values lie behind the last key of each
/// batch, which nobody reads. Pages, which entries may share, all count as read.
static int64_t countUnread(const AttentionProblem &p) {
  if (!p.kvLengths || p.pageTable)
    return 0;
  int64_t allKeys = countRows(*p.key, p.keyOrder), unread = 0;
  for (int64_t b = 0, e = countEntries(p); b < e; ++b) {
    int64_t keys = countOwn(p.keyEnds, b, allKeys);
    unread += keys - std::clamp<int64_t>(elementOf(*p.kvLengths, b), 0, keys);
  }
  return unread * countHeads(*p.key, p.keyOrder) *
         (p.key->getShape().back() * getByteSize(p.key->getKind()) +
          p.value->getShape().back() * getByteSize(p.value->getKind()));
}

llvm::Expected<Workload> mlir::attn::describeWork(func::FuncOp function,
                                                  ArrayRef<HostTensor> inputs) {
  auto operations = countOperations(function, inputs);
  if (!operations)
    return operations.takeError();
  Workload workload;
  workload.operations = *operations;
  for (const HostTensor &input : inputs) {
    workload.inputBytes += input.getSize() * getByteSize(input.getKind());
    workload.isDouble |= input.getKind() == ElementKind::F64;
  }
  if (SdpaOp op = getSingleAttention(function))
    workload.inputBytes -= countUnread(getProblem(op, inputs));
  return workload;
}
