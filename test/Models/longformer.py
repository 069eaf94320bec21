# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A window on both sides and three global tokens, which see all by projections of their own.
import numpy as np

from parts import Data, attend, wide


def case(rows, count):
    data = Data(rows)
    inputs = [data.normal(1, 2, n, 16) for n in (rows, rows, rows, count, rows, rows)]
    q, k, v, global_q, global_k, global_v = wide(*inputs)
    distance = np.abs(np.arange(rows)[:, None] - np.arange(rows))
    y = attend(q, k, v, (distance <= 8) | (np.arange(rows) < count))
    y[:, :, :count] = attend(global_q, global_k, global_v)
    return "layer", inputs, (y,)


CASES = [case(90, 3), case(700, 3)]
