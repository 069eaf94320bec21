# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times our compiled functions and the peers side by side and writes what came out. Started by bench-peers.sh, which
# makes the virtual environment that this runs in.
#
# Each runtime is a process of its own for each number of threads, and all but one of them are stopped at any time:
# threads that wait for work by spinning would disturb the others. A round gives each runtime a slice of time in turn, so
# that what disturbs the machine disturbs all of them alike, and the least time of all rounds counts.
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys

import report
import workload

HERE = pathlib.Path(__file__).resolve().parent
RUNTIMES = ["ours", "pytorch", "onnx_runtime", "openvino_cpu"]
# What would make a runtime slower, or choose its instructions or threads.
SETTINGS = ("OPENBLAS_", "MKL_", "OMP_", "KMP_", "GOMP_", "DNNL_", "ONEDNN_", "ATEN_", "OV_", "ORT_")
# Of the ways in which a runtime can be asked, a round times those that are this near to its best so far: many in the
# first rounds, when a disturbance may have chosen.
NEAR, NEARER, FIRST_ROUNDS = 1.5, 1.1, 2


class Child:
    """A worker.py, stopped unless it is asked something."""

    def __init__(self, runtime, threads):
        self.runtime, self.threads = runtime, threads
        self.start()

    def start(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
        environment["OMP_NUM_THREADS"] = str(self.threads)
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", self.runtime, str(self.threads)], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, **request):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        if not answer:
            status = self.process.wait()
            self.start()
            raise RuntimeError(f"{self.runtime} ended with status {status} when asked to {request['do']}")
        return json.loads(answer)

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def measure_peaks(options, threads):
    path = options.cache / "peaks.json"
    subprocess.run([options.tools / "attn-bench", "--peaks", f"--threads={threads}", f"--json={path}"], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())["machine"]


def compile_library(options, w):
    source, library = (options.cache / f"{w.name}{suffix}" for suffix in (".mlir", ".so"))
    source.write_text(w.module)
    subprocess.run([options.tools / "attnc", source, "-o", library], check=True)
    return str(library)


def near_ways(ways, near):
    good = {way: found["ms"] for way, found in ways.items() if "ms" in found}
    return [way for way, ms in good.items() if ms <= near * min(good.values())]


def time_slices(options, child, found, near):
    """A slice for each way that is near the fastest; keep the least times in `found`."""
    for way in near_ways(found["ways"], near):
        got = child.ask(do="time", way=way, seconds=options.slice)
        found["calls"] += got["calls"]
        least = found["ways"][way]["ms"] = min(found["ways"][way]["ms"], got["ms"])
        if least < found.get("ms", float("inf")):
            found.update(ms=least, way=way, cores=round(got["cores"], 2))


def attempt(child, found, action):
    """Run `action`; a peer that crashes has refused, and begins anew."""
    try:
        action()
    except RuntimeError as problem:
        if child.runtime == "ours":
            raise
        found.clear()
        found.update(ways={"any": {"refused": str(problem)}}, calls=0)


def time_workload(options, w, threads, children):
    """One row of the table."""
    row = {"name": w.name, "group": w.entry["group"], "threads": threads, "operations": w.operations,
           "read_bytes": w.read_bytes, "type": w.type, "keys": w.N, "runtimes": {}}
    library = compile_library(options, w)
    for name, child in children.items():
        found = row["runtimes"][name] = {"ways": {}, "calls": 0}
        attempt(child, found, lambda: found.update(child.ask(do="load", workload=w.entry, library=library)))
    refused = [way["refused"] for way in row["runtimes"].get("ours", {"ways": {}})["ways"].values() if "refused" in way]
    if refused:
        sys.exit(f"measure.py: ours cannot do {w.name}: {refused[0]}")
    row["peaks"] = measure_peaks(options, threads)
    for round_number in range(options.rounds):
        near = NEAR if round_number < FIRST_ROUNDS else NEARER
        for name, child in children.items():
            found = row["runtimes"][name]
            attempt(child, found, lambda: time_slices(options, child, found, near))
    for name, value in measure_peaks(options, threads).items():
        row["peaks"][name] = max(row["peaks"][name], value) if name != "cpu" else value
    for child in children.values():
        child.ask(do="drop")
    return row


def read_options():
    parser = argparse.ArgumentParser(description="times attention, ours and other runtimes'")
    parser.add_argument("--filter", default=".", metavar="REGEX", help="only workloads whose name it matches")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="slices that each runtime gets (10)")
    parser.add_argument("--slice", type=float, default=0.2, metavar="T", help="seconds of a slice (0.2)")
    parser.add_argument("--threads", default="", metavar="N,N", help="numbers of threads; default: 1 and all cores")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR",
                        help="where to write performance.json, performance.svg and Performance.md")
    parser.add_argument("--runtimes", default=",".join(RUNTIMES), help=argparse.SUPPRESS)
    parser.add_argument("--tools", type=pathlib.Path, required=True, help="folder of attnc and attn-bench")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for what is compiled")
    parser.add_argument("--readme", type=pathlib.Path, help="README.md whose section on speed is rewritten")
    parser.add_argument("--command", default=" ".join(sys.argv), help="how this was started, for the page")
    options = parser.parse_args()
    every = len(os.sched_getaffinity(0))
    options.threads = [int(n) for n in options.threads.split(",")] if options.threads else sorted({1, every})
    if not all(0 < n <= every for n in options.threads):
        parser.error(f"--threads expects numbers up to {every}")
    options.runtimes = options.runtimes.split(",")
    return options


def main():
    options = read_options()
    for folder in (options.out, options.cache):
        folder.mkdir(parents=True, exist_ok=True)
    workloads = workload.load(options.tools / "attn-bench", options.filter, options.cache / "workloads.json")
    if not workloads:
        sys.exit(f"measure.py: expects workloads that peers have, got rules or linear attention by '{options.filter}'")
    result = {"date": datetime.date.today().isoformat(), "command": options.command, "rounds": options.rounds,
              "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
              "about": {}, "rows": []}
    print(report.heading(options.runtimes), flush=True)
    for threads in options.threads:
        with contextlib.ExitStack() as stack:
            children = {}
            for name in options.runtimes:
                children[name] = Child(name, threads)
                stack.callback(children[name].end)
                result["about"][name] = children[name].ask(do="about")
            for w in workloads:
                row = time_workload(options, w, threads, children)
                result["rows"].append(row)
                result["cpu"] = row["peaks"]["cpu"]
                print(report.line(row, options.runtimes), flush=True)
    report.write(result, options.out, options.readme)
    print(report.summary(result))


if __name__ == "__main__":
    main()
