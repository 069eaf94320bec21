# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the measurements of measure.py for people: Performance.md, a plot, README.md's section, a table as text.
#
#   report.py performance.json --out=DIR [--readme=README.md]
import argparse
import json
import math
import pathlib
import statistics

import plot

NAMES = {"ours": "ours", "pytorch": "PyTorch", "onnx_runtime": "ONNX Runtime", "openvino_cpu": "OpenVINO"}
GROUPS = {"prompts": "Prompts and encoders", "images": "Images and text of any length",
          "decode": "One token over a cache", "more": "Windows, shared heads, caches, other sizes",
          "layers": "Layers, projections included"}
# The groups of what everyone has.
COMMON = ("prompts", "images", "decode")
# What the README shows.
SHORT = ["prefill-1024", "causal-2048", "prefill-1024-bf16", "vit-197", "clip-77", "decode-8k", "decode-8k-f16"]
BEGIN, END = "<!-- begin of what bench-peers.sh writes -->", "<!-- end of what bench-peers.sh writes -->"


def peers_of(row):
    return {name: found["ms"] for name, found in row["runtimes"].items() if name != "ours" and "ms" in found}


def ours(row):
    return row["runtimes"].get("ours", {}).get("ms")


def ratio(row):
    """How many times as fast as the fastest peer; none without ours or without a peer."""
    peers = peers_of(row)
    return min(peers.values()) / ours(row) if peers and ours(row) else None


def share(row):
    """(share of the limit, its word): what the fewest operations or the bytes that must be read take at best."""
    peaks = row["peaks"]
    lanes = 0.5 if row["type"] == "f64" else 1.0
    bounds = {"FMA": row["operations"] / (peaks["fma_gflops"] * lanes) * 1e-6,
              "read": row["read_bytes"] / peaks["read_gbs"] * 1e-6 if peaks["read_gbs"] else 0}
    word = max(bounds, key=bounds.get)
    return (bounds[word] / ours(row) if ours(row) else None), word


def geometric_mean(rows):
    ratios = [ratio(row) for row in rows if ratio(row)]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def number(value, form):
    return "-" if value is None else format(value, form)


def milliseconds(value):
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def heading(runtimes):
    return f"{'workload':22} thr" + "".join(f"{NAMES[name]:>14}" for name in runtimes) + "  ratio  share of"


def line(row, runtimes):
    got, word = share(row)
    times = (row["runtimes"].get(name, {}).get("ms") for name in runtimes)
    return (f"{row['name']:22} {row['threads']:3}" + "".join(f"{milliseconds(ms):>14}" for ms in times)
            + f"{number(ratio(row), '.2f'):>7} {number(got, '.0%'):>6} {word}")


def threads_of(result):
    return sorted({row["threads"] for row in result["rows"]})


def summary(result):
    """The geometric means of the ratios, a line for each number of threads."""
    lines = []
    for threads in threads_of(result):
        rows = [row for row in result["rows"] if row["threads"] == threads]
        common = [row for row in rows if row["group"] in COMMON]
        lines.append(f"{threads} thread{'s' if threads > 1 else ''}: geometric mean of the ratios {number(geometric_mean(common), '.2f')} over "
                     f"{len(common)} common workloads, {number(geometric_mean(rows), '.2f')} over all {len(rows)}")
    return "\n".join(lines)


def text_table(result):
    runtimes = list(result["about"])
    return "\n".join([heading(runtimes), *(line(row, runtimes) for row in result["rows"]), summary(result)]) + "\n"


def markdown_table(rows, runtimes):
    lines = ["| workload | " + " | ".join(f"{NAMES[name]}" for name in runtimes) + " | ratio | share of the limit |",
             "|---|" + "---:|" * (len(runtimes) + 2)]
    for row in rows:
        got, word = share(row)
        times = (milliseconds(row["runtimes"].get(name, {}).get("ms")) for name in runtimes)
        lines.append(f"| {row['name']} | " + " | ".join(times)
                     + f" | {number(ratio(row), '.2f')} | {number(got, '.0%')} {word} |")
    return "\n".join(lines)


def short_section(result):
    """The lines that README.md and docs/Performance.md share."""
    threads = threads_of(result)[-1]
    rows = {row["name"]: row for row in result["rows"] if row["threads"] == threads}
    shown = [rows[name] for name in SHORT if name in rows]
    means = summary(result).splitlines()[-1]
    return (f"Milliseconds on {threads} thread{'s' if threads > 1 else ''} of \"{result['cpu']}\", least of {result['rounds']} interleaved rounds:\n\n"
            + markdown_table(shown, list(result["about"])) + f"\n\nOn {means}.\n")


