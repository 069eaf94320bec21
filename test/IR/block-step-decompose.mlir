// RUN: attn-opt %s --convert-attn-to-linalg | FileCheck %s

// With a schedule, the scores of a block have storage of the size of a whole
// block, whatever the number of keys; no other op of the program need have
// loaded the dialect that gives it.
//
// CHECK-LABEL: func.func @scheduled
// CHECK: %[[BLOCK:.*]] = bufferization.alloc_tensor() : tensor<2x8x2x32xf32>
// CHECK: tensor.extract_slice %[[BLOCK]]
// CHECK-NOT: attn.block_step
func.func @scheduled(%q: tensor<2x8x16xf32>, %k: tensor<?x16x32xf32>,
    %v: tensor<2x?x32x32xf32>, %r: tensor<2x8xf32>, %s: tensor<2x8x32xf32>,
    %a: tensor<2x2x8x32xf32>, %i: index) -> tensor<2x2x8x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<2x8x16xf32>, tensor<?x16x32xf32>, tensor<2x?x32x32xf32>
    -> tensor<2x8xf32>, tensor<2x8x32xf32>, tensor<2x2x8x32xf32>
  return %a1 : tensor<2x2x8x32xf32>
}

// A bounded step passes over its scores for exclusion only where the tile holds a
// key that one of its rows may not see: here where the keys end beyond the length,
// or beyond the position of the first row.
//
// CHECK-LABEL: func.func @bounded
// CHECK-SAME: %[[POSITION:[a-z0-9]+]]: index, %[[KEY:[a-z0-9]+]]: index, %[[LENGTH:[a-z0-9]+]]: index)
// CHECK: %[[SCORES:.*]] = scf.for
// CHECK: linalg.generic
// CHECK: %[[END:.*]] = arith.addi %[[KEY]], %c64
// CHECK: %[[SEEN:.*]] = arith.addi %[[POSITION]], %c1
// CHECK: %[[LIMIT:.*]] = arith.minsi %[[LENGTH]], %[[SEEN]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[END]], %[[LIMIT]]
// CHECK: scf.if %[[SOME]]
// CHECK: %[[KEPT:.*]] = arith.subi %{{.*}}, %[[KEY]]
// CHECK: %[[PANEL:.*]] = arith.minsi %{{.*}}, %c2
// CHECK: tensor.extract_slice %[[SCORES]][0, 0, %[[PANEL]], 0]
// CHECK: arith.select
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[SCORES]]
func.func @bounded(%q: tensor<1x8x16xf32>, %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>, %r: tensor<1x8xf32>, %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>, %position: index, %key: index, %length: index)
    -> tensor<1x2x8x32xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %c0, head %c0, row %c0 per %c8, position %position, key %key of %length)
    scale = 1.0 causal bounded
    schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return %a1 : tensor<1x2x8x32xf32>
}

// A value whose weight is 0 is left out, whatever it holds.
//
// CHECK-LABEL: func.func @zeros
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8x?xf32>, tensor<2x?x32xf32>)
// CHECK: %[[NONE:.*]] = arith.cmpf oeq
// CHECK: %[[V:.*]] = arith.select %[[NONE]]
// CHECK: arith.mulf %{{.*}}, %[[V]]
func.func @zeros(%q: tensor<2x8x16xf32>, %k: tensor<?x16x32xf32>,
    %v: tensor<2x?x32x32xf32>, %r: tensor<2x8xf32>, %s: tensor<2x8x32xf32>,
    %a: tensor<2x2x8x32xf32>, %i: index) -> tensor<2x2x8x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) scale = 1.0
    : tensor<2x8x16xf32>, tensor<?x16x32xf32>, tensor<2x?x32x32xf32>
    -> tensor<2x8xf32>, tensor<2x8x32xf32>, tensor<2x2x8x32xf32>
  return %a1 : tensor<2x2x8x32xf32>
}

// Whether it is may be said at run time: one of two loops runs, the second seldom.
//
// CHECK-LABEL: func.func @maybe_zeros
// CHECK-SAME: %[[SKIP:[a-z0-9]+]]: i1
// CHECK: %[[N:.*]] = arith.index_castui %[[SKIP]] : i1 to index
// CHECK: scf.for %{{.*}} = %[[N]] to %c1
// CHECK-NOT: attn.rare
// CHECK-NOT: arith.cmpf oeq
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[N]]
// CHECK: linalg.generic {{.*}} attrs = {attn.rare}
// CHECK: arith.cmpf oeq
func.func @maybe_zeros(%q: tensor<2x8x16xf32>, %k: tensor<?x16x32xf32>,
    %v: tensor<2x?x32x32xf32>, %r: tensor<2x8xf32>, %s: tensor<2x8x32xf32>,
    %a: tensor<2x2x8x32xf32>, %i: index, %skip: i1) -> tensor<2x2x8x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i) skip_zeros(%skip) scale = 1.0
    : tensor<2x8x16xf32>, tensor<?x16x32xf32>, tensor<2x?x32x32xf32>
    -> tensor<2x8xf32>, tensor<2x8x32xf32>, tensor<2x2x8x32xf32>
  return %a1 : tensor<2x2x8x32xf32>
}

