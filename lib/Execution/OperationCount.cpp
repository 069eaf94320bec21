// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts operations without running the function where that is possible.

#include "attn/Execution/OperationCount.h"

#include "attn/Execution/InterpreterBridge.h"
#include "attn/Execution/SingleAttention.h"

using namespace mlir;
using namespace mlir::attn;

static int64_t headsAxis(AxisOrder order) {
  return order == AxisOrder::HeadsFirst ? 1 : 2;
}

static int64_t sequenceAxis(AxisOrder order) {
  return order == AxisOrder::HeadsFirst ? 2 : 1;
}

/// Return element `b` of a vector, or a scalar.
static int64_t elementOf(const HostTensor &tensor, int64_t b) {
  return tensor.loadInteger(
      tensor.getRank() == 0 ? 0 : b * tensor.getStrides().front());
}

/// Rows of which each key is looked at to count those that a region leaves. Of more
/// rows some stand for all.
static constexpr int64_t kCountedRows = 256;

/// Return how many keys from `first` to `end` a row at `position` keeps, over all
/// heads.
static int64_t countKept(const AttentionProblem &p, int64_t b,
                         __int128 position, int64_t first, int64_t end) {
  int64_t heads = p.query->getDim(headsAxis(p.queryOrder));
  if (!p.maskMod)
    return (end - first) * heads;
  int64_t kept = 0;
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t j = first; j < end; ++j)
      kept += p.maskMod->evaluateMask(b, h, static_cast<int64_t>(position), j);
  return kept;
}

int64_t mlir::attn::countAttended(const AttentionProblem &p) {
  int64_t rows = p.query->getDim(sequenceAxis(p.queryOrder));
  int64_t allKeys = p.key->getDim(sequenceAxis(p.keyOrder));
  int64_t attended = 0;
  for (int64_t b = 0, e = p.query->getDim(0); b < e; ++b) {
    int64_t keys = allKeys;
    if (p.kvLengths)
      keys = std::clamp<int64_t>(elementOf(*p.kvLengths, b), 0, allKeys);
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
  int64_t steps = p.key->getDim(sequenceAxis(p.keyOrder)) *
                  p.key->getDim(headsAxis(p.keyOrder)) * (p.beta ? 2 : 1);
  int64_t reads = p.query->getDim(sequenceAxis(p.queryOrder)) *
                  p.query->getDim(headsAxis(p.queryOrder));
  return 2 * p.query->getDim(0) * (steps + reads) * p.query->getDim(3) *
         p.value->getDim(3);
}

llvm::Expected<int64_t>
mlir::attn::countOperations(func::FuncOp function,
                            ArrayRef<HostTensor> inputs) {
  if (SdpaOp op = getSingleAttention(function)) {
    AttentionProblem problem = getProblem(op, inputs);
    return 2 * countAttended(problem) *
           (problem.query->getDim(3) + problem.value->getDim(3));
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
/// batch, which nobody reads.
static int64_t countUnread(const AttentionProblem &p) {
  if (!p.kvLengths)
    return 0;
  int64_t keys = p.key->getDim(sequenceAxis(p.keyOrder)), unread = 0;
  for (int64_t b = 0, e = p.query->getDim(0); b < e; ++b)
    unread += keys - std::clamp<int64_t>(elementOf(*p.kvLengths, b), 0, keys);
  return unread * p.key->getDim(headsAxis(p.keyOrder)) *
         (p.key->getDim(3) * getByteSize(p.key->getKind()) +
          p.value->getDim(3) * getByteSize(p.value->getKind()));
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
