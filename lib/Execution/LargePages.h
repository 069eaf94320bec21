// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the system for large pages, which big tensors are read up to a fifth faster from.

#ifndef ATTN_LIB_EXECUTION_LARGEPAGES_H
#define ATTN_LIB_EXECUTION_LARGEPAGES_H

#include <cstddef>
#include <cstdint>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mlir::attn {

/// Ask for large pages behind `bytes` bytes of `memory` that nothing was
/// written to yet, if they are many: numpy asks for its arrays, so ours are
/// timed alike. The system may not care.
inline void adviseLargePages(char *memory, size_t bytes) {
#if defined(__linux__)
  constexpr size_t kFewest = size_t(4) << 20, kPage = 4096;
  if (bytes < kFewest)
    return;
  size_t skipped = -reinterpret_cast<uintptr_t>(memory) % kPage;
  madvise(memory + skipped, bytes - skipped, MADV_HUGEPAGE);
#endif
}

} // namespace mlir::attn

#endif // ATTN_LIB_EXECUTION_LARGEPAGES_H
