// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks a GPU's limits up, and measures those of a processor.

#include "attn/Execution/ReportLimits.h"

#include "attn/Execution/MachinePeaks.h"
#include "attn/Target/CUDA/Architectures.h"

using namespace mlir;
using namespace mlir::attn;

void attn::addLimits(CostReportOptions &options) {
  if (options.limits)
    return;
  if (const Architecture *gpu =
          findArchitecture(StringRef(options.target).split(',').first)) {
    options.limits = {gpu->fmaGflops, gpu->matrixGflops, gpu->readGbs};
    return;
  }
  MachinePeaks peaks = PeakMeter().measure(
      static_cast<unsigned>(options.sizes.lookup("threads")));
  if (peaks.readGbs > 0)
    options.limits = {peaks.fmaGflops, peaks.gemmGflops, peaks.readGbs};
}
