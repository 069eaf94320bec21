// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn.block_step, attn.merge, attn.finish and attn.merge_outputs by their
// definition. A state of a row is (r, s, a): the sum of the weights is s e^r,
// the sum of the weighted values a e^r; (-inf, 0, 0) is empty.

#include "Sdpa.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::attn;

/// Return the factor that makes something relative to e^`from` relative to
/// e^`to`; the empty state has nothing to scale.
static double rescale(double from, double to) {
  return from == to                     ? 1
         : std::isinf(from) && from < 0 ? 0
                                        : std::exp(from - to);
}

static LogicalResult runMergeOutputs(Machine &machine, MergeOutputsOp op) {
  TensorValue output = machine.getTensor(op.getOutputs().front());
  TensorValue lse = machine.getTensor(op.getLses().front());
  int64_t channels = output.shape.back();
  for (Value part : op.getLses())
    if (machine.getTensor(part).shape != lse.shape)
      return op.emitOpError("expects parts of one shape");
  for (Value part : op.getOutputs())
    if (machine.getTensor(part).shape != output.shape)
      return op.emitOpError("expects parts of one shape");
  for (int64_t row = 0, e = lse.getSize(); row < e; ++row) {
    double reference = -std::numeric_limits<double>::infinity(), sum = 0;
    for (Value part : op.getLses())
      reference = std::fmax(reference, machine.getTensor(part).cells[row].real);
    SmallVector<double> values(channels, 0);
    for (auto [part, partLse] :
         llvm::zip_equal(op.getOutputs(), op.getLses())) {
      double logSum = machine.getTensor(partLse).cells[row].real;
      if (logSum == -std::numeric_limits<double>::infinity())
        continue;
      double weight = rescale(logSum, reference);
      sum += weight;
      for (int64_t c = 0; c < channels; ++c)
        values[c] +=
            weight * machine.getTensor(part).cells[row * channels + c].real;
    }
    lse.cells[row].real =
        machine.round(reference + std::log(sum), lse.elementType);
    for (int64_t c = 0; c < channels; ++c)
      output.cells[row * channels + c].real =
          machine.round(sum == 0 ? 0 : values[c] / sum, output.elementType);
  }
  machine.set(op.getOutput(), std::move(output));
  machine.set(op.getLse(), std::move(lse));
  return success();
}

void mlir::attn::addStateHandlers(Machine &machine) {
  addHandler<MergeOutputsOp, runMergeOutputs>(machine);
}
