# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Our own library, called as anyone calls it: numpy arrays through ctypes and DLPack's struct.
import ctypes
import pathlib
import sys

import ml_dtypes
import numpy as np

from workload import Layer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "demo"))
import native  # noqa: E402: it lies with the demo


def start(threads):
    """OMP_NUM_THREADS has said it."""


def about():
    return {"version": "", "vectors": ""}


def describe(array):
    if array.dtype != ml_dtypes.bfloat16:
        return native.describe(array)
    tensor = native.describe(array.view(np.uint16))
    tensor.code = 4
    return tensor


def caller(w, function, inputs):
    """A function that calls `function` and one that gives its result."""
    output = np.empty(w.shape, w.inputs[0].dtype)
    tensors = [describe(array) for array in (*inputs, output)]
    message = ctypes.create_string_buffer(512)
    arguments = [*map(ctypes.byref, tensors), message, ctypes.c_size_t(len(message))]

    def call():
        if function(*arguments):
            raise RuntimeError(message.value.decode())

    return call, lambda keep=inputs: output


def packed(w, library):
    """The caller packs the weights once."""
    x, pairs = w.arrays
    block = native.Library(library).pack("f", [weight for weight, _ in pairs])
    return caller(w, ctypes.CDLL(library).f_packed, [x, block, *(bias for _, bias in pairs)])


def ways(w, threads, library):
    yield "compiled", lambda: caller(w, ctypes.CDLL(library).f, w.inputs)
    # Weights of few rows are read as they are.
    if isinstance(w, Layer) and hasattr(ctypes.CDLL(library), "f_packed"):
        yield "weights packed once", lambda: packed(w, library)
