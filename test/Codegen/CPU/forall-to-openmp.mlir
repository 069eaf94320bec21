// RUN: attn-opt %s --convert-attn-forall-to-openmp | FileCheck %s

// A thread takes one task at a time, all dimensions of the loop being one.
//
// CHECK-LABEL: func.func @tasks
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: omp.parallel
// CHECK: omp.wsloop schedule(dynamic = %c1{{[a-z0-9_]*}} : i32)
// CHECK: omp.loop_nest (%[[I:.*]], %[[J:.*]]) : index = (%{{.*}}, %{{.*}}) to (%[[N]], %{{.*}}) step (%{{.*}}, %{{.*}}) collapse(2)
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// CHECK: omp.yield
// CHECK: omp.terminator
// CHECK-NOT: scf.forall
func.func @tasks(%n: index, %x: f32, %y: memref<?x64xf32>) {
  scf.forall (%i, %j) = (0, 0) to (%n, 64) step (1, 16) {
    memref.store %x, %y[%i, %j] : memref<?x64xf32>
  }
  return
}

// A loop in a task is the task's own.
//
// CHECK-LABEL: func.func @nested
// CHECK: omp.parallel
// CHECK: scf.forall
// CHECK-NOT: omp.parallel
// CHECK: return
func.func @nested(%x: f32, %y: memref<8x64xf32>) {
  scf.forall (%i) in (8) {
    scf.forall (%j) in (64) {
      memref.store %x, %y[%i, %j] : memref<8x64xf32>
    }
  }
  return
}
