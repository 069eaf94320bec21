// RUN: attn-opt %s --attn-cpu-pipeline --attn-emit-main | FileCheck %s
// RUN: not attn-opt %s --attn-emit-main 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: expects one public function to make an executable of, got 0

// CHECK-LABEL: llvm.func @main
// CHECK:       %[[APPLY:.*]] = llvm.mlir.addressof @f_apply
// CHECK:       llvm.call @attn_rt_main({{.*}}, %[[APPLY]])
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
