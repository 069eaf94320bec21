// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect itself and the base class of its ops.

#ifndef ATTN_IR_ATTNBASE_TD
#define ATTN_IR_ATTNBASE_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::mlir::attn";
  let summary = "What attention and its variants mean";
  let description = [{
    Ops that say what multi-head attention and its variants compute, and the few
    ops that tiling makes of them. Dimensions have the same names everywhere:
    `B` batch, `H` query heads, `G` key/value heads (`H % G == 0`), `M` query
    rows, `N` keys, `D` query/key head size, `E` value head size.

    Whatever cannot be honoured is refused by a verifier; nothing is dropped.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

#endif // ATTN_IR_ATTNBASE_TD