// A step that streams multiplies with keys and values as they lie. Both products
// carry the schedule, but for the rare one that leaves out values of weight 0;
// scores have room for whole panels, and are panels for all that stands between
// the products.
//
// CHECK-LABEL: func.func @streamed
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x4x16xf32>, %[[K:[a-z0-9]+]]: tensor<?x16xf16>, %[[V:[a-z0-9]+]]: tensor<?x24xf16>
// CHECK: %[[ALL:.*]] = bufferization.alloc_tensor() : tensor<2x4x256xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[K]], %c0
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[ALL]][0, 0, 0] [2, 4, %[[N]]] [1, 1, 1]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[K]] : tensor<2x4x16xf32>, tensor<?x16xf16>) {{.*}} streams = 4>}
// CHECK: tensor.insert_slice %[[S]] into %[[ALL]]
// CHECK: tensor.expand_shape {{.*}} into tensor<2x4x?x32xf32>
// CHECK: math.exp
// CHECK: math.exp
// CHECK: tensor.collapse_shape
// CHECK: %[[P:.*]] = tensor.extract_slice {{.*}} to tensor<2x4x?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[V]] : tensor<2x4x?xf32>, tensor<?x24xf16>) {{.*}} streams = 4>}
// CHECK: linalg.generic
// CHECK-NOT: streams
// CHECK-SAME: ins(%[[P]], %[[V]] :
// CHECK-NOT: streams
// CHECK: return
func.func @streamed(%q: tensor<2x4x16xf32>, %k: tensor<?x16xf16>,
    %v: tensor<?x24xf16>, %r: tensor<2x4xf32>, %s: tensor<2x4x32xf32>,
    %a: tensor<2x1x4x24xf32>, %i: index, %skip: i1) -> tensor<2x1x4x24xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    skip_zeros(%skip) scale = 1.0
    schedule = <block_m = 8, block_n = 256, rows = 4, columns = 32, lanes = 16,
      streams = 4>
    : tensor<2x4x16xf32>, tensor<?x16xf16>, tensor<?x24xf16>
    -> tensor<2x4xf32>, tensor<2x4x32xf32>, tensor<2x1x4x24xf32>
  return %a1 : tensor<2x1x4x24xf32>
}

// Keys beyond the last one that a row may see, here those beyond the length, are in
// no product: scores are those of whole panels and of the first 16 keys of one more,
// weights those of the keys.
//
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x8x16xf32>, %[[K:[a-z0-9]+]]: tensor<2x16x32xf32>, %[[V:[a-z0-9]+]]: tensor<2x2x32x32xf32>
// CHECK: %[[KEYS:.*]] = arith.minsi %{{.*}}, %c64
// CHECK: tensor.extract_slice %[[K]][0, 0, 0] [%{{.*}}, 16, 32]
// CHECK: linalg.generic
// CHECK: scf.for %[[PANEL:.*]] = %{{.*}} to
// CHECK: tensor.extract_slice %[[K]][%[[PANEL]], 0, 0] [1, 16, 16]
// CHECK: linalg.generic
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[V]] {{\[\[}}0], [1, 2], [3]] : tensor<2x2x32x32xf32> into tensor<2x64x32xf32>
// CHECK: %[[SEEN:.*]] = tensor.extract_slice %[[FLAT]][0, 0, 0] [2, %[[KEYS]], 32]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[SEEN]] : tensor<1x8x?xf32>, tensor<2x?x32xf32>)
func.func @parts(%q: tensor<1x8x16xf32>, %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>, %r: tensor<1x8xf32>, %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>, %length: index, %skip: i1)
    -> tensor<1x2x8x32xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %c0, head %c0, row %c0 per %c8, position %c0, key %c0 of %length)
    skip_zeros(%skip) scale = 1.0 bounded
    schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return %a1 : tensor<1x2x8x32xf32>
}

// Of 40 channels the last 8 take one vector of the second panel.
//
// CHECK-LABEL: func.func @channels
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x2x32x32xf32>, %{{.*}}: tensor<1x8xf32>, %{{.*}}: tensor<1x8x32xf32>
// CHECK: tensor.extract_slice %[[V]][0, 0, 0, 0] [1, 2, 32, 32]
// CHECK: linalg.generic
// CHECK: tensor.extract_slice %[[V]][1, 0, 0, 0] [1, 2, 32, 16]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x8x16xf32>)
func.func @channels(%q: tensor<1x8x16xf32>, %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>, %r: tensor<1x8xf32>, %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>, %i: index, %skip: i1) -> tensor<1x2x8x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    skip_zeros(%skip) scale = 1.0 channels = 40
    schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return %a1 : tensor<1x2x8x32xf32>
}

