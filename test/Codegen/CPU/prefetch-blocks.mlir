// RUN: attn-opt %s --attn-prefetch-blocks --allow-unregistered-dialect --canonicalize --cse | FileCheck %s

#at = strided<[?, ?, ?, ?], offset: ?>

// Each strip asks for its share of what the next task packs, line by line; where
// there is none, for its own again. Lengths are no rows of channels.
//
// CHECK-LABEL: func.func @tasks
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<2x3x20x32xf32
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 3)
// CHECK: %[[LATER:.*]] = arith.addi %[[NUMBER:.*]], %c1
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[LATER]], %c6
// CHECK: %[[NEXT:.*]] = arith.select %[[EXISTS]], %[[LATER]], %[[NUMBER]]
// CHECK: %[[H1:.*]] = arith.remui %[[NEXT]], %c3
// CHECK: %[[TILE:.*]] = memref.subview %[[K]][%{{.*}}, %[[H1]], 0, 0] [1, 1, 20, 32]
// CHECK-NOT: memref.subview
// CHECK: scf.for %[[S:.*]] = %c0 to %c5
// CHECK: arith.muli %[[S]], %c4
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK-NEXT: memref.prefetch %[[TILE]][%c0, %c0, %[[ROW]], %c0], read, locality<2>, data
// CHECK-NEXT: memref.prefetch %[[TILE]][%c0, %c0, %[[ROW]], %c16], read, locality<2>, data
// CHECK-NEXT: }
// CHECK-NEXT: "test.strip"
// CHECK-NOT: attn.ahead
// CHECK: return
func.func @tasks(%k: memref<2x3x20x32xf32, #at>, %lengths: memref<2xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.forall (%b, %h) in (2, 3) {
    %n = memref.subview %lengths[%b] [1] [1] : memref<2xindex> to memref<1xindex, strided<[1], offset: ?>>
    %tile = memref.subview %k[%b, %h, 0, 0] [1, 1, 20, 32] [1, 1, 1, 1]
      : memref<2x3x20x32xf32, #at> to memref<1x1x20x32xf32, #at>
    "test.pack"(%tile, %n) : (memref<1x1x20x32xf32, #at>, memref<1xindex, strided<[1], offset: ?>>) -> ()
    scf.for %s = %c0 to %c5 step %c1 {
      "test.strip"(%s) : (index) -> ()
    } {attn.ahead = 256 : index}
  }
  return
}

