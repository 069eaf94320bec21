# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A plot of time over length as SVG, both logarithmic: prompts in f32 with 64 channels on the most threads.
import math
import re

COLOURS = {"ours": "#c2410c", "pytorch": "#1d4ed8", "onnx_runtime": "#15803d", "openvino_cpu": "#7e22ce",
           "limit": "#6b7280"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 680, 420, 70, 150, 44, 56


def series(result):
    """(threads, {runtime: [(length, ms)]}); the limit is what the operations take at the peak."""
    rows = [row for row in result["rows"] if re.fullmatch(r"prefill-\d+", row["name"])]
    threads = max((row["threads"] for row in rows), default=0)
    lines = {}
    for row in rows:
        if row["threads"] != threads:
            continue
        for name, found in row["runtimes"].items():
            if "ms" in found:
                lines.setdefault(name, []).append((row["keys"], found["ms"]))
        lines.setdefault("limit", []).append((row["keys"], row["operations"] / row["peaks"]["fma_gflops"] * 1e-6))
    return threads, {name: sorted(points) for name, points in lines.items()}


class Axis:
    """Maps the logarithm of values between two of them to pixels."""

    def __init__(self, low, high, start, end):
        self.low, self.high = math.log(low), math.log(max(high, low * 1.001))
        self.start, self.end = start, end

    def at(self, value):
        return self.start + (math.log(value) - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low, high):
    """1, 2 and 5 of each power of ten in between."""
    power = 10.0 ** math.floor(math.log10(low))
    while power <= high:
        yield from (power * step for step in (1, 2, 5) if low <= power * step <= high)
        power *= 10


def text(x, y, words, anchor="middle", colour="#111827", size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{words}</text>'


def grid(x, y, lengths, times):
    parts = []
    for length in lengths:
        parts.append(f'<path d="M{x.at(length):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e5e7eb"/>')
        parts.append(text(x.at(length), HEIGHT - BOTTOM + 18, length))
    for time in ticks(*times):
        parts.append(f'<path d="M{LEFT} {y.at(time):.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>')
        parts.append(text(LEFT - 8, y.at(time) + 4, f"{time:g}", "end"))
    return parts


def curve(name, points, x, y):
    places = [(x.at(length), y.at(ms)) for length, ms in points]
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    dashes = ' stroke-dasharray="5 4"' if name == "limit" else ""
    parts = [f'<path d="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"{dashes}/>']
    if name != "limit":
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{COLOURS[name]}"/>' for a, b in places]
    return parts


def legend(lines, y, words):
    """Names at the right ends of the curves, moved apart where they would overlap."""
    parts, below = [], -math.inf
    for name, points in sorted(lines.items(), key=lambda item: -item[1][-1][1]):
        below = max(below + 15, y.at(points[-1][1]) + 4)
        parts.append(text(WIDTH - RIGHT + 10, below, words.get(name, "peak of the machine"), "start", COLOURS[name]))
    return parts


def lengths(result, words):
    """The plot; an empty frame where there are no such rows."""
    threads, lines = series(result)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    if lines:
        known = sorted({length for points in lines.values() for length, _ in points})
        all_times = [ms for points in lines.values() for _, ms in points]
        times = (min(all_times) / 1.3, max(all_times) * 1.3)
        x = Axis(known[0], known[-1], LEFT, WIDTH - RIGHT)
        y = Axis(*times, HEIGHT - BOTTOM, TOP)
        parts += grid(x, y, known, times)
        for name, points in lines.items():
            parts += curve(name, points, x, y)
        parts += legend(lines, y, words)
        parts.append(text(LEFT, 24, f"Attention, 8 heads of 64 channels, f32, {threads} thread{'s' if threads > 1 else ''}", "start", size=14))
        parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "rows and keys"))
        parts.append(f'<text transform="translate(20 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)" '
                     'text-anchor="middle" fill="#111827" font-size="12">milliseconds</text>')
    return "\n".join([*parts, "</svg>", ""])
