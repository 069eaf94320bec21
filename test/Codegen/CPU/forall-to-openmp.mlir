// RUN: attn-opt %s --convert-attn-forall-to-openmp | FileCheck %s

// Tasks are cut into as many parts as there are threads, or tasks. A thread takes the
// first of those left of its own part, and then the last of those that others have
// left. Dimensions of the loop are counted as one.
//
// CHECK-LABEL: func.func @tasks
// CHECK: %[[LEFT:.*]] = memref.alloca() {alignment = 128 : i64} : memref<64x16xi64>
// CHECK: %[[TOTAL:.*]] = arith.muli %{{.*}}, %c4
// CHECK: call @omp_get_max_threads
// CHECK: %[[FEW:.*]] = arith.minsi %{{.*}}, %c64
// CHECK: %[[PARTS:.*]] = arith.minsi %[[FEW]], %{{.*}}
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %[[PARTS]]
// CHECK:   %[[COUNT:.*]] = arith.shli %{{.*}}, %c32
// CHECK:   memref.store %[[COUNT]], %[[LEFT]][%[[P]], %{{.*}}]
// CHECK: omp.parallel
// CHECK: %[[CALL:.*]] = func.call @omp_get_thread_num
// CHECK: %[[SELF:.*]] = arith.index_cast %[[CALL]]
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[PARTS]]
// CHECK:   %[[OWN:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK:   %[[SUM:.*]] = arith.addi %[[SELF]], %[[K]]
// CHECK:   %[[PART:.*]] = arith.remui %[[SUM]], %[[PARTS]]
// CHECK:   scf.while : () -> index
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[LAST:.*]] = arith.constant -4294967296 : i64
// CHECK:     %[[CHANGE:.*]] = arith.select %[[OWN]], %[[FIRST]], %[[LAST]]
// CHECK:     %[[WERE:.*]] = memref.atomic_rmw addi %[[CHANGE]], %[[LEFT]][%[[PART]], %{{.*}}]
// CHECK:     %[[LOW:.*]] = arith.shli %[[WERE]]
// CHECK:     %[[BEGIN:.*]] = arith.shrsi %[[LOW]]
// CHECK:     %[[END:.*]] = arith.shrsi %[[WERE]]
// CHECK:     %[[BEFORE:.*]] = arith.subi %[[END]]
// CHECK:     arith.select %[[OWN]], %[[BEGIN]], %[[BEFORE]]
// CHECK:     %[[IS_LEFT:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK:     scf.condition(%[[IS_LEFT]]) %{{.*}} : index
// CHECK:   ^bb0(%[[I:.*]]: index):
// CHECK:     %[[AT:.*]] = arith.remui %[[I]], %c4
// CHECK:     %[[ROW:.*]] = arith.divui %[[I]], %c4
// CHECK:     %[[COLUMN:.*]] = arith.muli %[[AT]], %c16
// CHECK:     memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[COLUMN]]]
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

// Loops that run one after the other share a place, whatever is around them.
//
// CHECK-LABEL: func.func @two
// CHECK: memref.alloca
// CHECK-NOT: memref.alloca
// CHECK: omp.parallel
// CHECK: scf.if
// CHECK: omp.parallel
// CHECK: return
func.func @two(%some: i1, %x: f32, %y: memref<8xf32>) {
  scf.forall (%i) in (8) {
    memref.store %x, %y[%i] : memref<8xf32>
  }
  scf.if %some {
    scf.forall (%i) in (8) {
      memref.store %x, %y[%i] : memref<8xf32>
    }
  }
  return
}
