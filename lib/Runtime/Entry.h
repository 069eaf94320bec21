// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled function's C entry calls. EmitEntries builds these calls; the names and the layout of
// the signature are agreed on here and there.
//
// A signature is an array of int64_t: the number of inputs, the number of outputs, then for each tensor its type
// code and bits (DLPack's), its rank, and its extents (-1: known at run time only), then for each output the number of
// the input whose memory it may have, or -1. The names are one string of
// parts that end in NUL: the function, then what messages call each tensor ("argument 'query'", "result 0").
//
// No header of libc is included: the code is compiled once, on the machine that builds the compiler, and linked
// into objects of other targets.

#ifndef ATTN_RUNTIME_ENTRY_H
#define ATTN_RUNTIME_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "DLTensor.h"
#include "Errors.h"

/// Check every tensor against the signature and write the words of a memref for
/// each: pointer, pointer, offset, extents, strides.
int attn_rt_open(const int64_t *signature, const char *names,
                 DLTensor *const *tensors, int64_t *words, char *message,
                 size_t size);

/// The same for NAME_shape: data may be null, the outputs' extents are not read,
/// and words are written for the inputs only.
int attn_rt_open_shapes(const int64_t *signature, const char *names,
                        DLTensor *const *tensors, int64_t *words, char *message,
                        size_t size);

/// Compare the outputs' extents with `extents`, all of them in a row.
int attn_rt_compare_shapes(const int64_t *signature, const char *names,
                           DLTensor *const *tensors, const int64_t *extents,
                           char *message, size_t size);

/// Write `extents` into the outputs' shapes.
int attn_rt_store_shapes(const int64_t *signature, DLTensor *const *tensors,
                         const int64_t *extents);

/// Write the failed check number `number` (from 1) of `table`, a string of
/// parts that end in NUL, and return `kinds[number - 1]`.
int attn_rt_report(const char *table, const int64_t *kinds, int64_t number,
                   int64_t got, int64_t wanted, char *message, size_t size);

/// Write what status `status` of a function's body means and return it.
int attn_rt_status(const char *names, int32_t status, char *message,
                   size_t size);

#endif // ATTN_RUNTIME_ENTRY_H