// In a loop over blocks of keys the next block is asked for, and only in the last
// one what the next task has; a product of panels asks for some every few steps.
//
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<8x512x32xf32
// CHECK: %[[TASK:.*]] = memref.subview %[[K]]
// CHECK: %[[OF_TASK:.*]] = memref.subview %[[TASK]][0, %[[J:.*]], 0] [1, 128, 32]
// CHECK: %[[THEN:.*]] = arith.addi %[[J]], %c128
// CHECK-DAG: %[[LAST:.*]] = arith.cmpi sge, %[[THEN]], %c512
// CHECK-DAG: %[[OTHER:.*]] = arith.cmpi slt, %[[THEN]], %c512
// CHECK: memref.subview %[[TASK]][0, %[[THEN]], 0] [1, 128, 32]
// CHECK: scf.for
// CHECK: arith.select %[[OTHER]],
// CHECK: arith.select %[[LAST]],
// CHECK: scf.for %{{.*}} = %c0 to %c4
// CHECK: scf.for %[[SOME:.*]] = %c0 to %c128 step %c32 iter_args
// CHECK: memref.prefetch
// CHECK: memref.prefetch
// CHECK: %[[END:.*]] = arith.addi %[[SOME]], %c32
// CHECK: scf.for %{{.*}} = %[[SOME]] to %[[END]] step %c1 iter_args
// CHECK: "test.step"
// CHECK: return
func.func @blocks(%k: memref<8x512x32xf32, strided<[?, ?, 1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.forall (%h) in (8) {
    %tile = memref.subview %k[%h, 0, 0] [1, 512, 32] [1, 1, 1]
      : memref<8x512x32xf32, strided<[?, ?, 1], offset: ?>> to memref<1x512x32xf32, strided<[?, ?, 1], offset: ?>>
    scf.for %j = %c0 to %c512 step %c128 {
      %block = memref.subview %tile[0, %j, 0] [1, 128, 32] [1, 1, 1]
        : memref<1x512x32xf32, strided<[?, ?, 1], offset: ?>> to memref<128x32xf32, strided<[?, 1], offset: ?>>
      "test.pack"(%block) : (memref<128x32xf32, strided<[?, 1], offset: ?>>) -> ()
      scf.for %s = %c0 to %c5 step %c1 {
        scf.for %p = %c0 to %c4 step %c1 {
          %a:4 = scf.for %i = %c0 to %c128 step %c1 iter_args(%w = %zero, %x = %zero, %y = %zero, %z = %zero)
              -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
            %b:4 = "test.step"(%w, %x, %y, %z) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
              -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
            scf.yield %b#0, %b#1, %b#2, %b#3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
          }
          "test.use"(%a#0, %a#1, %a#2, %a#3) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) -> ()
        }
      } {attn.ahead = 256 : index}
    }
  }
  return
}

// Where later strips have more panels, they ask for more rows; half of them in the
// first product, and half in the last, or all where the first has no panel.
//
// CHECK-LABEL: func.func @triangle
// CHECK: scf.for %[[S:.*]] = %c0 to %c5 step %c1 {
// CHECK: %[[THEN:.*]] = arith.addi %[[S]], %c1
// CHECK: %[[SQUARE:.*]] = arith.muli %[[S]], %[[THEN]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[SQUARE]], %c100
// CHECK: %[[FROM:.*]] = arith.divui %[[ROWS]], %c30
// CHECK: %[[COUNT:.*]] = arith.subi %{{.*}}, %[[FROM]]
// CHECK: %[[HALF:.*]] = arith.divui %[[COUNT]], %c2
// CHECK: scf.for %{{.*}} = %c0 to %[[S]]
// CHECK: memref.prefetch
// CHECK: "test.use"
// CHECK: %[[NONE:.*]] = arith.cmpi sle, %[[S]], %c0
// CHECK: arith.select %[[NONE]], %c0, %[[HALF]]
// CHECK: memref.prefetch
// CHECK: "test.use"
func.func @triangle(%k: memref<8x100x128xf32, strided<[?, ?, 1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.forall (%h) in (8) {
    %tile = memref.subview %k[%h, 0, 0] [1, 100, 128] [1, 1, 1]
      : memref<8x100x128xf32, strided<[?, ?, 1], offset: ?>> to memref<1x100x128xf32, strided<[?, ?, 1], offset: ?>>
    "test.pack"(%tile) : (memref<1x100x128xf32, strided<[?, ?, 1], offset: ?>>) -> ()
    scf.for %s = %c0 to %c5 step %c1 {
      scf.for %p = %c0 to %s step %c1 {
        %a:4 = scf.for %i = %c0 to %c128 step %c1 iter_args(%w = %zero, %x = %zero, %y = %zero, %z = %zero)
            -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
          %b:4 = "test.step"(%w, %x, %y, %z) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
            -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
          scf.yield %b#0, %b#1, %b#2, %b#3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
        }
        "test.use"(%a#0) : (vector<16xf32>) -> ()
      }
      scf.for %p = %c0 to %c2 step %c1 {
        %a:4 = scf.for %i = %c0 to %s step %c1 iter_args(%w = %zero, %x = %zero, %y = %zero, %z = %zero)
            -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
          %b:4 = "test.step"(%w, %x, %y, %z) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
            -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
          scf.yield %b#0, %b#1, %b#2, %b#3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
        }
        "test.use"(%a#0) : (vector<16xf32>) -> ()
      }
    } {attn.ahead = 256 : index}
  }
  return
}

// Where tasks are so short that a step in two of a product would have to ask for a
// line, each asks for one, in all products. Rows that follow each other are one run of
// lines 64 bytes apart, others as many as a row has lines, a row apart from each other.
// The last run is the cursor itself.
//
// CHECK-LABEL: func.func @dense
// CHECK: scf.forall
// CHECK: %[[RUNS:.*]] = memref.alloc() : memref<3x3xindex>
// CHECK: %[[CURSOR:.*]] = memref.alloc() : memref<2xindex>
// CHECK: %[[TILE:.*]] = memref.subview
// CHECK: %[[NEXT:.*]] = memref.subview
// CHECK: memref.extract_strided_metadata %[[NEXT]]
// CHECK: %[[PITCH:.*]] = arith.muli %{{.*}}#1, %c4
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[PITCH]], %c128
// CHECK: %[[DISTANCE:.*]] = arith.select %[[WHOLE]], %c64, %[[PITCH]]
// CHECK: %[[COUNT:.*]] = arith.select %[[WHOLE]], %c200, %c100
// CHECK: memref.store %{{.*}}, %[[RUNS]][%c0, %c0]
// CHECK: memref.store %[[DISTANCE]], %[[RUNS]][%c0, %c1]
// CHECK: memref.store %[[COUNT]], %[[RUNS]][%c0, %c2]
// CHECK: memref.store %{{.*}}, %[[RUNS]][%c1, %c0]
// CHECK: %[[LAST:.*]] = arith.select %[[WHOLE]], %c1, %c2
// CHECK: %[[PLACE:.*]] = memref.extract_aligned_pointer_as_index %[[CURSOR]]
// CHECK: memref.store %[[PLACE]], %[[RUNS]][%[[LAST]], %c0]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[WHICH:.*]] = memref.load %[[CURSOR]][%c0]
// CHECK: %[[DONE:.*]] = memref.load %[[CURSOR]][%c1]
// CHECK: %[[BY:.*]] = memref.load %[[RUNS]][%[[WHICH]], %c1]
// CHECK: %[[OF:.*]] = memref.load %[[RUNS]][%[[WHICH]], %c2]
// CHECK: %[[AT:.*]] = memref.load %[[RUNS]][%[[WHICH]], %c0]
// CHECK: %[[AHEAD:.*]] = arith.muli %[[DONE]], %[[BY]]
// CHECK: %[[FROM:.*]] = arith.addi %[[AT]], %[[AHEAD]]
// CHECK: %[[CAST:.*]] = arith.index_cast %[[FROM]]
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[CAST]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c64 step %c1 iter_args
// CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %[[BY]]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[OFFSET]]
// CHECK: %[[LINE:.*]] = llvm.getelementptr %[[POINTER]][%[[NUMBER]]]
// CHECK: "llvm.intr.prefetch"(%[[LINE]]) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: "test.step"
// CHECK: %[[THEN:.*]] = arith.addi %[[DONE]], %c64
// CHECK: %[[OVER:.*]] = arith.cmpi sge, %[[THEN]], %[[OF]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[WHICH]], %c1
// CHECK: %[[NEW:.*]] = arith.select %[[OVER]], %[[AFTER]], %[[WHICH]]
// CHECK: memref.store %[[NEW]], %[[CURSOR]][%c0]
// CHECK: %[[REST:.*]] = arith.select %[[OVER]], %c0, %[[THEN]]
// CHECK: memref.store %[[REST]], %[[CURSOR]][%c1]
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @dense(%k: memref<8x100x32xf32, strided<[?, ?, 1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.forall (%h) in (8) {
    %tile = memref.subview %k[%h, 0, 0] [1, 100, 32] [1, 1, 1]
      : memref<8x100x32xf32, strided<[?, ?, 1], offset: ?>> to memref<1x100x32xf32, strided<[?, ?, 1], offset: ?>>
    "test.pack"(%tile) : (memref<1x100x32xf32, strided<[?, ?, 1], offset: ?>>) -> ()
    scf.for %s = %c0 to %c2 step %c1 {
      scf.for %p = %c0 to %c2 step %c1 {
        %a:4 = scf.for %i = %c0 to %c64 step %c1 iter_args(%w = %zero, %x = %zero, %y = %zero, %z = %zero)
            -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
          %b:4 = "test.step"(%w, %x, %y, %z) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
            -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
          scf.yield %b#0, %b#1, %b#2, %b#3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
        }
        "test.use"(%a#0) : (vector<16xf32>) -> ()
      }
    } {attn.ahead = 256 : index}
  }
  return
}

// Rows of more than 512 bytes need not be asked for.
//
// CHECK-LABEL: func.func @long_rows
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @long_rows(%k: memref<2x3x20x256xf32, #at>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.forall (%b, %h) in (2, 3) {
    %tile = memref.subview %k[%b, %h, 0, 0] [1, 1, 20, 256] [1, 1, 1, 1]
      : memref<2x3x20x256xf32, #at> to memref<1x1x20x256xf32, #at>
    "test.pack"(%tile) : (memref<1x1x20x256xf32, #at>) -> ()
    scf.for %s = %c0 to %c5 step %c1 {
      "test.strip"(%s) : (index) -> ()
    } {attn.ahead = 256 : index}
  }
  return
}

// Where there may be no strip, its share is still a number.
//
// CHECK-LABEL: func.func @no_strips
// CHECK-SAME: %[[STRIPS:[a-z0-9]+]]: index
// CHECK: %[[SOME:.*]] = arith.maxsi %[[STRIPS]], %c1
// CHECK: arith.ceildivsi %c20, %[[SOME]]
// CHECK: scf.for %{{.*}} = %c0 to %[[STRIPS]]
func.func @no_strips(%k: memref<2x3x20x32xf32, #at>, %strips: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%b, %h) in (2, 3) {
    %tile = memref.subview %k[%b, %h, 0, 0] [1, 1, 20, 32] [1, 1, 1, 1]
      : memref<2x3x20x32xf32, #at> to memref<1x1x20x32xf32, #at>
    "test.pack"(%tile) : (memref<1x1x20x32xf32, #at>) -> ()
    scf.for %s = %c0 to %strips step %c1 {
      "test.strip"(%s) : (index) -> ()
    } {attn.ahead = 256 : index}
  }
  return
}
