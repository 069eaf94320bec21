# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A block of GPT-2: a prompt without a past, a chunk, and one token.
import numpy as np

from parts import Data, attend, causal, gelu, join, layer_norm, linear, split, wide

HEADS, WIDTH = 4, 64


def block(x, past_key, past_value, scale1, shift1, wq, bq, wk, bk, wv, bv, wo, bo, scale2, shift2, w1, b1, w2, b2):
    n = layer_norm(x, scale1, shift1)
    key = np.concatenate([past_key, split(linear(n, wk, bk), HEADS)], axis=2)
    value = np.concatenate([past_value, split(linear(n, wv, bv), HEADS)], axis=2)
    keep = causal(x.shape[1], key.shape[2], offset=past_key.shape[2])
    h = x + linear(join(attend(split(linear(n, wq, bq), HEADS), key, value, keep)), wo, bo)
    return h + linear(gelu(linear(layer_norm(h, scale2, shift2), w1, b1)), w2, b2), key, value


def case(rows, past):
    data = Data(rows + past)
    cache = [data.normal(2, HEADS, past, WIDTH // HEADS) for _ in range(2)]
    inputs = [data.normal(2, rows, WIDTH), *cache, 1 + data.normal(WIDTH, size=0.1), data.normal(WIDTH, size=0.1)]
    for _ in range(4):
        inputs += [data.weight(WIDTH, WIDTH), data.normal(WIDTH, size=0.1)]
    inputs += [1 + data.normal(WIDTH, size=0.1), data.normal(WIDTH, size=0.1), data.weight(4 * WIDTH, WIDTH),
               data.normal(4 * WIDTH, size=0.1), data.weight(WIDTH, 4 * WIDTH), data.normal(WIDTH, size=0.1)]
    return "block", inputs, block(*wide(*inputs))


CASES = [case(9, 0), case(5, 12), case(1, 70)]
