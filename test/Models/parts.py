# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What models are made of, in numpy and f64: written from their papers, without any word of the compiler's.
import numpy as np


class Data:
    """Arrays from a seed, f32, as f64 values that f32 holds exactly."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def normal(self, *shape, size=1.0):
        return (self.random.standard_normal(shape) * size).astype(np.float32)

    def weight(self, outputs, inputs):
        return self.normal(outputs, inputs, size=inputs ** -0.5)


def wide(*arrays):
    """The arrays in f64."""
    return [np.asarray(array, np.float64) for array in arrays]


def linear(x, weight, bias=None):
    """x W^T + b; weights are [out, in]."""
    y = x @ weight.T
    return y if bias is None else y + bias


def layer_norm(x, scale, shift, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon) * scale + shift


def rms_norm(x, scale, epsilon=1e-6):
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon) * scale


def split(x, heads):
    """[B, S, heads * size] as [B, heads, S, size]."""
    batch, rows, width = x.shape
    return x.reshape(batch, rows, heads, width // heads).transpose(0, 2, 1, 3)


def join(x):
    """[B, heads, S, size] as [B, S, heads * size]."""
    batch, heads, rows, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, rows, heads * size)


def softmax(scores, keep, sinks=None):
    """Weights over the kept keys; rows without one are 0. A sink [heads] joins the sum of [B, heads, M, N]."""
    scores = np.where(keep, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    if sinks is not None:
        top = np.maximum(top, sinks[:, None, None])
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks[:, None, None] - top)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def attend(query, key, value, keep=True, scale=None, bias=0.0, softcap=None, sinks=None):
    """Attention of [B, H, M, D] over [B, G, N, D]; `keep` and `bias` broadcast to the scores."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat(groups, axis=1), value.repeat(groups, axis=1)
    scores = query @ key.transpose(0, 1, 3, 2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    return softmax(scores + bias, np.broadcast_to(keep, scores.shape), sinks) @ value


def causal(rows, keys, offset=0, window=None):
    """Whether row i, at position i + offset, may see key j; `window` keeps the last so many keys."""
    behind = np.arange(rows)[:, None] + offset - np.arange(keys)
    return (behind >= 0) & (behind < (window or keys + 1))


def rotary_tables(positions, size, base=10000.0):
    """cos and sin [positions, size / 2], f32."""
    angles = np.arange(positions)[:, None] * base ** (-np.arange(0, size, 2) / size)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(x, cos, sin):
    """Rotate halves of [B, heads, S, size] by the tables' rows [B, S, size / 2]."""
    half = cos.shape[-1]
    first, second, cos, sin = x[..., :half], x[..., half:2 * half], cos[:, None], sin[:, None]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos, x[..., 2 * half:]], axis=-1)


def gelu(x):
    """The form with a tanh."""
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))
