// RUN: attn-opt %s --attn-specialize-strides --cse --split-input-file --allow-unregistered-dialect | FileCheck %s

// The whole nest is there twice: for an argument whose elements lie together, and
// as it was.
//
// CHECK-LABEL: func.func @nest
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x64xf32, strided<[?, ?], offset: ?>>
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[TOGETHER:.*]] = arith.cmpi eq, %[[STRIDES]]#1, %c1
// CHECK: scf.if %[[TOGETHER]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.transfer_read {{.*}} : memref<?x64xf32, strided<[?, 1], offset: ?>>, vector<16xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.transfer_read %[[X]]{{.*}} : memref<?x64xf32, strided<[?, ?], offset: ?>>, vector<16xf32>
func.func @nest(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>,
    %y: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c16 {
      %v = vector.transfer_read %x[%i, %j], %zero {in_bounds = [true]}
        : memref<?x64xf32, strided<[?, ?], offset: ?>>, vector<16xf32>
      vector.transfer_write %v, %y[%c0] {in_bounds = [true]}
        : vector<16xf32>, memref<16xf32>
    }
  }
  return
}

// -----

// A part of an argument has the argument's innermost stride, and the results of
// the loop come from whichever ran.
//
// CHECK-LABEL: func.func @part
// CHECK: %[[RESULT:.*]] = scf.if %{{.*}} -> (vector<16xf32>)
// CHECK: vector.transfer_read {{.*}} strided<[?, 1], offset: ?>>, vector<16xf32>
// CHECK: scf.yield
// CHECK: else
// CHECK: vector.transfer_read {{.*}} strided<[?, ?], offset: ?>>, vector<16xf32>
// CHECK: scf.yield
// CHECK: return %[[RESULT]]
func.func @part(%x: memref<8x?x64xf32, strided<[?, ?, ?], offset: ?>>,
    %start: vector<16xf32>, %n: index) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %part = memref.subview %x[3, 0, 0] [1, %n, 64] [1, 1, 1]
    : memref<8x?x64xf32, strided<[?, ?, ?], offset: ?>>
    to memref<?x64xf32, strided<[?, ?], offset: ?>>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (vector<16xf32>) {
    %v = vector.transfer_read %part[%i, %c0], %zero {in_bounds = [true]}
      : memref<?x64xf32, strided<[?, ?], offset: ?>>, vector<16xf32>
    %t = arith.addf %s, %v : vector<16xf32>
    scf.yield %t : vector<16xf32>
  }
  return %sum : vector<16xf32>
}

// -----

// A stride that is known needs no test.
//
// CHECK-LABEL: func.func @known
// CHECK-NOT: scf.if
// CHECK: return
func.func @known(%x: memref<?x64xf32, strided<[?, 1], offset: ?>>,
    %y: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.transfer_read %x[%i, %c0], %zero {in_bounds = [true]}
      : memref<?x64xf32, strided<[?, 1], offset: ?>>, vector<16xf32>
    vector.transfer_write %v, %y[%c0] {in_bounds = [true]}
      : vector<16xf32>, memref<16xf32>
  }
  return
}

// -----

// A block of an argument, of at most 32 rows, is copied where its elements do not
// lie together; there is one way to read it.
//
// CHECK-LABEL: func.func @block
// CHECK: %[[BLOCK:.*]] = memref.subview %{{.*}} : memref<?x64xf32, strided<[?, ?], offset: ?>> to memref<?x64xf32, strided<[?, ?], offset: ?>>
// CHECK: %[[DENSE:.*]] = scf.if %{{.*}} -> (memref<?x64xf32, strided<[?, 1], offset: ?>>) {
// CHECK: memref.reinterpret_cast
// CHECK: } else {
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<32x64xf32>
// CHECK: %[[USED:.*]] = memref.subview %[[COPY]][0, 0]
// CHECK: memref.copy %[[BLOCK]], %[[USED]]
// CHECK: }
// CHECK: vector.transfer_read %[[DENSE]]
// CHECK-NOT: vector.transfer_read
func.func @block(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>,
    %y: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c32 {
    %rows = affine.min affine_map<(d0)[s0] -> (32, s0 - d0)>(%i)[%n]
    %block = memref.subview %x[%i, 0] [%rows, 64] [1, 1]
      : memref<?x64xf32, strided<[?, ?], offset: ?>>
      to memref<?x64xf32, strided<[?, ?], offset: ?>>
    scf.for %j = %c0 to %rows step %c1 {
      %v = vector.transfer_read %block[%j, %c0], %zero {in_bounds = [true]}
        : memref<?x64xf32, strided<[?, ?], offset: ?>>, vector<16xf32>
      vector.transfer_write %v, %y[%c0] {in_bounds = [true]}
        : vector<16xf32>, memref<16xf32>
    }
  }
  return
}