// A tile of which the mask takes every key leaves the state as it is, and costs no
// product.
//
// CHECK-LABEL: func.func @masked
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<1x8xf32>, %[[S:[a-z0-9]+]]: tensor<1x8x32xf32>, %[[A:[a-z0-9]+]]: tensor<1x2x8x32xf32>, %[[MASK:[a-z0-9]+]]: tensor<1x?x?xi8>
// CHECK: linalg.generic
// CHECK: tensor.extract %[[MASK]]
// CHECK: arith.ori
// CHECK: %[[ANY:.*]] = arith.cmpi ne
// CHECK: scf.if %[[ANY]]
// CHECK: arith.mulf
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[R]], %[[S]], %[[A]]
func.func @masked(%q: tensor<1x8x16xf32>, %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>, %r: tensor<1x8xf32>, %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>, %mask: tensor<1x?x?xi8>, %i: index)
    -> tensor<1x2x8x32xf32> {
  %c8 = arith.constant 8 : index
  %r1, %s1, %a1 = attn.block_step %q, %k, %v mask(%mask : tensor<1x?x?xi8>)
    state(%r, %s, %a)
    at(batch %i, head %i, row %i per %c8, position %i, key %i of %i) scale = 1.0
    schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return %a1 : tensor<1x2x8x32xf32>
}

// The first step reads nothing of the state: sums start from 0, and those of channels
// that do not count are 0. Where all keys are visible, panels of scores stay what they
// are.
//
// CHECK-LABEL: func.func @first
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<1x8xf32>, %[[S:[a-z0-9]+]]: tensor<1x8x32xf32>, %[[A:[a-z0-9]+]]: tensor<1x2x8x32xf32>
// CHECK: %[[LOWEST:.*]] = linalg.fill {{.*}} outs(%[[R]] : tensor<1x8xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[LOWEST]] : tensor<1x8xf32>)
// CHECK: %[[NONE:.*]] = linalg.fill {{.*}} outs(%[[S]] : tensor<1x8x32xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %[[NONE]] : tensor<1x8x2x32xf32>, tensor<1x8x32xf32>)
// CHECK: %[[SLICE:.*]] = tensor.extract_slice {{.*}} to tensor<1x1x8x32xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[SLICE]] : tensor<1x1x8x32xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[ZERO]] : tensor<1x1x8x32xf32>)
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<1x1x8x16xf32>)
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<1x1x8x16xf32>)
func.func @first(%q: tensor<1x8x16xf32>, %k: tensor<2x16x32xf32>,
    %v: tensor<2x2x32x32xf32>, %r: tensor<1x8xf32>, %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>, %skip: i1, %i: index) -> tensor<1x2x8x32xf32> {
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %i)
    skip_zeros(%skip) scale = 1.0 first channels = 40
    schedule = <block_m = 8, block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x8x16xf32>, tensor<2x16x32xf32>, tensor<2x2x32x32xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return %a1 : tensor<1x2x8x32xf32>
}

// A value that is not packed is read where it is, as far as keys are visible: 77 keys
// of a panel and a half of channels.
//
// CHECK-LABEL: func.func @plain_value
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<77x48xf32>
// CHECK: %[[WHOLE:.*]] = tensor.extract_slice %[[V]][0, 0] [77, 32]
// CHECK: %[[SEEN:.*]] = tensor.extract_slice %[[WHOLE]][0, 0] [%[[KEYS:.*]], 32]
// CHECK: %[[PANELS:.*]] = tensor.expand_shape %[[SEEN]] {{.*}} into tensor<?x1x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[PANELS]] : tensor<1x8x?xf32>, tensor<?x1x32xf32>)
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[V]][0, 32] [77, 16]
// CHECK: %[[LAST:.*]] = tensor.extract_slice %[[REST]][0, 0] [%[[KEYS]], 16]
// CHECK: tensor.expand_shape %[[LAST]] {{.*}} into tensor<?x1x16xf32>
func.func @plain_value(%q: tensor<1x8x16xf32>, %k: tensor<3x16x32xf32>,
    %v: tensor<77x48xf32>, %r: tensor<1x8xf32>, %s: tensor<1x8x32xf32>,
    %a: tensor<1x2x8x32xf32>, %skip: i1, %i: index) -> tensor<1x2x8x32xf32> {
  %c77 = arith.constant 77 : index
  %r1, %s1, %a1 = attn.block_step %q, %k, %v state(%r, %s, %a)
    at(batch %i, head %i, row %i per %i, position %i, key %i of %c77)
    skip_zeros(%skip) scale = 1.0 causal bounded first
    schedule = <block_m = 8, block_n = 96, rows = 8, columns = 32, lanes = 16, in_place = true>
    : tensor<1x8x16xf32>, tensor<3x16x32xf32>, tensor<77x48xf32>
    -> tensor<1x8xf32>, tensor<1x8x32xf32>, tensor<1x2x8x32xf32>
  return %a1 : tensor<1x2x8x32xf32>
}
