// RUN: attn-opt %s --convert-nvvm-to-host-calls | FileCheck %s
// RUN: attn-opt %s --convert-nvvm-to-host-calls=track | FileCheck %s --check-prefix=TRACK

// A loop that looks at memory again lets others run, one that counts does not.
//
// CHECK-LABEL: llvm.func @m.waits(
// CHECK: llvm.load volatile
// CHECK: llvm.call @attn_cuda_poll({{%.*}}, {{%.*}}) : (i32, i64) -> ()
// CHECK-NEXT: llvm.cond_br
// CHECK-LABEL: llvm.func @m.counts(
// CHECK-NOT: @attn_cuda_poll(
// CHECK: llvm.return
//
// Where accesses are tracked, the rounds of the latter are counted.
//
// TRACK-LABEL: llvm.func @m.waits(
// TRACK: llvm.call @attn_cuda_poll(
// TRACK-NOT: @attn_cuda_round(
// TRACK-LABEL: llvm.func @m.counts(
// TRACK: llvm.call @attn_cuda_round(
// TRACK-NEXT: llvm.cond_br
// What the loop carries on is in the state that it says.
//
// CHECK-LABEL: llvm.func @m.tries(
// CHECK: %[[NEXT:.*]] = llvm.add
// CHECK: %[[WORD:.*]] = llvm.zext %[[NEXT]] : i32 to i64
// CHECK: %[[STATE:.*]] = llvm.xor %{{.*}}, %[[WORD]] : i64
// CHECK: llvm.call @attn_cuda_ask(%{{.*}}, %[[STATE]])
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
  llvm.func @tries(%bar: !llvm.ptr<3>, %n: i32) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^ask(%zero : i32)
  ^ask(%i: i32):
    %done = nvvm.mbarrier.test.wait %bar, %zero : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %done, ^end, ^more
  ^more:
    %j = llvm.add %i, %one : i32
    %again = llvm.icmp "ult" %j, %n : i32
    llvm.cond_br %again, ^ask(%j : i32), ^end
  ^end:
    llvm.return
  }
}
