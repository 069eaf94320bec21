# make-table.py FILE ROWS COLUMNS NUMBER...: writes numbers as a .npy file of i32, without numpy; with COLUMNS of 0, one row.
# 7*100 is a hundred times 7.

import struct
import sys

path, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = []
for argument in sys.argv[4:]:
    number, _, count = argument.partition("*")
    numbers += [int(number)] * int(count or 1)
shape = f"({rows}, {columns}, )" if columns else f"({rows}, )"
header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode() + struct.pack(f"<{len(numbers)}i", *numbers))
