// Sequences of different lengths in one tensor, and what is said of ends that cannot be.
//
// DEFINE: %{make} = %python %S/Inputs/make-table.py
// DEFINE: %{run} = attn-run %t/f.mlir --verify --input=70x4x16xbf16 --input=90x2x16xbf16 --input=90x2x24xbf16 \
// DEFINE:   --input=@%t/q.npy --input=@%t/k.npy
// RUN: split-file %s %t
//
// The second sequence has no queries, the third no keys, the last neither.
//
// RUN: %{make} %t/q.npy 6 0 0 33 33 69 70 70
// RUN: %{make} %t/k.npy 6 0 0 40 57 57 90 90
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=cuda-emulated | FileCheck %s
// RUN: attn-opt %t/f.mlir --convert-attn-to-linalg -o %t/plain.mlir
// RUN: attn-run %t/plain.mlir --device=interpreter --verify --input=70x4x16xbf16 --input=90x2x16xbf16 --input=90x2x24xbf16 \
// RUN:   --input=@%t/q.npy --input=@%t/k.npy | FileCheck %s
// RUN: %{make} %t/k.npy 6 0 0 40 39 57 90 90
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=FALLS
// RUN: %{make} %t/k.npy 6 0 0 40 41 57 90 91
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: %{make} %t/k.npy 6 0 1 40 41 57 90 90
// RUN: not %{run} 2>&1 | FileCheck %s --check-prefix=FIRST
//
// CHECK: pass: largest error {{.*}}, 0 elements beyond it
// FALLS: 'attn.sdpa' op expects 'cu_seqlens_k' never to fall, got 39 after 40
// LONG: 'attn.sdpa' op expects 'cu_seqlens_k' to end with the rows of 'key', got 91 and 90
// FIRST: 'attn.sdpa' op expects 'cu_seqlens_k' to begin with 0, got 1
//
// Queries of several lengths against caches in pages.
//
// RUN: %{make} %t/q.npy 3 0 0 1 31
// RUN: %{make} %t/table.npy 2 3 4 4 1 0 2 3
// RUN: %{make} %t/lengths.npy 2 0 17 48
// RUN: attn-run %t/pages.mlir --verify --input=31x4x16xf32 --input=5x2x16x16xf32 --input=5x2x16x16xf32 \
// RUN:   --input=@%t/q.npy --input=@%t/table.npy --input=@%t/lengths.npy | FileCheck %s

//--- f.mlir

func.func @f(%q: tensor<?x4x16xbf16>, %k: tensor<?x2x16xbf16>, %v: tensor<?x2x24xbf16>, %cq: tensor<?xi32>,
             %ck: tensor<?xi32>) -> (tensor<?x4x24xbf16>, tensor<4x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %v cu_seqlens_q(%cq : tensor<?xi32>) cu_seqlens_k(%ck : tensor<?xi32>)
    causal = bottom_right
    : tensor<?x4x16xbf16>, tensor<?x2x16xbf16>, tensor<?x2x24xbf16> -> tensor<?x4x24xbf16>, tensor<4x?xf32>
  return %o, %l : tensor<?x4x24xbf16>, tensor<4x?xf32>
}

//--- pages.mlir

func.func @pages(%q: tensor<31x4x16xf32>, %k: tensor<5x2x16x16xf32>, %v: tensor<5x2x16x16xf32>, %cq: tensor<3xi32>,
                 %t: tensor<2x3xi32>, %n: tensor<2xi32>) -> tensor<31x4x16xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<2xi32>) page_table(%t : tensor<2x3xi32>)
    cu_seqlens_q(%cq : tensor<3xi32>) causal = bottom_right
    : tensor<31x4x16xf32>, tensor<5x2x16x16xf32>, tensor<5x2x16x16xf32> -> tensor<31x4x16xf32>
  return %o : tensor<31x4x16xf32>
}
