// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the ops: alignment of the causal triangle, windows, layouts, pairings, and the schedule.

#ifndef ATTN_IR_ATTNATTRS_TD
#define ATTN_IR_ATTNATTRS_TD

include "attn/IR/AttnBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Attn_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::attn";
}

def Attn_CausalEnum : Attn_Enum<"Causal", "alignment of the causal triangle", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"TopLeft", 1, "top_left">,
  I32EnumAttrCase<"BottomRight", 2, "bottom_right">
]>;

def Attn_LayoutEnum : Attn_Enum<"Layout", "order of a tensor's dimensions", [
  I32EnumAttrCase<"bhsd", 0, "bhsd">,
  I32EnumAttrCase<"bshd", 1, "bshd">
]>;

def Attn_PairingEnum : Attn_Enum<"Pairing", "channels that rotate together", [
  I32EnumAttrCase<"Half", 0, "half">,
  I32EnumAttrCase<"Interleaved", 1, "interleaved">
]>;

def Attn_PrecisionEnum : Attn_Enum<"Precision", "how a GPU multiplies f32", [
  I32EnumAttrCase<"Exact", 0, "exact">,
  I32EnumAttrCase<"Tf32", 1, "tf32">,
  I32EnumAttrCase<"Tf32x3", 2, "tf32x3">
]>;

def Attn_WindowAttr : Attn_Attr<"Window", "window"> {
  let summary = "keys allowed to the left and to the right of the diagonal";
  let description = [{
    How many keys before and after a row's own position may be attended. Both
    numbers are inclusive; an absent side is unlimited.

    * (window-C1) `left` and `right` are at least 0.

    ```
    window = <left = 127, right = 0>
    ```
  }];
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$left,
                        OptionalParameter<"std::optional<int64_t>">:$right);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_LayoutsAttr : Attn_Attr<"Layouts", "layouts"> {
  let summary = "layout of each tensor of an attention op";
  let description = [{
    One layout for all four tensors, or one for each that is not `bhsd`.

    ```
    layout = bshd
    layout = <query = bshd, output = bshd>
    ```
  }];
  let parameters = (ins "::mlir::attn::Layout":$query,
                        "::mlir::attn::Layout":$key,
                        "::mlir::attn::Layout":$value,
                        "::mlir::attn::Layout":$output);
  let hasCustomAssemblyFormat = 1;
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "how an op is tiled";
  let description = [{
    The decision of SelectSchedule, which all later passes obey. Depends on
    `M`, `N`, `D`, `E`, types, `H / G` and the target only.

    * `block_m`: query rows (times heads of a tile) that one task works on.
    * `block_n`: keys in one block.
    * `rows`, `columns`: the register tile.
    * `lanes`: elements in one vector register.
    * `chunk`: keys that one task of a split works on; 0 when keys are not split.
    * `fold_heads`: all heads of a group share one tile.
    * `streams`: keys and values are not packed. A block of them is read where it
      is, as so many streams at once: keys 0, `n / streams`, ... of the block move
      on together. 0 when they are packed. So it is with the weights of a projection.
    * `prefetch`: bytes of a stream that are asked for before they are read.
    * `warps`: on a GPU, warps of the block of threads that works on one task, `rows`
      rows each; 0 on a processor.
    * `stages`: on a GPU, blocks of keys, or of channels of a projection, that shared
      memory holds at once.
    * `precision`: on a GPU, how f32 is multiplied. `exact`: by fused multiply-adds.
      `tf32`: by matrix instructions, of numbers rounded to 11 bits. `tf32x3`: of two
      such numbers for each, without the product of both second ones.
    * `in_place`: values are not packed, nor are queries whose rows fill whole strips:
      what all strips of a task read stays in the first cache, wherever it lies.

    What holds of them:

    * (schedule-C1) `block_m`, `block_n`, `rows`, `columns` and `lanes` are
      positive.
    * (schedule-C2) `chunk` is at least 0.
    * (schedule-C3) `columns` is a multiple of `lanes`.
    * (schedule-C4) `block_m` is a multiple of `rows`.
    * (schedule-C5) `block_n` is a multiple of `columns`.
    * (schedule-C6) `chunk` is a multiple of `block_n`.
    * (schedule-C7) `streams` and `prefetch` are at least 0.
    * (schedule-C8) `warps` and `stages` are at least 0.
    * (schedule-C9) With `warps`, `rows` is a multiple of 16, the rows of a matrix
      instruction, and `block_m` is `rows` times `warps`.
    * (schedule-C10) With `warps`, `lanes`, the columns that a thread has side by side,
      are 2 or 4, and `columns` are those of four threads.
    * (schedule-C11) A `precision` other than `exact` comes with `warps` and 4 `lanes`.
    * (schedule-C12) `in_place` comes without `streams` and without `warps`.
    * (schedule-C13) `block_m` and `block_n` are at most 2^24, `rows`, `columns`,
      `lanes` and `streams` 1024, `rows` times `columns` 16384, `warps` 32 and
      `stages` 16.
    * (schedule-C14) Without `streams`, `columns` is a power of two: panels are
      filled by transposition.
    * (schedule-C15) With `warps`, `rows` times `block_n` is at most 8160, the
      registers of a warp.

    ```
    schedule = <block_m = 256, block_n = 256, rows = 8, columns = 32, lanes = 16>
    ```
  }];
  let parameters = (ins "int64_t":$block_m, "int64_t":$block_n,
                        "int64_t":$rows, "int64_t":$columns,
                        "int64_t":$lanes,
                        DefaultValuedParameter<"int64_t", "0">:$chunk,
                        DefaultValuedParameter<"bool", "false">:$fold_heads,
                        DefaultValuedParameter<"int64_t", "0">:$streams,
                        DefaultValuedParameter<"int64_t", "0">:$prefetch,
                        DefaultValuedParameter<"int64_t", "0">:$warps,
                        DefaultValuedParameter<"int64_t", "0">:$stages,
                        DefaultValuedParameter<"::mlir::attn::Precision",
                          "::mlir::attn::Precision::Exact">:$precision,
                        DefaultValuedParameter<"bool", "false">:$in_place);
  let builders = [
    AttrBuilder<(ins "int64_t":$block_m, "int64_t":$block_n, "int64_t":$rows,
                     "int64_t":$columns, "int64_t":$lanes, "int64_t":$chunk,
                     "bool":$fold_heads, "int64_t":$streams,
                     "int64_t":$prefetch, CArg<"int64_t", "0">:$warps,
                     CArg<"int64_t", "0">:$stages,
                     CArg<"::mlir::attn::Precision",
                       "::mlir::attn::Precision::Exact">:$precision), [{
      return $_get($_ctxt, block_m, block_n, rows, columns, lanes, chunk,
                   fold_heads, streams, prefetch, warps, stages, precision,
                   /*in_place=*/false);
    }]>
  ];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // ATTN_IR_ATTNATTRS_TD
