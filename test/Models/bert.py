# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The attention half of a BERT layer, over sentences of different lengths; one fills its row, one is empty.
import numpy as np

from parts import Data, attend, join, layer_norm, linear, split, wide

HEADS, WIDTH = 4, 64


def layer(x, lengths, wq, bq, wk, bk, wv, bv, wo, bo, scale, shift):
    query, key, value = (split(linear(x, w, b), HEADS) for w, b in [(wq, bq), (wk, bk), (wv, bv)])
    keep = (np.arange(x.shape[1]) < lengths[:, None])[:, None, None]
    return layer_norm(x + linear(join(attend(query, key, value, keep)), wo, bo), scale, shift, 1e-12),


def case(rows, lengths):
    data = Data(rows)
    x, lengths = data.normal(len(lengths), rows, WIDTH), np.array(lengths, np.int32)
    weights = [array for _ in range(4) for array in (data.weight(WIDTH, WIDTH), data.normal(WIDTH, size=0.1))]
    weights += [1 + data.normal(WIDTH, size=0.1), data.normal(WIDTH, size=0.1)]
    wide_x, *wide_weights = wide(x, *weights)
    return "layer", [x, lengths, *weights], layer(wide_x, lengths, *wide_weights)


CASES = [case(24, [24, 7, 1, 0]), case(131, [131, 64])]
