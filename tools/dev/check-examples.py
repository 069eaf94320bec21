#!/usr/bin/env python3
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Feeds the examples of the documentation to attn-opt: every block
#
#   ```mlir
#   func.func @f(...) ...
#   ```
#
# in the descriptions of .td files and in .md files has to parse and verify. A block that does not start with a function,
# a module or an alias, or leaves something out with `...`, is a fragment, as passes show before and after: it is counted
# and not run. So is a whole function under ```mlir {fragment}.
#
#   tools/dev/check-examples.py [--attn-opt=PATH] [FILE...]
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = ["include/**/*.td", "docs/**/*.md", "README.md"]
BLOCK = re.compile(r"^([ \t]*)```mlir([^\n]*)\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)

WHOLE = re.compile(r"(?:\s|//[^\n]*\n)*(?:func\.func|builtin\.module|module|[#!]\w+ *=)")


def blocks(path):
    """Yield (line of the block's first line, what follows `mlir`, text without indentation)."""
    text = path.read_text()
    for match in BLOCK.finditer(text):
        indent = match[1]
        lines = [line.removeprefix(indent) for line in match[3].split("\n")]
        yield text.count("\n", 0, match.start(3)) + 1, match[2].strip(), "\n".join(lines)


def check(attn_opt, path, line, text):
    """Return what attn-opt says against an example, at its place in `path`; nothing if it accepts it."""
    # Blank lines before the example make attn-opt count lines as the file does.
    result = subprocess.run([attn_opt, "-", "-o", "/dev/null"], input="\n" * (line - 1) + text, text=True,
                            stderr=subprocess.PIPE)
    if result.returncode == 0:
        return ""
    return result.stderr.replace("<stdin>:", f"{path}:") or f"{path}:{line}: attn-opt ended with {result.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description="Run the examples of the documentation.")
    parser.add_argument("--attn-opt", default="attn-opt")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    files = arguments.files or sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))
    run, failed, fragments = 0, 0, 0
    for path in files:
        for line, mark, text in blocks(path):
            if mark == "{fragment}" or "..." in text or not WHOLE.match(text):
                fragments += 1
                continue
            complaint = f"{path}:{line}: expects '```mlir' or '```mlir {{fragment}}', got '{mark}'\n" if mark else \
                check(arguments.attn_opt, path, line, text)
            run += 1
            failed += bool(complaint)
            sys.stderr.write(complaint)
    print(f"{run - failed} passed, {failed} failed, {fragments} fragments")
    sys.exit(failed > 0 or run == 0)


if __name__ == "__main__":
    main()
