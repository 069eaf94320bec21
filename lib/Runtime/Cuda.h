// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C entry of a function with kernels calls. EmitCudaEntries and LaunchesToCalls build these calls.
//
// The CUDA driver is opened when the first function is called, and only the names below are used of it. A program that
// runs kernels without a GPU, as the tests do, brings the same names: attn_cuda_set_driver.

#ifndef ATTN_RUNTIME_CUDA_H
#define ATTN_RUNTIME_CUDA_H

#include "Entry.h"

/// Machine code for one architecture, or PTX.
typedef struct {
  /// 80 for sm_80; of PTX the least that it needs.
  int64_t architecture;
  int64_t kind;
  const void *data;
} AttnCudaImage;

enum {
  /// Runs on later GPUs of the same generation: sm_80's on sm_86.
  ATTN_CUDA_CUBIN = 0,
  /// Runs on its own architecture only: sm_90a.
  ATTN_CUDA_EXACT_CUBIN = 1,
  ATTN_CUDA_PTX = 2
};

/// All kernels of a module. EmitCuda writes it.
typedef struct {
  int64_t image_count;
  const AttnCudaImage *images;
  int64_t kernel_count;
  /// The kernels' names, one after the other, each with its NUL.
  const char *kernels;
  /// What was loaded before: the first of a list, one for each context.
  void *loaded;
  /// Held while the list is changed.
  int64_t lock;
} AttnCudaCode;

/// One call of a function. EmitCudaEntries has 16 words for it.
typedef struct {
  void *kernels;
  void *stream;
  const char *names;
  char *message;
  size_t size;
  int64_t status;
} AttnCudaCall;

/// As attn_rt_open and, where data is not there yet, attn_rt_open_shapes, but that
/// the tensors are of a GPU and the outputs' extents are read too.
int attn_rt_open_cuda(const int64_t *signature, const char *names,
                      DLTensor *const *tensors, int64_t *words, char *message,
                      size_t size);
int attn_rt_open_extents(const int64_t *signature, const char *names,
                         DLTensor *const *tensors, int64_t *words,
                         char *message, size_t size);

/// Begin `call`: check the workspace and load the kernels, if they are not yet.
int attn_rt_cuda_begin(AttnCudaCall *call, AttnCudaCode *code,
                       const int64_t *signature, const char *names,
                       DLTensor *const *tensors, const void *workspace,
                       int64_t bytes, void *stream, char *message, size_t size);

/// Launch kernel number `kernel` with `count` parameters; nothing where a launch of
/// the call has failed or there are no blocks.
void attn_rt_cuda_launch(AttnCudaCall *call, int64_t kernel, int64_t grid_x,
                         int64_t grid_y, int64_t grid_z, int64_t block_x,
                         int64_t block_y, int64_t block_z, int64_t shared,
                         int64_t *words, int64_t count);

/// Return what became of the call.
int attn_rt_cuda_end(const AttnCudaCall *call);

/// Take the functions of the driver from `lookup` instead of the driver.
void attn_cuda_set_driver(void *(*lookup)(const char *name));

#endif // ATTN_RUNTIME_CUDA_H
