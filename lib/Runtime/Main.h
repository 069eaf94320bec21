// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the main function of an executable calls; EmitMain builds the call.

#ifndef ATTN_RUNTIME_MAIN_H
#define ATTN_RUNTIME_MAIN_H

#include <stddef.h>
#include <stdint.h>

#include "DLTensor.h"

/// NAME_apply, or NAME_shape on an array.
typedef int AttnFunction(DLTensor *const *tensors, char *message, size_t size);

/// The function that an executable runs; signature and names as in Entry.h.
typedef struct {
  const int64_t *signature;
  const char *names;
  AttnFunction *shape, *apply;
} AttnProgram;

/// Read the inputs that the command line names, run, print or write. Return the
/// exit status: 0 good, 1 failed, 2 wrong use.
int attn_rt_main(int argc, char **argv, const int64_t *signature,
                 const char *names, AttnFunction *shape, AttnFunction *apply);

#endif // ATTN_RUNTIME_MAIN_H
