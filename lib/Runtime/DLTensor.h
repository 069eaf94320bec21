// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in memory as numpy, PyTorch and others hand it over, in the layout of DLPack. The guard is DLPack's: where its
// own header was included first, that one is used. attnc copies the part between the two marks into the headers that
// it writes.

#ifndef ATTN_RUNTIME_DLTENSOR_H
#define ATTN_RUNTIME_DLTENSOR_H

// -- begin of what emitted headers repeat --
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

/* Where the data of a tensor is; type 1 is the CPU. */
typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

/* The type of an element: code 0 is a signed and 1 an unsigned integer, 2 a
   float, 4 a bfloat, 6 a boolean in a byte. */
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

/* A tensor. Strides count elements; null strides mean row after row. */
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

#endif /* DLPACK_DLPACK_H_ */
// -- end of what emitted headers repeat --

#endif // ATTN_RUNTIME_DLTENSOR_H
