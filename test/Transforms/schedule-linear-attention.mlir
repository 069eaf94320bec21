// RUN: attn-opt %s --attn-select-schedule | FileCheck %s

module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "", vector_bits = 512,
    vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {
// Chunks of 32 steps, all columns of the state in a task.
//
// CHECK-LABEL: func.func @chunks
// CHECK: schedule = <block_m = 32, block_n = 96, rows = 8, columns = 32, lanes = 16>
func.func @chunks(%q: tensor<1x8x512x64xf32>, %v: tensor<1x8x512x96xf32>)
    -> tensor<1x8x512x96xf32> {
  %o = attn.linear_attention %q, %q, %v rule = linear
    : tensor<1x8x512x64xf32>, tensor<1x8x512x64xf32>, tensor<1x8x512x96xf32>
    -> tensor<1x8x512x96xf32>
  return %o : tensor<1x8x512x96xf32>
}

// A decay per channel has chunks of one vector of keys; sums of keys are a column
// more.
//
// CHECK-LABEL: func.func @channels
// CHECK: schedule = <block_m = 16, block_n = 96, rows = 8, columns = 32, lanes = 16>
func.func @channels(%q: tensor<1x8x512x64xbf16>, %g: tensor<1x8x512x64xf32>)
    -> tensor<1x8x512x64xbf16> {
  %o = attn.linear_attention %q, %q, %q decay(%g : tensor<1x8x512x64xf32>)
    rule = gated feature_map = elu1 normalize
    : tensor<1x8x512x64xbf16>, tensor<1x8x512x64xbf16>,
      tensor<1x8x512x64xbf16> -> tensor<1x8x512x64xbf16>
  return %o : tensor<1x8x512x64xbf16>
}

// Of few heads each is split into columns. No bit depends on that.
//
// CHECK-LABEL: func.func @one_head
// CHECK: schedule = <block_m = 32, block_n = 32,
func.func @one_head(%q: tensor<1x1x512x64xf32>, %v: tensor<1x1x512x128xf32>)
    -> tensor<1x1x512x128xf32> {
  %o = attn.linear_attention %q, %q, %v rule = linear
    : tensor<1x1x512x64xf32>, tensor<1x1x512x64xf32>, tensor<1x1x512x128xf32>
    -> tensor<1x1x512x128xf32>
  return %o : tensor<1x1x512x128xf32>
}

// Four heads of a group read a state together: four rows of four vectors.
//
// CHECK-LABEL: func.func @one_step
// CHECK: schedule = <block_m = 1, block_n = 128, rows = 1, columns = 64, lanes = 16, streams = 1>
func.func @one_step(%q: tensor<1x16x1x64xf32>, %k: tensor<1x4x1x64xf32>,
                    %v: tensor<1x4x1x128xf32>) -> tensor<1x16x1x128xf32> {
  %o = attn.linear_attention %q, %k, %v rule = linear
    : tensor<1x16x1x64xf32>, tensor<1x4x1x64xf32>, tensor<1x4x1x128xf32>
    -> tensor<1x16x1x128xf32>
  return %o : tensor<1x16x1x128xf32>
}

// Both are there where the number of steps is dynamic.
//
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c4
// CHECK: scf.if %[[FEW]]
// CHECK: schedule = <block_m = 1, {{.*}} streams = 1>
// CHECK: else
// CHECK: schedule = <block_m = 32, {{.*}} lanes = 16>
func.func @dynamic(%q: tensor<1x8x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.linear_attention %q, %q, %q rule = linear
    : tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
    -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// Not causal no step comes after another, however few there are.
//
// CHECK-LABEL: func.func @encoder
// CHECK-NOT: scf.if
// CHECK: schedule = <block_m = 32,
func.func @encoder(%q: tensor<1x8x3x64xf32>, %k: tensor<1x8x?x64xf32>)
    -> tensor<1x8x3x64xf32> {
  %o = attn.linear_attention %q, %k, %k rule = linear non_causal
    : tensor<1x8x3x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>
    -> tensor<1x8x3x64xf32>
  return %o : tensor<1x8x3x64xf32>
}

// What is empty is left to its definition.
//
// CHECK-LABEL: func.func @empty
// CHECK-NOT: schedule
func.func @empty(%q: tensor<1x8x0x64xf32>) -> tensor<1x8x64x64xf32> {
  %o, %s = attn.linear_attention %q, %q, %q rule = linear
    : tensor<1x8x0x64xf32>, tensor<1x8x0x64xf32>, tensor<1x8x0x64xf32>
    -> tensor<1x8x0x64xf32> state(tensor<1x8x64x64xf32>)
  return %s : tensor<1x8x64x64xf32>
}
}
