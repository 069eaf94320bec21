# Calls the entries of a library with kernels as C does, with addresses that are only looked at.

import ctypes
import sys


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def make(address, code, *shape):
    extents = (ctypes.c_int64 * len(shape))(*shape)
    return Tensor(address, Device(2, 0), len(shape), DataType(code, 32, 1), extents, None, 0)


library = ctypes.CDLL(sys.argv[1])
tensors = [
    make(0x10000, 2, 1, 4, 8, 16),
    make(0x20000, 2, 1, 2, 8, 16),
    make(0x30000, 2, 1, 2, 8, 16),
    make(0x40000, 0, 1),
    make(0x50000, 2, 1, 4, 8, 16),
]
pointers = [ctypes.byref(tensor) for tensor in tensors]
message, size, count = ctypes.create_string_buffer(1024), ctypes.c_size_t(1024), ctypes.c_int64()
status = library.attention_workspace(*pointers, ctypes.byref(count), message, size)
print("workspace:", status, count.value)
# On a machine with a GPU nothing is called: the addresses are none.
try:
    ctypes.CDLL("libcuda.so.1")
    print("call: 0")
except OSError:
    status = library.attention(*pointers, ctypes.c_void_p(0x60000), None, message, size)
    print("call:", status, message.value.decode())
