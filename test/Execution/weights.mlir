// The weights of attention: compiled tiles and the plain definition against the reference and the interpreter.
//
// RUN: split-file %s %t
// RUN: attn-run %t/masks.mlir --verify --input=2x4x37x16xf32 --input=2x2x90x16xf32 --input=2x2x90x8xf32 \
// RUN:   --input=4x37x90xf32 --input=37x90xi1 | FileCheck %s
// RUN: attn-opt %t/masks.mlir --convert-attn-to-linalg | attn-run - --verify --input=2x4x37x16xf32 \
// RUN:   --input=2x2x90x16xf32 --input=2x2x90x8xf32 --input=4x37x90xf32 --input=37x90xi1 | FileCheck %s
// RUN: attn-opt %t/half.mlir --convert-attn-to-linalg | attn-run - --verify | FileCheck %s
// RUN: attn-opt %t/wide.mlir --convert-attn-to-linalg | attn-run - --verify | FileCheck %s
// RUN: attn-run %t/masks.mlir --verify --input=2x4x0x16xf32 --input=2x2x90x16xf32 --input=2x2x90x8xf32 \
// RUN:   --input=4x0x90xf32 --input=0x90xi1 | FileCheck %s
// RUN: attn-run %t/masks.mlir --verify --input=2x4x5x16xf32 --input=2x2x0x16xf32 --input=2x2x0x8xf32 \
// RUN:   --input=4x5x0xf32 --input=5x0xi1 | FileCheck %s
// RUN: attn-run %t/half.mlir --verify | FileCheck %s
// RUN: attn-run %t/wide.mlir --verify | FileCheck %s
// RUN: attn-run %t/one.mlir --verify | FileCheck %s
// RUN: attn-run %t/window.mlir --verify | FileCheck %s
// RUN: attn-run %t/no_values.mlir --verify | FileCheck %s
// RUN: attn-run %t/regions.mlir --verify | FileCheck %s
// RUN: attn-opt %t/regions.mlir --convert-attn-to-linalg | attn-run - --verify | FileCheck %s
// RUN: attn-run %t/empty.mlir | FileCheck %s --check-prefix=EMPTY
// RUN: attn-opt %t/empty.mlir --convert-attn-to-linalg | attn-run - | FileCheck %s --check-prefix=EMPTY
// RUN: not attn-run %t/masks.mlir --input=2x4x37x16xf32 --input=2x2x90x16xf32 --input=2x2x90x8xf32 \
// RUN:   --input=4x37x90xf32 --input=36x90xi1 2>&1 | FileCheck %s --check-prefix=SHAPE
//
// The phases mean the same: in f64 they give the same f32 numbers.
// RUN: attn-run %t/phases.mlir --device=interpreter --output=%t.o.npy --output=%t.input.npy
// RUN: attnc %t/phases.mlir --stop-after=tiles | attn-run - --function=phases --device=interpreter --output=%t.o.npy \
// RUN:   --output=%t.tiles.npy
// RUN: cmp %t.input.npy %t.tiles.npy
// RUN: attnc %t/phases.mlir --stop-after=linalg | attn-run - --function=phases --device=interpreter --output=%t.o.npy \
// RUN:   --output=%t.linalg.npy
// RUN: cmp %t.input.npy %t.linalg.npy

// CHECK: pass: largest error {{.*}}, 0 elements beyond it

//--- masks.mlir

func.func @masks(%q: tensor<2x4x?x16xf32>, %k: tensor<2x2x?x16xf32>, %v: tensor<2x2x?x8xf32>, %b: tensor<4x?x?xf32>,
                 %m: tensor<?x?xi1>) -> (tensor<2x4x?x8xf32>, tensor<2x4x?x?xf32>) {
  %o, %w = attn.sdpa %q, %k, %v bias(%b : tensor<4x?x?xf32>) mask(%m : tensor<?x?xi1>) causal = bottom_right softcap = 2.0
    : tensor<2x4x?x16xf32>, tensor<2x2x?x16xf32>, tensor<2x2x?x8xf32> -> tensor<2x4x?x8xf32> weights(tensor<2x4x?x?xf32>)
  return %o, %w : tensor<2x4x?x8xf32>, tensor<2x4x?x?xf32>
}

//--- half.mlir

// In the query's type, from tensors whose heads come last, with an lse.
func.func @half(%q: tensor<2x33x6x24xf16>, %k: tensor<2x300x3x24xf16>, %v: tensor<2x300x3x24xf16>)
    -> (tensor<2x33x6x24xf16>, tensor<2x6x33xf32>, tensor<2x6x33x300xf16>) {
  %o, %l, %w = attn.sdpa %q, %k, %v layout = bshd
    : tensor<2x33x6x24xf16>, tensor<2x300x3x24xf16>, tensor<2x300x3x24xf16>
    -> tensor<2x33x6x24xf16>, tensor<2x6x33xf32> weights(tensor<2x6x33x300xf16>)
  return %o, %l, %w : tensor<2x33x6x24xf16>, tensor<2x6x33xf32>, tensor<2x6x33x300xf16>
}

//--- wide.mlir

// In f64, with lengths, positions and sinks.
func.func @wide(%q: tensor<2x4x9x8xf64>, %k: tensor<2x2x21x8xf64>, %v: tensor<2x2x21x6xf64>, %n: tensor<2xi32>,
                %s: tensor<4xf64>) -> (tensor<2x4x9x6xf32>, tensor<2x4x9x21xf64>) {
  %o, %w = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) sinks(%s : tensor<4xf64>)
    causal = bottom_right window = <left = 5>
    : tensor<2x4x9x8xf64>, tensor<2x2x21x8xf64>, tensor<2x2x21x6xf64>
    -> tensor<2x4x9x6xf32> weights(tensor<2x4x9x21xf64>)
  return %o, %w : tensor<2x4x9x6xf32>, tensor<2x4x9x21xf64>
}

