// RUN: attn-opt %s --attn-register-tiles --canonicalize --cse --split-input-file | FileCheck %s

#rows = affine_map<(s, p, r, c, d) -> (s, d, r)>
#panels = affine_map<(s, p, r, c, d) -> (p, d, c)>
#scores = affine_map<(s, p, r, c, d) -> (s, p, r, c)>

// 4 rows times 2 vectors of keys are 8 accumulators that stay in registers over
// the whole reduction. Each step reads 2 vectors of keys and 4 queries. The zeros
// that it starts from are never stored.
//
// CHECK-LABEL: func.func @contraction
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<1x64x4xf32>, %[[K:[a-z0-9]+]]: tensor<?x64x16xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-NOT: linalg.fill
// CHECK-NOT: vector.transfer_write
// CHECK: scf.for
// CHECK-NEXT: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args(%{{.*}} = %[[ZERO]],
// CHECK-NOT: vector.transfer_write
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: }
// CHECK-COUNT-8: vector.transfer_write {{.*}} {in_bounds = [true]} : vector<8xf32>
// CHECK-NOT: vector.transfer_write
// CHECK: return
func.func @contraction(%q: tensor<1x64x4xf32>, %k: tensor<?x64x16xf32>,
    %init: tensor<1x?x4x16xf32>) -> tensor<1x?x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%init : tensor<1x?x4x16xf32>)
    -> tensor<1x?x4x16xf32>
  %s = linalg.generic {indexing_maps = [#rows, #panels, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<1x64x4xf32>, tensor<?x64x16xf32>)
      outs(%start : tensor<1x?x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<1x?x4x16xf32>
  return %s : tensor<1x?x4x16xf32>
}

// -----

// The vectors have the width that the schedule of the task says.
//
// CHECK-LABEL: func.func @scheduled
// CHECK: arith.addf {{.*}} : vector<4xf32>
func.func @scheduled(%x: tensor<2x16xf32>, %init: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %y = scf.forall (%i) in (2) shared_outs(%out = %init) -> (tensor<2x16xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1]
      : tensor<2x16xf32> to tensor<16xf32>
    %dest = tensor.extract_slice %out[%i, 0] [1, 16] [1, 1]
      : tensor<2x16xf32> to tensor<16xf32>
    %twice = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
        affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%row : tensor<16xf32>) outs(%dest : tensor<16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %a : f32
      linalg.yield %c : f32
    } -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %out[%i, 0] [1, 16] [1, 1]
        : tensor<16xf32> into tensor<2x16xf32>
    }
  } {attn.schedule = #attn.schedule<block_m = 4, block_n = 16, rows = 4, columns = 8, lanes = 4>}
  return %y : tensor<2x16xf32>
}

// -----

// Without one they are the target's.
//
// CHECK-LABEL: func.func @target
// CHECK: arith.addf {{.*}} : vector<16xf32>
module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "", vector_bits = 512,
    vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {
func.func @target(%x: tensor<32xf32>, %init: tensor<32xf32>) -> tensor<32xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<32xf32>) outs(%init : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<32xf32>
  return %y : tensor<32xf32>
}
}

// -----

// The largest of each row of 16: the vectors of a row are reduced in registers,
// and a row's one vector in the end.
//
// CHECK-LABEL: func.func @row_maximum
// CHECK: arith.maxnumf {{.*}} : vector<8xf32>
// CHECK: vector.reduction <maxnumf>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @row_maximum(%x: tensor<4x16xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>,
      affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x16xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %m: f32):
    %n = arith.maxnumf %m, %a : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The last of 20 elements are part of a vector: reads and writes look at where the
// tensor ends.
//
// CHECK-LABEL: func.func @tail
// CHECK-NOT: in_bounds = [true]
// CHECK: vector.transfer_read {{.*}} : tensor<20xf32>, vector<8xf32>
// CHECK-NOT: in_bounds = [true]
// CHECK: vector.transfer_write {{.*}} : vector<8xf32>, tensor<20xf32>
func.func @tail(%x: tensor<20xf32>, %init: tensor<20xf32>) -> tensor<20xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<20xf32>) outs(%init : tensor<20xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<20xf32>
  return %y : tensor<20xf32>
}

// -----

// What is read along another dimension than it is written stays linalg.
//
// CHECK-LABEL: func.func @transposed
// CHECK: linalg.generic
// CHECK-NOT: vector.
// CHECK: return
func.func @transposed(%x: tensor<16x16xf32>, %init: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (c, r)>,
      affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// -----

// Elements that lie together stay a vector where an index is held at the end only
// for those of which nothing is used: the read looks at the end itself.
//
// CHECK-LABEL: func.func @clamped
// CHECK-NOT: tensor.extract
// CHECK: vector.transfer_read %{{.*}} : tensor<20xf32>, vector<8xf32>
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @clamped(%x: tensor<20xf32>, %init: tensor<32xf32>) -> tensor<32xf32> {
  %last = arith.constant 19 : index
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%init : tensor<32xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %at = arith.minsi %i, %last {attn.unused_beyond} : index
    %c = tensor.extract %x[%at] : tensor<20xf32>
    linalg.yield %c : f32
  } -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// -----

// Whether one of many bytes is not 0.
//
// CHECK-LABEL: func.func @any
// CHECK: arith.ori {{.*}} : vector<8xi8>
// CHECK: vector.reduction <or>, %{{.*}} : vector<8xi8> into i8
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @any(%x: tensor<32xi8>) -> tensor<i8> {
  %zero = arith.constant 0 : i8
  %empty = tensor.empty() : tensor<i8>
  %start = linalg.fill ins(%zero : i8) outs(%empty : tensor<i8>) -> tensor<i8>
  %any = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<32xi8>) outs(%start : tensor<i8>) {
  ^bb0(%in: i8, %out: i8):
    %or = arith.ori %out, %in : i8
    linalg.yield %or : i8
  } -> tensor<i8>
  return %any : tensor<i8>
}
