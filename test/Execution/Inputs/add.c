/* Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Calls a compiled function through its header: contiguous and strided
   tensors, NAME_shape, NAME_apply, and each kind of error. */
#include "add.h"

#include <stdio.h>
#include <string.h>

static char message[256];

static void say(const char *what, int status) {
  printf("%s: %d %s\n", what, status, status ? message : "");
  message[0] = 0;
}

int main(void) {
  float x[24], y[24], z[24];
  for (int i = 0; i < 24; ++i) {
    x[i] = (float)i;
    y[i] = 100.0f * (float)i;
    z[i] = -1.0f;
  }
  int64_t shape[2] = {3, 8}, out_shape[2] = {3, 8}, strides[2] = {1, 3};
  DLTensor tx = {x, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0};
  DLTensor ty = {y, {1, 0}, 2, {2, 32, 1}, shape, strides, 0};
  DLTensor tz = {z, {1, 0}, 2, {2, 32, 1}, out_shape, NULL, 0};

  say("good", add(&tx, &ty, &tz, message, sizeof message));
  /* z[1][2] = x[1][2] + y at 1 + 2 * 3. */
  printf("%g\n", z[10]);
  memset(z, 0, sizeof z);
  DLTensor *all[] = {&tx, &ty, &tz};
  say("apply", add_apply(all, message, sizeof message));
  printf("%g\n", z[10]);
  out_shape[0] = out_shape[1] = 0;
  say("shape", add_shape(&tx, &ty, &tz, message, sizeof message));
  printf("%d %d\n", (int)out_shape[0], (int)out_shape[1]);

  DLTensor bad = tx;
  say("null", add(NULL, &ty, &tz, message, sizeof message));
  bad.ndim = 1;
  say("rank", add(&bad, &ty, &tz, message, sizeof message));
  bad = tx;
  bad.dtype.bits = 16;
  say("type", add(&bad, &ty, &tz, message, sizeof message));
  int64_t wide[2] = {3, 9};
  bad = tx;
  bad.shape = wide;
  say("shape", add(&bad, &ty, &tz, message, sizeof message));
  bad = tx;
  bad.device.device_type = 2;
  say("device", add(&bad, &ty, &tz, message, sizeof message));
  bad = tx;
  bad.data = NULL;
  say("data", add(&bad, &ty, &tz, message, sizeof message));
  bad = tx;
  bad.byte_offset = 1;
  say("offset", add(&bad, &ty, &tz, message, sizeof message));
  bad = tz;
  bad.strides = strides;
  say("strides", add(&tx, &ty, &bad, message, sizeof message));
  int64_t zero[2] = {0, 1};
  bad = tz;
  bad.strides = zero;
  say("self", add(&tx, &ty, &bad, message, sizeof message));
  bad = tz;
  bad.data = x + 23;
  say("alias", add(&tx, &ty, &bad, message, sizeof message));
  int64_t fewer[2] = {2, 8};
  bad = tz;
  bad.shape = fewer;
  say("output", add(&tx, &ty, &bad, message, sizeof message));
  say("no text", add(&tx, &ty, &bad, NULL, 0));
  int64_t none[2] = {0, 8};
  DLTensor empty = {NULL, {1, 0}, 2, {2, 32, 1}, none, NULL, 0};
  say("empty", add(&empty, &empty, &empty, message, sizeof message));
  return 0;
}
