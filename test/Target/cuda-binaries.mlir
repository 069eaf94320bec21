// Kernels as PTX, which needs no CUDA toolkit.
//
// REQUIRES: attnc
// RUN: attnc %s --target=sm_80 -o - --emit=ptx | FileCheck %s --check-prefix=PTX --implicit-check-not=__nv_
// RUN: %python %S/../Tools/Inputs/status.py 2 attnc %s --target=sm_80,sm_90 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: %python %S/../Tools/Inputs/status.py 1 attnc %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %python %S/../Tools/Inputs/status.py 2 attnc %s --target=sm_80 -o %t.exe --emit=exe 2>&1 | FileCheck %s --check-prefix=EXE
// RUN: %python %S/../Tools/Inputs/status.py 2 attnc %s --target=sm_70 -o %t.o 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: %python %S/../Tools/Inputs/status.py 2 attnc %s --target=x86_64-linux-gnu --stop-after=nvvm 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: %python %S/../Tools/Inputs/status.py 1 attnc %s --target=sm_80 -o %t.o --ptxas=%t/none 2>&1 | FileCheck %s --check-prefix=NONE
//
// PTX: .version 8.0
// PTX: .target sm_80
// PTX: .visible .entry attention_k0(
// PTX: .maxntid {{128|32}}
// LIST: attnc: expects one architecture for a file of PTX or a cubin, got 2
// CPU: attnc: expects --target=sm_80 or the like for PTX or a cubin, got 'x86_64
// EXE: attnc: expects an object or a shared library for a GPU, got an executable
// ARCH: attnc: expects an architecture of CUDA, got 'sm_70'; known: sm_80, sm_86, sm_89, sm_90, sm_90a; nearest: sm_80
// PHASE: attnc: expects --target=sm_80 or the like with --stop-after=nvvm
// NONE: error: expects ptxas, but '{{.*}}none' is no program
func.func @attention(%q: tensor<1x4x?x16xf32>, %k: tensor<1x2x?x16xf32>,
                     %v: tensor<1x2x?x16xf32>) -> tensor<1x4x?x16xf32> {
  %o = attn.sdpa %q, %k, %v : tensor<1x4x?x16xf32>, tensor<1x2x?x16xf32>,
    tensor<1x2x?x16xf32> -> tensor<1x4x?x16xf32>
  return %o : tensor<1x4x?x16xf32>
}
