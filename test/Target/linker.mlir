// Where linking fails the message says why, and there is no output.
//
// REQUIRES: attnc, cc
// RUN: rm -rf %t && mkdir -p %t
// RUN: not attnc %s -o %t/x.so --linker=no-such-linker 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// RUN: not attnc %s -o %t/x.so --linker=false 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILS
// RUN: not attnc %s -o %t/x.so --linker=true 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not attnc %s -o %t/no/x.so 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not attnc %s -o %t/no/x.o 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not attnc %s -o %t/x --linker=ld.lld 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXE
// RUN: ls %t | count 0
//
// Either linker makes a library, which names no folder of any machine.
//
// RUN: attnc %s -o %t/x.so --linker=ld.lld
// RUN: llvm-readobj --dynamic-table %t/x.so | FileCheck %s --check-prefix=LIB
// RUN: attnc %s -o %t/y.so --linker=cc
// RUN: llvm-readobj --dynamic-table %t/y.so | FileCheck %s --check-prefix=LIB

// MISSING: attnc: expects a linker, but 'no-such-linker' is not in PATH
// FAILS: attnc: '{{.*}}false' failed: it returned 1
// NOTHING: attnc: '{{.*}}true' failed: it wrote nothing
// FOLDER: attnc: cannot write '{{.*}}/no/x.{{s?}}o': No such file or directory
// EXE: attnc: expects a C compiler to link an executable, got '{{.*}}ld.lld'
// LIB: DynamicSection
// LIB-NOT: RUNPATH
// LIB-NOT: RPATH
func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
