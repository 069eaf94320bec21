# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ONNX Runtime on the CPU: the standard's Attention, and Microsoft's MultiHeadAttention and GroupQueryAttention, layers by
# Microsoft's Attention with weights that the model holds; all with inputs and outputs bound once.
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from workload import Layer

FEW_ROWS = 16
KINDS = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16,
         np.dtype(np.float64): TensorProto.DOUBLE, np.dtype(bool): TensorProto.BOOL,
         np.dtype(np.int32): TensorProto.INT32}


def start(threads):
    """Each session says how many threads it has."""


def about():
    return {"version": onnxruntime.__version__, "vectors": "MLAS chooses"}


def kind_of(array):
    return KINDS.get(array.dtype, TensorProto.BFLOAT16)


def value_of(array):
    array = np.ascontiguousarray(array)
    if kind_of(array) == TensorProto.BFLOAT16:
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


class Session:
    """A graph: `inputs` and `outputs` are (name, array) in order, empty names for absent ones; so are `constants`."""

    def __init__(self, nodes, inputs, outputs, threads, shared=(), constants=()):
        graph = helper.make_graph(
            nodes, "g", [helper.make_tensor_value_info(name, kind_of(x), x.shape) for name, x in inputs if name],
            [helper.make_tensor_value_info(name, kind_of(x), x.shape) for name, x in outputs],
            [numpy_helper.from_array(array, name) for name, array in constants])
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        # Its exponential of what is masked is a denormal number, and slow to multiply, unless it may be 0.
        options.add_session_config_entry("session.set_denormal_as_zero", "1")
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                    providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.values = {name: value_of(x) for name, x in inputs if name}
        for name, value in self.values.items():
            self.binding.bind_ortvalue_input(name, value)
        for name, array in outputs:
            # A cache that is read and written is one piece of memory.
            value = self.values[dict(shared)[name]] if name in dict(shared) else value_of(array)
            self.values[name] = value
            self.binding.bind_ortvalue_output(name, value)

    def call(self):
        self.session.run_with_iobinding(self.binding)


def one_node(operator, domain, inputs, outputs, threads, shared=(), **attributes):
    node = helper.make_node(operator, [name for name, _ in inputs], [name for name, _ in outputs], domain=domain,
                            **attributes)
    return Session([node], inputs, outputs, threads, shared)


def row_major(x):
    """[B, H, M, D] as [B, M, H * D]."""
    b, h, m, d = x.shape
    return np.ascontiguousarray(x.swapaxes(1, 2)).reshape(b, m, h * d)


def standard(w, threads, fold, mask, causal):
    q, k, v, _ = w.arrays
    if fold:
        q = q.reshape(w.B, w.G, w.repeats * w.M, w.D)
    inputs = [("q", q), ("k", k), ("v", v)] + ([] if mask is None else [("m", mask)])
    session = one_node("Attention", "", inputs, [("y", np.empty_like(q))], threads, is_causal=int(causal))
    return session.call, lambda: session.values["y"].numpy().reshape(w.B, w.H, w.M, w.D)


def from_rows(session, w):
    return lambda: session.values["y"].numpy().reshape(w.B, w.M, w.H, w.D).swapaxes(1, 2)


def multi_head(w, threads, bias, causal, flat_keys):
    q, k, v, _ = w.arrays
    keys = [row_major(k), row_major(v)] if flat_keys else [k, v]
    inputs = [("q", row_major(q)), ("k", keys[0]), ("v", keys[1])]
    if bias is not None:
        inputs += [("", None), ("", None), ("b", bias)]
    session = one_node("MultiHeadAttention", "com.microsoft", inputs, [("y", np.empty_like(row_major(q)))], threads,
                       num_heads=w.H, unidirectional=int(causal))
    return session.call, from_rows(session, w)


def group_query(w, threads, window):
    """A cache of N keys, of which the last M are new: what a decoder's step does."""
    q, k, v, _ = w.arrays
    lengths = np.array(w.lengths or [w.N] * w.B)
    fresh = [np.stack([x[b, :, n - w.M:n] for b, n in enumerate(lengths)]) for x in (k, v)]
    total = np.array(lengths.max(), np.int32)
    inputs = [("q", row_major(q)), ("k", row_major(fresh[0])), ("v", row_major(fresh[1]))]
    outputs = [("y", np.empty_like(row_major(q))), ("pk", k), ("pv", v)]
    if w.M < w.N:
        inputs += [("ck", k), ("cv", v)]
        shared = {"pk": "ck", "pv": "cv"}
    else:
        inputs += [("", None), ("", None)]
        shared = {}
    inputs += [("lengths", (lengths - 1).astype(np.int32)), ("total", total)]
    session = one_node("GroupQueryAttention", "com.microsoft", inputs, outputs, threads, shared, num_heads=w.H,
                       kv_num_heads=w.G, local_window_size=window)
    return session.call, from_rows(session, w)


def layer(w, threads):
    x, pairs = w.arrays
    weight = np.concatenate([weight.T for weight, _ in pairs[:3]], axis=1)
    constants = [("w", weight), ("b", np.concatenate([bias for _, bias in pairs[:3]])),
                 ("wo", np.ascontiguousarray(pairs[3][0].T)), ("bo", pairs[3][1])]
    nodes = [helper.make_node("Attention", ["x", "w", "b"], ["a"], domain="com.microsoft", num_heads=w.H),
             helper.make_node("MatMul", ["a", "wo"], ["p"]), helper.make_node("Add", ["p", "bo"], ["y"])]
    session = Session(nodes, [("x", x)], [("y", np.empty_like(x))], threads, constants=constants)
    return session.call, lambda: session.values["y"].numpy()


def ways(w, threads, library):
    if isinstance(w, Layer):
        yield "Attention with projections", lambda: layer(w, threads)
        return
    for words, mask, causal in w.masks("is_causal"):
        yield f"Attention{words}", lambda m=mask, c=causal: standard(w, threads, False, m, c)
        if w.repeats > 1 and w.M <= FEW_ROWS and not causal:
            folded = None if mask is None else np.tile(mask, (1, 1, w.repeats, 1))
            yield f"Attention, heads as rows{words}", lambda m=folded: standard(w, threads, True, m, False)
        if w.repeats == 1 and (mask is None or mask.dtype != bool):
            for flat in (True, False):
                yield (f"MultiHeadAttention{words}" + ("" if flat else ", keys by heads"),
                       lambda m=mask, c=causal, f=flat: multi_head(w, threads, m, c, f))
    # It is causal to the last key: for one row that is no rule.
    if w.arrays[3] is None and w.right < 0 and (w.causal != "none" or w.M == 1) and (
            w.causal == "bottom_right" or w.M in (1, w.N)):
        window = w.left + 1 if w.left >= 0 else -1
        yield "GroupQueryAttention, cache in place", lambda: group_query(w, threads, window)
