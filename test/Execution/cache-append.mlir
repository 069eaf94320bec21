// New rows in a cache, plain and in pages, as they are and in bytes; what is said of a position that there is not.
//
// DEFINE: %{make} = %python %S/Inputs/make-table.py
// RUN: split-file %s %t
// RUN: %{make} %t/start.npy 2 0 7 2
// RUN: attn-run %t/plain.mlir --verify --input=2x4x3x40xf32 --input=2x4x10x40xf16 --input=@%t/start.npy | FileCheck %s
// RUN: %{make} %t/start.npy 2 0 8 2
// RUN: not attn-run %t/plain.mlir --verify --input=2x4x3x40xf32 --input=2x4x10x40xf16 --input=@%t/start.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BEYOND
// RUN: %{make} %t/each.npy 2 3 9 3 0 0 11 5
// RUN: %{make} %t/table.npy 2 3 1 5 6 0 3 2
// RUN: attn-run %t/pages.mlir --verify --input=2x3x4x40xbf16 --input=7x4x4x40xi8 --input=@%t/each.npy \
// RUN:   --input=@%t/table.npy --input=7x4x4xf32=9 | FileCheck %s
// RUN: %{make} %t/table.npy 2 3 1 5 7 0 3 2
// RUN: not attn-run %t/pages.mlir --verify --input=2x3x4x40xbf16 --input=7x4x4x40xi8 --input=@%t/each.npy \
// RUN:   --input=@%t/table.npy --input=7x4x4xf32=9 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: %{make} %t/pages.npy 2 2 5 3 5 3
// RUN: %{make} %t/same.npy 2 3 1 1 1 2 6 2
// RUN: attn-run %t/same.mlir --verify --threads=2 --input=2x3x4x40xf32 --input=7x4x4x40xf32 --input=@%t/same.npy \
// RUN:   --input=@%t/pages.npy | FileCheck %s --check-prefix=EXACT
// RUN: attn-run %t/floats.mlir --verify | FileCheck %s --check-prefix=EXACT
//
// CHECK: pass: largest error {{.*}}, 0 elements beyond it
// EXACT: pass: largest error 0 {{.*}}, 0 elements beyond it
// BEYOND: 'attn.cache_append' op expects 'positions' to lie inside 'cache', got position 10 of 10
// PAGE: 'attn.cache_append' op expects 'page_table' to name pages of 'cache', got page 7 of 7
//
// Heads may run side by side, rows may not.
//
// RUN: attn-opt %t/same.mlir --convert-attn-to-linalg | FileCheck %s --check-prefix=HEADS
// HEADS: scf.forall (%{{.*}}) in (4) shared_outs
// HEADS: scf.for
// HEADS: scf.for
// HEADS: tensor.insert_slice
//
// On memrefs it is a loop that stores.
//
// RUN: attn-opt %t/memref.mlir --convert-attn-to-linalg | FileCheck %s --check-prefix=MEMREF
// MEMREF-LABEL: func @in_place
// MEMREF-COUNT-4: scf.for
// MEMREF: memref.store %{{.*}}, %{{.*}} : memref<7x4x4x40xi8>

//--- plain.mlir

func.func @plain(%r: tensor<2x4x3x40xf32>, %c: tensor<2x4x?x40xf16>, %p: tensor<2xi32>) -> tensor<2x4x?x40xf16> {
  %o = attn.cache_append %r into %c at(%p : tensor<2xi32>) : tensor<2x4x3x40xf32> into tensor<2x4x?x40xf16>
  return %o : tensor<2x4x?x40xf16>
}

//--- pages.mlir

func.func @pages(%r: tensor<2x3x4x40xbf16>, %c: tensor<7x4x4x40xi8>, %p: tensor<2x3xi32>, %t: tensor<2x3xi32>,
                 %s: tensor<7x4x4xf32>) -> tensor<7x4x4x40xi8> {
  %o = attn.cache_append %r into %c at(%p : tensor<2x3xi32>) page_table(%t : tensor<2x3xi32>)
    scale(%s : tensor<7x4x4xf32>) rows_layout = bshd : tensor<2x3x4x40xbf16> into tensor<7x4x4x40xi8>
  return %o : tensor<7x4x4x40xi8>
}

//--- same.mlir

// Of rows of one place the last is kept, whole and in all heads: three of the first entry, and then of the second, which
// has the same page.
func.func @same(%r: tensor<2x3x4x40xf32>, %c: tensor<7x4x4x40xf32>, %p: tensor<2x3xi32>, %t: tensor<2x2xi32>)
    -> tensor<7x4x4x40xf32> {
  %o = attn.cache_append %r into %c at(%p : tensor<2x3xi32>) page_table(%t : tensor<2x2xi32>) rows_layout = bshd
    : tensor<2x3x4x40xf32> into tensor<7x4x4x40xf32>
  return %o : tensor<7x4x4x40xf32>
}

//--- floats.mlir

func.func @floats(%r: tensor<1x2x5x33xf32>, %c: tensor<1x2x8x33xf8E4M3FN>, %d: tensor<1x2x8x33xf8E5M2>,
                  %s: tensor<2x1xf32>) -> (tensor<1x2x8x33xf8E4M3FN>, tensor<1x2x8x33xf8E5M2>) {
  %p = arith.constant dense<2> : tensor<1xi64>
  %a = attn.cache_append %r into %c at(%p : tensor<1xi64>) scale(%s : tensor<2x1xf32>)
    : tensor<1x2x5x33xf32> into tensor<1x2x8x33xf8E4M3FN>
  %b = attn.cache_append %r into %d at(%p : tensor<1xi64>) : tensor<1x2x5x33xf32> into tensor<1x2x8x33xf8E5M2>
  return %a, %b : tensor<1x2x8x33xf8E4M3FN>, tensor<1x2x8x33xf8E5M2>
}

//--- memref.mlir

func.func @in_place(%r: memref<2x4x1x40xf32>, %c: memref<7x4x4x40xi8>, %p: memref<2xi32>, %t: memref<2x3xi32>) {
  attn.cache_append %r into %c at(%p : memref<2xi32>) page_table(%t : memref<2x3xi32>)
    : memref<2x4x1x40xf32> into memref<7x4x4x40xi8>
  return
}
