# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a command and succeeds if its exit status is the first argument: `not` accepts every failure, a crash included.
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
if status != int(sys.argv[1]):
    sys.exit(f"{' '.join(sys.argv[2:])} ended with {status}, not {sys.argv[1]}")
