#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fails unless every numbered constraint is in three places:
#
#   (sdpa-C3)     in a description, in a .td file
#   // sdpa-C3    alone on a line at the check, in a .cpp or .td file (or with others: // sdpa-C3, mha-C7)
#   // sdpa-C3    alone on a line over a negative test, in a test/**/*invalid.mlir
#
# and the numbers of an op run from 1 without a gap.
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"[a-z_]+-C[0-9]+"
DESCRIBED = re.compile(rf"\(({NUMBER})\)")
MARKED = re.compile(rf"^\s*//\s*({NUMBER}(?:,\s*{NUMBER})*)\s*$", re.MULTILINE)


def described(text):
    return DESCRIBED.findall(text)


def marked(text):
    return [number for marks in MARKED.findall(text) for number in re.split(r",\s*", marks)]


PLACES = [
    ("description", ["include/**/*.td"], described),
    ("check", ["lib/**/*.cpp", "include/**/*.td"], marked),
    ("negative test", ["test/**/*invalid.mlir"], marked),
]


def collect(patterns, find):
    """Return the numbers that `find` sees in the files, each with one file."""
    found = {}
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            for number in find(path.read_text()):
                found.setdefault(number, path.relative_to(ROOT))
    return found


def main():
    places = [(name, collect(patterns, find)) for name, patterns, find in PLACES]
    numbers = sorted(set().union(*(found for _, found in places)))
    problems = []
    for number in numbers:
        where = [str(found[number]) for _, found in places if number in found]
        missing = [name for name, found in places if number not in found]
        if missing:
            problems.append(f"{number} has no {' and no '.join(missing)}, only {', '.join(where)}")
    last = collections.defaultdict(set)
    for number in numbers:
        op, count = number.rsplit("-C", 1)
        last[op].add(int(count))
    for op, counts in sorted(last.items()):
        gaps = sorted(set(range(1, max(counts) + 1)) - counts)
        problems += [f"{op}-C{gap} is nowhere, though {op}-C{max(counts)} is" for gap in gaps]
    for problem in problems:
        print(f"check-constraints.py: {problem}", file=sys.stderr)
    if not numbers:
        sys.exit("check-constraints.py: found no constraint at all")
    print(f"{len(numbers)} constraints, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
