# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch on the CPU: scaled_dot_product_attention in every form that says the same, flex_attention for windows, layers as
# a module or by linear.
import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import linear
from torch.nn.functional import scaled_dot_product_attention as attend

from workload import Layer

# Rows up to which heads that share keys are worth calling rows of one head.
FEW_ROWS = 16


def start(threads):
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)


def about():
    return {"version": torch.__version__, "vectors": torch.backends.cpu.get_cpu_capability()}


def tensor(array):
    if array.dtype.kind in "fb":
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)


def fetch_from(result, shape):
    """A function that gives the last result as numpy has it."""
    def fetch():
        y = result[0].reshape(shape)
        return (y.float() if y.dtype == torch.bfloat16 else y).numpy()
    return fetch


def way(w, function):
    """A pair of functions out of one that computes."""
    result = [None]

    def call():
        result[0] = function()

    return call, fetch_from(result, w.shape)


def masks(w):
    """(words, mask or None, is_causal) in all forms that this workload can take."""
    q, _, _, extra = w.arrays
    if extra is not None and extra.dtype != bool:
        yield "", tensor(extra.astype(q.dtype)), False
        return
    if extra is None and not w.ruled:
        yield "", None, False
        return
    if w.causal == "top_left" and not w.windowed:
        yield ", is_causal", None, True
        return
    mask = w.allowed() if extra is None else extra
    yield ", bool mask", tensor(mask), False
    as_float = torch.zeros(mask.shape).masked_fill(~tensor(mask), float("-inf"))
    yield ", float mask", as_float.to(tensor(q[:1, :1, :1]).dtype), False


def sdpa_ways(w, q, k, v):
    for words, mask, causal in masks(w):
        if w.repeats > 1:
            yield f"enable_gqa{words}", lambda m=mask, c=causal: way(
                w, lambda: attend(q, k, v, attn_mask=m, is_causal=c, enable_gqa=True))
            if mask is None or mask.shape[0] == 1:
                yield f"heads as views{words}", lambda m=mask, c=causal: way(w, expanded(w, q, k, v, m, c))
        else:
            yield f"sdpa{words}", lambda m=mask, c=causal: way(w, lambda: attend(q, k, v, attn_mask=m, is_causal=c))
        if w.repeats > 1 and w.M <= FEW_ROWS and not causal:
            yield f"heads as rows{words}", lambda m=mask: way(w, folded(w, q, k, v, m))
            yield f"heads as rows, math{words}", lambda m=mask: way(w, with_math(folded(w, q, k, v, m)))
        if w.repeats == 1:
            yield f"sdpa, rows before heads{words}", lambda m=mask, c=causal: way(w, swapped(q, k, v, m, c))


def with_math(function):
    def call():
        with sdpa_kernel(SDPBackend.MATH):
            return function()
    return call


def expanded(w, q, k, v, mask, causal):
    """Key heads repeated as views: no byte is copied."""
    wide = (w.B * w.G, w.repeats, w.N, w.D)
    q = q.reshape(w.B * w.G, w.repeats, w.M, w.D)
    k, v = (x.reshape(w.B * w.G, 1, w.N, w.D).expand(wide) for x in (k, v))
    return lambda: attend(q, k, v, attn_mask=mask, is_causal=causal)


def folded(w, q, k, v, mask):
    """Heads that share keys are rows of one head."""
    q = q.reshape(w.B, w.G, w.repeats * w.M, w.D)
    if mask is not None:
        mask = mask.repeat(1, 1, w.repeats, 1)
    return lambda: attend(q, k, v, attn_mask=mask)


def swapped(q, k, v, mask, causal):
    """Memory in the order [B, M, H, D]."""
    q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
    return lambda: attend(q, k, v, attn_mask=mask, is_causal=causal)


def one_by_one(w, q, k, v):
    """A call for each batch, with its own number of keys."""
    rows = w.repeats * w.M
    parts = [(q[b:b + 1].reshape(1, w.G, rows, w.D), k[b:b + 1, :, :n], v[b:b + 1, :, :n])
             for b, n in enumerate(w.lengths)]
    output = torch.empty(w.B, w.G, rows, w.D)

    def call():
        for b, part in enumerate(parts):
            output[b:b + 1] = attend(*part)
        return output

    return call


def flex(w, q, k, v):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def inside(b, h, i, j):
        good = j >= 0
        if w.causal == "top_left":
            good = good & (j <= i)
        if w.left >= 0:
            good = good & (j >= i - w.left)
        if w.right >= 0:
            good = good & (j <= i + w.right)
        return good

    block_mask = create_block_mask(inside, None, None, w.M, w.N, device="cpu")
    compiled = torch.compile(flex_attention)
    return lambda: compiled(q, k, v, block_mask=block_mask)


def joined(pairs):
    """Weight and bias of query, key and value as one."""
    return (torch.cat(parts) for parts in zip(*pairs[:3]))


def module(w, x, pairs):
    """torch.nn.MultiheadAttention, which has a fast path for inference."""
    layer = torch.nn.MultiheadAttention(w.shape[2], w.H, batch_first=True).eval()
    layer.in_proj_weight.data, layer.in_proj_bias.data = joined(pairs)
    layer.out_proj.weight.data, layer.out_proj.bias.data = pairs[3]
    return lambda: layer(x, x, x, need_weights=False)[0]


def by_linear(w, x, pairs):
    def heads(y):
        return y.view(w.B, w.M, w.H, w.D).transpose(1, 2)

    def call():
        q, k, v = (heads(linear(x, *pair)) for pair in pairs[:3])
        return linear(attend(q, k, v).transpose(1, 2).reshape(w.shape), *pairs[3])

    return call


def by_one_linear(w, x, pairs):
    weight, bias = joined(pairs)

    def call():
        q, k, v = linear(x, weight, bias).view(w.B, w.M, 3, w.H, w.D).permute(2, 0, 3, 1, 4)
        return linear(attend(q, k, v).transpose(1, 2).reshape(w.shape), *pairs[3])

    return call


def layer_ways(w):
    x, pairs = w.arrays
    x, pairs = tensor(x), [tuple(map(tensor, pair)) for pair in pairs]
    yield "MultiheadAttention", lambda: way(w, module(w, x, pairs))
    yield "linear, sdpa", lambda: way(w, by_linear(w, x, pairs))
    yield "one linear for query, key and value, sdpa", lambda: way(w, by_one_linear(w, x, pairs))


def ways(w, threads, library):
    if isinstance(w, Layer):
        yield from layer_ways(w)
        return
    q, k, v = map(tensor, w.arrays[:3])
    yield from sdpa_ways(w, q, k, v)
    if w.lengths:
        yield "a call for each batch", lambda: way(w, one_by_one(w, q, k, v))
    if w.windowed:
        yield "flex_attention", lambda: way(w, flex(w, q, k, v))
