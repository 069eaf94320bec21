# Runs the `python` block of a document on a machine without a GPU: on the CPU, without a stream, and with numpy's arrays,
# which give DLPack capsules too, in place of PyTorch's.
#
#   run-python.py DOCUMENT

import re
import sys
import types

import numpy


class Array(numpy.ndarray):
    def data_ptr(self):
        return self.ctypes.data


def make(shape, dtype):
    return numpy.zeros(shape, dtype).view(Array)


torch = types.SimpleNamespace(
    float16=numpy.float16,
    uint8=numpy.uint8,
    randn=lambda *shape, device, dtype: make(shape, dtype),
    empty=lambda size, dtype, device: make(size, dtype),
    utils=types.SimpleNamespace(dlpack=types.SimpleNamespace(to_dlpack=lambda tensor: tensor.__dlpack__())),
)
sys.modules["torch"] = torch
with open(sys.argv[1]) as file:
    (block,) = re.findall(r"```python\n(.*?)```", file.read(), re.S)
block = block.replace('device="cuda"', 'device="cpu"').replace("torch.cuda.current_stream().cuda_stream", "None")
names = {}
try:
    exec(block, names)
except AssertionError as error:
    print("workspace:", names["size"].value)
    print(error.args[0].decode())
