// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operands and results may be, and the interfaces that ops share.

#ifndef ATTN_IR_ATTNTYPES_TD
#define ATTN_IR_ATTNTYPES_TD

include "attn/IR/AttnAttrs.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def Attn_Tensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Attn_StoredTensor
    : RankedTensorOf<[F16, BF16, F32, F64, I8, F8E4M3FN, F8E5M2]>;
def Attn_MaskTensor : RankedTensorOf<[I1, I8]>;
def Attn_LengthTensor : RankedTensorOf<[I32, I64, Index]>;
def Attn_Offset
    : AnyTypeOf<[I32, I64, Index, RankedTensorOf<[I32, I64, Index]>]>;
def Attn_LseTensor : RankedTensorOf<[F32, F64]>;

#endif // ATTN_IR_ATTNTYPES_TD
