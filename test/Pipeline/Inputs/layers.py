# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints a model of attn.mha layers, each with weights of its own: layers.py LAYERS ROWS CHANNELS HEADS.
import sys

layers, rows, channels, heads = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
tokens = f"tensor<1x{rows}x{channels}xf32>"
weight = f"tensor<{channels}x{channels}xf32>"
roles = ("query", "key", "value", "output")
arguments = [f"%x0: {tokens}"] + [f"%{role}{n}: {weight}" for n in range(layers) for role in roles]
print(f"func.func @model({', '.join(arguments)}) -> {tokens} {{")
for n in range(layers):
    weights = " ".join(f"{role}(%{role}{n} : {weight})" for role in roles)
    print(f"  %x{n + 1} = attn.mha %x{n} {weights} heads = {heads} causal = top_left : {tokens} -> {tokens}")
print(f"  return %x{layers} : {tokens}\n}}")
