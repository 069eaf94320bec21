// Layers of all sorts of sizes agree with the layer by definition in f64: few rows and many, one entry of a batch and
// more, channels that fill no vector, every type, static and dynamic.
//
// RUN: split-file %s %t
// RUN: attn-run %t/one_row.mlir --verify | FileCheck %s
// RUN: attn-run %t/few_rows.mlir --verify | FileCheck %s
// RUN: attn-run %t/many_rows.mlir --verify | FileCheck %s
// RUN: attn-run %t/odd.mlir --verify --threads=2 | FileCheck %s
// RUN: attn-run %t/narrow.mlir --verify | FileCheck %s
// RUN: attn-run %t/half.mlir --verify | FileCheck %s
// RUN: attn-run %t/brain.mlir --verify | FileCheck %s
// RUN: attn-run %t/double.mlir --verify | FileCheck %s
// RUN: attn-run %t/cross.mlir --verify --input=2x3x24xf32 --input=2x37x40xf32 --input=32x24xf32 --input=32x40xf32 --input=32x40xf32 --input=24x32xf32 | FileCheck %s
// RUN: attn-run %t/cross.mlir --verify --input=1x50x24xf32 --input=1x2x40xf32 --input=32x24xf32 --input=32x40xf32 --input=32x40xf32 --input=24x32xf32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=3x4x40xf32 --input=48x40xf32 --input=100x48xf32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=3x29x40xf32 --input=48x40xf32 --input=100x48xf32 | FileCheck %s
// RUN: attn-run %t/dynamic.mlir --verify --input=0x29x40xf32 --input=48x40xf32 --input=100x48xf32 | FileCheck %s

// CHECK: pass

//--- one_row.mlir
func.func @one_row(%x: tensor<1x1x40xf32>, %w: tensor<48x40xf32>,
                   %o: tensor<100x48xf32>, %b: tensor<100xf32>) -> tensor<1x1x100xf32> {
  %y = attn.mha %x query(%w : tensor<48x40xf32>) key(%w : tensor<48x40xf32>)
    value(%w : tensor<48x40xf32>) output(%o : tensor<100x48xf32>, %b : tensor<100xf32>)
    heads = 3 : tensor<1x1x40xf32> -> tensor<1x1x100xf32>
  return %y : tensor<1x1x100xf32>
}

//--- few_rows.mlir
func.func @few_rows(%x: tensor<3x5x40xf32>, %w: tensor<48x40xf32>, %c: tensor<48xf32>,
                    %o: tensor<100x48xf32>) -> tensor<3x5x100xf32> {
  %y = attn.mha %x query(%w : tensor<48x40xf32>, %c : tensor<48xf32>)
    key(%w : tensor<48x40xf32>) value(%w : tensor<48x40xf32>)
    output(%o : tensor<100x48xf32>) heads = 3
    : tensor<3x5x40xf32> -> tensor<3x5x100xf32>
  return %y : tensor<3x5x100xf32>
}

//--- many_rows.mlir
func.func @many_rows(%x: tensor<1x150x40xf32>, %w: tensor<48x40xf32>, %c: tensor<48xf32>,
                     %o: tensor<100x48xf32>) -> tensor<1x150x100xf32> {
  %y = attn.mha %x query(%w : tensor<48x40xf32>, %c : tensor<48xf32>)
    key(%w : tensor<48x40xf32>) value(%w : tensor<48x40xf32>)
    output(%o : tensor<100x48xf32>) heads = 3
    : tensor<1x150x40xf32> -> tensor<1x150x100xf32>
  return %y : tensor<1x150x100xf32>
}

