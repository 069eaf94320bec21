# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares the numbers of `attnc --report=json` with its formulas, evaluated here, and with counts of its own:
#
#   python check_report.py ATTNC FILE.mlir...
import json
import re
import subprocess
import sys

# Sizes for dimensions that are dynamic; no two alike.
GIVEN = {"B": 2, "M": 6, "N": 9, "T": 7, "P": 5, "N'": 11, "O": 3, "threads": 1}


def evaluate(formula, sizes):
    """A sum of products: 2 B H S D + B M F."""
    total = 0
    for term in formula.split(" + "):
        product = 1
        for word in term.split():
            product *= int(word) if word.isdigit() else sizes[word]
        total += product
    return total


def cells_of(text, sizes):
    """How many cells the rows have, and the set of keys that some row has: `M N`, or a sum over rows."""
    rows, keys = sizes["M"], sizes["N"]
    if text == "M N":
        return rows * keys, set(range(keys))
    width, position = re.fullmatch(r"sum over i < M of max\(0, (.*)\), p = (.*)", text).groups()
    end, _, begin = width.partition(" - max(")
    begin = f"max({begin}" if begin else "0"
    count, seen = 0, set()
    for i in range(rows):
        names = {"M": rows, "N": keys, "O": sizes.get("O"), "i": i, "min": min, "max": max}
        names["p"] = eval(position, names)  # noqa: S307: arithmetic that attnc printed
        row = range(eval(begin, names), eval(end, names))  # noqa: S307
        count += len(row)
        seen.update(row)
    return count, seen


def check(cost):
    """Return how many numbers of one attention were compared."""
    sizes = {**GIVEN, **{name: size for name, size in cost["sizes"].items() if size is not None}}
    checked = 0
    if "cells" in cost:
        if cost["op"] == "attn.mha":
            sizes["N"] = (sizes["N'"] if "N'" in cost["sizes"] else sizes["M"]) + (sizes["P"] if "P" in cost["sizes"] else 0)
        cells, seen = cells_of(cost["cells"]["formula"], sizes)
        assert cost["cells"]["value"] == cells, (cost["cells"], cells)
        assert cost["keys"]["value"] == len(seen), (cost["keys"], seen)
        sizes["S"], sizes["K"] = cells, len(seen)
        checked += 2
    sums = dict.fromkeys(("operations", "exponentials", "read", "written"), 0)
    for part in [cost, *cost["parts"]]:
        for name in sums:
            if name not in part:
                continue
            value = evaluate(part[name]["formula"], sizes)
            assert part[name]["value"] == value, (name, part[name], value)
            sums[name] += value if part is not cost else 0
            checked += 1
    for name, value in sums.items():
        assert value == (cost[name]["value"] if name in cost else 0), (name, value)
    assert abs(cost["intensity"] * (sums["read"] + sums["written"]) / max(sums["operations"], 1) - 1) < 1e-9
    if "score_bytes" in cost:
        assert cost["score_bytes"]["value"] == evaluate(cost["score_bytes"]["formula"], sizes)
    return checked


def main():
    attnc, *paths = sys.argv[1:]
    given = ",".join(f"{name}={size}" for name, size in GIVEN.items())
    for path in paths:
        text = subprocess.run([attnc, path, "--report=json", f"--report-sizes={given}",
                               "--report-peaks=fma=100,gemm=80,read=20"], check=True, stdout=subprocess.PIPE, text=True).stdout
        costs = json.loads(text)
        name = path.rsplit("/", 1)[-1]
        print(f"{name}: {len(costs)} attentions, {sum(map(check, costs))} numbers as their formulas say")
        assert costs, "no attention"


if __name__ == "__main__":
    main()
