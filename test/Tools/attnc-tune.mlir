// attnc --tune measures schedules and keeps them. Which is the fastest, and how fast, is not tested.
//
// REQUIRES: attnc, attn-run
// RUN: rm -rf %t && split-file %s %t
//
// The op has a schedule afterwards, and its results are right with it.
//
// RUN: attnc %t/masked.mlir --tune=1 --tune-record=%t/a.json --stop-after=schedule --remarks=attn \
// RUN:   -o %t/a.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=MASKED < %t/a.mlir
// RUN: attn-run %t/a.mlir --verify --input=2x4x40x16xf32 --input=2x2x70x16xf32 \
// RUN:   --input=2x2x70x24xf32 --input=2x1x1x70xi8 --input=2xi32=3 \
// RUN:   | FileCheck %s --check-prefix=RIGHT
//
// REMARK: Tuned | Category:attn | {{.*}}tried=
// MASKED: attn.sdpa {{.*}} schedule = <
// RIGHT: pass
//
// The record says what was measured, on what, and with which sizes instead of dynamic ones.
//
// RUN: FileCheck %s --check-prefix=RECORD < %t/a.json
//
// RECORD: "version": 1
// RECORD: "cpu":
// RECORD: "op": "query tensor<2x4x40x16xf32> key tensor<2x2x?x16xf32> value tensor<2x2x?x24xf32> output tensor<2x4x40x24xf32> mask tensor<2x1x1x?xi8> kv_lengths tensor<2xindex>"
// RECORD-NEXT: "schedule": "#attn.schedule<block_m =
// RECORD-NEXT: "inputs": [
// RECORD-NEXT: "2x4x40x16xf32"
// RECORD-NEXT: "2x2x1024x16xf32"
// RECORD: "threads":
// RECORD-NEXT: "ms":
// RECORD-NEXT: "cost_model_ms":
//
// Given back it leads to the same IR, with and without --tune, which has nothing left to measure.
//
// RUN: attnc %t/masked.mlir --tune-record=%t/a.json --stop-after=schedule | diff %t/a.mlir -
// RUN: cp %t/a.json %t/b.json
// RUN: attnc %t/masked.mlir --tune=1 --tune-record=%t/b.json --stop-after=schedule | diff %t/a.mlir -
// RUN: diff %t/a.json %t/b.json
//
// What is not there is measured and added. Where the number of rows is dynamic that is two ops, which share the time.
//
// RUN: attnc %t/dynamic.mlir --tune=0.1 --tune-record=%t/b.json --stop-after=schedule | FileCheck %s --check-prefix=DYNAMIC
// RUN: FileCheck %s --check-prefix=ADDED < %t/b.json
//
// DYNAMIC: scf.if
// DYNAMIC: attn.sdpa {{.*}} schedule = <{{.*}} fold_heads = true
// DYNAMIC: else
// DYNAMIC: attn.sdpa {{.*}} schedule = <
// ADDED: "op": "query tensor<2x4x40x16xf32>
// ADDED: many rows"
// ADDED: few rows"
// ADDED-NOT: "op"
//
// A schedule in the IR stays, and is not measured.
//
// RUN: attnc %t/a.mlir --tune=1 --tune-record=%t/c.json --stop-after=schedule -o %t/c.mlir
// RUN: grep attn.sdpa %t/a.mlir > %t/a.txt
// RUN: grep attn.sdpa %t/c.mlir > %t/c.txt
// RUN: diff %t/a.txt %t/c.txt
// RUN: FileCheck %s --check-prefix=EMPTY < %t/c.json
//
// EMPTY: "ops": []
//
// What has operands that the tuner has none for keeps the schedule of the cost model, and no record has it.
//
// RUN: attnc %t/others.mlir --tune=1 --tune-record=%t/d.json --stop-after=schedule | FileCheck %s --check-prefix=OTHERS
// RUN: FileCheck %s --check-prefix=EMPTY < %t/d.json
//
// OTHERS-COUNT-5: schedule = <

//--- masked.mlir
func.func @masked(%q: tensor<2x4x40x16xf32>, %k: tensor<2x2x?x16xf32>,
                  %v: tensor<2x2x?x24xf32>, %mask: tensor<2x1x1x?xi1>,
                  %lengths: tensor<2xi32>) -> tensor<2x4x40x24xf32> {
  %o = attn.sdpa %q, %k, %v mask(%mask : tensor<2x1x1x?xi1>)
    kv_lengths(%lengths : tensor<2xi32>)
    : tensor<2x4x40x16xf32>, tensor<2x2x?x16xf32>, tensor<2x2x?x24xf32>
    -> tensor<2x4x40x24xf32>
  return %o : tensor<2x4x40x24xf32>
}

//--- dynamic.mlir
func.func @dynamic(%q: tensor<1x2x?x16xf16>, %k: tensor<1x1x256x16xf16>,
                   %v: tensor<1x1x256x16xf16>) -> tensor<1x2x?x16xf16> {
  %o = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x2x?x16xf16>, tensor<1x1x256x16xf16>, tensor<1x1x256x16xf16>
    -> tensor<1x2x?x16xf16>
  return %o : tensor<1x2x?x16xf16>
}

//--- others.mlir
func.func @pages(%q: tensor<1x2x40x16xf32>, %k: tensor<9x2x64x16xf32>, %t: tensor<1x3xi32>) -> tensor<1x2x40x16xf32> {
  %o = attn.sdpa %q, %k, %k page_table(%t : tensor<1x3xi32>)
    : tensor<1x2x40x16xf32>, tensor<9x2x64x16xf32>, tensor<9x2x64x16xf32> -> tensor<1x2x40x16xf32>
  return %o : tensor<1x2x40x16xf32>
}

func.func @packed(%q: tensor<90x2x16xf32>, %e: tensor<4xi32>) -> tensor<90x2x16xf32> {
  %o = attn.sdpa %q, %q, %q cu_seqlens_q(%e : tensor<4xi32>) cu_seqlens_k(%e : tensor<4xi32>)
    : tensor<90x2x16xf32>, tensor<90x2x16xf32>, tensor<90x2x16xf32> -> tensor<90x2x16xf32>
  return %o : tensor<90x2x16xf32>
}

func.func @scaled(%q: tensor<1x2x40x16xf32>, %k: tensor<1x2x64x16xi8>, %s: tensor<2x1xf32>) -> tensor<1x2x40x16xf32> {
  %o = attn.sdpa %q, %k, %k key_scale(%s : tensor<2x1xf32>) value_scale(%s : tensor<2x1xf32>)
    : tensor<1x2x40x16xf32>, tensor<1x2x64x16xi8>, tensor<1x2x64x16xi8> -> tensor<1x2x40x16xf32>
  return %o : tensor<1x2x40x16xf32>
}

func.func @captured(%q: tensor<1x2x40x16xf32>, %d: tensor<40xi32>) -> tensor<1x2x40x16xf32> {
  %o = attn.sdpa %q, %q, %q mask_mod = documents(%d : tensor<40xi32>)
    : tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32> -> tensor<1x2x40x16xf32>
  return %o : tensor<1x2x40x16xf32>
}

func.func @weighed(%q: tensor<1x2x40x16xf32>) -> (tensor<1x2x40x16xf32>, tensor<1x2x40x40xf32>) {
  %o, %w = attn.sdpa %q, %q, %q : tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>
    -> tensor<1x2x40x16xf32> weights(tensor<1x2x40x40xf32>)
  return %o, %w : tensor<1x2x40x16xf32>, tensor<1x2x40x40xf32>
}
