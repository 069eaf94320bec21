# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One workload of attn-bench as numpy sees it: data, which keys count, the exact result of some rows, the work it is. An
# attention is a Workload, one with projections a Layer.
import functools
import json
import subprocess
import sys

import ml_dtypes
import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}
# How far a result may be off, relative to the largest element: a wrong result is never a fast one.
LIMITS = {"f32": 1e-4, "f16": 1e-2, "bf16": 5e-2, "f64": 1e-10}
# Rows whose exact result is computed.
SAMPLES = 24


def load(attn_bench, pattern, path):
    """The workloads that attn-bench has under names like `pattern`; `path` is a file to write."""
    status = subprocess.run([attn_bench, "--list", f"--filter={pattern}", f"--json={path}"],
                            stdout=subprocess.DEVNULL).returncode
    if status:
        sys.exit(status)
    with open(path) as file:
        return [make(entry) for entry in json.load(file)["workloads"]]


def make(entry):
    return (Layer if entry["group"] == "layers" else Workload)(entry)


def draw(random, *shape, kind):
    return random.uniform(-1, 1, shape).astype(np.float64 if kind == np.float64 else np.float32).astype(kind)


class Workload:
    """One attention. B, H, G, M, N, D and the rest are as in docs/Semantics.md."""

    def __init__(self, entry):
        self.entry = entry
        self.name, self.module, self.type = entry["name"], entry["module"], entry["type"]
        self.B, self.H, self.G = entry["batch"], entry["heads"], entry["kv_heads"]
        self.M, self.N, self.D = entry["rows"], entry["keys"], entry["head_size"]
        self.causal, self.scores = entry["causal"], entry["scores"]
        self.left, self.right, self.lengths = entry["left"], entry["right"], entry["lengths"]

    @property
    def shape(self):
        """Of the result."""
        return self.B, self.H, self.M, self.D

    @property
    def repeats(self):
        """Query heads that share a key head."""
        return self.H // self.G

    @property
    def windowed(self):
        return self.left >= 0 or self.right >= 0

    @property
    def ruled(self):
        """Whether a rule of positions leaves keys out; one row that may see all before it is no rule."""
        first, end = self.ranges
        return bool(first.any() or (end < self.N).any())

    @functools.cached_property
    def ranges(self):
        """For each batch (one if they are alike) and row the first key it sees and the end of them."""
        lengths = np.array(self.lengths or [self.N])[:, None]
        rows = np.arange(self.M)[None, :]
        position = rows + (lengths - self.M if self.causal == "bottom_right" else 0 * lengths)
        first, end = np.zeros_like(position), np.broadcast_to(lengths, position.shape).copy()
        if self.causal != "none":
            end = np.minimum(end, position + 1)
        if self.left >= 0:
            first = np.maximum(first, position - self.left)
        if self.right >= 0:
            end = np.minimum(end, position + self.right + 1)
        return first, np.maximum(end, first)

    @property
    def operations(self):
        first, end = self.ranges
        return 4 * self.D * self.H * int((end - first).sum()) * (1 if self.lengths else self.B)

    @property
    def read_bytes(self):
        """What must be read: everything but the keys behind the last one."""
        size = np.dtype(TYPES[self.type]).itemsize
        keys = sum(self.lengths) if self.lengths else self.B * self.N
        extra = {"plain": 0, "mask": self.M * self.N, "bias": 4 * self.H * self.M * self.N}[self.scores]
        return size * self.D * (self.B * self.H * self.M + 2 * self.G * keys) + extra

    def allowed(self):
        """The rule as a mask [B or 1, 1, M, N]."""
        first, end = self.ranges
        keys = np.arange(self.N)
        return ((keys >= first[..., None]) & (keys < end[..., None]))[:, None]

    def masks(self, causal):
        """(words, mask or None, is causal): how a runtime whose attention has a mask, and a triangle from the first row
        and key that it calls `causal`, can be asked for this. The words are for tables."""
        q, _, _, extra = self.arrays
        if extra is not None:
            mask = extra if extra.dtype == bool else extra.astype(q.dtype)
        elif not self.ruled:
            yield "", None, False
            return
        elif self.causal == "top_left" and not self.windowed:
            yield f", {causal}", None, True
            return
        else:
            mask = self.allowed()
        yield (", bool mask" if mask.dtype == bool else ", bias"), mask, False
        if mask.dtype == bool:
            yield ", float mask", np.where(mask, 0, -np.inf).astype(q.dtype), False

    @functools.cached_property
    def arrays(self):
        """Query, key, value [B, heads, length, D] and mask or bias, the same in every process."""
        random = np.random.default_rng(0)
        kind = TYPES[self.type]
        q = draw(random, self.B, self.H, self.M, self.D, kind=kind)
        k, v = (draw(random, self.B, self.G, self.N, self.D, kind=kind) for _ in range(2))
        extra = None
        if self.scores == "mask":
            extra = random.random((1, 1, self.M, self.N)) > 0.3
        elif self.scores == "bias":
            extra = draw(random, 1, self.H, self.M, self.N, kind=np.float32)
        return q, k, v, extra

    @property
    def inputs(self):
        """The arguments of our function."""
        q, k, v, extra = self.arrays
        return [q, k, v, *([] if extra is None else [extra]), *([np.array(self.lengths, np.int32)] if self.lengths else [])]

    @functools.cached_property
    def samples(self):
        """[(index, exact result)] of some rows."""
        q, k, v, extra = self.arrays
        first, end = self.ranges
        random = np.random.default_rng(1)
        result = []
        for _ in range(SAMPLES):
            b, h, i = random.integers(self.B), random.integers(self.H), random.integers(self.M)
            own = b if self.lengths else 0
            keys = slice(first[own, i], end[own, i])
            head = h // self.repeats
            s = k[b, head, keys].astype(np.float64) @ q[b, h, i].astype(np.float64) / np.sqrt(self.D)
            if self.scores == "mask":
                s = np.where(extra[0, 0, i, keys], s, -np.inf)
            elif self.scores == "bias":
                s = s + extra[0, h, i, keys]
            p = np.exp(s - s.max())
            result.append(((b, h, i), p @ v[b, head, keys].astype(np.float64) / p.sum()))
        return result

    def error(self, output):
        """The largest error of `output` in the sampled rows, relative to their largest element."""
        worst = max(np.abs(output[index].astype(np.float64) - exact).max() for index, exact in self.samples)
        return float(worst / max(np.abs(exact).max() for _, exact in self.samples))


