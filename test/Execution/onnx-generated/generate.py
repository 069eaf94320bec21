#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes test cases of ONNX's Attention, LinearAttention and RotaryEmbedding, for tools/dev/onnx-cases.py:
#
#   build/venv/bin/python test/Execution/onnx-generated/generate.py DIR
#
# Writes DIR/index.json and, for each case, DIR/NAME/in_X.npy and out_X.npy. The inputs come from a seed; what is
# expected comes from the operators' definitions, one row at a time in float64, and shares nothing with the compiler.
import json
import pathlib
import sys

import numpy as np

SEED = 20
INFINITY = float("inf")


def to_bf16(array):
    """Round to the nearest bf16, ties to even; the result is numbers, still float64."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    bits = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint32) << 16
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def rounded(array, kind):
    """The array's numbers after storing them as `kind`."""
    return to_bf16(array) if kind == "bfloat16" else array.astype(kind).astype(np.float64)


def stored(array, kind):
    """The array as it goes into a file; bf16 as two raw bytes."""
    if kind != "bfloat16":
        return array.astype(kind)
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")


def heads_first(array, heads):
    """[B, S, heads * D] to [B, heads, S, D]; four dimensions stay."""
    if array.ndim == 4:
        return array
    return array.reshape(*array.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def row(scores, bias, excluded):
    """The scores, -inf where a key is left out, and softmax over the keys that are left; 0 where none is."""
    kept = ~excluded & (bias != -INFINITY)
    scores = np.where(kept, scores + np.where(kept, bias, 0), -INFINITY)
    kept &= scores != -INFINITY
    weights = np.zeros(len(scores))
    if kept.any():
        weights[kept] = np.exp(scores[kept] - scores[kept].max())
        weights /= weights.sum()
    return scores, weights


def attention(inputs, attrs):
    """Attention by definition, on float64 (and bool) arrays."""
    three = inputs["Q"].ndim == 3
    query = heads_first(inputs["Q"], attrs.get("q_num_heads"))
    key, value = (heads_first(inputs[name], attrs.get("kv_num_heads")) for name in "KV")
    past = 0
    if "past_key" in inputs:
        past = inputs["past_key"].shape[2]
        key = np.concatenate([inputs["past_key"], key], axis=2)
        value = np.concatenate([inputs["past_value"], value], axis=2)
    (batch, heads, rows, size), keys = query.shape, key.shape[2]
    lengths = inputs.get("nonpad_kv_seqlen", np.full(batch, keys))
    mask = inputs.get("attn_mask", np.zeros(keys))
    short = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
    mask = np.pad(mask, short, constant_values=False if mask.dtype == bool else -INFINITY)
    mask = np.broadcast_to(mask, (batch, heads, rows, keys))
    bias = np.where(mask, 0, -INFINITY) if mask.dtype == bool else mask
    scale = attrs.get("scale", 1 / np.sqrt(size))
    left, right = attrs.get("left_window_size", -1), attrs.get("right_window_size", -1)
    output = np.zeros((batch, heads, rows, value.shape[3]))
    steps = np.zeros((4, batch, heads, rows, keys))
    j = np.arange(keys)
    for b, h, i in np.ndindex(batch, heads, rows):
        g = h // (heads // key.shape[1])
        at = i + (lengths[b] - rows if "nonpad_kv_seqlen" in inputs else past)
        scores = scale * (key[b, g] @ query[b, h, i])
        steps[0, b, h, i] = scores
        if attrs.get("softcap", 0) > 0:
            scores = attrs["softcap"] * np.tanh(scores / attrs["softcap"])
        steps[1, b, h, i] = scores
        excluded = j >= lengths[b]
        if attrs.get("is_causal", 0):
            excluded = excluded | (j > at)
        if left >= 0:
            excluded = excluded | (j < at - left)
        if right >= 0:
            excluded = excluded | (j > at + right)
        steps[2, b, h, i], weights = row(scores, bias[b, h, i], excluded)
        steps[3, b, h, i] = weights
        used = weights != 0
        output[b, h, i] = weights[used] @ value[b, g][used]
    if three:
        output = output.transpose(0, 2, 1, 3).reshape(batch, rows, -1)
    return {"Y": output, "present_key": key, "present_value": value,
            "qk_matmul_output": steps[attrs.get("qk_matmul_output_mode", 0)]}


def linear_attention(inputs, attrs):
    """LinearAttention by definition, one step at a time."""
    heads, groups, rule = attrs["q_num_heads"], attrs["kv_num_heads"], attrs.get("update_rule", "gated_delta")
    query = heads_first(inputs["query"], heads)
    key, value = (heads_first(inputs[name], groups) for name in ("key", "value"))
    (batch, _, steps, size), width = query.shape, value.shape[3]
    state = np.array(inputs.get("past_state", np.zeros((batch, groups, size, width))))
    output = np.zeros((batch, heads, steps, width))
    for b, g, t in np.ndindex(batch, groups, steps):
        if "gated" in rule:
            # A number for the head, or one for each of its channels.
            state[b, g] *= np.exp(inputs["decay"][b, t].reshape(groups, -1)[g])[:, None]
        new = value[b, g, t]
        if "delta" in rule:
            beta = inputs["beta"][b, t]
            new = beta[g % len(beta)] * (new - state[b, g].T @ key[b, g, t])
        state[b, g] += np.outer(key[b, g, t], new)
        for h in range(g * heads // groups, (g + 1) * heads // groups):
            output[b, h, t] = state[b, g].T @ query[b, h, t] * (attrs.get("scale", 0) or size ** -0.5)
    return {"output": output.transpose(0, 2, 1, 3).reshape(batch, steps, -1), "present_state": state}


def rotary_embedding(inputs, attrs):
    """RotaryEmbedding by definition."""
    three = inputs["input"].ndim == 3
    value = heads_first(inputs["input"], attrs.get("num_heads"))
    batch, heads, rows, size = value.shape
    rotary = attrs.get("rotary_embedding_dim", 0) or size
    output = value.copy()
    for b, h, i in np.ndindex(batch, heads, rows):
        place = inputs["position_ids"][b, i] if "position_ids" in inputs else (b, i)
        cos, sin = inputs["cos_cache"][place], inputs["sin_cache"][place]
        first, second = slice(0, rotary // 2), slice(rotary // 2, rotary)
        if attrs.get("interleaved", 0):
            first, second = slice(0, rotary, 2), slice(1, rotary, 2)
        x, y = value[b, h, i, first], value[b, h, i, second]
        output[b, h, i, first] = x * cos - y * sin
        output[b, h, i, second] = x * sin + y * cos
    if three:
        output = output.transpose(0, 2, 1, 3).reshape(batch, rows, -1)
    return {"output": output}


DEFINITIONS = {"Attention": attention, "LinearAttention": linear_attention, "RotaryEmbedding": rotary_embedding}
F16, BF16, F32, F64, BOOL, I64 = "float16", "bfloat16", "float32", "float64", "bool", "int64"


def case(name, op, attrs, inputs, outputs, **data):
    """Describe a case. An input is its type and shape; `data` replaces what the seed would give."""
    return {"name": name, "op": op, "attrs": attrs, "in": inputs, "out": outputs, "data": data}


def qkv(kind, query, key, value=None, value_kind=None):
    return {"Q": (kind, query), "K": (kind, key), "V": (value_kind or kind, value or key)}


def decays(*shape):
    """Logarithms of factors below 1, the same each time."""
    return -np.float16(np.arange(np.prod(shape)).reshape(shape) * 7 % 11 / 16).astype(np.float64)


def unit_keys(batch, steps, heads, size):
    """Keys of length 1, as the delta rule wants them: each a direction of its own."""
    keys = np.zeros((batch, steps, heads, size))
    for b, t, h in np.ndindex(batch, steps, heads):
        keys[b, t, h, (t * 3 + h) % size] = 1
    return keys.reshape(batch, steps, heads * size)


def cases():
    nan_key = np.full((1, 2, 5, 8), 0.5)
    nan_key[:, :, 3:] = np.nan
    half_mask = np.array([[True] * 3 + [False] * 2] * 3 + [[False] * 5])
    position = np.array([[49, 0, 7], [3, 3, 1]])
    return [
        case("heads_joined_causal", "Attention", {"q_num_heads": 6, "kv_num_heads": 2, "is_causal": 1},
             qkv(F32, [2, 5, 42], [2, 9, 14], [2, 9, 22]), {"Y": F32}),
        case("past_window_half", "Attention", {"is_causal": 1, "left_window_size": 3},
             {**qkv(F16, [2, 4, 5, 16], [2, 2, 5, 16]), "past_key": (F16, [2, 2, 37, 16]),
              "past_value": (F16, [2, 2, 37, 16])}, {"Y": F16, "present_key": F16, "present_value": F16}),
        case("heads_joined_past", "Attention", {"q_num_heads": 3, "kv_num_heads": 3, "is_causal": 1},
             {**qkv(F32, [2, 4, 24], [2, 6, 24], [2, 6, 30]), "past_key": (F32, [2, 3, 12, 8]),
              "past_value": (F32, [2, 3, 12, 10])}, {"Y": F32, "present_key": F32, "present_value": F32}),
        case("window_by_lengths", "Attention", {"left_window_size": 4, "right_window_size": 1},
             {**qkv(F32, [3, 4, 6, 8], [3, 4, 33, 8]), "nonpad_kv_seqlen": (I64, [3])}, {"Y": F32},
             nonpad_kv_seqlen=np.array([33, 17, 2])),
        case("no_key_in_one_entry", "Attention", {},
             {**qkv(F32, [2, 2, 3, 8], [2, 2, 7, 8]), "nonpad_kv_seqlen": (I64, [2])}, {"Y": F32},
             nonpad_kv_seqlen=np.array([0, 7])),
        case("short_bool_mask", "Attention", {},
             {**qkv(F32, [2, 3, 4, 8], [2, 3, 20, 8]), "attn_mask": (BOOL, [2, 1, 4, 13])}, {"Y": F32}),
        case("short_bias_bfloat", "Attention", {"is_causal": 1},
             {**qkv(BF16, [2, 4, 4, 16], [2, 2, 24, 16]), "attn_mask": (BF16, [2, 4, 4, 21]),
              "nonpad_kv_seqlen": (I64, [2])}, {"Y": BF16}, nonpad_kv_seqlen=np.array([24, 9])),
        case("rank1_bias_softcap", "Attention", {"softcap": 1.5, "scale": -0.75},
             {**qkv(F32, [1, 3, 6, 40], [1, 3, 70, 40]), "attn_mask": (F32, [70])}, {"Y": F32}),
        case("scale_zero", "Attention", {"scale": 0.0}, qkv(F32, [1, 2, 3, 8], [1, 2, 19, 8]), {"Y": F32}),
        case("value_wider", "Attention", {},
             qkv(F16, [1, 2, 9, 32], [1, 2, 40, 32], [1, 2, 40, 24], F32), {"Y": F16}),
        case("double", "Attention", {"is_causal": 1},
             {**qkv(F64, [1, 2, 17, 24], [1, 2, 17, 24]), "attn_mask": (F64, [1, 2, 17, 17])}, {"Y": F64}),
        case("softmax_in_double", "Attention", {"softmax_precision": 11},
             {**qkv(F32, [1, 2, 9, 16], [1, 2, 31, 16]), "attn_mask": (F32, [31])}, {"Y": F32}),
        case("right_window", "Attention", {"right_window_size": 0},
             qkv(F32, [1, 2, 21, 8], [1, 2, 21, 8]), {"Y": F32}),
        case("decode_group", "Attention", {"is_causal": 1},
             {**qkv(F32, [2, 8, 1, 64], [2, 2, 300, 64]), "nonpad_kv_seqlen": (I64, [2])}, {"Y": F32},
             nonpad_kv_seqlen=np.array([300, 131])),
        case("excluded_keys_nan", "Attention", {},
             {**qkv(F32, [1, 2, 4, 8], [1, 2, 5, 8]), "attn_mask": (BOOL, [4, 5])}, {"Y": F32},
             K=nan_key, attn_mask=half_mask),
        case("scores_scaled", "Attention", {"scale": 0.5},
             qkv(F16, [1, 4, 5, 16], [1, 2, 9, 16]), {"Y": F16, "qk_matmul_output": F16}),
        case("scores_capped", "Attention", {"softcap": 1.5, "qk_matmul_output_mode": 1, "q_num_heads": 4, "kv_num_heads": 2},
             {**qkv(F32, [1, 5, 32], [1, 9, 16]), "attn_mask": (F32, [5, 9])}, {"Y": F32, "qk_matmul_output": F32}),
        case("scores_masked", "Attention", {"qk_matmul_output_mode": 2, "is_causal": 1, "left_window_size": 4},
             {**qkv(F32, [2, 2, 5, 8], [2, 2, 30, 8]), "attn_mask": (BOOL, [5, 21]), "nonpad_kv_seqlen": (I64, [2])},
             {"Y": F32, "qk_matmul_output": F32}, nonpad_kv_seqlen=np.array([30, 3])),
        case("weights_past", "Attention", {"qk_matmul_output_mode": 3, "is_causal": 1, "softmax_precision": 1},
             {**qkv(F16, [2, 4, 3, 8], [2, 2, 3, 8]), "past_key": (F16, [2, 2, 40, 8]),
              "past_value": (F16, [2, 2, 40, 8])}, {"Y": F16, "present_key": F16, "qk_matmul_output": F16}),
        case("linear_channels", "LinearAttention", {"update_rule": "gated", "q_num_heads": 4, "kv_num_heads": 2},
             {"query": (F32, [2, 40, 32]), "key": (F32, [2, 40, 16]), "value": (F32, [2, 40, 10]),
              "decay": (F32, [2, 40, 16])}, {"output": F32, "present_state": F32}, decay=decays(2, 40, 16)),
        case("linear_delta_state", "LinearAttention", {"q_num_heads": 3, "kv_num_heads": 3, "scale": 0.5},
             {"query": (F16, [1, 9, 24]), "key": (F16, [1, 9, 24]), "value": (F16, [1, 9, 24]),
              "past_state": (F16, [1, 3, 8, 8]), "decay": (F16, [1, 9, 3]), "beta": (F16, [1, 9, 1])},
             {"output": F16, "present_state": F16}, decay=decays(1, 9, 3), key=unit_keys(1, 9, 3, 8),
             beta=np.full((1, 9, 1), 0.5)),
        case("rope_half", "RotaryEmbedding", {"num_heads": 4, "rotary_embedding_dim": 12},
             {"input": (F32, [2, 3, 80]), "cos_cache": (F32, [50, 6]), "sin_cache": (F32, [50, 6]),
              "position_ids": (I64, [2, 3])}, {"output": F32}, position_ids=position),
        case("rope_interleaved_half_precision", "RotaryEmbedding", {"interleaved": 1},
             {"input": (F16, [2, 5, 3, 18]), "cos_cache": (F16, [2, 3, 9]), "sin_cache": (F16, [2, 3, 9])},
             {"output": F16}),
    ]


def random_input(random, kind, shape):
    if kind == BOOL:
        return random.random(shape) < 0.7
    return rounded(random.standard_normal(shape), kind)


def write(one, folder, random):
    """Write the arrays of a case; return its line of the index."""
    inputs = {name: one["data"].get(name, random_input(random, kind, shape)) for name, (kind, shape) in one["in"].items()}
    results = DEFINITIONS[one["op"]](inputs, one["attrs"])
    (folder / one["name"]).mkdir(parents=True, exist_ok=True)
    for name, (kind, _) in one["in"].items():
        np.save(folder / one["name"] / f"in_{name}.npy", stored(inputs[name], kind))
    for name, kind in one["out"].items():
        np.save(folder / one["name"] / f"out_{name}.npy", stored(rounded(results[name], kind), kind))
    return {"name": one["name"], "op": one["op"], "attrs": one["attrs"],
            "in": [[name, kind, list(inputs[name].shape)] for name, (kind, _) in one["in"].items()],
            "out": [[name, kind, list(results[name].shape)] for name, kind in one["out"].items()]}


def main():
    if len(sys.argv) != 2:
        sys.exit("expects one argument, the folder to write to")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    index = [write(one, folder, random) for one in cases()]
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")
    print(f"{len(index)} cases in {folder}")


if __name__ == "__main__":
    main()
