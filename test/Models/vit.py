# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The attention half of a ViT layer.
from parts import Data, attend, join, layer_norm, linear, split, wide

HEADS, WIDTH = 3, 48


def layer(x, scale, shift, wq, bq, wk, bk, wv, bv, wo, bo):
    n = layer_norm(x, scale, shift, 1e-6)
    query, key, value = (split(linear(n, w, b), HEADS) for w, b in [(wq, bq), (wk, bk), (wv, bv)])
    return x + linear(join(attend(query, key, value)), wo, bo),


def case(tokens):
    data = Data(tokens)
    inputs = [data.normal(2, tokens, WIDTH), 1 + data.normal(WIDTH, size=0.1), data.normal(WIDTH, size=0.1)]
    inputs += [array for _ in range(4) for array in (data.weight(WIDTH, WIDTH), data.normal(WIDTH, size=0.1))]
    return "layer", inputs, layer(*wide(*inputs))


CASES = [case(17), case(197)]
