// RUN: attn-opt %s --split-input-file --verify-diagnostics --attn-emit-cuda-entries | FileCheck %s

// The entry checks what lies on the GPU, asks how large the workspace is, and launches between begin and end.
//
// CHECK-DAG: llvm.mlir.global external @attn.code()
// CHECK-DAG: llvm.mlir.global internal constant @f.signature(dense<[1, 1, 2, 32, 1, -1, 2, 32, 1, -1, -1]>
// CHECK-DAG: llvm.func internal @f.body
// CHECK-DAG: llvm.func internal @f.workspace
//
// CHECK-LABEL: llvm.func @f_apply
// CHECK-SAME:    (%[[TENSORS:.*]]: !llvm.ptr, %[[SPACE:.*]]: !llvm.ptr, %[[STREAM:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64) -> i32
// CHECK:       llvm.call @attn_rt_open_cuda(%{{.*}}, %{{.*}}, %[[TENSORS]]
// CHECK:       llvm.call @f.check
// CHECK:       llvm.call @attn_rt_compare_shapes
// CHECK:       %[[BYTES:.*]] = llvm.call @f.workspace
// CHECK:       llvm.call @attn_rt_cuda_begin(%[[CALL:[0-9]+]], %{{.*}}, %{{.*}}, %{{.*}}, %[[TENSORS]], %[[SPACE]], %[[BYTES]], %[[STREAM]]
// CHECK:       llvm.call @f.body({{.*}}, %[[SPACE]], %[[SPACE]], %{{.*}}, %[[BYTES]], %{{.*}}, %[[CALL]])
// CHECK:       llvm.call @attn_rt_cuda_end(%[[CALL]])
//
// CHECK-LABEL: llvm.func @f(
// CHECK:       llvm.call @f_apply
// CHECK-LABEL: llvm.func @f_shape(
//
// Sizes are asked for without data.
//
// CHECK-LABEL: llvm.func @f_workspace_apply(
// CHECK-NOT:   attn_rt_open_cuda
// CHECK:       llvm.call @attn_rt_open_extents
// CHECK:       %[[SIZE:.*]] = llvm.call @f.workspace
// CHECK:       llvm.store %[[SIZE]], %arg1
//
// Words of the status that are not 0 are a message.
//
// CHECK-LABEL: llvm.func @f_status(
// CHECK-COUNT-3: llvm.load
// CHECK:       llvm.icmp "eq"
// CHECK:       llvm.call @attn_rt_report
module attributes {attn.target = {triple = "nvptx64-nvidia-cuda", cpu = "sm_80", features = "+ptx80", architectures = ["sm_80"]}} {
  llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64,
               %g: !llvm.ptr, %h: !llvm.ptr, %i: i64, %j: i64, %k: i64,
               %w: !llvm.ptr, %x: !llvm.ptr, %y: i64, %z: i64, %s: i64, %call: !llvm.ptr) -> i32
      attributes {attn.guarded,
                  attn.signature = {inputs = [tensor<?xf32>], input_names = ["x"],
                                    outputs = [tensor<?xf32>], output_names = [""]}} {
    %0 = llvm.mlir.constant(0 : i32) : i32
    llvm.return %0 : i32
  }
  llvm.func @f.workspace(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64,
                         %g: !llvm.ptr, %h: !llvm.ptr, %i: i64, %j: i64, %k: i64) -> i64 {
    llvm.return %d : i64
  }
  llvm.func @f.check(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64) -> !llvm.struct<(i64, i64, i64)>
      attributes {attn.messages = ["wants %lld, got %lld"], attn.kinds = array<i64: 4>} {
    %0 = llvm.mlir.zero : !llvm.struct<(i64, i64, i64)>
    llvm.return %0 : !llvm.struct<(i64, i64, i64)>
  }
  llvm.func @f.shape(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64) -> i64 {
    llvm.return %d : i64
  }
}

// -----

// Without checks of data there is nothing to explain.
//
// CHECK-LABEL: llvm.func @plain_status(
// CHECK-NEXT:  %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT:  llvm.return %[[ZERO]]
llvm.func @plain(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64,
                 %w: !llvm.ptr, %x: !llvm.ptr, %y: i64, %z: i64, %s: i64, %call: !llvm.ptr) -> i32
    attributes {attn.signature = {inputs = [], input_names = [], outputs = [tensor<f32>], output_names = [""]}} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}
llvm.func @plain.workspace(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64) -> i64 {
  llvm.return %c : i64
}

// -----

// expected-error@+1 {{expects a function that says how large its workspace is}}
llvm.func @unmeasured(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64,
                      %w: !llvm.ptr, %x: !llvm.ptr, %y: i64, %z: i64, %s: i64, %call: !llvm.ptr) -> i32
    attributes {attn.signature = {inputs = [], input_names = [], outputs = [tensor<f32>], output_names = [""]}} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}

// -----

// expected-error@+1 {{expects the arguments of its 'attn.signature' and of the launch, which are 9 words, got 3}}
llvm.func @short(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64) -> i32
    attributes {attn.signature = {inputs = [], input_names = [], outputs = [tensor<f32>], output_names = [""]}} {
  %0 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %0 : i32
}
llvm.func @short.workspace(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64) -> i64 {
  llvm.return %c : i64
}
