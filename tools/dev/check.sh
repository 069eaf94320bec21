#!/usr/bin/env bash
# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All tests, from a fresh Debian 12 machine on: `tools/dev/check.sh`. Sets up, builds, tests, and ends with
# `N passed, M failed`. What each suite printed is in build/check/.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
source tools/dev/suites.sh
python=build/venv/bin/python

# Nothing after these can run without them. The seconds are for two cores, the packages to be fetched included.
suite setup        300 step tools/dev/setup.sh &&
suite configure     60 step cmake --preset release &&
suite build        900 step cmake --build --preset release || close_suites

#     name               seconds count command
suite format                  60 step  tools/dev/format.sh --check
suite constraints             10 step  tools/dev/check-constraints.py
suite lit                    500 lit   cmake --build --preset release --target check-attn
suite package                120 step  test/Package/check-package.sh
suite 'onnx data'             30 step  $python test/Execution/onnx-generated/generate.py build/check/onnx
suite 'onnx by definition'    30 plain $python tools/dev/onnx-cases.py build/check/onnx --device=interpreter
suite 'onnx compiled'        100 plain $python tools/dev/onnx-cases.py build/check/onnx
# The ONNX project's own node tests, where they lie beside the checkout.
[[ ! -d ../shared/cases/onnx ]] ||
suite 'onnx published'       200 plain $python tools/dev/onnx-cases.py ../shared/cases/onnx
suite fuzz                   150 step  build/release/bin/attn-fuzz --count=800 --seed=1 --seconds=60
# Kernels for a GPU, in the emulator, with every access watched: the same corner cases and data, and fuzzing.
suite 'corner cases emulated' 150 lit  build/release/bin/attn-lit -sv -D attn_device=cuda-emulated \
  test/Execution/corner-cases-*.mlir
suite 'onnx emulated'        100 plain $python tools/dev/onnx-cases.py build/check/onnx --device=cuda-emulated
suite 'fuzz emulated'        120 step  build/release/bin/attn-fuzz --device=cuda-emulated --count=120 --seed=1 --seconds=90
suite demo                   120 step  tools/dev/demo.sh --offline
suite lengths                 10 step  tools/dev/lengths.py

close_suites
