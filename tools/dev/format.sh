#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Formats our C and C++ files with one version of clang-format, whatever else a machine has.
#
#   tools/dev/format.sh            rewrite what is not formatted
#   tools/dev/format.sh --check    print it and fail
#   tools/dev/format.sh [--check] FILE...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=22

# Print the first clang-format of the pinned version.
find_formatter() {
  local tool
  for tool in "clang-format-$version" clang-format; do
    if command -v "$tool" >/dev/null &&
        "$tool" --version | grep -q "version $version\."; then
      echo "$tool"
      return
    fi
  done
  echo "format.sh: no clang-format $version (apt-get install clang-format-$version)" >&2
  return 1
}

mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run -Werror)
  shift
elif [[ ${1:-} == -* ]]; then
  echo "format.sh: expects '--check' or files, got '$1'" >&2
  exit 2
fi

formatter=$(find_formatter)
if (($# > 0)); then
  files=("$@")
else
  # What git follows, and what it would follow: a new file is checked before it is added.
  mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.c' '*.cpp' '*.h' |
    while read -r file; do [[ ! -e $file ]] || echo "$file"; done)
fi
"$formatter" --style=file "${mode[@]}" "${files[@]}"
echo "${#files[@]} files are formatted"
