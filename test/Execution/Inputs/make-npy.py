# make-npy.py FOLDER: writes small .npy files without numpy.

import struct
import sys


def write(name, descr, format, shape, values):
    extents = "".join(f"{extent}, " for extent in shape)
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode() + struct.pack(f"<{len(values)}{format}", *values))


write("x", "<f4", "f", (2, 8), [float(i) for i in range(16)])
write("y", "<f4", "f", (2, 8), [100.0 * i for i in range(16)])
write("h", "<f2", "e", (2, 8), [100.0 * i for i in range(16)])
