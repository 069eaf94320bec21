// More channels than a block of threads has room for: the query and the keys in parts, the value in several attentions, in
// the emulator.
//
// REQUIRES: attn-run
// RUN: split-file %s %t
// RUN: attn-run %t/latent.mlir --device=cuda-emulated --verify --input=1x2x21x576xf16 --input=1x1x51x576xf16 --input=1x1x51x512xf16 | FileCheck %s
// RUN: attn-run %t/latent.mlir --device=cuda-emulated --verify --emulator-seed=3 --input=1x2x3x576xf16 --input=1x1x51x576xf16 --input=1x1x51x512xf16 | FileCheck %s
// RUN: attn-run %t/query.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/value.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/decode.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/odd.mlir --device=cuda-emulated --verify --emulator-seed=7 | FileCheck %s
// RUN: attn-run %t/mask.mlir --device=cuda-emulated --verify | FileCheck %s
// RUN: attn-run %t/pages.mlir --device=cuda-emulated --verify | FileCheck %s
//
// CHECK: pass: largest error

//--- latent.mlir
func.func @latent(%q: tensor<1x2x?x576xf16>, %k: tensor<1x1x?x576xf16>, %v: tensor<1x1x?x512xf16>)
    -> (tensor<1x2x?x512xf16>, tensor<1x2x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %v causal = bottom_right
    : tensor<1x2x?x576xf16>, tensor<1x1x?x576xf16>, tensor<1x1x?x512xf16> -> tensor<1x2x?x512xf16>, tensor<1x2x?xf32>
  return %o, %l : tensor<1x2x?x512xf16>, tensor<1x2x?xf32>
}

//--- query.mlir
func.func @query(%q: tensor<1x18x1x512xbf16>, %k: tensor<1x66x1x512xbf16>, %v: tensor<1x66x1x64xbf16>) -> tensor<1x18x1x64xbf16> {
  %o = attn.sdpa %q, %k, %v window = <left = 20, right = 3> softcap = 30.0 layout = bshd
    : tensor<1x18x1x512xbf16>, tensor<1x66x1x512xbf16>, tensor<1x66x1x64xbf16> -> tensor<1x18x1x64xbf16>
  return %o : tensor<1x18x1x64xbf16>
}

//--- value.mlir
func.func @value(%q: tensor<1x1x20x64xf16>, %k: tensor<1x1x66x64xf16>, %v: tensor<1x1x66x512xf16>,
                 %s: tensor<1xf32>) -> (tensor<1x1x20x512xf16>, tensor<1x1x20xf32>) {
  %n = arith.constant dense<51> : tensor<1xi32>
  %o, %l = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<1xi32>) sinks(%s : tensor<1xf32>)
    : tensor<1x1x20x64xf16>, tensor<1x1x66x64xf16>, tensor<1x1x66x512xf16> -> tensor<1x1x20x512xf16>, tensor<1x1x20xf32>
  return %o, %l : tensor<1x1x20x512xf16>, tensor<1x1x20xf32>
}

//--- decode.mlir
func.func @decode(%q: tensor<1x6x1x288xf16>, %k: tensor<1x2x560x288xf16>, %v: tensor<1x2x560x272xf16>)
    -> (tensor<1x6x1x272xf16>, tensor<1x6x1xf32>) {
  %o, %l = attn.sdpa %q, %k, %v
    : tensor<1x6x1x288xf16>, tensor<1x2x560x288xf16>, tensor<1x2x560x272xf16> -> tensor<1x6x1x272xf16>, tensor<1x6x1xf32>
  return %o, %l : tensor<1x6x1x272xf16>, tensor<1x6x1xf32>
}

//--- odd.mlir
func.func @odd(%q: tensor<1x1x17x257xf32>, %k: tensor<1x1x33x257xf32>, %v: tensor<1x1x33x259xf32>) -> tensor<1x1x17x259xf32> {
  %o = attn.sdpa %q, %k, %v causal = top_left
    : tensor<1x1x17x257xf32>, tensor<1x1x33x257xf32>, tensor<1x1x33x259xf32> -> tensor<1x1x17x259xf32>
  return %o : tensor<1x1x17x259xf32>
}

//--- mask.mlir
func.func @mask(%q: tensor<1x2x18x264xf16>, %k: tensor<1x2x130x264xf16>, %v: tensor<1x2x130x40xf16>, %m: tensor<18x130xi1>,
                %b: tensor<2x1x130xf16>) -> tensor<1x2x18x40xf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<2x1x130xf16>) mask(%m : tensor<18x130xi1>)
    mask_mod(%batch: index, %head: index, %row: index, %key: index) {
      %c8 = arith.constant 8 : index
      %c70 = arith.constant 70 : index
      %after = arith.cmpi sge, %key, %c70 : index
      %near = arith.cmpi slt, %key, %c8 : index
      %kept = arith.ori %after, %near : i1
      attn.yield %kept : i1
    }
    : tensor<1x2x18x264xf16>, tensor<1x2x130x264xf16>, tensor<1x2x130x40xf16> -> tensor<1x2x18x40xf16>
  return %o : tensor<1x2x18x40xf16>
}

//--- pages.mlir
func.func @pages(%q: tensor<1x2x18x288xf16>, %k: tensor<9x1x16x288xf16>, %v: tensor<9x1x16x264xf16>, %t: tensor<1x3xi32>)
    -> tensor<1x2x18x264xf16> {
  %n = arith.constant dense<41> : tensor<1xi32>
  %o = attn.sdpa %q, %k, %v kv_lengths(%n : tensor<1xi32>) page_table(%t : tensor<1x3xi32>)
    : tensor<1x2x18x288xf16>, tensor<9x1x16x288xf16>, tensor<9x1x16x264xf16> -> tensor<1x2x18x264xf16>
  return %o : tensor<1x2x18x264xf16>
}
