// RUN: attn-opt %s --attn-prefetch-streams | FileCheck %s

// Two vectors of 32 bytes are one cache line: one request for both rows each, eight
// rows on. What is no row of keys or values is left alone, and the loop says no
// more that anything is to be asked for.
//
// CHECK-LABEL: func.func @lines
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<1x4x64xf32>, %[[K:[a-z0-9]+]]: memref<?x64xbf16>, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index
// CHECK: scf.for %[[C:.*]] = %c0
// CHECK: %[[FIRST:.*]] = arith.addi %[[I]], %c8
// CHECK-NEXT: memref.prefetch %[[K]][%[[FIRST]], %[[C]]], read, locality<3>, data : memref<?x64xbf16>
// CHECK-NEXT: vector.transfer_read %[[K]][%[[I]], %[[C]]]
// CHECK-NOT: memref.prefetch
// CHECK: vector.transfer_read %[[K]][%[[I]],
// CHECK: %[[SECOND:.*]] = arith.addi %[[J]], %c8
// CHECK-NEXT: memref.prefetch %[[K]][%[[SECOND]], %[[C]]]
// CHECK: vector.transfer_read %[[K]][%[[J]], %[[C]]]
// CHECK: vector.transfer_read %[[Q]]
// CHECK-NOT: memref.prefetch
// CHECK-NOT: attn.prefetch
// CHECK: return
func.func @lines(%q: memref<1x4x64xf32>, %k: memref<?x64xbf16>, %i: index, %j: index,
    %sink: memref<4xvector<16xbf16>>, %other: memref<1xvector<16xf32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant 0.0 : f32
  scf.for %c = %c0 to %c64 step %c32 {
    %next = arith.addi %c, %c16 : index
    %a = vector.transfer_read %k[%i, %c], %zero {in_bounds = [true]} : memref<?x64xbf16>, vector<16xbf16>
    %b = vector.transfer_read %k[%i, %next], %zero {in_bounds = [true]} : memref<?x64xbf16>, vector<16xbf16>
    %d = vector.transfer_read %k[%j, %c], %zero {in_bounds = [true]} : memref<?x64xbf16>, vector<16xbf16>
    %e = vector.transfer_read %q[%c0, %c0, %c], %none {in_bounds = [true]} : memref<1x4x64xf32>, vector<16xf32>
    memref.store %a, %sink[%c0] : memref<4xvector<16xbf16>>
    memref.store %b, %sink[%c1] : memref<4xvector<16xbf16>>
    memref.store %d, %sink[%c2] : memref<4xvector<16xbf16>>
    memref.store %e, %other[%c0] : memref<1xvector<16xf32>>
  } {attn.prefetch = 8 : index}
  return
}

// A loop that says nothing asks for nothing.
//
// CHECK-LABEL: func.func @silent
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @silent(%k: memref<?x64xf32>, %i: index, %sink: memref<1xvector<16xf32>>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %c = %c0 to %c64 step %c16 {
    %a = vector.transfer_read %k[%i, %c], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<16xf32>
    memref.store %a, %sink[%c0] : memref<1xvector<16xf32>>
  }
  return
}
