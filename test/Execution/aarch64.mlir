// Attention compiled for another architecture gives what it gives here.
//
// REQUIRES: attnc, cc, aarch64
// RUN: rm -rf %t && mkdir -p %t
// RUN: attnc %s -o %t/a.o --header=%t/attention.h --target=aarch64-linux-gnu
// RUN: aarch64-linux-gnu-gcc -I%t %S/Inputs/attention.c \
// RUN:   %S/Inputs/one-thread.c %t/a.o -lm -o %t/a
// RUN: qemu-aarch64 -L /usr/aarch64-linux-gnu %t/a | FileCheck %s
// RUN: attnc %s -o %t/libb.so --header=%t/attention.h
// RUN: cc -I%t %S/Inputs/attention.c %t/libb.so -lm -o %t/b
// RUN: %t/b | FileCheck %s

// CHECK: good: 0
// CHECK-NEXT: largest error below 1e-5: yes
// CHECK-NEXT: lengths: 4 'attn.sdpa' op expects 'key' and 'value' to agree on dimension 2, got 5 and 4
func.func @attention(%q: tensor<1x2x?x8xf32>, %k: tensor<1x1x?x8xf32>,
                     %v: tensor<1x1x?x8xf32>) -> tensor<1x2x?x8xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left : tensor<1x2x?x8xf32>,
    tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x2x?x8xf32>
  return %o : tensor<1x2x?x8xf32>
}
