#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs ONNX node tests through the compiler:
#
#   build/venv/bin/python tools/dev/onnx-cases.py DIR [--plain] [--json=FILE] [--filter=REGEX] [--keep=DIR] [--device=NAME]
#
# DIR/index.json lists the cases: `name`, `op`, `attrs`, `in` and `out` with a name, a numpy type and a shape each;
# DIR/NAME holds in_X.npy and out_X.npy. Each case is written as attn IR, run by attn-run and compared; with --plain each
# op is its plain definition instead of tiles. There is a line for each case; the last is `N passed, M failed`.
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import onnx_to_attn

ROOT = pathlib.Path(__file__).resolve().parents[2]
# How far a result may be off, relative to max(1, |expected|). The expected numbers were themselves computed in the
# case's type: for 16 bits that is a few units in the last place.
LIMITS = {"float64": 1e-11, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}

# The passes that leave each op as its definition.
PLAIN = ["--attn-decompose-layers", "--convert-attn-to-linalg"]


def widened(array, kind):
    """The array as numbers that numpy can subtract; bf16 is stored as two raw bytes."""
    if kind == "bfloat16" and array.dtype.itemsize == 2 and array.dtype.kind in "Vu":
        bits = np.ascontiguousarray(array).view(np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def difference(got, want, kind):
    """Return (largest error, reason why it is too large or None)."""
    if got.shape != want.shape:
        return None, f"expected shape {list(want.shape)}, got {list(got.shape)}"
    got, want = widened(got, kind), widened(want, kind)
    if got.size == 0:
        return 0.0, None
    with np.errstate(invalid="ignore"):
        error = np.abs(got - want) / np.maximum(1, np.abs(want))
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    error = np.where(same, 0, np.where(np.isfinite(error), error, np.inf))
    worst = np.unravel_index(np.argmax(error), error.shape)
    largest, limit = float(error[worst]), LIMITS.get(kind, 0)
    if largest <= limit:
        return largest, None
    where = ", ".join(map(str, worst))
    return largest, f"at [{where}] expected {want[worst]:.9g}, got {got[worst]:.9g}, limit {limit:g}"


def run_case(case, folder, work, options):
    """Return (status, reason, largest error)."""
    try:
        text = onnx_to_attn.to_attn(case)
    except onnx_to_attn.NotExpressible as reason:
        return "skipped", str(reason), None
    source = work / f"{case['name']}.mlir"
    source.write_text(text)
    outputs = [work / f"{case['name']}.{name}.npy" for name, _, _ in case["out"]]
    if options.plain:
        text = subprocess.run([str(options.attn_run.with_name("attn-opt")), str(source), *PLAIN], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if text.returncode != 0:
            return "failed", f"attn-opt exits with {text.returncode}: {text.stdout.splitlines()[:1]}", None
        source = work / f"{case['name']}-plain.mlir"
        source.write_text(text.stdout)
    command = [str(options.attn_run), str(source), "--function=main"]
    command += [f"--input=@{folder / f'in_{name}.npy'}" for name, _, _ in case["in"]]
    command += [f"--output={path}" for path in outputs]
    if options.device:
        command.append(f"--device={options.device}")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=120)
    except subprocess.TimeoutExpired:
        return "failed", "attn-run takes longer than 120 s", None
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "error" in line] or done.stdout.splitlines()
        return "failed", f"attn-run exits with {done.returncode}: {lines[0] if lines else 'no message'}", None
    worst = 0.0
    for (name, kind, _), path in zip(case["out"], outputs):
        error, reason = difference(np.load(path), np.load(folder / f"out_{name}.npy"), kind)
        if reason:
            return "failed", f"{name} {reason}", error
        worst = max(worst, error)
    return "passed", None, worst


def attempt(case, folder, work, options):
    """run_case, with what goes wrong in this script or in the data told as that case's failure."""
    try:
        return run_case(case, folder, work, options)
    except (OSError, ValueError, KeyError) as problem:
        return "failed", f"{type(problem).__name__}: {problem}", None


def parse_options():
    parser = argparse.ArgumentParser(description="Run ONNX node tests through the compiler.")
    parser.add_argument("directory", type=pathlib.Path, help="folder with index.json and a folder a case")
    parser.add_argument("--json", type=pathlib.Path, help="write each case's status and error here")
    parser.add_argument("--plain", action="store_true", help="run the definitions of ops, without tiles")
    parser.add_argument("--filter", default="", help="run the cases whose name this regular expression finds")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the IR and the outputs in this folder")
    parser.add_argument("--device", help="handed to attn-run")
    parser.add_argument("--attn-run", type=pathlib.Path, default=ROOT / "build/release/bin/attn-run")
    options = parser.parse_args()
    if not (options.directory / "index.json").is_file():
        parser.error(f"expects {options.directory}/index.json, which is not there")
    if not options.attn_run.is_file():
        parser.error(f"expects {options.attn_run}, which is not built")
    return options


def main():
    options = parse_options()
    cases = json.loads((options.directory / "index.json").read_text())
    cases = [case for case in cases if re.search(options.filter, case["name"])]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda case: attempt(case, options.directory / case["name"], work, options), cases))
    count = {status: sum(result[0] == status for result in results) for status in ("passed", "failed", "skipped")}
    for case, (status, reason, error) in zip(cases, results):
        print(f"{status} {case['name']}: {reason or f'largest error {error:.3g}'}")
    if options.json:
        rows = [{"name": case["name"], "status": status, "reason": reason, "max_error": error}
                for case, (status, reason, error) in zip(cases, results)]
        options.json.write_text(json.dumps({**count, "cases": rows}, indent=1) + "\n")
    if count["skipped"]:
        print(f"{count['skipped']} skipped")
    print(f"{count['passed']} passed, {count['failed']} failed")
    return 1 if count["failed"] or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
