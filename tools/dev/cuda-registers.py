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
import functools
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
    "tanh": ("""score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %bounded = math.tanh %s : f32
      attn.yield %bounded : f32
    }""", {}),
    "documents": ("mask_mod = documents(%x : tensor<Nxi32>)", {"x": "tensor<Nxi32>"}),
    "softcap": ("softcap = 30.0", {}),
    "sinks": ("sinks(%x : tensor<8xf32>)", {"x": "tensor<8xf32>"}),
    "lse": ("causal = top_left", {}),
    "weights": ("causal = top_left", {}),
    "pages": ("kv_lengths(%y : tensor<1xi32>) page_table(%x : tensor<1x16xi32>)",
              {"x": "tensor<1x16xi32>", "y": "tensor<1xi32>"}),
    "packed": ("cu_seqlens_q(%x : tensor<5xi32>) cu_seqlens_k(%y : tensor<5xi32>) causal = bottom_right",
               {"x": "tensor<5xi32>", "y": "tensor<5xi32>"}),
    "bytes": ("key_scale(%x : tensor<8x1xf32>) value_scale(%x : tensor<8x1xf32>)", {"x": "tensor<8x1xf32>"}),
    "all": ("bias(%x : tensor<1x8xMxNxTYPE>) mask(%y : tensor<1x1xMxNxi1>) kv_lengths(%z : tensor<1xi32>) "
            "sinks(%w : tensor<8xf32>) causal = bottom_right window = <left = 127> softcap = 30.0",
            {"x": "tensor<1x8xMxNxTYPE>", "y": "tensor<1x1xMxNxi1>", "z": "tensor<1xi32>", "w": "tensor<8xf32>"}),
    "decode_1": ("", {}),
    "decode_4": ("causal = bottom_right", {}),
    "decode_16": ("causal = bottom_right", {}),
    "decode_1_pages": ("kv_lengths(%y : tensor<1xi32>) page_table(%x : tensor<1x99xi32>)",
                       {"x": "tensor<1x99xi32>", "y": "tensor<1xi32>"}),
    "layer": ("", {}),
}
# What comes out beside the output.
RESULTS = {"lse": "tensor<1x8xMxf32>", "weights": "tensor<1x8xMxNxf32>"}
KERNEL = re.compile(r"^(\w+?)_k\d+\w* \((\w+)\): \d+ instructions, (\d+) registers, "
                    r"(\d+) bytes of stack, (\d+) of spills")


def function(kind, sizes, element, channels):
    """Return one attention as a function, and its name."""
    words, more = KINDS[kind]
    rows, keys, query_heads = ROWS, KEYS, HEADS
    if kind.startswith("decode_"):
        rows, keys, query_heads = int(kind.split("_")[1]), 8 * KEYS, 4 * HEADS
    if sizes == "dynamic":
        rows, keys = "?", "?"
    fill = lambda text: text.replace("TYPE", element).replace("M", str(rows)).replace("N", str(keys))
    stored = "i8" if kind == "bytes" else element
    query = f"tensor<1x{query_heads}x{rows}x{channels}x{element}>"
    key = f"tensor<1x{HEADS}x{keys}x{channels}x{stored}>"
    if kind == "packed":
        query = key = f"tensor<{rows}x{HEADS}x{channels}x{element}>"
    if kind.endswith("pages"):
        key = f"tensor<99x{HEADS}x64x{channels}x{element}>"
    name, results = f"{kind}_{sizes}", [query]
    if kind in RESULTS:
        results.append(fill(RESULTS[kind]))
    operands = "".join(f", %{name}: {fill(type)}" for name, type in more.items())
    form = ", ".join([query] + [f"weights({type})" if kind == "weights" else type for type in results[1:]])
    outputs = ", ".join(f"%o#{number}" for number in range(len(results)))
    return name, (f"func.func @{name}(%q: {query}, %k: {key}, %v: {key}{operands}) -> ({', '.join(results)}) {{\n"
                  f"  %o:{len(results)} = attn.sdpa %q, %k, %v {fill(words)}\n    : {query}, {key}, {key} -> {form}\n"
                  f"  return {outputs} : {', '.join(results)}\n}}\n")


def layer(sizes, element, channels):
    """Return a layer with heads of `channels` channels as a function, and its name."""
    name, wide, narrow = f"layer_{sizes}", HEADS * channels, HEADS // 4 * channels
    tensor = f"tensor<1x{'?' if sizes == 'dynamic' else ROWS}x{wide}x{element}>"
    large, small = f"tensor<{wide}x{wide}x{element}>", f"tensor<{narrow}x{wide}x{element}>"
    table, numbers = f"tensor<{KEYS}x{channels // 2}xf32>", tensor.replace(f"x{wide}x{element}", "xi32")
    return name, (f"func.func @{name}(%x: {tensor}, %wq: {large}, %wk: {small}, %wv: {small}, %wo: {large},\n"
                  f"    %c: {table}, %s: {table}, %p: {numbers}) -> {tensor} {{\n"
                  f"  %y = attn.mha %x query(%wq : {large}) key(%wk : {small}) value(%wv : {small})\n"
                  f"    output(%wo : {large}) rope(%c : {table}, %s : {table}, %p : {numbers})\n"
                  f"    heads = {HEADS} kv_heads = {HEADS // 4} causal = top_left : {tensor} -> {tensor}\n"
                  f"  return %y : {tensor}\n}}\n")


def measure(arguments, kind, element, channels, precision):
    """Return {(function, target): (registers, stack, spills)} of one module."""
    make = layer if kind == "layer" else functools.partial(function, kind)
    functions = [make(sizes, element, channels) for sizes in arguments.sizes
                 # Few rows are few where they are known.
                 if not (kind.startswith("decode_") and sizes == "dynamic")]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "kernels.mlir"
        source.write_text("".join(text for _, text in functions))
        command = [arguments.attnc, source, "--target=" + ",".join(arguments.targets), "--report"]
        if element == "f32":
            command.append("--precision=" + precision)
        result = subprocess.run(command,
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
    parser.add_argument("--precision", default="exact", choices=["exact", "tf32", "tf32x3"], help="of f32")
    parser.add_argument("--sizes", type=words, default=["static", "dynamic"])
    parser.add_argument("--targets", type=words, default=TARGETS)
    arguments = parser.parse_args()
    broken = 0
    print("type channels kind: registers/stack/spills for " + " ".join(arguments.targets))
    cases = [(int(channels), element, kind) for channels in arguments.channels
             for element in arguments.types for kind in arguments.kinds]
    for channels, element, kind in cases:
        most = measure(arguments, kind, element, channels, arguments.precision)
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
