#!/bin/sh
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks and times kernels on a GPU:
#
#   tools/dev/gpu-check.sh [BUILD]               on the first GPU of this machine
#   tools/dev/gpu-check.sh [BUILD] --emulated    without one: values of small cases, no times
#
# BUILD is the folder of a build, build/release if it is not named. For the two prefill examples it compares values with
# the definition in float64, at lengths that fill blocks and at lengths that do not, then times 4096 rows and keys. The
# last line is "gpu-check: pass" or "gpu-check: FAIL".
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build="$top/build/release"
device=cuda
for argument in "$@"; do
  case "$argument" in
  --emulated) device=cuda-emulated ;;
  *) build="$argument" ;;
  esac
done
run="$build/bin/attn-run"
status=pass

# check EXAMPLE CHANNELS ROWS KEYS
check() {
  printf '%s, %s rows, %s keys: ' "$1" "$3" "$4"
  if ! "$run" "$top/docs/examples/$1.mlir" --device="$device" --verify \
    --input="1x8x$3x$2xf16" --input="1x8x$4x$2xf16" --input="1x8x$4x$2xf16" \
    >"$log" 2>&1; then
    status=FAIL
    tail -n 20 "$log"
    return
  fi
  tail -n 1 "$log"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ "$device" = cuda ]; then
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
  lengths="1x1 64x64 128x300 513x777 2048x2048"
else
  lengths="1x1 64x64 130x70"
fi
for example in prefill-f16-d64:64 prefill-f16-d128:128; do
  for length in $lengths; do
    check "${example%:*}" "${example#*:}" "${length%x*}" "${length#*x}"
  done
done
if [ "$device" = cuda ]; then
  for example in prefill-f16-d64:64 prefill-f16-d128:128; do
    channels="${example#*:}"
    echo "${example%:*}, 4096 rows and keys:"
    shape="1x8x4096x${channels}xf16"
    "$run" "$top/docs/examples/${example%:*}.mlir" --device=cuda \
      --benchmark=50 --input="$shape" --input="$shape" --input="$shape" |
      grep -E '^(time|rate)' || status=FAIL
  done
fi
echo "gpu-check: $status"
[ "$status" = pass ]
