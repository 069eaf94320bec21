# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Our own library, called as anyone calls it: numpy arrays through ctypes and DLPack's struct.
import ctypes
import pathlib
import sys

import ml_dtypes
import numpy as np

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


def ways(w, threads, library):
    def make():
        q, k, v, extra = w.arrays
        inputs = [q, k, v] + ([] if extra is None else [extra])
        if w.lengths:
            inputs.append(np.array(w.lengths, np.int32))
        output = np.empty_like(q)
        tensors = [describe(array) for array in (*inputs, output)]
        message = ctypes.create_string_buffer(512)
        function = ctypes.CDLL(library).f
        arguments = [*map(ctypes.byref, tensors), message, ctypes.c_size_t(len(message))]

        def call():
            if function(*arguments):
                raise RuntimeError(message.value.decode())

        return call, lambda keep=inputs: output

    yield "compiled", make
