#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Brings a Debian 12 machine to where the project builds and its tests run:
#
#   tools/dev/setup.sh            # packages and build/venv
#   tools/dev/setup.sh --python   # build/venv alone
#
# Installs only what is missing, as root or through sudo, and is done at once where nothing is. Python packages go
# into a virtual environment in build/venv, never into the system's Python.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# The compiler's own needs, then what its tests use: a second target and the program that runs it.
packages=(
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools
  clang-22 lld-22 libclang-rt-22-dev libomp-22-dev clang-format-22
  cmake ninja-build gcc libc6-dev git python3 python3-venv
  gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
)

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

missing_packages() {
  local name
  for name in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null |
      grep -qx installed || printf '%s\n' "$name"
  done
}

install_packages() {
  local missing=() as_root=()
  command -v dpkg-query >/dev/null ||
    die "expects a Debian system (dpkg); on others install: ${packages[*]}"
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    say "all ${#packages[@]} Debian packages are there"
    return
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get -qq update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
    -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >/dev/null
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || die "not installed: ${missing[*]}"
}

# The environment is made anew when the list of requirements changes.
make_venv() {
  local list=$root/tools/dev/requirements.txt venv=$root/build/venv python
  if [[ -x $venv/bin/python ]] && cmp -s "$list" "$venv/installed.txt"; then
    say "build/venv is up to date"
    return
  fi
  python=/usr/bin/python3
  [[ -x $python ]] || python=$(command -v python3) || die "expects python3 in PATH"
  say "making build/venv with $(tr '\n' ' ' < <(grep -v '^#' "$list"))"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list" ||
    die "pip cannot install $list"
  cp "$list" "$venv/installed.txt"
}

[[ $# -eq 0 || ($# -eq 1 && $1 == --python) ]] ||
  die "expects no argument or --python, got: $*"
[[ ${1:-} == --python ]] || install_packages
make_venv
