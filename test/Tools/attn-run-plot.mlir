// Pictures of what heads attend to, and a page of all of them. Results are those that the function had.
//
// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "print('[CLS]\none\ntwo\nthree\n[SEP]')" > %t/labels.txt
// RUN: attn-run %s --function=copies --plot-weights=%t/copies --labels=%t/labels.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=PAGE --input-file=%t/copies/index.html
// RUN: %python %S/Inputs/read_png.py %t/copies/attention-0-entry-1-head-1.png | FileCheck %s --check-prefix=PNG
// RUN: attn-run %s --function=layer --plot-weights=%t/layer --verify | FileCheck %s --check-prefix=LAYER
// RUN: %python %S/Inputs/read_png.py %t/layer/attention-0-entry-0-head-3.png | FileCheck %s --check-prefix=LARGE
// RUN: not attn-run %s --function=none --plot-weights=%t/none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not attn-run %s --function=pages --plot-weights=%t/none 2>&1 | FileCheck %s --check-prefix=PAGES
// RUN: not attn-run %s --function=packed --plot-weights=%t/none 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: not attn-run %s --function=copies --plot-weights=%t/copies --labels=%t/absent 2>&1 | FileCheck %s --check-prefix=FILE

// Each row attends to its own key and nothing else: five cells of 24 points a side are as dark as can be, and a row of
// the scale. Beside the cells is room for words of five letters.
//
// CHECK: result 0: 2x2x5x4xf32
// CHECK-NOT: result 1
// PAGE-COUNT-4: <img src="attention-0-entry-{{[01]}}-head-{{[01]}}.png"
// PNG: {{[0-9]+}} x {{[0-9]+}}, darkest cells 2890
func.func @copies(%v: tensor<2x2x5x4xf32>) -> tensor<2x2x5x4xf32> {
  %k = arith.constant dense<[[
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0],
     [0.0, 0.0, 0.0, 0.0, 1.0]],
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0],
     [0.0, 0.0, 0.0, 0.0, 1.0]]], [
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0],
     [0.0, 0.0, 0.0, 0.0, 1.0]],
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0],
     [0.0, 0.0, 0.0, 0.0, 1.0]]]]> : tensor<2x2x5x5xf32>
  %o = attn.sdpa %k, %k, %v scale = 100.0
    : tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>, tensor<2x2x5x4xf32> -> tensor<2x2x5x4xf32>
  return %o : tensor<2x2x5x4xf32>
}

// The heads of a layer; more cells than points are drawn as the largest of several.
//
// LAYER: result 0: 1x1100x16xf32
// LAYER-NOT: result 1
// LAYER: pass: largest error
// LARGE: {{6[0-9][0-9]}} x {{6[0-9][0-9]}}
func.func @layer(%x: tensor<1x1100x16xf32>, %w: tensor<16x16xf32>) -> tensor<1x1100x16xf32> {
  %y = attn.mha %x query(%w : tensor<16x16xf32>) key(%w : tensor<16x16xf32>) value(%w : tensor<16x16xf32>)
    output(%w : tensor<16x16xf32>) heads = 4 : tensor<1x1100x16xf32> -> tensor<1x1100x16xf32>
  return %y : tensor<1x1100x16xf32>
}

// NONE: attn-run: --plot-weights expects attention outside of loops in 'none'
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// FILE: attn-run: '{{.*}}absent': No such file or directory

// Weights have no shape where sequences are packed or keys lie in pages.
//
// PAGES: 'attn.sdpa' op expects neither pages nor packed sequences where weights are to be shown, got 'page_table'
func.func @pages(%q: tensor<1x2x4x8xf32>, %k: tensor<3x2x16x8xf32>, %t: tensor<1x2xi32>) -> tensor<1x2x4x8xf32> {
  %o = attn.sdpa %q, %k, %k page_table(%t : tensor<1x2xi32>)
    : tensor<1x2x4x8xf32>, tensor<3x2x16x8xf32>, tensor<3x2x16x8xf32> -> tensor<1x2x4x8xf32>
  return %o : tensor<1x2x4x8xf32>
}

// PACKED: 'attn.sdpa' op expects neither pages nor packed sequences where weights are to be shown, got 'cu_seqlens_q'
func.func @packed(%q: tensor<4x2x8xf32>, %e: tensor<3xi32>) -> tensor<4x2x8xf32> {
  %o = attn.sdpa %q, %q, %q cu_seqlens_q(%e : tensor<3xi32>) cu_seqlens_k(%e : tensor<3xi32>)
    : tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32> -> tensor<4x2x8xf32>
  return %o : tensor<4x2x8xf32>
}
