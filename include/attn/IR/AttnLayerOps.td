// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that models are written in: scaled dot-product attention, the whole layer, rotary embedding, and the
// merge of finished parts.

#ifndef ATTN_IR_ATTNLAYEROPS_TD
#define ATTN_IR_ATTNLAYEROPS_TD

include "attn/IR/AttnAttrs.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Attn_Tensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Attn_MaskTensor : RankedTensorOf<[I1, I8]>;
def Attn_LengthTensor : RankedTensorOf<[I32, I64, Index]>;
def Attn_Offset
    : AnyTypeOf<[I32, I64, Index, RankedTensorOf<[I32, I64, Index]>]>;
def Attn_LseTensor : RankedTensorOf<[F32, F64]>;

def Attn_SdpaOp : Attn_Op<"sdpa", [
    AttrSizedOperandSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>,
    DeclareOpInterfaceMethods<TilingInterface, [
      "getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition"]>]> {
  let summary = "scaled dot-product attention";
  let arguments = (ins
    Attn_Tensor:$query, Attn_Tensor:$key, Attn_Tensor:$value,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Optional<Attn_LengthTensor>:$kv_lengths,
    Optional<Attn_Offset>:$query_offset, Optional<Attn_Tensor>:$sinks,
    OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<Attn_CausalEnum, "::mlir::attn::Causal::None">:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Attn_LayoutsAttr>:$layout,
    OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs Attn_Tensor:$output, Optional<Attn_LseTensor>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`kv_lengths` `(` $kv_lengths^ `:` type($kv_lengths) `)`)?
    (`query_offset` `(` $query_offset^ `:` type($query_offset) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`scale` `=` $scale^)?
    (`causal` `=` $causal^)?
    (`window` `=` $window^)?
    (`softcap` `=` $softcap^)?
    (`layout` `=` custom<Layouts>($layout)^)?
    (`schedule` `=` $schedule^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->`
    type(results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Return the layout of the query, key, value and output tensor.
    Layout getQueryLayout();
    Layout getKeyLayout();
    Layout getValueLayout();
    Layout getOutputLayout();

    /// Return the factor on `q . k`: the attribute, or 1/sqrt(D), or 1 for D = 0.
    /// Must not be called without the attribute where D is dynamic.
    double getScaleValue();
  }];
}

def Attn_MhaOp : Attn_Op<"mha", [
    AttrSizedOperandSegments, AttrSizedResultSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "multi-head attention, the whole layer";
  let arguments = (ins
    Attn_Tensor:$x, Optional<Attn_Tensor>:$memory,
    Attn_Tensor:$q_weight, Attn_Tensor:$k_weight,
    Attn_Tensor:$v_weight, Attn_Tensor:$o_weight,
    Optional<Attn_Tensor>:$q_bias, Optional<Attn_Tensor>:$k_bias,
    Optional<Attn_Tensor>:$v_bias, Optional<Attn_Tensor>:$o_bias,
    Optional<Attn_Tensor>:$cos, Optional<Attn_Tensor>:$sin,
    Optional<Attn_LengthTensor>:$positions,
    Optional<Attn_Tensor>:$past_key, Optional<Attn_Tensor>:$past_value,
    Optional<Attn_Tensor>:$bias, Optional<Attn_MaskTensor>:$mask,
    Optional<Attn_LengthTensor>:$kv_lengths,
    Optional<Attn_Offset>:$query_offset, Optional<Attn_Tensor>:$sinks,
    I64Attr:$num_heads, OptionalAttr<I64Attr>:$num_kv_heads,
    OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<Attn_CausalEnum, "::mlir::attn::Causal::None">:$causal,
    OptionalAttr<Attn_WindowAttr>:$window,
    OptionalAttr<F64Attr>:$softcap,
    DefaultValuedAttr<Attn_PairingEnum, "::mlir::attn::Pairing::Half">:$pairing);
  let results = (outs Attn_Tensor:$output, Optional<Attn_Tensor>:$present_key,
                      Optional<Attn_Tensor>:$present_value,
                      Optional<Attn_LseTensor>:$lse);
  let assemblyFormat = [{
    $x (`memory` `(` $memory^ `:` type($memory) `)`)?
    `query` `(` $q_weight `:` type($q_weight)
      (`,` $q_bias^ `:` type($q_bias))? `)`
    `key` `(` $k_weight `:` type($k_weight)
      (`,` $k_bias^ `:` type($k_bias))? `)`
    `value` `(` $v_weight `:` type($v_weight)
      (`,` $v_bias^ `:` type($v_bias))? `)`
    `output` `(` $o_weight `:` type($o_weight)
      (`,` $o_bias^ `:` type($o_bias))? `)`
    (`rope` `(` $cos^ `:` type($cos) `,` $sin `:` type($sin)
      (`,` $positions^ `:` type($positions))? `)`)?
    (`past` `(` $past_key^ `:` type($past_key) `,`
      $past_value `:` type($past_value) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`kv_lengths` `(` $kv_lengths^ `:` type($kv_lengths) `)`)?
    (`query_offset` `(` $query_offset^ `:` type($query_offset) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    `heads` `=` $num_heads (`kv_heads` `=` $num_kv_heads^)?
    (`scale` `=` $scale^)?
    (`causal` `=` $causal^)?
    (`window` `=` $window^)?
    (`softcap` `=` $softcap^)?
    (`pairing` `=` $pairing^)?
    attr-dict `:` type($x) `->` type($output)
    (`present` `(` type($present_key)^ `,` type($present_value) `)`)?
    (`lse` `(` type($lse)^ `)`)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Return the number of key/value heads: the attribute, or `num_heads`.
    int64_t getKvHeads() { return getNumKvHeads().value_or(getNumHeads()); }
  }];
}

def Attn_RopeOp : Attn_Op<"rope", [
    NoMemoryEffect, AllTypesMatch<["input", "output"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "rotary position embedding";
  let arguments = (ins
    Attn_Tensor:$input, Attn_Tensor:$cos, Attn_Tensor:$sin,
    Optional<Attn_LengthTensor>:$positions,
    OptionalAttr<I64Attr>:$rotary_dim,
    DefaultValuedAttr<Attn_PairingEnum, "::mlir::attn::Pairing::Half">:$pairing,
    DefaultValuedAttr<Attn_LayoutEnum, "::mlir::attn::Layout::bhsd">:$layout);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = [{
    $input `,` $cos `,` $sin
    (`positions` `(` $positions^ `:` type($positions) `)`)?
    (`rotary_dim` `=` $rotary_dim^)?
    (`pairing` `=` $pairing^)? (`layout` `=` $layout^)?
    attr-dict `:` type($input) `,` type($cos) `,` type($sin)
  }];
  let hasVerifier = 1;
}

def Attn_MergeOutputsOp : Attn_Op<"merge_outputs", [
    SameVariadicOperandSize, NoMemoryEffect,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<AggregatedOpInterface,
      ["decomposeOperation"]>]> {
  let summary = "attention over all keys from results over parts of them";
  let arguments = (ins Variadic<Attn_Tensor>:$outputs,
                       Variadic<Attn_LseTensor>:$lses);
  let results = (outs Attn_Tensor:$output, Attn_LseTensor:$lse);
  let assemblyFormat = [{
    `outputs` `(` $outputs `)` `lses` `(` $lses `)` attr-dict `:`
    type($output) `,` type($lse) custom<SameTypes>(
      ref($outputs), type($outputs), ref($lses), type($lses),
      ref(type($output)), ref(type($lse)))
  }];
  let hasVerifier = 1;
}

#endif // ATTN_IR_ATTNLAYEROPS_TD
