#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles attention of many kinds for GPUs and says what each kernel needs, as `attnc --report` has it from ptxas:
#
#   tools/dev/cuda-registers.py --channels=64,128 --kinds=full,causal       what must not spill at all
#   tools/dev/cuda-registers.py                                             all, in an hour or two
#
# Prints one line for each kind: the most registers, bytes of stack and bytes of spills of its kernels for each
# architecture. The exit status is 1 where a limit is broken: no stack and no spills for 64 and 128 channels of f16 and
# bf16 without and with a causal mask, less than 64 bytes of each for all else.
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = ["f16", "bf16", "f32"]
CHANNELS = [64, 128, 80, 96, 40, 72, 32, 8, 16, 160, 192, 256]
TARGETS = ["sm_80", "sm_86", "sm_89", "sm_90a"]
HEADS, ROWS, KEYS = 8, 1024, 1024
# Bytes of stack and of spills that a kernel has less of; one more than none for those that must not have any.
LIMIT, NONE = 64, 1
STRICT = {"full", "causal", "bottom_right"}

# What stands behind the operands, and further operands; M and N stand for rows and keys.
KINDS = {
    "full": ("", {}),
    "causal": ("causal = top_left", {}),
    "bottom_right": ("causal = bottom_right", {}),
    "window": ("causal = top_left window = <left = 127>", {}),
    "lengths": ("kv_lengths(%x : tensor<1xi32>)", {"x": "tensor<1xi32>"}),
    "mask": ("mask(%x : tensor<1x1xMxNxi1>)", {"x": "tensor<1x1xMxNxi1>"}),
    "bias": ("bias(%x : tensor<1x8xMxNxTYPE>)", {"x": "tensor<1x8xMxNxTYPE>"}),
    "bias_f32": ("bias(%x : tensor<1x8xMxNxf32>)", {"x": "tensor<1x8xMxNxf32>"}),
    "mask_bias": ("bias(%x : tensor<1x8xMxNxTYPE>) mask(%y : tensor<1x1xMxNxi1>)",
                  {"x": "tensor<1x8xMxNxTYPE>", "y": "tensor<1x1xMxNxi1>"}),
    "alibi": ("""score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %slope = tensor.extract %x[%h] : tensor<8xf32>
      %distance = arith.subi %j, %i : index
      %number = arith.index_cast %distance : index to i64
      %float = arith.sitofp %number : i64 to f32
      %term = arith.mulf %slope, %float : f32
      %sum = arith.addf %s, %term : f32
      attn.yield %sum : f32
    }""", {"x": "tensor<8xf32>"}),
    "decode_1": ("", {}),
    "decode_4": ("causal = bottom_right", {}),
    "decode_16": ("causal = bottom_right", {}),
}
KERNEL = re.compile(r"^(\w+?)_k\d+\w* \((\w+)\): \d+ instructions, (\d+) registers, "
                    r"(\d+) bytes of stack, (\d+) of spills")


def function(kind, sizes, element, channels):
    """Return one attention as a function, and its name."""
    words, more = KINDS[kind]
    rows, keys, query_heads = ROWS, KEYS, HEADS
    if kind.startswith("decode_"):
        rows, keys, query_heads = int(kind[7:]), 8 * KEYS, 4 * HEADS
    if sizes == "dynamic":
        rows, keys = "?", "?"
    fill = lambda text: text.replace("TYPE", element).replace("M", str(rows)).replace("N", str(keys))
    query = f"tensor<1x{query_heads}x{rows}x{channels}x{element}>"
    key = f"tensor<1x{HEADS}x{keys}x{channels}x{element}>"
    name = f"{kind}_{sizes}"
    operands = "".join(f", %{name}: {fill(type)}" for name, type in more.items())
    return name, (f"func.func @{name}(%q: {query}, %k: {key}, %v: {key}{operands}) -> {query} {{\n"
                  f"  %o = attn.sdpa %q, %k, %v {fill(words)}\n    : {query}, {key}, {key} -> {query}\n"
                  f"  return %o : {query}\n}}\n")


def measure(arguments, kind, element, channels):
    """Return {(function, target): (registers, stack, spills)} of one module."""
    functions = [function(kind, sizes, element, channels) for sizes in arguments.sizes
                 # Few rows are few where they are known.
                 if not (kind.startswith("decode_") and sizes == "dynamic")]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "kernels.mlir"
        source.write_text("".join(text for _, text in functions))
        result = subprocess.run([arguments.attnc, source, "--target=" + ",".join(arguments.targets), "--report"],
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(f"attnc refuses {element} of {channels} channels: {result.stderr}")
    most = {}
    for line in result.stdout.split("\n"):
        if match := KERNEL.match(line):
            at = match.group(1), match.group(2)
            numbers = tuple(int(number) for number in match.groups()[2:])
            most[at] = tuple(map(max, most.get(at, (0, 0, 0)), numbers))
    missing = [(name, target) for name, _ in functions for target in arguments.targets if (name, target) not in most]
    if missing:
        sys.exit(f"expects a kernel for each of {missing}: is there a ptxas?")
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    words = lambda text: text.split(",")
    parser.add_argument("--attnc", default=ROOT / "build/release/bin/attnc")
    parser.add_argument("--types", type=words, default=TYPES)
    parser.add_argument("--channels", type=words, default=CHANNELS)
    parser.add_argument("--kinds", type=words, default=list(KINDS))
    parser.add_argument("--sizes", type=words, default=["static", "dynamic"])
    parser.add_argument("--targets", type=words, default=TARGETS)
    arguments = parser.parse_args()
    broken = 0
    print("type channels kind: registers/stack/spills for " + " ".join(arguments.targets))
    cases = [(int(channels), element, kind) for channels in arguments.channels
             for element in arguments.types for kind in arguments.kinds]
    for channels, element, kind in cases:
        most = measure(arguments, kind, element, channels)
        isStrict = kind in STRICT and element != "f32" and channels in (64, 128)
        limit = NONE if isStrict else LIMIT
        for name in dict.fromkeys(name for name, _ in most):
            numbers = [most[name, target] for target in arguments.targets]
            isBroken = any(max(stack, spills) >= limit for _, stack, spills in numbers)
            broken += isBroken
            print(element, channels, name + ":", " ".join("/".join(map(str, of)) for of in numbers),
                  "BROKEN" if isBroken else "", flush=True)
    if broken:
        sys.exit(f"{broken} kinds break a limit")


if __name__ == "__main__":
    main()
