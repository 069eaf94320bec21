// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The little that the unit tests need: a named test is a function, a check that
// fails prints where and what.

#ifndef ATTN_TEST_UNIT_CHECK_H
#define ATTN_TEST_UNIT_CHECK_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace attn_unit {

/// Counts the checks of the running test that did not hold.
struct Checker {
  int failures = 0;

  void check(bool holds, const char *file, int line, const char *text) {
    if (holds)
      return;
    ++failures;
    llvm::outs() << file << ":" << line << ": does not hold: " << text << "\n";
  }
};

/// The tests of each file.
void testTensor(Checker &checker);
void testNpy(Checker &checker);
void testReference(Checker &checker);
void testCompare(Checker &checker);

} // namespace attn_unit

#define EXPECT(condition)                                                      \
  checker.check(static_cast<bool>(condition), __FILE__, __LINE__, #condition)

#endif // ATTN_TEST_UNIT_CHECK_H
