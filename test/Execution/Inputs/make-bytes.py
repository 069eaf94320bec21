# make-bytes.py FILE: writes all bytes as a .npy file of 1 x 1 x 1 x 256, without numpy.

import struct
import sys

header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 256, ), }"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode() + bytes(range(256)))
