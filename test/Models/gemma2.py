# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention with capped scores, with a window and without; a prompt, and a step. Queries are large, so that caps matter.
from parts import Data, attend, causal, wide


def case(function, rows, keys, window):
    data = Data(rows + keys)
    inputs = [data.normal(1, 8, rows, 32, size=30), data.normal(1, 4, keys, 32), data.normal(1, 4, keys, 32)]
    keep = causal(rows, keys, offset=keys - rows, window=window)
    return function, inputs, (attend(*wide(*inputs), keep, scale=0.0625, softcap=50.0),)


CASES = [case("local", 70, 70, 32), case("local", 1, 100, 32), case("global", 70, 70, None)]
