# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Patches of time series as tokens.
import numpy as np

from parts import Data, attend, join, linear, split, wide

HEADS, WIDTH, PATCH, STEP, COUNT = 4, 32, 16, 8, 15


def layer(series, embedding, positions, wq, bq, wk, bk, wv, bv, wo, bo):
    patches = np.stack([series[:, STEP * p:STEP * p + PATCH] for p in range(COUNT)], axis=1)
    x = linear(patches, embedding) + positions
    query, key, value = (split(linear(x, w, b), HEADS) for w, b in [(wq, bq), (wk, bk), (wv, bv)])
    return x + linear(join(attend(query, key, value)), wo, bo),


def case(count):
    data = Data(count)
    inputs = [data.normal(count, 128), data.weight(WIDTH, PATCH), data.normal(COUNT, WIDTH, size=0.1)]
    inputs += [array for _ in range(4) for array in (data.weight(WIDTH, WIDTH), data.normal(WIDTH, size=0.1))]
    return "layer", inputs, layer(*wide(*inputs))


CASES = [case(7), case(1)]
