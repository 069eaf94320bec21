// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: llvm.func @exp2
// CHECK: attn_gpu.exp2 %{{.*}}
llvm.func @exp2(%x: f32) -> f32 {
  %y = attn_gpu.exp2 %x
  llvm.return %y : f32
}

!acc = !llvm.struct<(f32, f32, f32, f32)>

// One step of 16 columns of A, B with its rows side by side.
//
// CHECK-LABEL: llvm.func @one_step
// CHECK: attn_gpu.wgmma %{{.*}}, a(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) b(%{{.*}}) bf16 : !llvm.struct<(f32, f32, f32, f32)>
llvm.func @one_step(%c: !acc, %a: i32, %b: i64) -> !acc {
  %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a) b(%b) bf16 : !acc
  llvm.return %d : !acc
}

// Two steps are one group.
//
// CHECK-LABEL: llvm.func @two_steps
// CHECK: attn_gpu.wgmma {{.*}} b(%{{.*}}, %{{.*}}) transpose_b f16 : !llvm.struct<(f32, f32, f32, f32)>
llvm.func @two_steps(%c: !acc, %a: i32, %b: i64) -> !acc {
  %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a, %a, %a, %a, %a) b(%b, %b) transpose_b f16 : !acc
  llvm.return %d : !acc
}
