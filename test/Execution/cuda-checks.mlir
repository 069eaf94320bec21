// Data that decides what is read is checked by all threads of a block at once. Of several wrong elements the first is
// named, as on a CPU, under every order of threads, and nothing is written then: attn-run looks.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// DEFINE: %{make} = %python %S/Inputs/make-table.py
// DEFINE: %{file} =
// DEFINE: %{inputs} =
// DEFINE: %{run} = attn-run %t/%{file}.mlir %{inputs}
// DEFINE: %{wrong} = not %{run} > %t/cpu.txt 2>&1 \
// DEFINE:   && not %{run} --device=cuda-emulated --emulator-seed=5 > %t/gpu.txt 2>&1 \
// DEFINE:   && diff %t/cpu.txt %t/gpu.txt && cat %t/gpu.txt
//
// Pages, whose number follows from the lengths of each entry: what lies behind them does not matter.
//
// REDEFINE: %{file} = pages
// REDEFINE: %{inputs} = --input=3x1x1x8xf32 --input=2x1x4x8xf32 --input=2x1x4x8xf32 --input=@%t/table.npy --input=@%t/lengths.npy
// RUN: %{make} %t/lengths.npy 3 0 100 2600 2800
// RUN: %{make} %t/table.npy 3 700 0*25 9*675 1*600 0*50 9*50 0*700
// RUN: %{run} --device=cuda-emulated --verify | FileCheck %s --check-prefix=GOOD
// RUN: %{make} %t/table.npy 3 700 0*700 0*600 8 0*36 7 0*62 6*700
// RUN: %{wrong} | FileCheck %s --check-prefix=PAGE
// RUN: not %{run} --device=cuda-emulated 2>&1 | FileCheck %s --check-prefix=PAGE
//
// GOOD: pass: largest error
// PAGE: attn-run: 'attn.sdpa' op expects 'page_table' to name pages of 'key', got page 8 of 2
// PAGE-NOT: written
//
// Places of new rows, and pages that they go to, are two questions of one loop.
//
// REDEFINE: %{file} = append
// REDEFINE: %{inputs} = --input=2x1x300x1xf32 --input=4x1x200x1xf32 --input=@%t/places.npy --input=@%t/pages.npy
// RUN: %{make} %t/pages.npy 2 2 0 1 2 3
// RUN: %{make} %t/places.npy 2 300 399*300 0*297 401 5 -6
// RUN: %{wrong} | FileCheck %s --check-prefix=PLACE
// RUN: %{make} %t/pages.npy 2 2 0 5 2 -4
// RUN: %{make} %t/places.npy 2 300 0*299 200 399*300
// RUN: %{wrong} | FileCheck %s --check-prefix=ENTRY
//
// PLACE: attn-run: 'attn.cache_append' op expects 'positions' to lie inside 'cache', got position 401 of 400
// ENTRY: attn-run: 'attn.cache_append' op expects 'page_table' to name pages of 'cache', got page 5 of 4
//
// Positions of a rotary embedding.
//
// REDEFINE: %{file} = rope
// REDEFINE: %{inputs} = --input=3x1x400x2xf32 --input=16x1xf32 --input=16x1xf32 --input=@%t/positions.npy
// RUN: %{make} %t/positions.npy 3 400 15*400 0*200 16 -1 0*198 17*400
// RUN: %{wrong} | FileCheck %s --check-prefix=POSITION
//
// POSITION: attn-run: 'attn.rope' op expects 'positions' to lie inside 'cos', got position 16 of 16
//
// Ends of sequences, which must not fall.
//
// REDEFINE: %{file} = sequences
// REDEFINE: %{inputs} = --input=7x1x4xf32 --input=7x1x4xf32 --input=7x1x4xf32 --input=@%t/ends.npy
// RUN: %{make} %t/ends.npy 63 0 0*30 5 4 6*28 3 7*2
// RUN: %{wrong} | FileCheck %s --check-prefix=FALLS
// RUN: %{make} %t/ends.npy 63 0 0*30 5*32 6
// RUN: %{wrong} | FileCheck %s --check-prefix=SHORT
// RUN: %{make} %t/ends.npy 63 0 0*30 5*32 7
// RUN: %{run} --device=cuda-emulated --verify | FileCheck %s --check-prefix=GOOD
//
// FALLS: attn-run: 'attn.sdpa' op expects 'cu_seqlens_q' never to fall, got 4 after 5
// SHORT: attn-run: 'attn.sdpa' op expects 'cu_seqlens_q' to end with the rows of 'query', got 6 and 7
//
// Where a region reads at a place that is read itself, it is asked for every score.
//
// REDEFINE: %{file} = region
// REDEFINE: %{inputs} = --input=1x2x20x8xf32 --input=1x2x60x8xf32 --input=1x2x60x8xf32 --input=@%t/kinds.npy --input=4xf32
// RUN: %{make} %t/kinds.npy 60 0 3*60
// RUN: %{run} --device=cuda-emulated --verify | FileCheck %s --check-prefix=GOOD
// RUN: %{make} %t/kinds.npy 60 0 3*40 6 3*10 -1 3*8
// RUN: %{wrong} | FileCheck %s --check-prefix=REGION
//
// REGION: attn-run: 'attn.sdpa' op expects 'score_mod' to read inside of dimension 0 of 'tensor<4xf32>', argument 4, got index 6 of 4

