// Keys and values in pages, and what is said of a page that there is not.
//
// DEFINE: %{make} = %python %S/Inputs/make-table.py %t/table.npy 2 4
// DEFINE: %{run} = attn-run %t/few.mlir --verify --input=2x4x1x16xf32 --input=9x2x16x16xf32 --input=9x2x16x16xf32 \
// DEFINE:   --input=@%t/table.npy --input=@%t/lengths.npy
// RUN: split-file %s %t
// RUN: %python %S/Inputs/make-table.py %t/lengths.npy 2 0 33 16
//
// Of the first entry three pages are read, of the second one: what else the table says does not matter.
//
// RUN: %{make} 8 0 3 -1  5 9 -7 2000000000
// RUN: %{run} | FileCheck %s
// RUN: %{make} 8 0 9 0  5 0 0 0
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: %{make} 8 0 3 0  -1 0 0 0
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=NEGATIVE
//
// CHECK: pass: largest error {{.*}}, 0 elements beyond it
// LARGE: 'attn.sdpa' op expects 'page_table' to name pages of 'key', got page 9 of 9
// NEGATIVE: 'attn.sdpa' op expects 'page_table' to name pages of 'key', got page -1 of 9
//
// With a window, pages before it are not read either; a block of many rows may have keys of several pages.
//
// RUN: %{make} -1 -1 2 7  -1 -1 8 8
// RUN: attn-run %t/window.mlir --verify --input=2x4x20x16xf32 --input=9x32x2x16xf16 --input=9x32x2x16xf16 \
// RUN:   --input=@%t/table.npy | FileCheck %s
// RUN: attn-opt %t/window.mlir --convert-attn-to-linalg -o %t/plain.mlir
// RUN: attn-run %t/plain.mlir --verify --input=2x4x20x16xf32 --input=9x32x2x16xf16 --input=9x32x2x16xf16 \
// RUN:   --input=@%t/table.npy | FileCheck %s

//--- few.mlir

func.func @few(%q: tensor<2x4x1x16xf32>, %k: tensor<?x2x16x16xf32>, %v: tensor<?x2x16x16xf32>,
               %t: tensor<2x?xi32>, %n: tensor<2xi32>) -> tensor<2x4x1x16xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x?xi32>)
    : tensor<2x4x1x16xf32>, tensor<?x2x16x16xf32>, tensor<?x2x16x16xf32> -> tensor<2x4x1x16xf32>
  return %o : tensor<2x4x1x16xf32>
}

//--- window.mlir

func.func @window(%q: tensor<2x4x20x16xf32>, %k: tensor<9x32x2x16xf16>, %v: tensor<9x32x2x16xf16>,
                  %t: tensor<2x4xi32>) -> tensor<2x4x20x16xf32> {
  %o = attn.sdpa %q, %k, %v page_table(%t : tensor<2x4xi32>) causal = bottom_right window = <left = 40>
    layout = <key = bshd, value = bshd>
    : tensor<2x4x20x16xf32>, tensor<9x32x2x16xf16>, tensor<9x32x2x16xf16> -> tensor<2x4x20x16xf32>
  return %o : tensor<2x4x20x16xf32>
}
