# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads PNG files as the standard says, and prints of each its size and how many of its points have which colour:
#
#   python read_png.py FILE...
import collections
import struct
import sys
import zlib


def chunks(data):
    """Yield the name and the content of each chunk; its checksum is right."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG file"
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        name, content = data[at + 4:at + 8], data[at + 8:at + 8 + length]
        (checksum,) = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert checksum == zlib.crc32(name + content), "wrong checksum"
        yield name.decode(), content
        at += 12 + length


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        parts = list(chunks(file.read()))
    assert [name for name, _ in parts] == ["IHDR", "IDAT", "IEND"]
    width, height, bits, kind = struct.unpack(">IIBB", parts[0][1][:10])
    assert (bits, kind) == (8, 2), "expects three colours of eight bits"
    rows = zlib.decompress(parts[1][1])
    assert len(rows) == height * (1 + 3 * width), "wrong number of points"
    colors = collections.Counter()
    for y in range(height):
        row = rows[y * (1 + 3 * width):(y + 1) * (1 + 3 * width)]
        assert row[0] == 0
        colors.update(row[1 + 3 * x:4 + 3 * x].hex() for x in range(width))
    print(f"{width} x {height}, darkest cells {colors['0a245a']}")
