// The module goes to a file as it is at that place, in a folder that is made for it, and on to the passes behind.
//
// RUN: rm -rf %t
// RUN: attn-opt %s --attn-write-phase=file=%t/new/before.mlir --canonicalize --attn-write-phase=file=%t/new/after.mlir \
// RUN:   | FileCheck %s --check-prefix=AFTER
// RUN: FileCheck %s --check-prefix=BEFORE --input-file=%t/new/before.mlir
// RUN: FileCheck %s --check-prefix=AFTER --input-file=%t/new/after.mlir
//
// A file that cannot be written is an error.
//
// RUN: not attn-opt %s --attn-write-phase=file=%t/new/after.mlir/x -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR
//
// ERROR: error: {{.*}}after.mlir/x

// BEFORE-LABEL: func.func @sum
// BEFORE: arith.addi
// AFTER-LABEL: func.func @sum
// AFTER-NOT: arith.addi
func.func @sum(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %y = arith.addi %x, %zero : i32
  return %y : i32
}
