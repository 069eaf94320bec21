# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times one runtime, as a child of measure.py: reads a JSON object a line, answers each with one.
#
#   {"do": "about"}                                        {"version": ..., "vectors": ...}
#   {"do": "load", "workload": {...}, "library": FILE}     {"ways": {WAY: {"ms": ..., "error": ...} or {"refused": ...}}}
#   {"do": "time", "way": WAY, "seconds": T}               {"ms": least, "calls": how many, "cores": busy ones}
#   {"do": "drop"}                                         {}
#
# A runtime is a module with `about()` and `ways(workload, threads, library)`, which yields pairs (way, make): `make()`
# returns a function that computes once and one that gives the result as an array of the workload's shape.
import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import time

import workload
from workload import LIMITS

# Calls of a slice at least: the first of them may find cold caches.
FEWEST = 3
# A way is tried for so long, unless its first call takes longer or so many times as long as the best.
TRIAL_SECONDS = 0.15
HOPELESS = 3
# What prctl calls the signal that a process gets when its parent ends.
PR_SET_PDEATHSIG = 1


def slice_of(call, seconds):
    """Call for about `seconds` seconds."""
    times = []
    busy, start = time.process_time(), time.perf_counter()
    while len(times) < FEWEST or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    passed = time.perf_counter() - start
    return {"ms": min(times) * 1e3, "calls": len(times), "cores": (time.process_time() - busy) / passed}


def load(runtime, request, threads, calls):
    w = workload.make(request["workload"])
    ways, best = {}, float("inf")
    for way, make in runtime.ways(w, threads, request.get("library")):
        try:
            call, fetch = make()
            call()
            begin = time.perf_counter()
            call()
            ms = (time.perf_counter() - begin) * 1e3
            error = w.error(fetch())
            if not error <= LIMITS[w.type]:
                raise ValueError(f"wrong: error {error:.1e} of the largest element")
            if ms < min(HOPELESS * best, 1e3 * TRIAL_SECONDS):
                ms = min(ms, slice_of(call, TRIAL_SECONDS)["ms"])
            best = min(best, ms)
            ways[way] = {"error": error, "ms": ms}
            # The second one keeps what the first works on.
            calls[way] = call, fetch
        except Exception as problem:  # what a runtime cannot do is a result, too
            ways[way] = {"refused": f"{type(problem).__name__}: {problem}".replace("\n", " ")[:300]}
    return {"ways": ways}


def main():
    name, threads = sys.argv[1], int(sys.argv[2])
    # A stopped process would outlive its parent, which may be killed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    # Runtimes print: only answers may go to the parent.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runtime = importlib.import_module(name)
    runtime.start(threads)
    calls = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "about":
            answer = runtime.about()
        elif request["do"] == "load":
            answer = load(runtime, request, threads, calls)
        elif request["do"] == "time":
            answer = slice_of(calls[request["way"]][0], request["seconds"])
        else:
            calls.clear()
            gc.collect()
            answer = {}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
