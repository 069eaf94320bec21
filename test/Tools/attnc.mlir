// The command line of attnc: what it refuses, and with which exit status.
//
// REQUIRES: attnc
// RUN: attnc --print-phases | FileCheck %s --check-prefix=PHASES
// RUN: attnc %s --stop-after=linalg | FileCheck %s --check-prefix=LINALG
// RUN: cat %s | attnc - --stop-after=linalg \
// RUN:   | FileCheck %s --check-prefix=LINALG
// RUN: attn-opt %s --emit-bytecode -o %t.mlirbc
// RUN: attnc %t.mlirbc --stop-after=linalg \
// RUN:   | FileCheck %s --check-prefix=LINALG
// RUN: rm -rf %t && attnc %s --dump-phases-to=%t
// RUN: ls %t | FileCheck %s --check-prefix=DUMP
// RUN: attnc %s --emit=asm --mlir-timing 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TIMING
// RUN: attnc %S/Inputs/attention.mlir --stop-after=schedule --remarks=attn 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: attnc %s --stop-after=core --mlir-print-ir-after=attn-set-target 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PRINT
//
// RUN: %python %S/Inputs/status.py 2 attnc 2>&1 | FileCheck %s --check-prefix=NOINPUT
// RUN: %python %S/Inputs/status.py 2 attnc %s 2>&1 | FileCheck %s --check-prefix=NOOUTPUT
// RUN: %python %S/Inputs/status.py 2 attnc %s --stop-after=lingal 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: %python %S/Inputs/status.py 2 attnc %s --emit=object 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: %python %S/Inputs/status.py 2 attnc %s -o x.obj 2>&1 | FileCheck %s --check-prefix=SUFFIX
// RUN: %python %S/Inputs/status.py 2 attnc %s --emit=asm --stop-after=core 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: %python %S/Inputs/status.py 2 attnc %s --targt=host 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: %python %S/Inputs/status.py 2 attnc %s --emit=shared 2>&1 | FileCheck %s --check-prefix=LINKED
// RUN: %python %S/Inputs/status.py 2 attnc %s --emit=asm --remarks=\( 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: %python %S/Inputs/status.py 1 attnc %t/none.mlir -o %t/x.o 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: %python %S/Inputs/status.py 2 attnc %s -o %t/x.o --target=x86_64-linux-gnu:haswel 2>&1 | FileCheck %s --check-prefix=TARGET

// PHASES: input     verified
// PHASES: core
// PHASES: object    machine code
// LINALG: linalg.add
// DUMP: 1-input.mlir
// DUMP: 2-core.mlir
// DUMP: 8-llvm.mlir
// TIMING: SetTarget
// TIMING: Emit
// REMARK: attention.mlir:4:8: remark: [Passed] Scheduled | Category:attn | block_m=
// PRINT: IR Dump After SetTarget (attn-set-target)
// NOINPUT: attnc: expects INPUT, a file or '-'
// NOOUTPUT: attnc: expects -o OUTPUT, --emit=KIND or --stop-after=PHASE
// PHASE: attnc: expects a phase, got --stop-after=lingal; known: input, core, schedule, tiles, linalg, vectors, buffers, kernels, nvvm, llvm, object; nearest: linalg
// EMIT: attnc: expects a kind of output, got 'object'; known: mlir, llvm, asm, obj, shared, ptx, cubin, exe; nearest: obj
// SUFFIX: attnc: expects a suffix of the output or --emit, got '.obj'; known: .mlir, .ll, .s, .o, .so, .ptx, .cubin; nearest: .o
// LINKED: attnc: expects -o OUTPUT for what is linked
// REGEX: attnc: expects a regular expression, got --remarks=(
// BOTH: attnc: expects --emit=mlir with --stop-after=core, got --emit=asm
// FLAG: Unknown command line argument '--targt=host'
// FLAG: Did you mean '--target=host'?
// NOFILE: attnc: cannot open input file '{{.*}}none.mlir'
// TARGET: attnc: expects a CPU of 'x86_64', got 'haswel'; known: {{.*}}; nearest: haswell
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %y = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>)
    outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
