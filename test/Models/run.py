# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a model's example and compares it with the same in numpy:
#
#   run.py MODEL FILE.mlir FOLDER
#
# MODEL.py beside this file has a list `CASES` of (function, inputs, expected results); it makes the inputs from a seed
# and knows nothing of the compiler. The example is compiled and run by attn-run, once with tiles and once by the f64
# interpreter.
import importlib
import pathlib
import subprocess
import sys

import numpy as np

# Of the largest expected element; sums of a few hundred f32 products are far below.
TOLERANCE = 2e-5


def run(example, folder, function, inputs, count, device):
    """Return the results that attn-run gives for `inputs`."""
    command = ["attn-run", example, f"--function={function}", f"--device={device}"]
    for number, array in enumerate(inputs):
        path = folder / f"{function}-in{number}.npy"
        np.save(path, array)
        command.append(f"--input=@{path}")
    outputs = [folder / f"{function}-{device}-out{number}.npy" for number in range(count)]
    command += [f"--output={path}" for path in outputs]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(path) for path in outputs]


def compare(name, actual, expected):
    """Return the largest difference, as a share of the largest expected element; raise where it is too large."""
    if actual.shape != expected.shape:
        raise SystemExit(f"{name}: expects shape {expected.shape}, got {actual.shape}")
    if np.isnan(actual).any() != np.isnan(expected).any():
        raise SystemExit(f"{name}: NaN where none is expected, or none where one is")
    finite = np.isfinite(expected)
    if not (actual[~finite] == expected[~finite]).all():
        raise SystemExit(f"{name}: infinities differ")
    scale = max(1e-30, np.abs(expected[finite]).max(initial=0))
    error = np.abs(actual - expected)[finite].max(initial=0) / scale
    if error > TOLERANCE:
        raise SystemExit(f"{name}: differs by {error:.2e} of the largest element, limit {TOLERANCE:.0e}")
    return error


def main():
    model, example, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for function, inputs, expected in importlib.import_module(model).CASES:
        for device in ["cpu", "interpreter"]:
            results = run(example, folder, function, inputs, len(expected), device)
            errors = [compare(f"{function} on {device}, result {number}", actual.astype(np.float64), wanted)
                      for number, (actual, wanted) in enumerate(zip(results, expected))]
            print(f"{function} on {device}: {max(errors):.1e} of the largest element")


main()
