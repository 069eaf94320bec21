// Two flags do not write one file, and none but -o writes the input.
//
// REQUIRES: attnc
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/x.mlir
// RUN: not attnc %t/x.mlir -o %t/x.so --header=%t/x.so 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: not attnc %t/x.mlir -o %t/x.o --header=%t/x.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not attnc %t/x.mlir -o %t/x.o --tune=1 --tune-record=%t/../%basename_t.tmp/x.mlir 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: cmp %s %t/x.mlir
// RUN: ls %t | count 1
// RUN: attnc %t/x.mlir -o /dev/null --emit=mlir --header=/dev/null
//
// HEADER: attnc: expects different files for -o and --header, got '{{.*}}/x.so' for both
// INPUT: attnc: expects different files for INPUT and --header, got '{{.*}}/x.mlir' for both
// RECORD: attnc: expects different files for INPUT and --tune-record, got '{{.*}}/x.mlir' for both
func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
