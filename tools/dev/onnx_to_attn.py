# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes one ONNX node, with the types and shapes of its inputs and outputs known, as a function of attn IR:
#
#   Attention(Q, K, V, nonpad_kv_seqlen) {is_causal = 1}
#
# becomes
#
#   func.func @main(%Q: tensor<...>, ..., %nonpad_kv_seqlen: tensor<2xi64>) -> tensor<...> {
#     %0 = linalg.generic ... nonpad_kv_seqlen - M ...
#     %1 = attn.sdpa %Q, %K, %V kv_lengths(%nonpad_kv_seqlen ...) query_offset(%0 ...) causal = top_left ...
#
# A node is a dictionary: `op`, `attrs`, and `in` and `out` as lists of (name, numpy type, shape).

from ir_text import ELEMENTS, WIDTH, Function, Value, real

# ONNX's number for a 64-bit float, the only softmax_precision above what attn.sdpa does anyway.
ONNX_DOUBLE = 11


class NotExpressible(Exception):
    """The node means something that the dialect has no words for yet."""


def padded_mask(function, keys):
    """The attention mask over all keys: those that it does not reach are excluded."""
    mask = function.arguments["attn_mask"]
    if mask.element != "i1" and mask.element not in WIDTH:
        mask = function.cast(mask, "f32")
    if mask.shape[-1] >= keys:
        return mask
    excluded = {"i1": "0", "f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}
    shape = mask.shape[:-1] + [keys]
    target = function.filled(shape, mask.element, excluded[mask.element])
    return function.insert(mask, target, [0] * len(shape))


def computed_type(query, value, precision):
    """The type in which query, key and value all go into the op."""
    if precision == ONNX_DOUBLE:
        return "f64"
    if query == value:
        return query
    return "f64" if "f64" in (query, value) else "f32"


def keys_and_values(function, attrs):
    """Key and value as [B, G, N, D or E] or [B, N, G, D or E], their layout, and how many of the keys are past."""
    key, value = function.arguments["K"], function.arguments["V"]
    layout = "bhsd"
    if len(key.shape) == 3:
        key = function.split_heads(key, attrs["kv_num_heads"])
        value = function.split_heads(value, attrs["kv_num_heads"])
        layout = "bshd"
    if "past_key" not in function.arguments:
        return key, value, layout, 0
    if layout == "bshd":
        key, value = function.swap_heads(key), function.swap_heads(value)
    past_key, past_value = function.arguments["past_key"], function.arguments["past_value"]
    return function.append(past_key, key), function.append(past_value, value), "bhsd", past_key.shape[2]


def repeated_heads(function, key, heads):
    """[B, G, N, D] as [B, heads, N, D]: each head once for every query head that reads it."""
    batch, groups, keys, size = key.shape
    if groups == heads:
        return key
    target = function.empty([batch, groups, heads // groups, keys, size], key.element)
    wide = function.generic([("x", key, "bgnd")], (target, "bgrnd"), "bgrnd", [], result="x")
    result = Value("", [batch, heads, keys, size], key.element)
    return function.emit(f"tensor.collapse_shape {wide.name} [[0], [1, 2], [3], [4]] : {wide.type} into {result.type}",
                         result.shape, key.element)


def exclusion(function, attrs, past, rows):
    """The inputs and the lines of a body over scores that computes %r, -inf where %so is excluded, else %so."""
    element = attrs["wide"]
    lowest = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}[element]
    inputs, lines = [], [f"%lowest = arith.constant {lowest} : {element}",
                         "%j = linalg.index 3 : index", "%i = linalg.index 2 : index"]
    conditions = []

    def exclude(text):
        conditions.append(f"%out{len(conditions)}")
        lines.append(f"{conditions[-1]} = {text}")
    mask = attrs["mask"]
    if mask is not None and mask.element == "i1":
        lines.append("%true = arith.constant true")
        exclude("arith.xori %mask, %true : i1")
    lines.append(f"%offset = arith.constant {past} : index")
    if "nonpad_kv_seqlen" in function.arguments:
        lengths = function.arguments["nonpad_kv_seqlen"]
        inputs.append(("length", lengths, "b"))
        lines += [f"%n = arith.index_cast %length : {lengths.element} to index",
                  f"%rows = arith.constant {rows} : index", "%last = arith.subi %n, %rows : index"]
        exclude("arith.cmpi sge, %j, %n : index")
    offset = "%last" if inputs else "%offset"
    lines.append(f"%p = arith.addi %i, {offset} : index")
    if attrs.get("is_causal", 0):
        exclude("arith.cmpi sgt, %j, %p : index")
    for name, sign, predicate in (("left", "subi", "slt"), ("right", "addi", "sgt")):
        size = attrs.get(f"{name}_window_size", -1)
        if size >= 0:
            lines += [f"%{name} = arith.constant {size} : index", f"%{name}_end = arith.{sign} %p, %{name} : index"]
            exclude(f"arith.cmpi {predicate}, %j, %{name}_end : index")
    lines.append("%none = arith.constant false")
    out = "%none"
    for number, condition in enumerate(conditions):
        lines.append(f"%any{number} = arith.ori {out}, {condition} : i1")
        out = f"%any{number}"
    return inputs, [*lines, f"%r = arith.select {out}, %lowest, %s : {element}"]


def scores(function, attrs, query, key, past):
    """The scores after the step that `qk_matmul_output_mode` names, in plain linalg."""
    mode, element = attrs.get("qk_matmul_output_mode", 0), attrs["wide"]
    three = len(function.arguments["Q"].shape) == 3
    batch, heads = query.shape[0], query.shape[2 if three else 1]
    rows, size = query.shape[1 if three else 2], query.shape[3]
    key = repeated_heads(function, function.cast(key, element), heads)
    query = function.cast(query, element)
    shape = [batch, heads, rows, key.shape[2]]
    value = function.generic([("q", query, "bmhd" if three else "bhmd"), ("k", key, "bhnd")],
                             (function.filled(shape, element, "0.0"), "bhmn"), "bhmnd",
                             [f"%p = arith.mulf %q, %k : {element}", f"%r = arith.addf %so, %p : {element}"])
    scale = attrs["scale"] if attrs.get("scale") is not None else size ** -0.5
    value = function.elementwise(value, element, [f"%c = arith.constant {real(scale)} : {element}",
                                                  f"%r = arith.mulf %x, %c : {element}"])
    if mode >= 1 and attrs.get("softcap", 0) > 0:
        value = function.elementwise(value, element, [
            f"%c = arith.constant {real(attrs['softcap'])} : {element}", f"%d = arith.divf %x, %c : {element}",
            f"%t = math.tanh %d : {element}", f"%r = arith.mulf %t, %c : {element}"])
    if mode < 2:
        return value
    attrs["mask"] = mask = padded_mask(function, shape[3]) if "attn_mask" in function.arguments else None
    inputs, lines = exclusion(function, attrs, past, rows)
    inputs.append(("x", value, "bhmn"))
    first = "%s = arith.addf %x, %zero"
    zero = f"%zero = arith.constant 0.0 : {element}"
    if mask is not None:
        places = "".join("0" if extent == 1 else letter
                         for extent, letter in zip(mask.shape, "bhmn"[-len(mask.shape):]))
        if mask.element != "i1":
            mask = function.cast(mask, element)
            first = "%s = arith.addf %x, %mask"
        inputs.append(("mask", mask, places))
    return function.generic(inputs, (function.empty(shape, element), "bhmn"), "bhmn",
                            [zero, f"{first} : {element}", *lines])


def sdpa_clauses(function, attrs, keys, past, rows):
    """The optional operands and attributes, in the order in which the op prints them."""
    clauses = []
    left, right = attrs.get("left_window_size", -1), attrs.get("right_window_size", -1)
    positions = attrs.get("is_causal", 0) or left >= 0 or right >= 0
    if "attn_mask" in function.arguments:
        mask = padded_mask(function, keys)
        if mask.element == "f64" and attrs["computed"] != "f64":
            mask = function.cast(mask, "f32")
        clauses.append(f"{'mask' if mask.element == 'i1' else 'bias'}({mask.name} : {mask.type})")
    if "nonpad_kv_seqlen" in function.arguments:
        lengths = function.arguments["nonpad_kv_seqlen"]
        clauses.append(f"kv_lengths({lengths.name} : {lengths.type})")
        if positions:
            offset = function.elementwise(lengths, lengths.element, [
                f"%rows = arith.constant {rows} : {lengths.element}",
                f"%r = arith.subi %x, %rows : {lengths.element}"])
            clauses.append(f"query_offset({offset.name} : {offset.type})")
    elif past and positions:
        offset = function.emit(f"arith.constant {past} : i64", [], "i64")
        clauses.append(f"query_offset({offset.name} : i64)")
    if attrs.get("scale") is not None:
        clauses.append(f"scale = {real(attrs['scale'])}")
    if attrs.get("is_causal", 0):
        clauses.append("causal = top_left")
    sides = [f"{name} = {size}" for name, size in (("left", left), ("right", right)) if size >= 0]
    if sides:
        clauses.append(f"window = <{', '.join(sides)}>")
    if attrs.get("softcap", 0) > 0:
        clauses.append(f"softcap = {real(attrs['softcap'])}")
    return clauses


def attention(node):
    """Attention-23, -24 and -25."""
    function, attrs = Function(node), dict(node["attrs"])
    outputs = [name for name, _, _ in node["out"]]
    query = function.arguments["Q"]
    given, three = query.element, len(query.shape) == 3
    if three:
        query = function.split_heads(query, attrs["q_num_heads"])
    key, value, layout, past = keys_and_values(function, attrs)
    present = {"present_key": key, "present_value": value}
    computed = attrs["computed"] = computed_type(given, value.element, attrs.get("softmax_precision"))
    attrs["wide"] = "f64" if computed == "f64" else "f32"
    mode = attrs.get("qk_matmul_output_mode", 0) if "qk_matmul_output" in outputs else None
    products = None
    if mode in (0, 1, 2):
        heads_first = function.swap_heads(key) if layout == "bshd" else key
        products = function.cast(scores(function, attrs, query, heads_first, past), given)
    query, key, value = (function.cast(x, computed) for x in (query, key, value))
    rows = query.shape[1 if three else 2]
    keys = key.shape[1 if layout == "bshd" else 2]
    clauses = sdpa_clauses(function, attrs, keys, past, rows)
    layouts = {"query": "bshd" if three else "bhsd", "key": layout, "value": layout,
               "output": "bshd" if three else "bhsd"}
    swapped = ", ".join(f"{name} = bshd" for name, kind in layouts.items() if kind == "bshd")
    if swapped:
        clauses.append(f"layout = <{swapped}>")
    output = Value("", query.shape[:3] + [value.shape[3]], computed)
    text = (f"attn.sdpa {query.name}, {key.name}, {value.name} {' '.join(clauses)} : "
            f"{query.type}, {key.type}, {value.type} -> {output.type}")
    if mode == 3:
        heads = query.shape[2 if three else 1]
        weights = Value("", [query.shape[0], heads, rows, keys], attrs["wide"])
        output, weights = function.emit_two(f"{text} weights({weights.type})", output, weights)
        products = function.cast(weights, given)
    else:
        output = function.emit(text, output.shape, computed)
    output = function.cast(output, given)
    results = {"Y": function.join_heads(output) if three else output}
    results["qk_matmul_output"] = products
    for name, whole in present.items():
        if name in outputs and layout == "bshd":
            whole = function.swap_heads(whole)
        results[name] = whole
    return function.close([results[name] for name in outputs])


def rotary_embedding(node):
    """RotaryEmbedding-23."""
    function, attrs = Function(node), node["attrs"]
    value = function.arguments[node["in"][0][0]]
    cos, sin = function.arguments["cos_cache"], function.arguments["sin_cache"]
    three, clauses = len(value.shape) == 3, []
    if three:
        value = function.split_heads(value, attrs["num_heads"])
    if "position_ids" in function.arguments:
        positions = function.arguments["position_ids"]
        clauses.append(f"positions({positions.name} : {positions.type})")
    if attrs.get("rotary_embedding_dim", 0):
        clauses.append(f"rotary_dim = {attrs['rotary_embedding_dim']}")
    if attrs.get("interleaved", 0):
        clauses.append("pairing = interleaved")
    if three:
        clauses.append("layout = bshd")
    result = function.emit(f"attn.rope {value.name}, {cos.name}, {sin.name} {' '.join(clauses)} : "
                           f"{value.type}, {cos.type}, {sin.type}", value.shape, value.element)
    return function.close([function.join_heads(result) if three else result])


def gate(function, value, heads):
    """A decay or a beta as [B, heads, T], or a decay of every channel as [B, heads, T, D]."""
    if value.shape[2] == heads or value.shape[2] == 1:
        return function.transpose(value, [0, 2, 1])
    return function.swap_heads(function.split_heads(value, heads))


def linear_attention(node):
    """LinearAttention-27."""
    function, attrs = Function(node), node["attrs"]
    arguments, heads = function.arguments, attrs["kv_num_heads"]
    query = function.split_heads(arguments["query"], attrs["q_num_heads"])
    key, value = (function.split_heads(arguments[name], heads) for name in ("key", "value"))
    wide = "f64" if query.element == "f64" else "f32"
    clauses = []
    for name in ("decay", "beta"):
        if name in arguments:
            gated = gate(function, arguments[name], heads)
            clauses.append(f"{name}({gated.name} : {gated.type})")
    if "past_state" in arguments:
        state = function.cast(arguments["past_state"], wide)
        clauses.append(f"state({state.name} : {state.type})")
    clauses.append(f"rule = {attrs.get('update_rule', 'gated_delta')}")
    if attrs.get("scale", 0):
        clauses.append(f"scale = {real(attrs['scale'])}")
    output = Value("", query.shape[:3] + [value.shape[3]], query.element)
    state = Value("", [query.shape[0], heads, key.shape[3], value.shape[3]], wide)
    output, state = function.emit_two(
        f"attn.linear_attention {query.name}, {key.name}, {value.name} {' '.join(clauses)} layout = bshd : "
        f"{query.type}, {key.type}, {value.type} -> {output.type} state({state.type})", output, state)
    results = {"output": function.join_heads(output)}
    for name, kind, _ in node["out"]:
        if name == "present_state":
            results[name] = function.cast(state, ELEMENTS[kind])
    return function.close([results[name] for name, _, _ in node["out"]])


def to_attn(node):
    """The module for `node`; raises NotExpressible where the dialect cannot say it."""
    writers = {"Attention": attention, "LinearAttention": linear_attention, "RotaryEmbedding": rotary_embedding}
    if node["op"] not in writers:
        raise NotExpressible(f"{node['op']}: no such op in the dialect yet")
    return writers[node["op"]](node)
