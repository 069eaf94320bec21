# Calls `layer`, `layer_pack` and `layer_packed` of the library named on the command line with numpy arrays, and says
# whether both ways give the same bits, and what is said of blocks that are not right.

import ctypes
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(sys.argv[2])))
import native

library = ctypes.CDLL(sys.argv[1])
random = np.random.default_rng(11)


def call(name, *arrays):
    """Return (status, message); what is called writes into the last array."""
    message = ctypes.create_string_buffer(256)
    tensors = [native.describe(array) for array in arrays]
    status = getattr(library, name)(*map(ctypes.byref, tensors), message, ctypes.c_size_t(len(message)))
    return status, message.value.decode(), tensors


def block_size(*weights):
    """What layer_pack_shape gives."""
    status, message, tensors = call("layer_pack_shape", *weights, np.empty(1, np.float32))
    return tensors[-1].shape[0] if status == 0 else message


def random_array(*shape):
    return random.standard_normal(shape, dtype=np.float32)


# Weights may lie in any way: some rows of a wider array, a transposed one.
wq, wk, wv = random_array(40, 48)[:, :24], random_array(24, 40).T, random_array(40, 24)
wo, bias = random_array(24, 40), random_array(24)
weights = wq, wk, wv, wo
block = np.empty(block_size(*weights), np.float32)
print("pack", *call("layer_pack", *weights, block)[:2])

for batch, rows in (1, 1), (1, 5), (2, 8), (1, 17), (3, 11), (2, 64):
    x = random_array(batch, rows, 24)
    y, z = np.empty_like(x), np.empty_like(x)
    first = call("layer", x, *weights, bias, y)[:2]
    second = call("layer_packed", x, block, bias, z)[:2]
    print(batch, rows, first, second, "same bits:", y.tobytes() == z.tobytes())

x, y = random_array(1, 4, 24), np.empty((1, 4, 24), np.float32)
print("short:", *call("layer_packed", x, block[:-1], bias, y)[:2])
print("wide:", *call("layer_packed", x, block.astype(np.float64), bias, y)[:2])
print("zero:", *call("layer_packed", x, np.zeros_like(block), bias, y)[:2])
other = block.copy()
other[1] = 1
print("other:", *call("layer_packed", x, other, bias, y)[:2])
print("strided:", *call("layer_packed", x, np.repeat(block, 2)[::2], bias, y)[:2])
print("rows:", *call("layer_packed", x, block, bias[:-1], y)[:2])
print("copied:", *call("layer_packed", x, block.copy(), bias, y)[:2])
