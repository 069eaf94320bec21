# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes functions of IR as text, one operation after the other: values with their types, loops over tensors, casts and
# moves of dimensions. What an ONNX node becomes is in onnx_to_attn.py.

FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "float": "f32", "double": "f64"}
INTEGERS = {"int64": "i64", "int32": "i32", "int8": "i8", "uint8": "i8"}
ELEMENTS = {**FLOATS, **INTEGERS, "bool": "i1"}
WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def real(value):
    """A number as MLIR reads it: always with a point."""
    return f"{float(value):.17e}"


class Value:
    """An SSA value: its name, shape and element type."""

    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, list(shape), element

    @property
    def type(self):
        return "tensor<" + "".join(f"{extent}x" for extent in self.shape) + self.element + ">"


class Function:
    """Collects the lines of one function."""

    def __init__(self, node):
        self.lines, self.count = [], 0
        self.arguments = {name: Value("%" + name, shape, ELEMENTS[kind]) for name, kind, shape in node["in"]}

    def emit(self, text, shape, element):
        value = Value(f"%{self.count}", shape, element)
        self.count += 1
        self.lines.append(f"  {value.name} = {text}")
        return value

    def emit_two(self, text, first, second):
        """Emit an op with two results, of the types of `first` and `second`; return these with their names."""
        first.name, second.name = f"%{self.count}", f"%{self.count + 1}"
        self.count += 2
        self.lines.append(f"  {first.name}, {second.name} = {text}")
        return first, second

    def empty(self, shape, element):
        return self.emit(f"tensor.empty() : {Value('', shape, element).type}", shape, element)

    def generic(self, inputs, target, dims, body, result="r"):
        """A loop over the dimensions `dims`, one letter each; `inputs` are (name in the body, value, its letters) and
        `target` is (value, its letters). `body` computes the result from the names and from %so, the target's element."""
        target, letters = target
        index = {letter: f"d{i}" for i, letter in enumerate(dims)}
        every = ", ".join(index.values())

        def at(places):
            return f"affine_map<({every}) -> ({', '.join(index.get(letter, '0') for letter in places)})>"
        maps = ", ".join([*(at(places) for _, _, places in inputs), at(letters)])
        iterators = ", ".join('"parallel"' if letter in letters else '"reduction"' for letter in dims)
        names = ", ".join(value.name for _, value, _ in inputs)
        types = ", ".join(value.type for _, value, _ in inputs)
        given = f"ins({names} : {types}) " if inputs else ""
        arguments = ", ".join([*(f"%{name}: {value.element}" for name, value, _ in inputs), f"%so: {target.element}"])
        return self.emit(
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}\n"
            f"      {given}outs({target.name} : {target.type}) {{\n"
            f"    ^bb0({arguments}):\n"
            + "".join(f"      {line}\n" for line in body)
            + f"      linalg.yield %{result} : {target.element}\n"
            f"  }} -> {target.type}", target.shape, target.element)

    def elementwise(self, value, element, body):
        """`body` computes %r of type `element` from %x."""
        letters = "abcdefgh"[:len(value.shape)]
        return self.generic([("x", value, letters)], (self.empty(value.shape, element), letters), letters, body)

    def cast(self, value, element):
        """Convert the elements; integers become floats."""
        source = value.element
        if source == element:
            return value
        if source not in WIDTH:
            return self.elementwise(value, element, [f"%r = arith.sitofp %x : {source} to {element}"])
        if WIDTH[source] == WIDTH[element]:
            return self.cast(self.cast(value, "f32"), element)
        op = "extf" if WIDTH[source] < WIDTH[element] else "truncf"
        return self.elementwise(value, element, [f"%r = arith.{op} %x : {source} to {element}"])

    def filled(self, shape, element, number):
        constant = self.emit(f"arith.constant {number} : {element}", [], element)
        target = self.empty(shape, element)
        return self.emit(f"linalg.fill ins({constant.name} : {element}) "
                         f"outs({target.name} : {target.type}) -> {target.type}", shape, element)

    def insert(self, value, target, offsets):
        lists = ", ".join(map(str, offsets)), ", ".join(map(str, value.shape)), ", ".join(["1"] * len(offsets))
        return self.emit(f"tensor.insert_slice {value.name} into {target.name}"
                         f"[{lists[0]}] [{lists[1]}] [{lists[2]}] : {value.type} into {target.type}",
                         target.shape, target.element)

    def split_heads(self, value, heads):
        """[B, S, heads * D] to [B, S, heads, D]."""
        batch, rows, channels = value.shape
        if not heads or channels % heads:
            raise ValueError(f"{value.name[1:]} has {channels} channels, which {heads} heads do not divide")
        shape = [batch, rows, heads, channels // heads]
        result = Value("", shape, value.element)
        return self.emit(f"tensor.expand_shape {value.name} [[0], [1], [2, 3]] output_shape "
                         f"{shape} : {value.type} into {result.type}", shape, value.element)

    def join_heads(self, value):
        """[B, S, heads, D] to [B, S, heads * D]."""
        batch, rows, heads, size = value.shape
        result = Value("", [batch, rows, heads * size], value.element)
        return self.emit(f"tensor.collapse_shape {value.name} [[0], [1], [2, 3]] : "
                         f"{value.type} into {result.type}", result.shape, value.element)

    def swap_heads(self, value):
        """[B, S, H, D] to [B, H, S, D]."""
        return self.transpose(value, [0, 2, 1, 3])

    def transpose(self, value, order):
        target = self.empty([value.shape[i] for i in order], value.element)
        return self.emit(f"linalg.transpose ins({value.name} : {value.type}) outs({target.name} : {target.type}) "
                         f"permutation = {list(order)}", target.shape, target.element)

    def append(self, past, value):
        """past ++ value along the rows of [B, H, S, D]."""
        shape = list(past.shape)
        shape[2] += value.shape[2]
        target = self.insert(past, self.empty(shape, past.element), [0, 0, 0, 0])
        return self.insert(value, target, [0, 0, past.shape[2], 0])

    def close(self, results):
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self.arguments.values())
        types = ", ".join(value.type for value in results)
        names = ", ".join(value.name for value in results)
        return "\n".join([f"func.func @main({arguments}) -> ({types}) {{", *self.lines,
                          f"  return {names} : {types}", "}", ""])
