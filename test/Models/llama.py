# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The attention half of a LLaMA layer. A prompt of 40 tokens comes whole, and in two chunks, of which the second must
# give the last rows of the whole; then one token more.
import numpy as np

from parts import Data, attend, causal, join, linear, rms_norm, rotary_tables, rotate, split, wide

HEADS, KEYS, SIZE = 8, 2, 8
COS, SIN = rotary_tables(128, SIZE)


def layer(x, past_key, past_value, cos, sin, positions, scale, wq, wk, wv, wo):
    n = rms_norm(x, scale)
    at = np.asarray(positions)
    query = rotate(split(linear(n, wq), HEADS), cos[at], sin[at])
    key = np.concatenate([past_key, rotate(split(linear(n, wk), KEYS), cos[at], sin[at])], axis=2)
    value = np.concatenate([past_value, split(linear(n, wv), KEYS)], axis=2)
    keep = causal(x.shape[1], key.shape[2], offset=past_key.shape[2])
    return x + linear(join(attend(query, key, value, keep)), wo), key, value


def cases():
    data = Data(7)
    width = HEADS * SIZE
    tokens = data.normal(1, 41, width)
    weights = [1 + data.normal(width, size=0.1), data.weight(width, width), data.weight(KEYS * SIZE, width),
               data.weight(KEYS * SIZE, width), data.weight(width, width)]
    positions = np.arange(41, dtype=np.int32)[None]

    def call(first, end, key, value):
        inputs = [tokens[:, first:end], key, value, COS, SIN, positions[:, first:end], *weights]
        x, *rest = wide(*inputs[:5])
        return "layer", inputs, layer(x, *rest, inputs[5], *wide(*weights))

    none = np.zeros((1, KEYS, 0, SIZE), np.float32)
    whole, start = call(0, 40, none, none), call(0, 24, none, none)
    rest = call(24, 40, *(array.astype(np.float32) for array in start[2][1:]))
    if np.abs(rest[2][0] - whole[2][0][:, 24:]).max() > 1e-5:
        raise SystemExit("chunks differ from the whole")
    return [whole, rest, call(40, 41, *(array.astype(np.float32) for array in whole[2][1:]))]


CASES = cases()
