// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse --split-input-file | FileCheck %s

#query = affine_map<(s, r, n, k) -> (s, r, k)>
#keys = affine_map<(s, r, n, k) -> (n, k)>
#scores = affine_map<(s, r, n, k) -> (s, r, n)>

// A key of each of two streams times 4 rows are 8 sums, the lanes of one vector.
// Each pair of vectors is halved into one, 8 to 4 to 2 to 1. Four such steps give 4
// scores in a row of each stream. Streams move on by 4 keys; the last keys may be
// computed twice.
//
// CHECK: #[[$PART:.*]] = affine_map<()[s0] -> ((s0 ceildiv 16) * 4)>
// CHECK-LABEL: func.func @scores
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x4x24xf32>, %[[K:[a-z0-9]+]]: tensor<?x24xf32>
// CHECK-NOT: linalg.fill
// CHECK: %[[N:.*]] = tensor.dim %[[K]], %c0
// CHECK: scf.if
// CHECK: %[[PART:.*]] = affine.apply #[[$PART]]()[%[[N]]]
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c4
// CHECK: scf.for %[[ROW:.*]] = %c0 to %[[PART]] step %c4
// CHECK: scf.for %[[STREAM:.*]] = %c0 to %c4 step %c2
// CHECK: %[[START:.*]] = arith.muli %[[STREAM]], %[[PART]]
// CHECK: %[[AT:.*]] = arith.addi %[[START]], %[[ROW]]
// CHECK: %[[FIRST:.*]] = arith.minsi %[[AT]], %[[LAST]]
// CHECK: scf.for %[[TIME:.*]] = %c0 to %c4 step %c1
// CHECK: %[[KEY:.*]] = arith.addi %[[FIRST]], %[[TIME]]
// CHECK: scf.for %[[CHANNEL:.*]] = %c0 to %c24 step %c8
// CHECK: vector.transfer_read %[[K]][%[[KEY]], %[[CHANNEL]]], {{.*}} {in_bounds = [true]}
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-14: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: vector.transfer_write {{.*}}[%[[TIME]], %c0] {{.*}} tensor<4x8xf32>
// CHECK-COUNT-4: vector.transfer_read {{.*}} tensor<4x8xf32>
// CHECK-COUNT-8: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-8: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<4xf32>
// CHECK: else
// CHECK-COUNT-4: vector.reduction <add>
func.func @scores(%q: tensor<1x4x24xf32>, %k: tensor<?x24xf32>,
    %init: tensor<1x4x?xf32>) -> tensor<1x4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%init : tensor<1x4x?xf32>)
    -> tensor<1x4x?xf32>
  %s = linalg.generic {indexing_maps = [#query, #keys, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"],
      attn.schedule = #attn.schedule<block_m = 4, block_n = 64, rows = 4,
        columns = 16, lanes = 8, streams = 4>}
      ins(%q, %k : tensor<1x4x24xf32>, tensor<?x24xf32>)
      outs(%start : tensor<1x4x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x4x?xf32>
  return %s : tensor<1x4x?xf32>
}

// -----

#query = affine_map<(s, r, n, k) -> (s, r, k)>
#keys = affine_map<(s, r, n, k) -> (n, k)>
#scores = affine_map<(s, r, n, k) -> (s, r, n)>

// Half floats become floats in registers. What is left of the channels is one
// vector more, whose lanes beyond the last channel are 0.
//
// CHECK-LABEL: func.func @half
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x1x20xf32>, %[[K:[a-z0-9]+]]: tensor<64x20xf16>
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: vector.transfer_read %[[K]][%{{.*}}, %{{.*}}], {{.*}} {in_bounds = [true]} : tensor<64x20xf16>, vector<8xf16>
// CHECK: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: vector.transfer_read %[[K]][%{{.*}}, %c16], %{{[a-z0-9_]+}} : tensor<64x20xf16>, vector<8xf16>
// CHECK: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<4xf32>
func.func @half(%q: tensor<2x1x20xf32>, %k: tensor<64x20xf16>,
    %init: tensor<2x1x64xf32>) -> tensor<2x1x64xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%init : tensor<2x1x64xf32>)
    -> tensor<2x1x64xf32>
  %s = linalg.generic {indexing_maps = [#query, #keys, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"],
      attn.schedule = #attn.schedule<block_m = 2, block_n = 64, rows = 1,
        columns = 64, lanes = 8, streams = 4>}
      ins(%q, %k : tensor<2x1x20xf32>, tensor<64x20xf16>)
      outs(%start : tensor<2x1x64xf32>) {
  ^bb0(%a: f32, %b: f16, %c: f32):
    %x = arith.extf %b : f16 to f32
    %m = arith.mulf %a, %x : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<2x1x64xf32>
  return %s : tensor<2x1x64xf32>
}

// -----

#weights = affine_map<(s, p, r, e, n) -> (s, r, n)>
#values = affine_map<(s, p, r, e, n) -> (n, e)>
#acc = affine_map<(s, p, r, e, n) -> (s, p, r, e)>

// A row of values is 512 bytes: one key of each of 4 streams at a time. 4 rows
// times 2 vectors of acc are read, meet the 4 keys, and are written. Keys that are
// left are one stream in a last round.
//
// CHECK: #[[$WHOLE:.*]] = affine_map<()[s0] -> ((s0 floordiv 4) * 4)>
// CHECK-LABEL: func.func @values
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<1x4x?xf32>, %[[V:[a-z0-9]+]]: tensor<?x128xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[V]], %c0
// CHECK: %[[WHOLE:.*]] = affine.apply #[[$WHOLE]]()[%[[N]]]
// CHECK: scf.for %[[ROW:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %[[LAST:.*]] = arith.cmpi sge, %[[ROW]]
// CHECK: %[[FIRST:.*]] = arith.select %[[LAST]], %[[WHOLE]], %[[ROW]]
// CHECK: %[[STREAMS:.*]] = arith.select %[[LAST]], %c1, %c4
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[WHOLE]]
// CHECK: %[[KEYS:.*]] = arith.select %[[LAST]], %[[REST]], %c1
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c16
// CHECK-COUNT-8: vector.transfer_read %{{.*}} : tensor<1x1x4x128xf32>, vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[KEYS]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %[[STREAMS]] step %c1
// CHECK-COUNT-2: vector.transfer_read %[[V]][
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK-COUNT-8: vector.transfer_write
// CHECK-NOT: vector.fma
// CHECK: return
func.func @values(%p: tensor<1x4x?xf32>, %v: tensor<?x128xf32>,
    %acc: tensor<1x1x4x128xf32>) -> tensor<1x1x4x128xf32> {
  %s = linalg.generic {indexing_maps = [#weights, #values, #acc],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"],
      attn.schedule = #attn.schedule<block_m = 4, block_n = 64, rows = 4,
        columns = 16, lanes = 8, streams = 4>}
      ins(%p, %v : tensor<1x4x?xf32>, tensor<?x128xf32>)
      outs(%acc : tensor<1x1x4x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x1x4x128xf32>
  return %s : tensor<1x1x4x128xf32>
}

// -----

#weights = affine_map<(s, p, r, e, n) -> (s, r, n)>
#values = affine_map<(s, p, r, e, n) -> (n, e)>
#acc = affine_map<(s, p, r, e, n) -> (s, p, r, e)>

// What is no product of weights and values is left to others.
//
// CHECK-LABEL: func.func @difference
// CHECK-NOT: arith.muli
// CHECK: arith.subf
func.func @difference(%p: tensor<1x4x16xf32>, %v: tensor<16x8xf32>,
    %acc: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
  %s = linalg.generic {indexing_maps = [#weights, #values, #acc],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"],
      attn.schedule = #attn.schedule<block_m = 4, block_n = 64, rows = 4,
        columns = 16, lanes = 8, streams = 4>}
      ins(%p, %v : tensor<1x4x16xf32>, tensor<16x8xf32>)
      outs(%acc : tensor<1x1x4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.subf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x1x4x8xf32>
  return %s : tensor<1x1x4x8xf32>
}

// -----

#weights = affine_map<(s, p, r, e, n) -> (s, r, n)>
#values = affine_map<(s, p, r, e, n) -> (n, e)>
#acc = affine_map<(s, p, r, e, n) -> (s, p, r, e)>

// 2048 bytes ahead are 8 rows of 256 bytes.
//
// CHECK-LABEL: func.func @ahead
// CHECK: vector.fma
// CHECK: } {attn.prefetch = 8 : index}
func.func @ahead(%p: tensor<1x4x?xf32>, %v: tensor<?x64xf32>,
    %acc: tensor<1x1x4x64xf32>) -> tensor<1x1x4x64xf32> {
  %s = linalg.generic {indexing_maps = [#weights, #values, #acc],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"],
      attn.schedule = #attn.schedule<block_m = 4, block_n = 64, rows = 4,
        columns = 16, lanes = 8, streams = 4, prefetch = 2048>}
      ins(%p, %v : tensor<1x4x?xf32>, tensor<?x64xf32>)
      outs(%acc : tensor<1x1x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x1x4x64xf32>
  return %s : tensor<1x1x4x64xf32>
}
