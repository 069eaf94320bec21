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


def rows(data, width, height, size):
    """Yield the bytes of each row of points of `size` bytes."""
    length = 1 + size * width
    assert len(data) == height * length, "wrong number of points"
    for y in range(height):
        assert data[y * length] == 0, "expects rows as they are"
        yield data[y * length + 1:(y + 1) * length]


for path in sys.argv[1:]:
    with open(path, "rb") as file:
        parts = dict(chunks(file.read()))
    width, height, bits, kind = struct.unpack(">IIBB", parts["IHDR"][:10])
    assert (bits, kind) in ((8, 2), (8, 3)), "expects three colours of eight bits, or numbers of colours"
    assert list(parts) == ["IHDR", *(["PLTE"] if kind == 3 else []), "IDAT", "IEND"]
    palette, size = parts.get("PLTE"), 3 if kind == 2 else 1
    colors = collections.Counter()
    for row in rows(zlib.decompress(parts["IDAT"]), width, height, size):
        colors.update(row[size * x:size * x + size] for x in range(width))
    named = collections.Counter()
    for color, count in colors.items():
        named[(color if palette is None else palette[3 * color[0]:3 * color[0] + 3]).hex()] += count
    print(f"{width} x {height}, darkest cells {named['0a245a']}")
