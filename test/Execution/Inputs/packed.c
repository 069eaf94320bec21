/* Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Packs the weights of a layer through its header, and computes with the block
   what the layer computes with the weights. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, CHANNELS = 48 };

static char message[256];

static void say(const char *what, int status) {
  printf("%s: %d %s\n", what, status, status ? message : "");
  message[0] = 0;
}

static DLTensor describe(void *data, int ndim, int64_t *shape, int bits) {
  DLTensor tensor = {data, {1, 0}, ndim, {2, (uint8_t)bits, 1}, shape, NULL, 0};
  return tensor;
}

int main(void) {
  static float x[ROWS * CHANNELS], y[ROWS * CHANNELS], z[ROWS * CHANNELS];
  static float w[4][CHANNELS * CHANNELS];
  for (int i = 0; i < ROWS * CHANNELS; ++i)
    x[i] = (float)(i * 7 % 31 - 15) / 16.0f;
  for (int i = 0; i < 4 * CHANNELS * CHANNELS; ++i)
    w[0][i] = (float)(i * 13 % 37 - 18) / 64.0f;
  int64_t rows[3] = {1, ROWS, CHANNELS}, square[2] = {CHANNELS, CHANNELS};
  DLTensor tx = describe(x, 3, rows, 32), ty = describe(y, 3, rows, 32),
           tz = describe(z, 3, rows, 32), tw[4];
  for (int i = 0; i < 4; ++i)
    tw[i] = describe(w[i], 2, square, 32);

  int64_t length = 0;
  DLTensor block = describe(NULL, 1, &length, 32);
  say("shape", layer_pack_shape(&tw[0], &tw[1], &tw[2], &tw[3], &block, message,
                                sizeof message));
  printf("length is that of whole panels: %d\n",
         length >= 4 * CHANNELS * CHANNELS);
  block.data = calloc((size_t)length, sizeof(float));
  say("no mark", layer_packed(&tx, &block, &tz, message, sizeof message));
  say("pack", layer_pack(&tw[0], &tw[1], &tw[2], &tw[3], &block, message,
                         sizeof message));
  say("packed", layer_packed(&tx, &block, &tz, message, sizeof message));
  say("layer",
      layer(&tx, &tw[0], &tw[1], &tw[2], &tw[3], &ty, message, sizeof message));
  printf("same bits: %d\n", !memcmp(y, z, sizeof y));
  DLTensor *all[] = {&tx, &block, &tz};
  memset(z, 0, sizeof z);
  say("apply", layer_packed_apply(all, message, sizeof message));
  printf("same bits: %d\n", !memcmp(y, z, sizeof y));
  say("null", layer_packed(&tx, NULL, &tz, message, sizeof message));
  free(block.data);
  return 0;
}
