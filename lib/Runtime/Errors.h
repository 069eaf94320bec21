// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C entry of a compiled function returns. attnc copies the part between the two marks into the headers that
// it writes.

#ifndef ATTN_RUNTIME_ERRORS_H
#define ATTN_RUNTIME_ERRORS_H

// -- begin of what emitted headers repeat --
#ifndef ATTN_ERRORS_
#define ATTN_ERRORS_

enum {
  ATTN_OK = 0,
  ATTN_ERROR_NULL = 1,    /* a tensor, its shape or its data is missing */
  ATTN_ERROR_RANK = 2,    /* another number of dimensions */
  ATTN_ERROR_TYPE = 3,    /* another element type */
  ATTN_ERROR_SHAPE = 4,   /* an extent that does not fit */
  ATTN_ERROR_DEVICE = 5,  /* not in memory of the device that computes */
  ATTN_ERROR_STRIDES = 6, /* strides or an address that cannot be used */
  ATTN_ERROR_ALIAS = 7,   /* an output shares memory with another tensor */
  ATTN_ERROR_DATA = 8,    /* a value that is out of range */
  ATTN_ERROR_MEMORY = 9,  /* no memory for scratch */
  ATTN_ERROR_CPU = 10,    /* the CPU lacks a feature */
  ATTN_ERROR_GPU = 11     /* no GPU, no driver, or the driver refuses */
};

#endif /* ATTN_ERRORS_ */
// -- end of what emitted headers repeat --

#endif // ATTN_RUNTIME_ERRORS_H
