# Calls the functions of the library named on the command line with a cache that is argument and result.

import ctypes
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(sys.argv[2])))
import native


def call(name, *arrays):
    message = ctypes.create_string_buffer(256)
    pointers = [ctypes.byref(native.describe(array)) for array in arrays]
    status = getattr(library, name)(*pointers, message, ctypes.c_size_t(len(message)))
    return status, message.value.decode()


library = ctypes.CDLL(sys.argv[1])
random = np.random.default_rng(3)


def draw(*shape):
    return random.standard_normal(shape, dtype=np.float32)


def compare(name, arguments, at, output):
    """Call with a cache elsewhere, then in place; the cache is argument number `at`."""
    cache = arguments[at]
    before, elsewhere, other = cache.copy(), np.empty_like(cache), np.empty_like(output)
    status, message = call(name, *arguments, output, elsewhere)
    assert status == 0, message
    alone = bool((cache == before).all())
    status, message = call(name, *arguments, other, cache)
    same = bool((cache == elsewhere).all() and (other == output).all() and (cache != before).any())
    print(f"{name} in place: {status} {message}as elsewhere: {same}")
    return alone


rows, cache, at = draw(2, 4, 1, 16), draw(2, 4, 64, 16), np.array([5, 63], dtype=np.int32)
output = np.empty((2, 4, 1, 16), dtype=np.float32)
alone = compare("step", [rows, cache, at], 1, output)
print("step leaves an argument alone:", alone)
room = draw(2 * 4 * 64 * 16 + 16)
shifted = [room[16 * i:16 * i + 2 * 4 * 64 * 16].reshape(2, 4, 64, 16) for i in range(2)]
print("shifted:", *call("step", rows, shifted[0], at, output, shifted[1]))
memory = draw(2, 64, 4, 16)
print("transposed:", *call("step", rows, memory.transpose(0, 2, 1, 3), at, output, memory.reshape(2, 4, 64, 16)))
print("read:", *call("read", rows, cache, at, output, cache))

w, out, x = draw(64, 64) / 8, draw(64, 64) / 8, draw(2, 40, 64)
at = np.array([5, 24], dtype=np.int32)
y = np.empty((2, 40, 64), dtype=np.float32)
compare("layer", [w, x, cache, at, out], 2, y)
packed = np.empty(1, dtype=np.float32)
tensors = [native.describe(array) for array in (w, out, packed)]
message = ctypes.create_string_buffer(256)
status = library.layer_pack_shape(*map(ctypes.byref, tensors), message, ctypes.c_size_t(256))
assert status == 0, message.value
packed = np.empty(tensors[-1].shape[0], dtype=np.float32)
assert call("layer_pack", w, out, packed)[0] == 0
at[:] = [0, 11]
compare("layer_packed", [packed, x, cache, at], 2, y)