// -----

// A mask of rank 2 that has been given two dimensions of 1 is still the argument.
//
// CHECK-LABEL: func.func @expanded
// CHECK: scf.if
// CHECK: vector.transfer_read {{.*}} strided<[?, ?, ?, 1], offset: ?>>, vector<16xi8>
func.func @expanded(%x: memref<?x64xi8, strided<[?, ?], offset: ?>>,
    %y: memref<16xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i8
  %rows = memref.dim %x, %c0 : memref<?x64xi8, strided<[?, ?], offset: ?>>
  %mask = memref.expand_shape %x [[0, 1, 2], [3]] output_shape [1, 1, %rows, 64]
    : memref<?x64xi8, strided<[?, ?], offset: ?>>
    into memref<1x1x?x64xi8, strided<[?, ?, ?, ?], offset: ?>>
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.transfer_read %mask[%c0, %c0, %i, %c0], %zero {in_bounds = [true]}
      : memref<1x1x?x64xi8, strided<[?, ?, ?, ?], offset: ?>>, vector<16xi8>
    vector.transfer_write %v, %y[%c0] {in_bounds = [true]}
      : vector<16xi8>, memref<16xi8>
  }
  return
}

// -----

// Only the nest that reads is there twice, not the one that a branch beside it holds, nor the loop round both.
//
// CHECK-LABEL: func.func @beside_branch
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: vector.transfer_read {{.*}} strided<[?, 1], offset: ?>>, vector<16xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK: vector.transfer_read {{.*}} strided<[?, ?], offset: ?>>, vector<16xf32>
// CHECK: scf.if
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: memref.store
func.func @beside_branch(%x: memref<?x64xf32, strided<[?, ?], offset: ?>>,
    %y: memref<16xf32>, %n: index, %some: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = vector.transfer_read %x[%j, %c0], %zero {in_bounds = [true]}
        : memref<?x64xf32, strided<[?, ?], offset: ?>>, vector<16xf32>
      vector.transfer_write %v, %y[%c0] {in_bounds = [true]}
        : vector<16xf32>, memref<16xf32>
    }
    scf.if %some {
      scf.for %j = %c0 to %n step %c1 {
        memref.store %zero, %y[%j] : memref<16xf32>
      }
    }
  }
  return
}

// -----

// What a product reads number by number, through views of a part of an argument, is
// the part itself or a copy of it, once: then steps have one address for all.
//
// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x28x64xf32, strided<[?, ?, ?], offset: ?>>
// CHECK: %[[PART:.*]] = memref.subview %[[X]]
// CHECK: %[[UNIT:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: %[[DENSE:.*]] = scf.if %[[UNIT]]
// CHECK: memref.reinterpret_cast
// CHECK: } else {
// CHECK: memref.alloc() : memref<1x28x64xf32>
// CHECK: memref.copy %[[PART]]
// CHECK: %[[SAME:.*]] = memref.cast %[[DENSE]] : {{.*}} to memref<1x28x64xf32, strided<[?, ?, ?], offset: ?>>
// CHECK: scf.for
// CHECK: %[[STRIP:.*]] = memref.subview %[[SAME]]
// CHECK: memref.extract_strided_metadata %[[STRIP]]
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %{{.*}} to offset: {{.*}} to memref<7x64xf32, strided<[?, 1], offset: ?>>
// CHECK: scf.for
// CHECK: memref.load %[[ROWS]]
// CHECK-NOT: scf.if
// CHECK: return
func.func @product(%x: memref<4x28x64xf32, strided<[?, ?, ?], offset: ?>>,
    %h: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c28 = arith.constant 28 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %part = memref.subview %x[%h, 0, 0] [1, 28, 64] [1, 1, 1]
    : memref<4x28x64xf32, strided<[?, ?, ?], offset: ?>> to memref<1x28x64xf32, strided<[?, ?, ?], offset: ?>>
  scf.for %s = %c0 to %c28 step %c7 {
    %strip = memref.subview %part[0, %s, 0] [1, 7, 64] [1, 1, 1]
      : memref<1x28x64xf32, strided<[?, ?, ?], offset: ?>> to memref<7x64xf32, strided<[?, ?], offset: ?>>
    %a:4 = scf.for %k = %c0 to %c64 step %c1 iter_args(%w = %zero, %x0 = %zero, %y = %zero, %z = %zero)
        -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
      %q = memref.load %strip[%c1, %k] : memref<7x64xf32, strided<[?, ?], offset: ?>>
      %v = vector.broadcast %q : f32 to vector<16xf32>
      scf.yield %v, %w, %x0, %y : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    }
    "test.use"(%a#0) : (vector<16xf32>) -> ()
  }
  return
}
