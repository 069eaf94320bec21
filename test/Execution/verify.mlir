// What the judges allow for functions that are more than one attention, and where a cap hides scores.
//
// REQUIRES: attn-run, attnc
// RUN: split-file %s %t
// RUN: attn-run %t/twice.mlir --verify | FileCheck %s
// RUN: attn-run %t/sum.mlir --verify | FileCheck %s
// RUN: attn-run %t/capped.mlir --verify | FileCheck %s --check-prefix=CAPPED
// RUN: attnc %t/capped.mlir --stop-after=tiles -o %t/tiles.mlir
// RUN: attn-run %t/tiles.mlir --verify | FileCheck %s --check-prefix=CAPPED
//
// CHECK: pass: largest error {{.*}} against the interpreter
// CAPPED: pass: {{.*}}, limit 0.0009

// Results may be arguments.
//--- twice.mlir
func.func @twice(%q: tensor<1x1x5x16xf16>, %x: tensor<3xi32>)
    -> (tensor<1x1x5x16xf16>, tensor<1x1x5x16xf16>, tensor<3xi32>, tensor<1x1x5x16xf16>) {
  %o = attn.sdpa %q, %q, %q : tensor<1x1x5x16xf16>, tensor<1x1x5x16xf16>, tensor<1x1x5x16xf16> -> tensor<1x1x5x16xf16>
  return %o, %o, %x, %q : tensor<1x1x5x16xf16>, tensor<1x1x5x16xf16>, tensor<3xi32>, tensor<1x1x5x16xf16>
}

// A sum in f64 of numbers that were rounded to f16.
//--- sum.mlir
func.func @sum(%q: tensor<1x2x5x16xf16>) -> tensor<5xf64> {
  %o = attn.sdpa %q, %q, %q : tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16>, tensor<1x2x5x16xf16> -> tensor<1x2x5x16xf16>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5xf64>
  %start = linalg.fill ins(%zero : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, b, h, d) -> (b, h, i, d)>, affine_map<(i, b, h, d) -> (i)>],
                         iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%o : tensor<1x2x5x16xf16>) outs(%start : tensor<5xf64>) {
  ^bb0(%x: f16, %y: f64):
    %wide = arith.extf %x : f16 to f64
    %next = arith.addf %y, %wide : f64
    linalg.yield %next : f64
  } -> tensor<5xf64>
  return %sum : tensor<5xf64>
}

// Scores of some thousands before the cap have the rounding errors of such numbers.
//--- capped.mlir
func.func @capped(%q: tensor<1x2x9x16xf32>, %k: tensor<1x2x40x16xf32>) -> tensor<1x2x9x16xf32> {
  %o = attn.sdpa %q, %k, %k scale = 1000.0 softcap = 1.0
    : tensor<1x2x9x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32> -> tensor<1x2x9x16xf32>
  return %o : tensor<1x2x9x16xf32>
}
