/* Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* What an object calls of the OpenMP run time, for one thread: machines without
   libomp for another architecture can link that architecture's objects. */
#include <stdarg.h>
#include <stdint.h>

static uint64_t first, last;
static int waiting;

int omp_get_max_threads(void) { return 1; }
int omp_get_thread_num(void) { return 0; }
int32_t __kmpc_global_thread_num(void *where) { return where ? 0 : 0; }
void __kmpc_barrier(void *where, int32_t thread) { (void)where, (void)thread; }

void __kmpc_fork_call(void *where, int32_t count, void *task, ...) {
  int32_t thread = 0, bound = 0;
  void *arguments[4] = {0};
  va_list list;
  va_start(list, task);
  for (int32_t i = 0; i < count && i < 4; ++i)
    arguments[i] = va_arg(list, void *);
  va_end(list);
  (void)where;
  ((void (*)(int32_t *, int32_t *, void *, void *, void *, void *))task)(
      &thread, &bound, arguments[0], arguments[1], arguments[2], arguments[3]);
}

void __kmpc_dispatch_init_8u(void *where, int32_t thread, int32_t schedule,
                             uint64_t lower, uint64_t upper, int64_t step,
                             int64_t chunk) {
  (void)where, (void)thread, (void)schedule, (void)step, (void)chunk;
  first = lower;
  last = upper;
  waiting = 1;
}

int __kmpc_dispatch_next_8u(void *where, int32_t thread, int32_t *is_last,
                            uint64_t *lower, uint64_t *upper, int64_t *step) {
  (void)where, (void)thread;
  if (!waiting)
    return 0;
  waiting = 0;
  *is_last = 1;
  *lower = first;
  *upper = last;
  *step = 1;
  return first <= last;
}
