# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A BERT sentence encoder in numpy, in the type of its weights. Its attention layers are a function that the caller
# chooses: the definition below, or one that a compiler made.
import math

import numpy as np

HEADS = 12
LAYERS = 6
EPSILON = 1e-12
ERF = np.frompyfunc(math.erf, 1, 1)


def linear(x, weight, bias):
    """x W^T + b, with weights stored [out, in]; all rows in one product, which is numpy's fastest."""
    return (x.reshape(-1, x.shape[-1]) @ weight.T + bias).reshape(*x.shape[:-1], -1)


def attention_weights(weights, layer):
    """The eight arrays of a layer's attention: weight and bias for query, key, value and output."""
    prefix = f"encoder.layer.{layer}.attention."
    names = ["self.query", "self.key", "self.value", "output.dense"]
    return [weights[f"{prefix}{name}.{part}"] for name in names for part in ("weight", "bias")]


def attention(x, lengths, wq, bq, wk, bk, wv, bv, wo, bo):
    """The layer by definition: softmax over the keys below each sentence's length."""
    batch, rows, channels = x.shape
    size = wq.shape[0] // HEADS

    def heads(y):
        return y.reshape(batch, rows, HEADS, size).transpose(0, 2, 1, 3)

    query, key, value = heads(linear(x, wq, bq)), heads(linear(x, wk, bk)), heads(linear(x, wv, bv))
    scores = query @ key.transpose(0, 1, 3, 2) * x.dtype.type(1 / math.sqrt(size))
    excluded = np.arange(rows) >= lengths[:, None]
    scores = np.where(excluded[:, None, None, :], x.dtype.type(-np.inf), scores)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    output = (scores / scores.sum(axis=-1, keepdims=True)) @ value
    return linear(output.transpose(0, 2, 1, 3).reshape(batch, rows, channels), wo, bo)


def normalized(x, weights, name):
    """Layer normalisation."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + x.dtype.type(EPSILON)) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def gelu(x):
    """x times the normal distribution's share below x."""
    return x * (0.5 * (1 + ERF(x.astype(np.float64) / math.sqrt(2)).astype(np.float64))).astype(x.dtype)


def encode(weights, ids, lengths, attend):
    """Return the sentences' embeddings, and for each layer what went into and came out of attention.

    attend(x, lengths, *eight weights) is an attention layer.
    """
    words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
    x = words[ids] + places[:ids.shape[1]] + weights["embeddings.token_type_embeddings.weight"][0]
    x = normalized(x, weights, "embeddings.LayerNorm")
    seen = []
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        y = attend(x, lengths, *attention_weights(weights, layer))
        seen.append((x, y))
        x = normalized(x + y, weights, prefix + "attention.output.LayerNorm")
        inner = gelu(linear(x, weights[prefix + "intermediate.dense.weight"], weights[prefix + "intermediate.dense.bias"]))
        y = linear(inner, weights[prefix + "output.dense.weight"], weights[prefix + "output.dense.bias"])
        x = normalized(x + y, weights, prefix + "output.LayerNorm")
    real = (np.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
    pooled = (x * real).sum(axis=1) / lengths[:, None].astype(x.dtype)
    return pooled / np.sqrt((pooled * pooled).sum(axis=1, keepdims=True)), seen