//--- phases.mlir

func.func @phases(%q: tensor<2x4x9x8xf32>, %k: tensor<2x2x21x8xf32>, %v: tensor<2x2x21x6xf32>, %n: tensor<2xi32>,
                  %b: tensor<4x1x21xf32>) -> (tensor<2x4x9x6xf32>, tensor<2x4x9x21xf32>) {
  %o, %w = attn.sdpa %q, %k, %v bias(%b : tensor<4x1x21xf32>) kv_lengths(%n : tensor<2xi32>) scale = 0.5
    causal = bottom_right window = <left = 5>
    : tensor<2x4x9x8xf32>, tensor<2x2x21x8xf32>, tensor<2x2x21x6xf32>
    -> tensor<2x4x9x6xf32> weights(tensor<2x4x9x21xf32>)
  return %o, %w : tensor<2x4x9x6xf32>, tensor<2x4x9x21xf32>
}

//--- one.mlir

// One row, as when a model writes word by word, of eight heads on one key head.
func.func @one(%q: tensor<3x8x1x64xbf16>, %k: tensor<3x1x1000x64xbf16>, %v: tensor<3x1x1000x64xbf16>)
    -> (tensor<3x8x1x64xbf16>, tensor<3x8x1x1000xf32>) {
  %o, %w = attn.sdpa %q, %k, %v
    : tensor<3x8x1x64xbf16>, tensor<3x1x1000x64xbf16>, tensor<3x1x1000x64xbf16>
    -> tensor<3x8x1x64xbf16> weights(tensor<3x8x1x1000xf32>)
  return %o, %w : tensor<3x8x1x64xbf16>, tensor<3x8x1x1000xf32>
}

//--- window.mlir

// Rows that are so far on that the window begins behind the last key, and some before.
func.func @window(%q: tensor<1x2x700x16xf32>, %k: tensor<1x2x300x16xf32>, %v: tensor<1x2x300x16xf32>)
    -> (tensor<1x2x700x16xf32>, tensor<1x2x700x300xf32>) {
  %from = arith.constant -20 : index
  %o, %w = attn.sdpa %q, %k, %v query_offset(%from : index) window = <left = 31, right = 3>
    : tensor<1x2x700x16xf32>, tensor<1x2x300x16xf32>, tensor<1x2x300x16xf32>
    -> tensor<1x2x700x16xf32> weights(tensor<1x2x700x300xf32>)
  return %o, %w : tensor<1x2x700x16xf32>, tensor<1x2x700x300xf32>
}

//--- no_values.mlir

// Weights do not need values.
func.func @no_values(%q: tensor<1x2x8x4xf32>, %k: tensor<1x2x9x4xf32>, %v: tensor<1x2x9x0xf32>)
    -> (tensor<1x2x8x0xf32>, tensor<1x2x8x9xf32>) {
  %o, %w = attn.sdpa %q, %k, %v : tensor<1x2x8x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x0xf32>
    -> tensor<1x2x8x0xf32> weights(tensor<1x2x8x9xf32>)
  return %o, %w : tensor<1x2x8x0xf32>, tensor<1x2x8x9xf32>
}

//--- regions.mlir

// A slope for each head, and blocks of 50 keys of which each row sees its own.
func.func @regions(%q: tensor<2x4x130x16xf32>, %k: tensor<2x2x170x16xf32>, %v: tensor<2x2x170x8xf32>,
                   %slopes: tensor<4xf32>) -> (tensor<2x4x130x8xf32>, tensor<2x4x130x170xf32>) {
  %o, %w = attn.sdpa %q, %k, %v
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %slope = tensor.extract %slopes[%h] : tensor<4xf32>
      %d = arith.subi %j, %i : index
      %n = arith.index_cast %d : index to i32
      %x = arith.sitofp %n : i32 to f32
      %y = arith.mulf %x, %slope : f32
      %r = arith.addf %s, %y : f32
      attn.yield %r : f32
    }
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %c = arith.constant 50 : index
      %x = arith.divsi %i, %c : index
      %y = arith.divsi %j, %c : index
      %m = arith.cmpi eq, %x, %y : index
      attn.yield %m : i1
    }
    : tensor<2x4x130x16xf32>, tensor<2x2x170x16xf32>, tensor<2x2x170x8xf32>
    -> tensor<2x4x130x8xf32> weights(tensor<2x4x130x170xf32>)
  return %o, %w : tensor<2x4x130x8xf32>, tensor<2x4x130x170xf32>
}

//--- empty.mlir

// A row without a key has weights of 0, one with a key and a NaN in an excluded one has none of it; in the plain form
// as well.
//
// EMPTY: result 0: 1x1x2x2xf32 = [0, 0, 1, 0]
func.func @empty(%v: tensor<1x1x2x4xf32>) -> tensor<1x1x2x2xf32> {
  %q = arith.constant dense<1.0> : tensor<1x1x2x4xf32>
  %k = arith.constant dense<[[[[1.0, 1.0, 1.0, 1.0], [0x7FC00000, 1.0, 1.0, 1.0]]]]> : tensor<1x1x2x4xf32>
  %m = arith.constant dense<[[false, false], [true, false]]> : tensor<2x2xi1>
  %o, %w = attn.sdpa %q, %k, %v mask(%m : tensor<2x2xi1>)
    : tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32> -> tensor<1x1x2x4xf32> weights(tensor<1x1x2x2xf32>)
  return %w : tensor<1x1x2x2xf32>
}

// SHAPE: 'attn.sdpa' op expects dimension 0 of 'mask' to agree with dimension 2 of 'query', got 36 and 37
