# Calls `attention` of the library named on the command line with numpy arrays, through ctypes and DLPack's struct.

import ctypes
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(sys.argv[2])))
import native


def call(function, *arrays):
    message = ctypes.create_string_buffer(256)
    tensors = [native.describe(array) for array in arrays]
    pointers = [ctypes.byref(tensor) for tensor in tensors]
    status = function(*pointers, message, ctypes.c_size_t(len(message)))
    return status, message.value.decode(), tensors


library = ctypes.CDLL(sys.argv[1])
random = np.random.default_rng(7)
rows, keys = 7, 9
# Queries lie as [batch, row, head, channel], keys have every other channel of a wider array, values run backwards.
q = random.standard_normal((1, rows, 4, 16), dtype=np.float32).transpose(0, 2, 1, 3)
k = random.standard_normal((1, 2, keys, 32), dtype=np.float32)[..., ::2]
v = random.standard_normal((1, 2, keys, 16), dtype=np.float32)[:, :, ::-1]
mask = random.random((1, 1, rows, keys)) < 0.6
mask[0, 0, 3] = False

out = np.empty((1, 4, 1, 16), dtype=np.float32)
status, message, tensors = call(library.attention_shape, q, k, v, mask, out)
shape = tuple(tensors[-1].shape[:4])
print("shape", shape if status == 0 else message)
out = np.empty(shape, dtype=np.float32)
status, message, _ = call(library.attention, q, k, v, mask, out)
print(status, message)

scores = 0.3 * q.astype(float) @ np.repeat(k, 2, axis=1).astype(float).swapaxes(2, 3)
weights = np.where(mask, np.exp(scores), 0)
total = weights.sum(axis=-1, keepdims=True)
wanted = (weights / np.where(total == 0, 1, total)) @ np.repeat(v, 2, axis=1)
print("largest error below 1e-5:", bool(np.abs(out - wanted).max() < 1e-5))
print("empty rows are 0:", bool((out[:, :, 3] == 0).all()))
print(*call(library.attention, q, k, v, mask[:, :, :6], out)[:2])
