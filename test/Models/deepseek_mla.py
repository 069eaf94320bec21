# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A prompt with keys wider than values, and a step whose value is a part of the key. Cells beyond the length hold NaN.
import numpy as np

from parts import Data, attend, causal, wide


def prompt():
    data = Data(1)
    inputs = [data.normal(1, 4, 33, 192), data.normal(1, 4, 33, 192), data.normal(1, 4, 33, 128)]
    return "prompt", inputs, (attend(*wide(*inputs), causal(33, 33)),)


def step():
    data = Data(2)
    query, cache = data.normal(1, 16, 1, 576), data.normal(1, 1, 80, 576)
    used = wide(cache[:, :, :71])[0]
    cache[:, :, 71:] = np.nan
    return "step", [query, cache, np.array([71], np.int32)], (attend(*wide(query), used, used[..., :512],
                                                                       scale=192 ** -0.5),)


CASES = [prompt(), step()]
