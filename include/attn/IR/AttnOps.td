// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of the dialect: the ones that models are written in, then the ones that tiling makes.

#ifndef ATTN_IR_ATTNOPS_TD
#define ATTN_IR_ATTNOPS_TD

include "attn/IR/AttnSdpaOp.td"
include "attn/IR/AttnMhaOp.td"
include "attn/IR/AttnRopeOp.td"
include "attn/IR/AttnLinearAttentionOp.td"
include "attn/IR/AttnCacheAppendOp.td"
include "attn/IR/AttnMergeOutputsOp.td"
include "attn/IR/AttnTileOps.td"
include "attn/IR/AttnBlockWeightsOp.td"
include "attn/IR/AttnCallOps.td"
include "attn/IR/AttnYieldOp.td"

#endif // ATTN_IR_ATTNOPS_TD
