# How lit runs the tests. A test in this folder's sub-folder X is about the library lib/X.
#
# Words in RUN lines:
#   attn-opt, attnc, attn-run ...   our tools of this build
#   FileCheck                       LLVM's, always with --enable-var-scope
#   mlir-opt, not, split-file ...   LLVM's
#   %python                         the Python that runs lit
#   %root                           the top of the source tree
#   %lib, %bin                      the build's folders of libraries (the plugin) and of tools
#   %numpy                          the Python that has numpy, from build/venv
# Features: the name of each tool that was built (`REQUIRES: attnc`), `sanitize`, and what this machine has: `cc`,
# `numpy`, `ptxas`, `x86_64`, `aarch64` (its C compiler and qemu, to run what was compiled for it), `onnx-cases` (the ONNX
# project's node tests beside the checkout).

import os
import platform
import shutil
import subprocess
import sys

import lit.formats

# Another suite of the same kind (docs/examples) names its folder before it reads this file.
suite = getattr(config, "attn_suite", "test")
config.name = "attn" if suite == "test" else "attn " + suite
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]

# `attn-lit test/IR` starts from this file, `check-attn` from the build's: each reads the other.
if not hasattr(config, "attn_source_root"):
    site = lit_config.params.get("attn_site")
    if not site:
        lit_config.fatal("use check-attn or build/*/bin/attn-lit")
    values = {"config": config, "lit_config": lit_config, "attn_from_source": True}
    with open(site) as file:
        exec(compile(file.read(), site, "exec"), values)

config.test_source_root = os.path.join(config.attn_source_root, suite)
config.test_exec_root = os.path.join(config.attn_binary_root, suite)

bin_folder = os.path.join(config.attn_binary_root, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_folder, config.llvm_tools, os.environ.get("PATH", "")]
)
for name in ["HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

numpy_python = os.path.join(config.attn_source_root, "build", "venv", "bin", "python")
if not os.path.exists(numpy_python):
    numpy_python = sys.executable

# A word of its own, not a part of a path or of another word.
config.substitutions += [
    (
        r"(?<![\w/.-])FileCheck(?![\w/.-])",
        os.path.join(config.llvm_tools, "FileCheck") + " --enable-var-scope",
    ),
    ("%python", sys.executable),
    ("%root", config.attn_source_root),
    ("%lib", os.path.join(config.attn_binary_root, "lib")),
    ("%bin", bin_folder),
    ("%numpy", numpy_python),
]

# `attn-lit -D attn_device=cuda-emulated test/Execution/corner-cases-shapes.mlir`: the same tests on another device.
if device := lit_config.params.get("attn_device"):
    config.substitutions.append((r"(?<![\w/.-])attn-run(?![\w/.-])", "attn-run --device=" + device))

config.available_features.update(config.attn_tools)
if config.attn_sanitize:
    config.available_features.add("sanitize")
if shutil.which("cc"):
    config.available_features.add("cc")
if platform.machine() == "x86_64":
    config.available_features.add("x86_64")
if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")
if shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64"):
    config.available_features.add("aarch64")
if subprocess.run([numpy_python, "-c", "import numpy"], capture_output=True).returncode == 0:
    config.available_features.add("numpy")
if os.path.exists(os.path.join(config.attn_source_root, "..", "shared", "cases", "onnx", "index.json")):
    config.available_features.add("onnx-cases")
