"""Prints one line for each innermost loop of an assembly file that multiplies and adds vectors:

    FUNCTION: 16 multiply-adds, 10 loads, 0 stores, stack 0

Loads are the instructions that read memory and those that take an operand from it; stack says how many of
all instructions name the stack.
"""

import re
import sys

LABEL = re.compile(r"^(\.L[\w$]+):")
JUMP = re.compile(r"^\s+(?:j[a-z]+|b\.[a-z]+|cbnz|cbz|tbnz|tbz|b)\b.*?(\.L[\w$]+)\s*$")
FUNCTION = re.compile(r'^"?([A-Za-z_][\w.$]*)"?:')
MULTIPLY_ADD = re.compile(r"^(vfn?madd\w*p[sd]|fmla|fmls)$")
NO_READ = re.compile(r"^(lea\w*|prefetch\w*|prfm|nop\w*)$")


def reads_and_writes(words):
    """Return whether an instruction reads memory, and whether it writes to it."""
    name, operands = words[0], " ".join(words[1:])
    if "[" in operands and not operands.endswith("]") and "(" not in operands and name.startswith(("f", "m", "d")):
        return False, False  # v0.s[1], a lane
    if NO_READ.match(name) or not re.search(r"\(|\[[xs]", operands):
        return False, False
    if name.startswith("st"):
        return False, True
    last = operands.rstrip()
    writes = last.endswith(")") and name.startswith(("mov", "vmov"))
    return not writes, writes


def innermost(lines):
    """Yield (first, last) of each loop in which there is no other."""
    labels = {}
    loops = []
    for number, line in enumerate(lines):
        if match := LABEL.match(line):
            labels[match.group(1)] = number
        elif (match := JUMP.match(line)) and match.group(1) in labels:
            loops.append((labels[match.group(1)], number))
    for first, last in loops:
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in loops):
            yield first, last


def main():
    text = re.sub(r"\s*(#|//).*", "", sys.stdin.read())
    lines = text.splitlines()
    function, names = "", []
    for line in lines:
        if match := FUNCTION.match(line):
            function = match.group(1)
        names.append(function)
    # Where nothing else is said, %rbp is a register like the others.
    framed = {name for name, line in zip(names, lines) if re.search(r"%rsp, %rbp$", line)}
    for first, last in innermost(lines):
        words = [line.split() for line in lines[first:last] if line.startswith("\t") and not line.startswith("\t.")]
        fused = sum(bool(MULTIPLY_ADD.match(w[0])) for w in words)
        if fused == 0:
            continue
        memory = [reads_and_writes(w) for w in words]
        loads, stores = sum(r for r, _ in memory), sum(w for _, w in memory)
        base = r"%[re][sb]p\b" if names[first] in framed else r"%[re]sp\b"
        stack = sum(bool(re.search(base + r"|\[sp\b|\[x29\b", " ".join(w))) for w in words)
        print(f"{names[first]}: {fused} multiply-adds, {loads} loads, {stores} stores, stack {stack}")


main()
