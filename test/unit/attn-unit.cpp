// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the unit test that is named on the command line: what lit cannot reach
// through a tool.

#include "Check.h"

#include "llvm/ADT/StringRef.h"

using namespace attn_unit;

struct UnitTest {
  llvm::StringRef name;
  void (*run)(Checker &);
};

static constexpr UnitTest kTests[] = {{"tensor", testTensor},
                                      {"npy", testNpy},
                                      {"reference", testReference},
                                      {"compare", testCompare}};

int main(int argc, char **argv) {
  llvm::StringRef wanted = argc == 2 ? argv[1] : "";
  for (const UnitTest &test : kTests) {
    if (test.name != wanted)
      continue;
    Checker checker;
    test.run(checker);
    llvm::outs() << test.name << ": " << checker.failures << " failures\n";
    return checker.failures != 0;
  }
  llvm::outs() << "attn-unit expects the name of one test\n";
  return 2;
}
