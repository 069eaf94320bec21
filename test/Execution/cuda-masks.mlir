// Masks and biases that are operands, in the emulator with every access watched: blocks that are wholly inside of them, and
// those that reach over an end; rows that begin at odd addresses, one row for all, one column for all.
//
// REQUIRES: attn-run, attn-fuzz
// RUN: split-file %s %t
//
// RUN: attn-run %t/mask.mlir --device=cuda-emulated --verify --input=1x2x130x64xf16 --input=1x2x192x64xf16 --input=1x2x192x64xf16 --input=1x2x130x192xi1 | FileCheck %s
// RUN: attn-run %t/mask.mlir --device=cuda-emulated --verify --input=1x2x128x64xf16 --input=1x2x77x64xf16 --input=1x2x77x64xf16 --input=1x2x128x77xi1 | FileCheck %s
// RUN: attn-run %t/bias.mlir --device=cuda-emulated --verify --emulator-seed=3 --input=1x2x130x64xf16 --input=1x2x136x64xf16 --input=1x2x136x64xf16 --input=1x1x130x136xf16 | FileCheck %s
// RUN: attn-run %t/bias.mlir --device=cuda-emulated --verify --input=1x2x33x64xf16 --input=1x2x129x64xf16 --input=1x2x129x64xf16 --input=1x1x33x129xf16 | FileCheck %s
// RUN: attn-run %t/wide.mlir --device=cuda-emulated --verify --input=1x2x128x80xbf16 --input=1x2x96x80xbf16 --input=1x2x96x80xbf16 --input=1x2x1x96xf32 --input=1x1x128x1xi1 | FileCheck %s
//
// Operands that begin behind an odd element, or whose rows do; a stride of 0; -inf and NaN among biases and keys.
//
// RUN: attn-fuzz --minimize=false --device=cuda-emulated --case='type=f16 H=2 G=2 M=130 N=128 D=16 E=16 mask=HMN guard=odd'
// RUN: attn-fuzz --minimize=false --device=cuda-emulated --case='type=f16 M=64 N=130 D=16 E=16 bias=f32:MN dynamic=MN guard=odd strides=7'
// RUN: attn-fuzz --minimize=false --device=cuda-emulated --case='type=bf16 M=64 N=129 D=16 E=16 bias=bf16:MN biasdata=il guard=front'
// RUN: attn-fuzz --minimize=false --device=cuda-emulated --case='type=f16 M=33 N=96 D=16 E=16 bias=f16:MN biasdata=i special=k guard=back'
// RUN: attn-fuzz --minimize=false --device=cuda-emulated --case='type=f32 M=40 N=64 D=16 E=16 bias=f32:MN mask=MN biasdata=n strides=3'
// RUN: attn-fuzz --minimize=false --device=cuda-emulated --case='type=f32 H=2 G=2 M=1 N=640 D=16 E=16 bias=f16:HMN mask=N maskdata=sparse'
//
// CHECK: pass: largest error

//--- mask.mlir

func.func @mask(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %m: tensor<1x2x?x?xi1>) -> tensor<1x2x?x64xf16> {
  %o = attn.sdpa %q, %k, %v mask(%m : tensor<1x2x?x?xi1>) : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

//--- bias.mlir

func.func @bias(%q: tensor<1x2x?x64xf16>, %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>, %b: tensor<1x1x?x?xf16>) -> tensor<1x2x?x64xf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<1x1x?x?xf16>) : tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}

//--- wide.mlir

func.func @wide(%q: tensor<1x2x128x80xbf16>, %k: tensor<1x2x96x80xbf16>, %v: tensor<1x2x96x80xbf16>, %b: tensor<1x2x1x96xf32>, %m: tensor<1x1x128x1xi1>) -> tensor<1x2x128x80xbf16> {
  %o = attn.sdpa %q, %k, %v bias(%b : tensor<1x2x1x96xf32>) mask(%m : tensor<1x1x128x1xi1>) : tensor<1x2x128x80xbf16>, tensor<1x2x96x80xbf16>, tensor<1x2x96x80xbf16> -> tensor<1x2x128x80xbf16>
  return %o : tensor<1x2x128x80xbf16>
}
