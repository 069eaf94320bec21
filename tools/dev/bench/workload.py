# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One workload of attn-bench as numpy sees it: data, which keys count, the exact result of some rows, the work it is.
import functools
import json
import subprocess

import ml_dtypes
import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}
# How far a result may be off, relative to the largest element: a wrong result is never a fast one.
LIMITS = {"f32": 1e-4, "f16": 1e-2, "bf16": 5e-2, "f64": 1e-10}
# Rows whose exact result is computed.
SAMPLES = 24


def load(attn_bench, pattern, path):
    """The workloads that attn-bench has under names like `pattern`; `path` is a file to write."""
    subprocess.run([attn_bench, "--list", f"--filter={pattern}", f"--json={path}"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(path) as file:
        return [Workload(entry) for entry in json.load(file)["workloads"]]


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

    @functools.cached_property
    def arrays(self):
        """Query, key, value [B, heads, length, D] and mask or bias, the same in every process."""
        random = np.random.default_rng(0)

        def draw(*shape, kind):
            return random.uniform(-1, 1, shape).astype(np.float64 if kind == np.float64 else np.float32).astype(kind)

        kind = TYPES[self.type]
        q = draw(self.B, self.H, self.M, self.D, kind=kind)
        k, v = (draw(self.B, self.G, self.N, self.D, kind=kind) for _ in range(2))
        extra = None
        if self.scores == "mask":
            extra = random.random((1, 1, self.M, self.N)) > 0.3
        elif self.scores == "bias":
            extra = draw(1, self.H, self.M, self.N, kind=np.float32)
        return q, k, v, extra

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
        """The largest error of `output` [B, H, M, D] in the sampled rows, relative to their largest element."""
        worst = max(np.abs(output[index].astype(np.float64) - exact).max() for index, exact in self.samples)
        return float(worst / max(np.abs(exact).max() for _, exact in self.samples))
