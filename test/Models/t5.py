# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention of T5's encoder and decoder with relative buckets, up to distances in the last of them, and the layer that
# looks at the encoder.
import numpy as np

from parts import Data, attend, causal, join, linear, split, wide


def bucket(distance, ahead, count=32, farthest=128):
    """The bucket of distances >= 0; half of the buckets are for keys ahead, where there can be such."""
    if ahead is not None:
        count //= 2
    exact = count // 2
    with np.errstate(divide="ignore"):
        # A hair above, for distances at which the logarithm is whole.
        share = np.log(distance / exact) / np.log(farthest / exact) * (count - exact) + 1e-9
    far = np.minimum(exact + np.floor(np.maximum(share, 0)).astype(int), count - 1)
    return np.where(distance < exact, distance, far) + (0 if ahead is None else count * ahead)


def case(function, rows, keys):
    data = Data(rows + keys)
    inputs = [data.normal(1, 4, rows, 16), data.normal(1, 4, keys, 16), data.normal(1, 4, keys, 16),
              data.normal(32, 4, size=2)]
    behind = np.arange(rows)[:, None] + (keys - rows if function == "decoder" else 0) - np.arange(keys)
    keep = True
    if function == "encoder":
        buckets = bucket(np.abs(behind), behind < 0)
    else:
        buckets, keep = bucket(np.maximum(behind, 0), None), causal(rows, keys, offset=keys - rows)
    bias = inputs[3].astype(np.float64)[buckets].transpose(2, 0, 1)
    return function, inputs, (attend(*wide(*inputs[:3]), keep, scale=1.0, bias=bias),)


def cross():
    data = Data(5)
    inputs = [data.normal(1, 9, 64), data.normal(1, 20, 64), *(data.weight(64, 64) for _ in range(4))]
    x, memory, wq, wk, wv, wo = wide(*inputs)
    query, key, value = split(linear(x, wq), 4), split(linear(memory, wk), 4), split(linear(memory, wv), 4)
    return "cross", inputs, (x + linear(join(attend(query, key, value, scale=1.0)), wo),)


CASES = [case("encoder", 200, 200), case("decoder", 200, 200), case("decoder", 1, 200), cross()]
