// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `attn`, its attributes and enums.

#ifndef ATTN_IR_ATTNDIALECT_H
#define ATTN_IR_ATTNDIALECT_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "attn/IR/AttnDialect.h.inc"

#include "attn/IR/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/IR/AttnAttrs.h.inc"

#endif // ATTN_IR_ATTNDIALECT_H
