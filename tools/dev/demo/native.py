# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Calls a library that attnc made, with numpy arrays. Each function in it is
#
#   int NAME(const DLTensor *in..., DLTensor *out..., char *message, size_t size);
#
# and returns 0, or an error code with a message.
import ctypes

import numpy as np

CPU = 1
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class DLTensor(ctypes.Structure):
    """An array as DLPack describes it."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def describe(array):
    """A DLTensor over the array's memory, strides included; keep the array while it is used."""
    sizes = ctypes.c_int64 * array.ndim
    strides = sizes(*(stride // array.itemsize for stride in array.strides))
    return DLTensor(array.ctypes.data, CPU, 0, array.ndim, CODES[array.dtype.kind], 8 * array.itemsize, 1,
                    sizes(*array.shape), strides, 0)


class Library:
    """A compiled library."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))

    def call(self, name, inputs, outputs):
        """Call `name`, which fills `outputs`."""
        tensors = [describe(array) for array in (*inputs, *outputs)]
        message = ctypes.create_string_buffer(512)
        status = getattr(self.library, name)(*map(ctypes.byref, tensors), message, ctypes.c_size_t(len(message)))
        if status:
            raise RuntimeError(f"{name} returns {status}: {message.value.decode()}")

    def attention_layer(self, x, lengths, *weights):
        """The demo's one function, as a function of arrays."""
        output = np.empty_like(x)
        self.call("attention_layer", (x, lengths, *weights), (output,))
        return output

    def pack(self, name, weights):
        """The weights of the layer that `name` computes, without the biases, as one block, on a cache line."""
        size = describe(np.empty(0, np.float32))
        tensors = [*map(describe, weights), size]
        message = ctypes.create_string_buffer(512)
        shape = getattr(self.library, f"{name}_pack_shape")
        if shape(*map(ctypes.byref, tensors), message, ctypes.c_size_t(len(message))):
            raise RuntimeError(message.value.decode())
        room = np.empty(size.shape[0] + 16, np.float32)
        start = -room.ctypes.data % 64 // 4
        block = room[start:start + size.shape[0]]
        self.call(f"{name}_pack", weights, (block,))
        return block

    def attention_layer_packed(self, x, lengths, block, *biases):
        """The same as attention_layer, with what pack gave in place of the weights."""
        output = np.empty_like(x)
        self.call("attention_layer_packed", (x, lengths, block, *biases), (output,))
        return output
