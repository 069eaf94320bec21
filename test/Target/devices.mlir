// What is no file is written to, not replaced by one; where there is no room, that is an error.
//
// REQUIRES: attnc, attn-run, cc
// RUN: attnc %s -o /dev/null --emit=shared
// RUN: attn-run %s --output=/dev/null
// RUN: not attn-run %s --output=/dev/full 2>&1 | FileCheck %s
// RUN: not attnc %s -o /dev/full --emit=shared 2>&1 | FileCheck %s
// RUN: test -c /dev/null && test -c /dev/full
//
// CHECK: cannot write '/dev/full': No space left on device
func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
