// RUN: attn-opt %s --attn-cuda-pipeline="target=sm_80 stop-after=vectors" --split-input-file | FileCheck %s

// A tile is one vector, whatever the threads. Keys are read at the loop's own index; what is padded is excluded by a
// branch that is taken in the last block only.
//
// CHECK-LABEL: func.func @lengths_unknown
// CHECK: scf.forall {{.*}} {
// CHECK: vector.transfer_read %{{.*}}[%c0, %c0], %{{.*}} {in_bounds = [false, true]} : tensor<?x64xf16>, vector<128x64xf16>
// CHECK: scf.for %[[J:.*]] = %c0 to %{{.*}} step %c64 iter_args({{.*}}) -> (vector<128xf32>, vector<128x8xf32>, vector<128x64xf32>)
// CHECK: vector.transfer_read %{{.*}}[%[[J]], %c0], %{{.*}} {in_bounds = [false, true]} : tensor<?x64xf16>, vector<64x64xf16>
// CHECK: vector.transfer_read %{{.*}}[%[[J]], %c0], %{{.*}} {in_bounds = [false, true]} : tensor<?x64xf16>, vector<64x64xf16>
// CHECK: vector.contract {{.*}} : vector<128x64xf16>, vector<64x64xf16> into vector<128x64xf32>
// CHECK: scf.if %{{.*}} -> (vector<128x64xf32>)
// CHECK: arith.cmpi slt, %{{.*}} : vector<64xi32>
// CHECK: arith.select
// CHECK: vector.multi_reduction <or>, %{{.*}} {attn.warp_uniform} [0, 1] : vector<128x8xi1> to i1
// CHECK: scf.if
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: math.exp2
// CHECK: math.fma
// CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<128x64xf32>
// CHECK: arith.truncf %{{.*}} : vector<128x64xf32> to vector<128x64xf16>
// CHECK: vector.contract {{.*}} : vector<128x64xf16>, vector<64x64xf16> into vector<128x64xf32>
// CHECK: vector.multi_reduction <add>, %{{.*}} [1] : vector<128x8xf32> to vector<128xf32>
// CHECK: vector.transfer_write %{{.*}} {in_bounds = [false, true]} : vector<128x64xf16>, tensor<?x64xf16>
// CHECK: warps = 4
func.func @lengths_unknown(%q: tensor<1x2x1000x64xf16>, %k: tensor<1x2x?x64xf16>,
    %v: tensor<1x2x?x64xf16>) -> tensor<1x2x1000x64xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x2x1000x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
    -> tensor<1x2x1000x64xf16>
  return %o : tensor<1x2x1000x64xf16>
}

// -----

// What changes scores does so in natural units; a region is evaluated on rows, or on keys, as far as it depends on no
// more, and where it only looks at few keys the others are skipped.
//
// CHECK-LABEL: func.func @rules
// CHECK: vector.contract {{.*}} into vector<128x64xf32>
// CHECK: arith.mulf
// CHECK: arith.addi %{{.*}} : vector<64xindex>
// CHECK: arith.sitofp %{{.*}} : vector<128x64xi64> to vector<128x64xf32>
// CHECK: math.tanh
// CHECK: vector.multi_reduction <or>
// CHECK: arith.subf %{{.*}} : vector<128x64xf32>
// CHECK: math.fma
// CHECK: math.exp2
func.func @rules(%q: tensor<1x2x256x64xf16>, %k: tensor<1x2x256x64xf16>,
    %v: tensor<1x2x256x64xf16>) -> tensor<1x2x256x64xf16> {
  %o = attn.sdpa %q, %k, %v softcap = 30.0
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %c3 = arith.constant 3 : index
      %next = arith.addi %j, %c3 : index
      %d = arith.subi %next, %i : index
      %n = arith.index_cast %d : index to i64
      %f = arith.sitofp %n : i64 to f32
      %t = arith.addf %s, %f : f32
      attn.yield %t : f32
    } : tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>, tensor<1x2x256x64xf16>
    -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

// A projection is one loop over channels; the bias is one vector for all rows.
//
// CHECK-LABEL: func.func @projection
// CHECK: scf.forall {{.*}} {
// CHECK: scf.for %[[IN:.*]] = %c0 to %c256 step %c64 iter_args(%{{.*}}) -> (vector<128x64xf32>)
// CHECK: vector.transfer_read %{{.*}}[%{{.*}}, %[[IN]]], %{{.*}} {in_bounds = [false, true]} : tensor<?x256xbf16>, vector<128x64xbf16>
// CHECK: vector.transfer_read %{{.*}}[%{{.*}}, %[[IN]]], %{{.*}} {in_bounds = [true, true]} : tensor<64x256xbf16>, vector<64x64xbf16>
// CHECK: vector.contract {{.*}} : vector<128x64xbf16>, vector<64x64xbf16> into vector<128x64xf32>
// CHECK: arith.extf %{{.*}} : vector<64xbf16> to vector<64xf32>
// CHECK: vector.broadcast %{{.*}} : vector<64xf32> to vector<128x64xf32>
// CHECK: arith.addf
// CHECK: arith.truncf %{{.*}} : vector<128x64xf32> to vector<128x64xbf16>
// CHECK: vector.transfer_write %{{.*}} {in_bounds = [false, true]} : vector<128x64xbf16>, tensor<?x64xbf16>
func.func @projection(%x: tensor<1x?x256xbf16>, %w: tensor<64x256xbf16>,
    %b: tensor<64xbf16>, %o: tensor<8x64xbf16>) -> tensor<1x?x8xbf16> {
  %y = attn.mha %x query(%w : tensor<64x256xbf16>, %b : tensor<64xbf16>)
    key(%w : tensor<64x256xbf16>) value(%w : tensor<64x256xbf16>)
    output(%o : tensor<8x64xbf16>) heads = 1 kv_heads = 1
    : tensor<1x?x256xbf16> -> tensor<1x?x8xbf16>
  return %y : tensor<1x?x8xbf16>
}

