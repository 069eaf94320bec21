#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs a finished build, builds a small project with find_package(AttnMLIR) and runs it:
#
#   test/Package/check-package.sh [BUILD]        # build/release without an argument
#
# The project must work from the installed files alone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >"$work/log"
# Moved after it was installed: no file may name where it was.
mv "$work/installed" "$work/moved"
cmake -S "$here/Inputs" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_C_COMPILER=clang-22 \
  -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_PREFIX_PATH="$work/moved" >"$work/log" ||
  { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }

"$work/build/consumer" >"$work/linalg.mlir" <<'IR'
func.func @attention(%q: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}
IR
grep -q linalg.generic "$work/linalg.mlir"
if grep attn. "$work/linalg.mlir"; then
  echo "an attn op is left"
  exit 1
fi
for tool in "$work"/moved/bin/*; do
  "$tool" --help >/dev/null || { echo "the installed $(basename "$tool") does not start"; exit 1; }
done
echo "the installed package builds a project that turns attention into linalg"
