#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lists the files and functions that are longer than they should be. A long one is a hint, not an error: the exit
# status is always 0.
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_LIMITS = {".cpp": 500, ".h": 400, ".td": 400, ".mlir": 300, ".py": 400, ".sh": 300}
FUNCTION_LIMIT = 60
# What starts at the left margin and is not a function, as clang-format leaves it.
NO_FUNCTION = re.compile(r"^(namespace|class|struct|enum|union|extern|using|#|//)|=\s*\{+$|;$|^\}")


def functions(lines):
    """Yield (line number, length) of each function at the left margin."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "}" and start is not None:
            yield start, number - start + 1
        if line and not line[0].isspace():
            if NO_FUNCTION.search(line):
                start = None
            elif start is None:
                start = number


def main():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, check=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    files, long_files, long_functions, count = 0, 0, 0, 0
    for name in names:
        path = ROOT / name
        limit = FILE_LIMITS.get(path.suffix)
        if limit is None or not path.is_file():
            continue
        lines = path.read_text().split("\n")
        files += 1
        if len(lines) > limit:
            long_files += 1
            print(f"{name}: {len(lines)} lines, should be at most {limit}")
        if path.suffix != ".cpp":
            continue
        for start, length in functions(lines):
            count += 1
            if length > FUNCTION_LIMIT:
                long_functions += 1
                print(f"{name}:{start}: a function of {length} lines, "
                      f"should be at most {FUNCTION_LIMIT}")
    print(f"{files} files, {long_files} long; {count} functions, {long_functions} long")


if __name__ == "__main__":
    main()