def busy_cores(rows, runtimes):
    """How many cores each runtime kept busy in its slices: the threads that it was given, or it was asked badly."""
    words = []
    for name in runtimes:
        cores = [row["runtimes"][name]["cores"] for row in rows if "cores" in row["runtimes"].get(name, {})]
        words += [f"{NAMES[name]} {statistics.median(cores):.2f}"] if cores else []
    return ", ".join(words)


def ways_used(result):
    """How each peer was asked, with the workloads that this was fastest for."""
    lines = []
    for name in result["about"]:
        used = {}
        for row in result["rows"]:
            found = row["runtimes"].get(name, {})
            if name != "ours" and "way" in found:
                used.setdefault(found["way"], {})[row["name"]] = None
        lines += [f"* {NAMES[name]}, {way}: {', '.join(names)}." for way, names in sorted(used.items())]
    return "\n".join(lines)


PAGE = """# Performance

Written by `{command}` on {date}; the numbers behind it are in [performance.json](performance.json).
{short}
Least milliseconds of a whole call. *Ratio* is the time of the fastest peer over ours: above 1 we are faster. *Share of
the limit* is the time that the operations take at the peak of fused multiply-adds, or the bytes at the peak of reading
memory, whichever is longer, over our time; both peaks were measured in the same minute by `attn-bench --peaks`. Keys
that stay in a cache are read faster than memory is, so a share of reading may exceed 100 %.

Each runtime is a process of its own and runs alone, {rounds} times a slice of time, in turns. Every result is compared
with the definition in float64 first: a wrong one is not timed. Ours is the shared library that `attnc` makes of the
module that `attn-bench --list --json=FILE` writes, called from Python like the peers. Variables that choose instructions or
numbers of threads are unset.

Processor: {cpu}; {system}. {versions}.

![time over length](performance.svg)

{tables}
## How the peers were asked

Each peer was asked in every way that says the same, with the tensors in the order that this way wants, and its fastest
counts. PyTorch: `scaled_dot_product_attention` with `enable_gqa`, with heads repeated as views, with `is_causal` or
masks of bool or float, `flex_attention` for windows. ONNX Runtime: `Attention`, `MultiHeadAttention` and
`GroupQueryAttention`, inputs and outputs bound, denormal numbers as zero. OpenVINO: `ScaledDotProductAttention` for
latency. Layers: PyTorch's `MultiheadAttention` and `linear`; the others have their weights as constants of the model;
ours take them as they are, or packed once by `f_pack`. "Heads as rows" calls the query heads that share a key head rows
of one head; "-" is what a peer cannot do.

{ways}
"""


def page(result):
    runtimes = list(result["about"])
    tables = []
    for threads in threads_of(result):
        tables.append(f"## {threads} thread{'s' if threads > 1 else ''}\n")
        rows = [row for row in result["rows"] if row["threads"] == threads]
        peak = {name: max(row["peaks"][name] for row in rows) for name in ("fma_gflops", "read_gbs", "read1_gbs")}
        tables.append(f"Peaks: {peak['fma_gflops']:.0f} GFLOP/s, {peak['read_gbs']:.1f} GB/s in 8 streams a thread, "
                      f"{peak['read1_gbs']:.1f} GB/s in one. Cores kept busy: {busy_cores(rows, runtimes)}.\n")
        for group, title in GROUPS.items():
            chosen = [row for row in rows if row["group"] == group]
            if chosen:
                tables.append(f"### {title}\n\n{markdown_table(chosen, runtimes)}\n")
    tables.append(summary(result).replace("\n", "  \n") + "\n")
    versions = ", ".join(f"{NAMES[name]} {about['version']} ({about['vectors']})"
                         for name, about in result["about"].items() if name != "ours")
    return PAGE.format(short="\n" + short_section(result), tables="\n".join(tables), ways=ways_used(result),
                       versions=versions, **{key: result[key] for key in ("command", "date", "rounds", "cpu", "system")})


def rewrite_readme(readme, result):
    """Put the section between its marks, which are made where there are none."""
    text = readme.read_text()
    section = (f"{BEGIN}\n## How fast\n\n{short_section(result)}More, and how this was measured: "
               f"[docs/Performance.md](docs/Performance.md).\n{END}\n")
    if BEGIN in text:
        before, rest = text.split(BEGIN)
        text = before + section + rest.split(END + "\n")[1]
    else:
        text = text.replace("## Where things are\n", f"{section}\n## Where things are\n", 1)
    readme.write_text(text)


def write(result, out, readme=None):
    (out / "performance.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "performance.svg").write_text(plot.lengths(result, NAMES))
    (out / "Performance.md").write_text(page(result))
    if readme:
        rewrite_readme(readme, result)


def main():
    parser = argparse.ArgumentParser(description="writes the tables and pages of a measurement")
    parser.add_argument("json", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--readme", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    result = json.loads(options.json.read_text())
    write(result, options.out, options.readme)
    print(text_table(result), end="")


if __name__ == "__main__":
    main()
