# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention of CLIP's text tower (causal, 77 tokens) and image tower (49 patches and a class token).
from parts import Data, attend, causal, join, linear, split, wide


def layer(heads, keep, x, wq, bq, wk, bk, wv, bv, wo, bo):
    query, key, value = (split(linear(x, w, b), heads) for w, b in [(wq, bq), (wk, bk), (wv, bv)])
    return x + linear(join(attend(query, key, value, keep)), wo, bo),


def case(function, tokens, width, heads, keep):
    data = Data(width)
    inputs = [data.normal(3, tokens, width)]
    inputs += [array for _ in range(4) for array in (data.weight(width, width), data.normal(width, size=0.1))]
    return function, inputs, layer(heads, keep, *wide(*inputs))


CASES = [case("text", 77, 64, 8, causal(77, 77)), case("image", 50, 96, 12, True)]