//--- pages.mlir
func.func @pages(%q: tensor<3x1x1x8xf32>, %k: tensor<?x1x4x8xf32>, %v: tensor<?x1x4x8xf32>,
                 %t: tensor<3x700xi32>, %n: tensor<3xi32>) -> tensor<3x1x1x8xf32> {
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<3xi32>) page_table(%t : tensor<3x700xi32>)
    : tensor<3x1x1x8xf32>, tensor<?x1x4x8xf32>, tensor<?x1x4x8xf32> -> tensor<3x1x1x8xf32>
  return %o : tensor<3x1x1x8xf32>
}

//--- append.mlir
func.func @append(%rows: tensor<2x1x300x1xf32>, %cache: tensor<4x1x200x1xf32>, %at: tensor<2x300xi32>,
                  %t: tensor<2x2xi32>) -> tensor<4x1x200x1xf32> {
  %grown = attn.cache_append %rows into %cache at(%at : tensor<2x300xi32>) page_table(%t : tensor<2x2xi32>)
    : tensor<2x1x300x1xf32> into tensor<4x1x200x1xf32>
  return %grown : tensor<4x1x200x1xf32>
}

//--- rope.mlir
func.func @rope(%x: tensor<3x1x400x2xf32>, %c: tensor<16x1xf32>, %s: tensor<16x1xf32>, %p: tensor<3x400xi32>)
    -> tensor<3x1x400x2xf32> {
  %y = attn.rope %x, %c, %s positions(%p : tensor<3x400xi32>)
    : tensor<3x1x400x2xf32>, tensor<16x1xf32>, tensor<16x1xf32>
  return %y : tensor<3x1x400x2xf32>
}

//--- sequences.mlir
func.func @sequences(%q: tensor<7x1x4xf32>, %k: tensor<7x1x4xf32>, %v: tensor<7x1x4xf32>, %e: tensor<?xi32>)
    -> tensor<7x1x4xf32> {
  %o = attn.sdpa %q, %k, %v cu_seqlens_q(%e : tensor<?xi32>) cu_seqlens_k(%e : tensor<?xi32>)
    : tensor<7x1x4xf32>, tensor<7x1x4xf32>, tensor<7x1x4xf32> -> tensor<7x1x4xf32>
  return %o : tensor<7x1x4xf32>
}

//--- region.mlir
func.func @region(%q: tensor<1x2x20x8xf32>, %k: tensor<1x2x60x8xf32>, %v: tensor<1x2x60x8xf32>,
                  %kinds: tensor<60xi32>, %values: tensor<4xf32>) -> tensor<1x2x20x8xf32> {
  %o = attn.sdpa %q, %k, %v
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %kind = tensor.extract %kinds[%j] : tensor<60xi32>
      %at = arith.index_cast %kind : i32 to index
      %value = tensor.extract %values[%at] : tensor<4xf32>
      %t = arith.addf %s, %value : f32
      attn.yield %t : f32
    }
    : tensor<1x2x20x8xf32>, tensor<1x2x60x8xf32>, tensor<1x2x60x8xf32> -> tensor<1x2x20x8xf32>
  return %o : tensor<1x2x20x8xf32>
}