class Layer(Workload):
    """Self-attention of tokens [B, M, C], C = H D, with weights [out, in] and biases of query, key, value and output."""

    @property
    def shape(self):
        return self.B, self.M, self.H * self.D

    @property
    def operations(self):
        channels = self.H * self.D
        return 8 * self.B * self.M * channels**2 + super().operations

    @property
    def read_bytes(self):
        channels = self.H * self.D
        return np.dtype(TYPES[self.type]).itemsize * (4 * channels * (channels + 1) + self.B * self.M * channels)

    @functools.cached_property
    def arrays(self):
        """Tokens, and a list of four pairs of weight and bias."""
        random = np.random.default_rng(0)
        kind, channels = TYPES[self.type], self.H * self.D
        x = draw(random, *self.shape, kind=kind)
        # Results as large as the tokens, as in a model.
        scale = kind(np.sqrt(3 / channels))
        return x, [(draw(random, channels, channels, kind=kind) * scale, draw(random, channels, kind=kind))
                   for _ in range(4)]

    @property
    def inputs(self):
        x, pairs = self.arrays
        return [x, *(array for pair in pairs for array in pair)]

    @functools.cached_property
    def samples(self):
        x, *pairs = (np.asarray(array, np.float64) for array in self.inputs)
        weights, biases = pairs[::2], pairs[1::2]

        def heads(i):
            y = x @ weights[i].T + biases[i]
            return y.reshape(self.B, self.M, self.H, self.D).swapaxes(1, 2)

        s = heads(0) @ heads(1).swapaxes(2, 3) / np.sqrt(self.D)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        o = (p / p.sum(axis=-1, keepdims=True)) @ heads(2)
        return [((), o.swapaxes(1, 2).reshape(self.shape) @ weights[3].T + biases[3])]
