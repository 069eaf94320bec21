# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gated cross-attention; the first words of one text come before any image and get exactly what they bring.
import numpy as np

from parts import Data, attend, join, linear, split, wide

LATENTS = 8


def layer(x, media, image, gate, wq, wk, wv, wo):
    mine = np.arange(media.shape[1]) // LATENTS + 1
    keep = (image[:, :, None] == mine)[:, None]
    query, key, value = split(linear(x, wq), 4), split(linear(media, wk), 4), split(linear(media, wv), 4)
    return x + np.tanh(gate) * linear(join(attend(query, key, value, keep)), wo)


def case():
    data = Data(3)
    image = np.array([[0] * 5 + [1] * 20 + [2] * 15, [1] * 10 + [2] * 10 + [3] * 20], np.int32)
    x, media, gate = data.normal(2, 40, 64), data.normal(2, 3 * LATENTS, 48), np.float32(0.7)
    weights = [data.weight(64, 64), data.weight(64, 48), data.weight(64, 48), data.weight(64, 64)]
    wide_x, wide_media, wide_gate, *wide_weights = wide(x, media, gate, *weights)
    y = layer(wide_x, wide_media, image, wide_gate, *wide_weights)
    assert (y[0, :5] == x[0, :5]).all()
    return "layer", [x, media, image, gate, *weights], (y,)


CASES = [case()]
