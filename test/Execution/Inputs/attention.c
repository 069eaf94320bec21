/* Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* Causal attention with two heads on one key head, against the definition. */
#include "attention.h"

#include <math.h>
#include <stdio.h>

enum { H = 2, M = 5, N = 5, D = 8 };

static float q[H * M * D], k[N * D], v[N * D], o[H * M * D];

static double expect(int h, int i, int e) {
  double sum = 0, result = 0;
  for (int j = 0; j <= i; ++j) {
    double s = 0;
    for (int d = 0; d < D; ++d)
      s += q[(h * M + i) * D + d] * k[j * D + d];
    double p = exp(s / sqrt(D));
    sum += p;
    result += p * v[j * D + e];
  }
  return result / sum;
}

int main(void) {
  char message[256] = "";
  for (int i = 0; i < H * M * D; ++i)
    q[i] = (float)((i * 37) % 19 - 9) / 7;
  for (int i = 0; i < N * D; ++i) {
    k[i] = (float)((i * 23) % 17 - 8) / 5;
    v[i] = (float)((i * 11) % 13 - 6) / 3;
  }
  int64_t rows[4] = {1, H, M, D}, keys[4] = {1, 1, N, D},
          fewer[4] = {1, 1, 4, D};
  DLTensor tq = {q, {1, 0}, 4, {2, 32, 1}, rows, NULL, 0};
  DLTensor tk = {k, {1, 0}, 4, {2, 32, 1}, keys, NULL, 0};
  DLTensor tv = {v, {1, 0}, 4, {2, 32, 1}, keys, NULL, 0};
  DLTensor to = {o, {1, 0}, 4, {2, 32, 1}, rows, NULL, 0};
  int status = attention(&tq, &tk, &tv, &to, message, sizeof message);
  printf("good: %d %s\n", status, message);
  double error = 0;
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < M; ++i)
      for (int e = 0; e < D; ++e)
        error = fmax(error, fabs(o[(h * M + i) * D + e] - expect(h, i, e)));
  printf("largest error below 1e-5: %s\n", error < 1e-5 ? "yes" : "no");
  tv.shape = fewer;
  status = attention(&tq, &tk, &tv, &to, message, sizeof message);
  printf("lengths: %d %s\n", status, message);
  return 0;
}
