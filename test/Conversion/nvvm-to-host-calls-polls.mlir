// RUN: attn-opt %s --convert-nvvm-to-host-calls | FileCheck %s

// A loop that looks at memory again lets others run, one that counts does not.
//
// CHECK-LABEL: llvm.func @m.waits(
// CHECK: llvm.load volatile
// CHECK: llvm.call @attn_cuda_poll(
// CHECK-NEXT: llvm.cond_br
// CHECK-LABEL: llvm.func @m.counts(
// CHECK-NOT: @attn_cuda_poll(
// CHECK: llvm.return
gpu.module @m {
  llvm.func @waits(%flag: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.br ^ask
  ^ask:
    %x = llvm.load volatile %flag : !llvm.ptr<1> -> i32
    %is = llvm.icmp "eq" %x, %zero : i32
    llvm.cond_br %is, ^ask, ^done
  ^done:
    llvm.return
  }
  llvm.func @counts(%sum: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^next(%zero : i32)
  ^next(%i: i32):
    %old = llvm.atomicrmw add %sum, %i monotonic : !llvm.ptr<1>, i32
    %j = llvm.add %i, %one : i32
    %more = llvm.icmp "ult" %j, %n : i32
    llvm.cond_br %more, ^next(%j : i32), ^done
  ^done:
    llvm.return
  }
}
