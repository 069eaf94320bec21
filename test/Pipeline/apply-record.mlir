// Schedules that a record holds are written into the IR, whatever the cost model would choose.
//
// RUN: split-file %s %t
// RUN: attn-opt %t/ops.mlir --attn-apply-record=file=%t/record.json | FileCheck %t/ops.mlir
// RUN: not attn-opt %t/ops.mlir --attn-apply-record=file=%t/none.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not attn-opt %t/lanes.mlir --attn-apply-record=file=%t/lanes.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LANES
//
// NONE: error: cannot read '{{.*}}none.json': No such file or directory
// LANES: error: 'attn.sdpa' op expects a schedule of 16 lanes in '{{.*}}lanes.json', got 8

//--- ops.mlir
module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "", vector_bits = 512,
    vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {
// CHECK-LABEL: func.func @known
// CHECK: schedule = <block_m = 512, block_n = 256, rows = 4, columns = 64, lanes = 16>
func.func @known(%x: tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32> {
  %o = attn.sdpa %x, %x, %x scale = 0.125
    : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
    -> tensor<1x8x1024x64xf32>
  return %o : tensor<1x8x1024x64xf32>
}

// What matters is part of the key: this is another op.
//
// CHECK-LABEL: func.func @causal
// CHECK-NOT: schedule
func.func @causal(%x: tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32> {
  %o = attn.sdpa %x, %x, %x scale = 0.125 causal = top_left
    : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
    -> tensor<1x8x1024x64xf32>
  return %o : tensor<1x8x1024x64xf32>
}

// A schedule that is there stays.
//
// CHECK-LABEL: func.func @scheduled
// CHECK: schedule = <block_m = 64, block_n = 64, rows = 8, columns = 32, lanes = 16>
func.func @scheduled(%x: tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32> {
  %o = attn.sdpa %x, %x, %x scale = 0.125 schedule = <block_m = 64,
    block_n = 64, rows = 8, columns = 32, lanes = 16>
    : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
    -> tensor<1x8x1024x64xf32>
  return %o : tensor<1x8x1024x64xf32>
}

// Few rows are in the record, many are not: the cost model decides about them.
//
// CHECK-LABEL: func.func @dynamic
// CHECK: scf.if
// CHECK: schedule = <block_m = 32, block_n = 512, rows = 4, columns = 64, lanes = 16, fold_heads = true, streams = 8>
// CHECK: else
// CHECK: schedule = <block_m = 512, block_n = 1024, rows = 8, columns = 32, lanes = 16>
func.func @dynamic(%q: tensor<1x8x?x64xf32>, %x: tensor<1x8x1024x64xf32>)
    -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %x, %x scale = 0.125
    : tensor<1x8x?x64xf32>, tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>
    -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}
}

//--- record.json
{ "version": 1,
  "machine": { "cpu": "icelake-server", "features": "2d06800538d394c2", "vector_bits": 512 },
  "ops": [
    { "op": "query tensor<1x8x1024x64xf32> key tensor<1x8x1024x64xf32> value tensor<1x8x1024x64xf32> output tensor<1x8x1024x64xf32>",
      "schedule": "#attn.schedule<block_m = 512, block_n = 256, rows = 4, columns = 64, lanes = 16>",
      "inputs": [], "threads": 2, "ms": 1.5, "cost_model_ms": 2 },
    { "op": "query tensor<1x8x?x64xf32> key tensor<1x8x1024x64xf32> value tensor<1x8x1024x64xf32> output tensor<1x8x?x64xf32> few rows",
      "schedule": "#attn.schedule<block_m = 32, block_n = 512, rows = 4, columns = 64, lanes = 16, fold_heads = true, streams = 8>",
      "inputs": [], "threads": 2, "ms": 1.5, "cost_model_ms": 2 } ] }

//--- lanes.mlir
module attributes {attn.target = {triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "", vector_bits = 512,
    vector_registers = 32, l1_bytes = 49152, l2_bytes = 2097152}} {
func.func @known(%x: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  %o = attn.sdpa %x, %x, %x scale = 0.125
    : tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>, tensor<1x1x64x64xf32>
    -> tensor<1x1x64x64xf32>
  return %o : tensor<1x1x64x64xf32>
}
}

//--- lanes.json
{ "version": 1,
  "machine": { "cpu": "icelake-server", "features": "2d06800538d394c2", "vector_bits": 512 },
  "ops": [
    { "op": "query tensor<1x1x64x64xf32> key tensor<1x1x64x64xf32> value tensor<1x1x64x64xf32> output tensor<1x1x64x64xf32>",
      "schedule": "#attn.schedule<block_m = 64, block_n = 64, rows = 4, columns = 16, lanes = 8>",
      "inputs": [], "threads": 2, "ms": 1.5, "cost_model_ms": 2 } ] }
