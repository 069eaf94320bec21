// Without ptxas --report says what launches need, what is missing and where it was looked for.
//
// REQUIRES: attnc
// UNSUPPORTED: ptxas
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 --report | FileCheck %s
// RUN: attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 --report -o %t.ptx | FileCheck %s
// RUN: %python %S/../Tools/Inputs/status.py 1 attnc %root/docs/examples/prefill-f16-d64.mlir --target=sm_80 -o %t.cubin 2>&1 | FileCheck %s --check-prefix=CUBIN
//
// CHECK: attn.sdpa
// CHECK: prefill_k2: 49152 bytes of dynamic shared memory, blocks of 128 threads
// CHECK: registers, spills and instructions are what ptxas says, but none is in PATH, in a CUDA toolkit or in Python's package nvidia-cuda-nvcc; --ptxas= names another
// CUBIN: expects ptxas for a cubin, but none is in PATH, in a CUDA toolkit or in Python's package nvidia-cuda-nvcc; --ptxas= names another, and PTX needs none
