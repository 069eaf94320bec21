// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a case smaller as long as it still fails.

#include "attn/Execution/FuzzDraw.h"

using namespace mlir::attn;
using llvm::StringRef;
using llvm::Twine;

/// Return the cases that are one step simpler, the boldest first.
static std::vector<FuzzCase> getSimpler(const FuzzCase &fuzz) {
  std::vector<FuzzCase> result;
  auto with = [&](StringRef key, const Twine &value) {
    FuzzCase simpler = fuzz;
    simpler.set(key, value);
    if (simpler.get(key) != fuzz.get(key))
      result.push_back(simpler);
  };
  for (const FuzzKey &key : getFuzzKeys()) {
    bool isExtent = key.name.size() == 1;
    if (isExtent || key.name == "op" || key.name == "seed" ||
        key.name == "break")
      continue;
    with(key.name, key.fallback);
  }
  FuzzCase oneHead = fuzz;
  oneHead.set("H", "1");
  oneHead.set("G", "1");
  if (oneHead.print() != fuzz.print())
    result.push_back(oneHead);
  for (StringRef key : {"B", "H", "G", "M", "N", "D", "E", "C", "F", "T"}) {
    int64_t extent = fuzz.getInt(key);
    for (int64_t smaller : {int64_t(1), extent / 2, extent * 3 / 4, extent - 1})
      if (smaller >= 1 && smaller < extent)
        with(key, Twine(smaller));
  }
  std::string dynamic = fuzz.get("dynamic").str();
  for (size_t i = 0; i < dynamic.size(); ++i)
    with("dynamic", dynamic.substr(0, i) + dynamic.substr(i + 1));
  std::string layout = fuzz.get("layout").str();
  for (size_t i = 0; i < layout.size(); ++i)
    with("layout", layout.substr(0, i) + "h" + layout.substr(i + 1));
  StringRef special = fuzz.get("special");
  if (special.size() > 1)
    for (char letter : special)
      with("special", Twine(letter));
  return result;
}

FuzzCase
mlir::attn::minimize(const FuzzCase &fuzz, unsigned trials,
                     llvm::function_ref<bool(const FuzzCase &)> fails) {
  FuzzCase smallest = fuzz;
  bool changed = true;
  while (changed && trials > 0) {
    changed = false;
    for (const FuzzCase &simpler : getSimpler(smallest)) {
      if (llvm::Error error = simpler.check()) {
        llvm::consumeError(std::move(error));
        continue;
      }
      if (trials-- == 0)
        return smallest;
      if (!fails(simpler))
        continue;
      smallest = simpler;
      changed = true;
      break;
    }
  }
  return smallest;
}
