// Every kind of output, by the suffix and by --emit, for this machine and for others.
//
// REQUIRES: attnc
// RUN: rm -rf %t && mkdir -p %t
// RUN: attnc %s -o %t/x.ll --target=aarch64-linux-gnu
// RUN: FileCheck %s --check-prefix=IR --input-file=%t/x.ll
// RUN: attnc %s -o %t/x.s --target=aarch64-linux-gnu:cortex-a72
// RUN: FileCheck %s --check-prefix=ASM --input-file=%t/x.s
// RUN: attnc %s -o %t/x.o --target=aarch64-linux-gnu
// RUN: llvm-readobj --file-headers --symbols %t/x.o \
// RUN:   | FileCheck %s --check-prefix=OBJ
// RUN: attnc %s --emit=asm --target=riscv64-linux-gnu \
// RUN:   | FileCheck %s --check-prefix=RISCV
// RUN: attnc %s --emit=llvm --target=x86_64-linux-gnu:x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=X86
// RUN: attnc %s -o - | FileCheck %s --check-prefix=MLIR

// IR-DAG: target triple = "aarch64-unknown-linux-gnu"
// IR-DAG: define {{.*}}i32 @twice(ptr
// IR-DAG: define {{.*}}i32 @twice_shape(ptr
// IR-DAG: define {{.*}}i32 @twice_apply(ptr
// IR-NOT: declare {{.*}} @attn_rt_

// ASM-DAG: .globl twice
// ASM-DAG: fadd v

// The object is complete but for libc.
//
// OBJ: Machine: EM_AARCH64
// OBJ-NOT: Name: attn_rt_main
// OBJ: Name: twice_apply

// RISCV: .globl twice_apply

// The entry runs on the oldest CPU, and asks before it goes on.
//
// X86-DAG: define {{.*}}i32 @twice_apply(ptr {{.*}}#[[ENTRY:[0-9]+]]
// X86-DAG: attributes #[[ENTRY]] = { {{.*}}"target-cpu"="x86-64"
// X86-DAG: "target-cpu"="x86-64-v3"

// MLIR: llvm.func @twice_apply
func.func @twice(%x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %y = linalg.add ins(%x, %x : tensor<64xf32>, tensor<64xf32>)
    outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
