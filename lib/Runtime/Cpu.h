// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Features of a CPU that compiled code may need and an entry can ask for, one bit each in this order. Names are
// LLVM's. The compiler reads this list too.
//
//   X(name, leaf, subleaf, register, bit)    as the instruction cpuid gives them, registers eax ebx ecx edx
//   A(name, word, bit)                       as Linux's auxiliary vector gives them (16: AT_HWCAP, 26: AT_HWCAP2)

#ifndef ATTN_RUNTIME_CPU_H
#define ATTN_RUNTIME_CPU_H

#include <stddef.h>
#include <stdint.h>

#define ATTN_X86_FEATURES(X)                                                   \
  X("sse3", 1, 0, 2, 0)                                                        \
  X("ssse3", 1, 0, 2, 9)                                                       \
  X("fma", 1, 0, 2, 12)                                                        \
  X("sse4.1", 1, 0, 2, 19)                                                     \
  X("sse4.2", 1, 0, 2, 20)                                                     \
  X("movbe", 1, 0, 2, 22)                                                      \
  X("popcnt", 1, 0, 2, 23)                                                     \
  X("avx", 1, 0, 2, 28)                                                        \
  X("f16c", 1, 0, 2, 29)                                                       \
  X("bmi", 7, 0, 1, 3)                                                         \
  X("avx2", 7, 0, 1, 5)                                                        \
  X("bmi2", 7, 0, 1, 8)                                                        \
  X("avx512f", 7, 0, 1, 16)                                                    \
  X("avx512dq", 7, 0, 1, 17)                                                   \
  X("avx512ifma", 7, 0, 1, 21)                                                 \
  X("avx512cd", 7, 0, 1, 28)                                                   \
  X("avx512bw", 7, 0, 1, 30)                                                   \
  X("avx512vl", 7, 0, 1, 31)                                                   \
  X("avx512vbmi", 7, 0, 2, 1)                                                  \
  X("avx512vbmi2", 7, 0, 2, 6)                                                 \
  X("gfni", 7, 0, 2, 8)                                                        \
  X("avx512vnni", 7, 0, 2, 11)                                                 \
  X("avx512bitalg", 7, 0, 2, 12)                                               \
  X("avx512vpopcntdq", 7, 0, 2, 14)                                            \
  X("avx512fp16", 7, 0, 3, 23)                                                 \
  X("avxvnni", 7, 1, 0, 4)                                                     \
  X("avx512bf16", 7, 1, 0, 5)                                                  \
  X("avx10.1", 7, 1, 3, 19)                                                    \
  X("egpr", 7, 1, 3, 21)                                                       \
  X("lzcnt", 0x80000001, 0, 2, 5)

#define ATTN_AARCH64_FEATURES(A)                                               \
  A("fullfp16", 16, 10)                                                        \
  A("lse", 16, 8)                                                              \
  A("dotprod", 16, 20)                                                         \
  A("sve", 16, 22)                                                             \
  A("sve2", 26, 1)                                                             \
  A("i8mm", 26, 13)                                                            \
  A("bf16", 26, 14)

/// Return 0 if this CPU has the features `needed`; else write which is missing
/// for `names`, the names of the function as in Entry.h.
int attn_rt_check_cpu(const char *names, uint64_t needed, char *message,
                      size_t size);

#endif // ATTN_RUNTIME_CPU_H
