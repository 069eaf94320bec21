#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests built with AddressSanitizer and UBSan: lit's without test/Models and, but for the emulator of CUDA, test/Execution, the
# ONNX cases by definition, and the fuzzer. To be run after check.sh, whose data it reads.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
source tools/dev/suites.sh

# A report is a crash: `not` in a test does not take it for the error that the test expects.
# LLVM's own library is not built with AddressSanitizer, so what its allocators poison in our code it does not unpoison.
export ASAN_OPTIONS=abort_on_error=1:allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1

# suite name                seconds count command
suite 'configure sanitized'      60 step  cmake --preset debug &&
suite 'build sanitized'        1500 step  cmake --build --preset debug --target attn-opt attnc attn-run attn-translate \
  attn-fuzz attn-bench attn-lsp-server attn-emulate attn-unit &&
suite 'tests sanitized'         900 lit   build/debug/bin/attn-lit -sv test/Codegen test/Conversion test/IR test/Interpreter \
  test/Pipeline test/Target test/Tools test/Transforms test/unit test/Execution/cuda-emulator docs/examples \
  docs/models &&
suite 'onnx sanitized'          120 plain build/venv/bin/python tools/dev/onnx-cases.py build/check/onnx \
  --attn-run=build/debug/bin/attn-run --device=interpreter

suite 'fuzz sanitized'          300 step  build/debug/bin/attn-fuzz --count=150 --seed=1 --seconds=120

close_suites
