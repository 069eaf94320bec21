# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# OpenVINO on the CPU: ScaledDotProductAttention for latency, with tensors that share numpy's memory; the weights of a
# layer are constants of its model.
import numpy as np
import openvino
from openvino import opset13 as op

from workload import Layer

FEW_ROWS = 16
CORE = openvino.Core()
TYPES = {"f32": openvino.Type.f32, "f16": openvino.Type.f16, "bf16": openvino.Type.bf16, "f64": openvino.Type.f64}


def start(threads):
    """Each model says how many threads it has."""


def about():
    return {"version": openvino.__version__,
            "vectors": " ".join(CORE.get_property("CPU", "OPTIMIZATION_CAPABILITIES"))}


def tensor_of(array, kind):
    if kind == openvino.Type.bf16:
        return openvino.Tensor(array.view(np.uint16), list(array.shape), kind)
    return openvino.Tensor(array, shared_memory=True)


def run(w, threads, arrays, mask, causal, precision, build):
    """Compile `build(parameters)` for `arrays` and the mask, if there is one."""
    kind = TYPES[w.type]
    kinds = [kind] * len(arrays)
    arrays = [np.ascontiguousarray(array) for array in (arrays if mask is None else [*arrays, mask])]
    if mask is not None:
        kinds.append(openvino.Type.boolean if mask.dtype == bool else kind)
    parameters = [op.parameter(list(array.shape), k) for array, k in zip(arrays, kinds)]
    model = openvino.Model([build(parameters, causal)], parameters)
    compiled = CORE.compile_model(model, "CPU", {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": precision})
    request = compiled.create_infer_request()
    tensors = [tensor_of(array, k) for array, k in zip(arrays, kinds)]
    for i, tensor in enumerate(tensors):
        request.set_input_tensor(i, tensor)

    def fetch(keep=(compiled, tensors, arrays)):
        data = request.get_output_tensor().data
        if w.type == "bf16" and data.dtype.itemsize == 2 and data.dtype.kind != "V":
            data = (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        return data.reshape(w.shape).astype(np.float64)

    return request.infer, fetch


def attend(parameters, causal):
    return op.scaled_dot_product_attention(*parameters, causal=causal)


def repeat_in_graph(w):
    """Heads are repeated by the model itself, as exporters write it."""
    def build(parameters, causal):
        q, *keys = parameters[:3]
        wide = []
        for x in keys:
            x = op.unsqueeze(x, np.int64(2))
            x = op.broadcast(x, np.array([w.B, w.G, w.repeats, w.N, w.D]), broadcast_spec="BIDIRECTIONAL")
            wide.append(op.reshape(x, np.array([w.B, w.H, w.N, w.D]), special_zero=False))
        return op.scaled_dot_product_attention(q, *wide, *parameters[3:], causal=causal)
    return build


def layer_of(w, pairs):
    def project(x, pair):
        weight, bias = (op.constant(array) for array in pair)
        return op.add(op.matmul(x, weight, False, True), bias)

    def build(parameters, causal):
        by_heads = np.array([w.B, w.M, w.H, w.D])
        swap = np.array([0, 2, 1, 3])
        heads = [op.transpose(op.reshape(project(parameters[0], pair), by_heads, special_zero=False), swap)
                 for pair in pairs[:3]]
        rows = op.transpose(op.scaled_dot_product_attention(*heads, causal=causal), swap)
        return project(op.reshape(rows, np.array(w.shape), special_zero=False), pairs[3])
    return build


def ways(w, threads, library):
    if isinstance(w, Layer):
        x, pairs = w.arrays
        yield "linear, SDPA", lambda: run(w, threads, [x], None, False, w.type, layer_of(w, pairs))
        return
    q, k, v, _ = w.arrays
    precisions = {"f32": ["f32"], "f64": ["f32"], "f16": ["f16", "f32"], "bf16": ["bf16", "f32"]}[w.type]
    for precision in precisions:
        computed = "" if precision == w.type else f", computed in {precision}"
        for words, mask, causal in w.masks("causal"):
            words += computed
            if w.repeats == 1:
                yield f"SDPA{words}", lambda m=mask, c=causal, p=precision: run(w, threads, [q, k, v], m, c, p, attend)
                continue
            yield f"SDPA, heads repeated in the graph{words}", lambda m=mask, c=causal, p=precision: run(
                w, threads, [q, k, v], m, c, p, repeat_in_graph(w))
            if mask is None or mask.shape[0] == 1:
                wide = [q.reshape(w.B * w.G, w.repeats, w.M, w.D)]
                wide += [x.reshape(w.B * w.G, 1, w.N, w.D) for x in (k, v)]
                yield f"SDPA, heads broadcast{words}", lambda m=mask, c=causal, p=precision: run(
                    w, threads, wide, m, c, p, attend)
            if w.M <= FEW_ROWS and not causal:
                rows = [q.reshape(w.B, w.G, w.repeats * w.M, w.D), k, v]
                folded = None if mask is None else np.tile(mask, (1, 1, w.repeats, 1))
                yield f"SDPA, heads as rows{words}", lambda m=folded, p=precision: run(
                    w, threads, rows, m, False, p, attend)
