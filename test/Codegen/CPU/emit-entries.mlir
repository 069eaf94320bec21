// RUN: attn-opt %s --split-input-file --attn-emit-entries | FileCheck %s

// The entry collects pointers; f_apply checks and runs; the function itself is internal.
//
// CHECK-DAG: llvm.mlir.global internal constant @f.signature(dense<[1, 1, 2, 32, 1, -1, 2, 32, 1, -1, -1]>
// CHECK-DAG: llvm.mlir.global internal constant @f.names("f\00argument 'x'\00result 0\00")
// CHECK-DAG: llvm.mlir.global internal constant @f.messages("wants %lld, got %lld\00")
// CHECK-DAG: llvm.func internal @f.body
//
// CHECK-LABEL: llvm.func @f_apply
// CHECK-SAME:    (%[[TENSORS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64) -> i32
// CHECK-SAME:    passthrough = ["attn-baseline"]
// CHECK:       llvm.call @attn_rt_check_cpu
// CHECK:       llvm.call @attn_rt_open(%{{.*}}, %{{.*}}, %[[TENSORS]]
// CHECK:       llvm.call @f.check(%[[WORDS:[0-9]+]])
// CHECK:       llvm.call @f.shape(%[[WORDS]])
// CHECK:       llvm.call @attn_rt_compare_shapes
// CHECK:       llvm.call @attn_rt_report
// CHECK:       llvm.call @f.body(%[[WORDS]])
// CHECK:       llvm.call @attn_rt_status
//
// CHECK-LABEL: llvm.func @f(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64) -> i32
// CHECK:       llvm.call @f_apply
//
// CHECK-LABEL: llvm.func @f_shape(
module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
                                  cpu = "x86-64-v3", features = ""}} {
  llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64,
               %g: !llvm.ptr, %h: !llvm.ptr, %i: i64, %j: i64, %k: i64) -> i32
      attributes {attn.signature = {inputs = [tensor<?xf32>],
                                    input_names = ["x"],
                                    outputs = [tensor<?xf32>],
                                    output_names = [""]}} {
    %0 = llvm.mlir.constant(0 : i32) : i32
    llvm.return %0 : i32
  }
  llvm.func @f.check(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64)
      -> !llvm.struct<(i64, i64, i64)>
      attributes {attn.messages = ["wants %lld, got %lld"],
                  attn.kinds = array<i64: 4>} {
    %0 = llvm.mlir.zero : !llvm.struct<(i64, i64, i64)>
    llvm.return %0 : !llvm.struct<(i64, i64, i64)>
  }
  llvm.func @f.shape(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64)
      -> i64 {
    llvm.return %d : i64
  }
}

// -----

// The body reads the words that it uses. A parallel region reads and computes its own: from outside it uses the words and
// what does not follow from them.
//
// CHECK-LABEL: llvm.func internal @g.body(
// CHECK-SAME:    %[[WORDS:.*]]: !llvm.ptr) -> i32
// CHECK-NEXT:    %[[LAST:.*]] = llvm.getelementptr %[[WORDS]][4]
// CHECK-NEXT:    %[[STRIDE:.*]] = llvm.load %[[LAST]]
// CHECK-NEXT:    %[[SIZE:.*]] = llvm.call @threads
// CHECK-NEXT:    omp.parallel {
// CHECK:           %[[PLACE:.*]] = llvm.getelementptr %[[WORDS]][3]
// CHECK-NEXT:      %[[EXTENT:.*]] = llvm.load %[[PLACE]]
// CHECK-NEXT:      %[[TWICE:.*]] = llvm.add %[[EXTENT]], %[[EXTENT]]
// CHECK-NEXT:      llvm.call @use(%[[TWICE]], %[[SIZE]])
// CHECK:         llvm.call @use(%[[STRIDE]], %[[SIZE]])
module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
                                  cpu = "x86-64-v3", features = ""}} {
  llvm.func @threads() -> i64
  llvm.func @use(i64, i64)
  llvm.func @g(%a: !llvm.ptr, %b: !llvm.ptr, %c: i64, %d: i64, %e: i64) -> i32
      attributes {attn.signature = {inputs = [], input_names = [],
                                    outputs = [tensor<?xf32>],
                                    output_names = [""]}} {
    %twice = llvm.add %d, %d : i64
    %size = llvm.call @threads() : () -> i64
    omp.parallel {
      llvm.call @use(%twice, %size) : (i64, i64) -> ()
      omp.terminator
    }
    llvm.call @use(%e, %size) : (i64, i64) -> ()
    %0 = llvm.mlir.constant(0 : i32) : i32
    llvm.return %0 : i32
  }
}
