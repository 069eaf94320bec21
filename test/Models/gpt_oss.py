# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention with sinks; one of them is far above all scores, so that its head attends to nearly nothing.
import numpy as np

from parts import Data, attend, causal, wide


def case(function, rows, keys, window):
    data = Data(rows + keys)
    sinks = data.normal(8)
    sinks[3] = 60
    inputs = [data.normal(1, 8, rows, 64), data.normal(1, 1, keys, 64), data.normal(1, 1, keys, 64), sinks]
    keep = causal(rows, keys, offset=keys - rows, window=window)
    return function, inputs, (attend(*wide(*inputs[:3]), keep, sinks=sinks.astype(np.float64)),)


CASES = [case("windowed", 45, 45, 16), case("dense", 45, 45, None), case("dense", 1, 90, None)]
