// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the CPU for the features that a compiled function needs, so that the wrong machine gives an error instead of
// an illegal instruction. Compiled once for each architecture.

#include "Cpu.h"
#include "Errors.h"

int snprintf(char *text, size_t size, const char *format, ...);

#if defined(__x86_64__)

#include <cpuid.h>

typedef struct {
  const char *name;
  uint32_t leaf, subleaf;
  int word, bit;
} Feature;

#define ROW(name, leaf, subleaf, word, bit) {name, leaf, subleaf, word, bit},
static const Feature features[] = {ATTN_X86_FEATURES(ROW)};
#undef ROW

/// Return which registers the operating system saves.
static uint32_t read_saved_registers(void) {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
    return 0;
  __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

/// Return which registers the operating system must save for a feature: those
/// of AVX, of AVX-512, or the sixteen more of APX.
static uint32_t needed_registers(const char *name) {
  if (name[0] == 'e')
    return 1u << 19;
  if (name[0] == 'a' && name[1] == 'v' && name[2] == 'x')
    return name[3] == '5' || name[3] == '1' ? 0xe6u : 6u;
  return name[0] == 'f' ? 6u : 0u;
}

static uint64_t read_features(void) {
  uint32_t saved = read_saved_registers();
  uint64_t present = 0;
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i) {
    const Feature *feature = &features[i];
    uint32_t words[4];
    if (!__get_cpuid_count(feature->leaf, feature->subleaf, &words[0],
                           &words[1], &words[2], &words[3]))
      continue;
    uint32_t needed = needed_registers(feature->name);
    if (((words[feature->word] >> feature->bit) & 1) &&
        (saved & needed) == needed)
      present |= (uint64_t)1 << i;
  }
  return present;
}

#elif defined(__aarch64__)

unsigned long getauxval(unsigned long type);

typedef struct {
  const char *name;
  int word, bit;
} Feature;

#define ROW(name, word, bit) {name, word, bit},
static const Feature features[] = {ATTN_AARCH64_FEATURES(ROW)};
#undef ROW

static uint64_t read_features(void) {
  uint64_t present = 0;
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i)
    if ((getauxval((unsigned long)features[i].word) >> features[i].bit) & 1)
      present |= (uint64_t)1 << i;
  return present;
}

#endif

int attn_rt_check_cpu(const char *names, uint64_t needed, char *message,
                      size_t size) {
  // Asked once: a virtual machine takes microseconds to answer. The top bit
  // says that it was; threads that race write the same.
  static uint64_t known;
  uint64_t present = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!present) {
    present = read_features() | (uint64_t)1 << 63;
    __atomic_store_n(&known, present, __ATOMIC_RELAXED);
  }
  uint64_t missing = needed & ~present;
  for (size_t i = 0; i < sizeof features / sizeof *features; ++i)
    if ((missing >> i) & 1) {
      snprintf(message, size,
               "'%s' expects a CPU with the feature '%s', got one without",
               names, features[i].name);
      return ATTN_ERROR_CPU;
    }
  return ATTN_OK;
}
