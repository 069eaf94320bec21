# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention with a window, of a prompt much longer than it and of a step.
from parts import Data, attend, causal, wide


def case(rows, keys):
    data = Data(rows + keys)
    inputs = [data.normal(1, 8, rows, 32), data.normal(1, 2, keys, 32), data.normal(1, 2, keys, 32)]
    return "attention", inputs, (attend(*wide(*inputs), causal(rows, keys, offset=keys - rows, window=24)),)


CASES = [case(300, 300), case(1, 300)]