// -----

// Bias and mask are read twice, one after the other: as tiles that are inside of them, and, in the last blocks of rows and of
// keys, as tiles that reach over their end. The scale and the bias are one multiply-add; what is of NaN where a bias is -inf
// is found behind the loop, and keys that are looked at again ask for it.
//
// CHECK-LABEL: func.func @operands
// CHECK: scf.for
// CHECK: %[[SCORES:.*]] = vector.contract {{.*}} into vector<128x64xf32>
// CHECK: arith.cmpi sle
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: %[[BIASED:.*]] = scf.if %[[INSIDE]] -> (vector<128x64xf32>)
// CHECK: vector.transfer_read {{.*}} {in_bounds = [true, true]} : tensor<?x?xf16>, vector<128x64xf16>
// CHECK: math.fma %[[SCORES]]
// CHECK-NOT: arith.cmpf
// CHECK: } else {
// CHECK: vector.transfer_read {{.*}} : tensor<?x?xf16>, vector<128x64xf16>
// CHECK: math.fma %[[SCORES]]
// CHECK: } {attn.inside, attn.rare}
// CHECK: %[[END:.*]] = arith.cmpi sle
// CHECK: scf.if %[[END]] -> (vector<128x64xf32>)
// CHECK: vector.transfer_read {{.*}} {in_bounds = [true]} : tensor<?xi8>, vector<64xi8>
// CHECK: arith.select %{{.*}}, %[[BIASED]]
// CHECK: } else {
// CHECK: vector.transfer_read {{.*}} : tensor<?xi8>, vector<64xi8>
// CHECK: arith.select %{{.*}}, %[[BIASED]]
// CHECK: } {attn.inside, attn.rare}
// CHECK: scf.for
// CHECK: arith.cmpf une
func.func @operands(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>,
    %v: tensor<1x2x?x64xf16>, %b: tensor<1x2x?x?xf16>, %m: tensor<1x1x1x?xi1>) -> tensor<1x2x?x64xf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<1x2x?x?xf16>) mask(%m : tensor<1x1x1x?xi1>)
    schedule = <block_m = 128, block_n = 64, rows = 32, columns = 8, lanes = 2, warps = 4, stages = 2>
    : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
    -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

// -----

// Of more channels than shared memory has room for, scores are a loop over parts: of the query, too, which is read again.
// Zeros fill the last one. So it is where keys are taken one by one.
//
// CHECK-LABEL: func.func @parts_of_channels
// CHECK: scf.for %[[J:.*]] = %c0 to %{{.*}} step %c64 {{.*}} -> (vector<128xf32>, vector<128x8xf32>, vector<128x64xf32>)
// CHECK: vector.transfer_read %{{.*}}[%[[J]], %c0], {{.*}} vector<64x64xf16>
// CHECK: scf.for %[[D:.*]] = %c0 to %c304 step %c64 iter_args({{.*}}) -> (vector<128x64xf32>)
// CHECK: %[[Q:.*]] = vector.transfer_read %{{.*}}[%c0, %[[D]]], %{{.*}} {in_bounds = [true, false]} : tensor<128x296xf16>, vector<128x64xf16>
// CHECK: %[[K:.*]] = vector.transfer_read %{{.*}}[%[[J]], %[[D]]], %{{.*}} : tensor<?x296xf16>, vector<64x64xf16>
// CHECK: vector.contract {{.*}} %[[Q]], %[[K]], {{.*}} into vector<128x64xf32>
// CHECK: scf.for {{.*}} step %c1
// CHECK: scf.for {{.*}} = %c0 to %c304 step %c64 iter_args({{.*}}) -> (vector<128x16xf32>)
func.func @parts_of_channels(%q: tensor<1x2x256x296xf16>, %k: tensor<1x2x?x296xf16>,
    %v: tensor<1x2x?x64xf16>) -> tensor<1x2x256x64xf16> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x2x256x296xf16>, tensor<1x2x?x296xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x256x64xf16>
  return %o : tensor<1x2x256x64xf16>
}

// -----

// A part of a tile of several pages is parts of the pages.
//
// CHECK-LABEL: func.func @parts_of_pages
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c32
// CHECK: scf.for %[[D:.*]] = %c0 to %c288 step %c32 iter_args({{.*}}) -> (vector<128x32xf32>)
// CHECK: vector.transfer_read %{{.*}}[%c0, %[[D]]], {{.*}} vector<128x32xf32>
// CHECK: vector.transfer_read %{{.*}}[%c0, %[[D]]], {{.*}} vector<16x32xf32>
// CHECK: vector.insert_strided_slice %{{.*}} {offsets = [0, 0]
// CHECK-NEXT: %[[TILE:.*]] = vector.insert_strided_slice {{.*}} {offsets = [16, 0]
// CHECK: vector.contract {{.*}} %[[TILE]]
func.func @parts_of_pages(%q: tensor<1x1x64x288xf32>, %k: tensor<9x1x16x288xf32>, %v: tensor<9x1x16x64xf32>,
                          %t: tensor<1x4xi32>) -> tensor<1x1x64x64xf32> {
  %o = attn.sdpa %q, %k, %v page_table(%t : tensor<1x4xi32>)
    : tensor<1x1x64x288xf32>, tensor<9x1x16x288xf32>, tensor<9x1x16x64xf32> -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}