//--- odd.mlir
func.func @odd(%x: tensor<3x29x37xf32>, %w: tensor<33x37xf32>,
               %o: tensor<131x33xf32>, %b: tensor<131xf32>) -> tensor<3x29x131xf32> {
  %y = attn.mha %x query(%w : tensor<33x37xf32>) key(%w : tensor<33x37xf32>)
    value(%w : tensor<33x37xf32>) output(%o : tensor<131x33xf32>, %b : tensor<131xf32>)
    heads = 3 : tensor<3x29x37xf32> -> tensor<3x29x131xf32>
  return %y : tensor<3x29x131xf32>
}

//--- narrow.mlir
func.func @narrow(%x: tensor<2x9x1xf32>, %w: tensor<3x1xf32>, %o: tensor<1x3xf32>) -> tensor<2x9x1xf32> {
  %y = attn.mha %x query(%w : tensor<3x1xf32>) key(%w : tensor<3x1xf32>)
    value(%w : tensor<3x1xf32>) output(%o : tensor<1x3xf32>) heads = 3
    : tensor<2x9x1xf32> -> tensor<2x9x1xf32>
  return %y : tensor<2x9x1xf32>
}

//--- half.mlir
func.func @half(%x: tensor<2x21x40xf16>, %w: tensor<48x40xf16>, %c: tensor<48xf16>,
                %o: tensor<100x48xf16>, %b: tensor<100xf16>) -> tensor<2x21x100xf16> {
  %y = attn.mha %x query(%w : tensor<48x40xf16>, %c : tensor<48xf16>)
    key(%w : tensor<48x40xf16>) value(%w : tensor<48x40xf16>)
    output(%o : tensor<100x48xf16>, %b : tensor<100xf16>) heads = 3
    : tensor<2x21x40xf16> -> tensor<2x21x100xf16>
  return %y : tensor<2x21x100xf16>
}

//--- brain.mlir
func.func @brain(%x: tensor<1x7x40xbf16>, %w: tensor<48x40xbf16>,
                 %o: tensor<100x48xbf16>, %b: tensor<100xbf16>) -> tensor<1x7x100xbf16> {
  %y = attn.mha %x query(%w : tensor<48x40xbf16>) key(%w : tensor<48x40xbf16>)
    value(%w : tensor<48x40xbf16>) output(%o : tensor<100x48xbf16>, %b : tensor<100xbf16>)
    heads = 3 : tensor<1x7x40xbf16> -> tensor<1x7x100xbf16>
  return %y : tensor<1x7x100xbf16>
}

//--- double.mlir
func.func @double(%x: tensor<2x21x40xf64>, %w: tensor<48x40xf64>, %o: tensor<100x48xf64>) -> tensor<2x21x100xf64> {
  %y = attn.mha %x query(%w : tensor<48x40xf64>) key(%w : tensor<48x40xf64>)
    value(%w : tensor<48x40xf64>) output(%o : tensor<100x48xf64>) heads = 3
    : tensor<2x21x40xf64> -> tensor<2x21x100xf64>
  return %y : tensor<2x21x100xf64>
}

//--- cross.mlir
func.func @cross(%x: tensor<?x?x24xf32>, %memory: tensor<?x?x40xf32>,
                 %wq: tensor<32x24xf32>, %wk: tensor<32x40xf32>,
                 %wv: tensor<32x40xf32>, %wo: tensor<24x32xf32>) -> tensor<?x?x24xf32> {
  %y = attn.mha %x memory(%memory : tensor<?x?x40xf32>)
    query(%wq : tensor<32x24xf32>) key(%wk : tensor<32x40xf32>)
    value(%wv : tensor<32x40xf32>) output(%wo : tensor<24x32xf32>) heads = 2
    : tensor<?x?x24xf32> -> tensor<?x?x24xf32>
  return %y : tensor<?x?x24xf32>
}

//--- dynamic.mlir
func.func @dynamic(%x: tensor<?x?x?xf32>, %w: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %y = attn.mha %x query(%w : tensor<?x?xf32>) key(%w : tensor<?x?xf32>)
    value(%w : tensor<?x?xf32>) output(%o : tensor<?x?xf32>) heads = 3
    : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
