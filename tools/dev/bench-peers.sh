#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times our compiled attention next to PyTorch, ONNX Runtime and OpenVINO, on this machine and in turns:
#
#   tools/dev/bench-peers.sh [--filter=REGEX] [--rounds=N] [--slice=SECONDS] [--threads=N,N] [--out=DIR] [--venv=DIR]
#
# Writes performance.json, performance.svg and Performance.md to DIR, build/bench-peers by default. `--out=docs` is
# for the whole table: it rewrites README.md's section on speed, too. The peers (PyPI, 6 GB) are installed once, in
# DIR of --venv, by default attn-mlir/peers in the user's folder of caches. With `--rounds=3 --slice=0.08` the whole table,
# for one thread and two, took 16 minutes on a machine that did nothing else; `--filter='^prefill-1024$' --rounds=3
# --threads=1` takes half a minute.
set -euo pipefail
command="tools/dev/bench-peers.sh${*:+ $*}"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

say() { printf 'bench-peers: %s\n' "$*"; }
die() { printf 'bench-peers: %s\n' "$*" >&2; exit 2; }

out=build/bench-peers
venv=${XDG_CACHE_HOME:-$HOME/.cache}/attn-mlir/peers
filter=
passed=()
for option in "$@"; do
  case $option in
    --out=?*) out=${option#*=} ;;
    --venv=?*) venv=${option#*=} ;;
    --filter=?*) filter=${option#*=} passed+=("$option") ;;
    --rounds=?* | --slice=?* | --threads=?*) passed+=("$option") ;;
    *) die "expects --filter=, --rounds=, --slice=, --threads=, --out= or --venv=, got '$option'" ;;
  esac
done
if [[ $(realpath -m "$out") == "$PWD/docs" ]]; then
  [[ -z $filter ]] || die "expects the whole table for docs, got --filter='$filter'"
  passed+=(--readme=README.md)
fi

# The list of packages, as it was when they were installed, says whether they are those.
requirements=tools/dev/bench/requirements.txt
if ! cmp -s "$requirements" "$venv/installed.txt"; then
  say "installing the peers into $venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" --disable-pip-version-check install --quiet -r "$requirements"
  cp "$requirements" "$venv/installed.txt"
fi

say "building attnc and attn-bench"
log=build/bench-peers.log
mkdir -p build
{ [[ -e build/release/build.ninja ]] || cmake --preset release; } >"$log" 2>&1 &&
  cmake --build --preset release --target attnc attn-bench >>"$log" 2>&1 || { cat "$log" >&2; exit 1; }

exec "$venv/bin/python" tools/dev/bench/measure.py --tools=build/release/bin --cache=build/bench-peers/cache \
  --out="$out" --command="$command" "${passed[@]}"
