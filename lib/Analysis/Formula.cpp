// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds, multiplies, prints and evaluates sums of products of sizes.

#include "attn/Analysis/Formula.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::attn;

/// The order of sizes in a product: as shapes have them, then others by name.
static constexpr StringRef kOrder = "BHGMNTSKDECFP";

/// Return whether `a` is written before `b`.
static bool isBefore(StringRef a, StringRef b) {
  auto rank = [](StringRef name) {
    return name.size() == 1 ? kOrder.find(name) : StringRef::npos;
  };
  size_t first = rank(a), second = rank(b);
  return first == second ? a < b : first < second;
}

Formula::Formula(int64_t number) {
  if (number != 0)
    terms[{}] = number;
}

Formula Formula::size(StringRef name) {
  Formula formula;
  formula.terms[{name.str()}] = 1;
  return formula;
}

Formula &Formula::operator+=(const Formula &other) {
  for (const auto &[names, number] : other.terms) {
    int64_t sum = terms[names] + number;
    if (sum == 0)
      terms.erase(names);
    else
      terms[names] = sum;
  }
  return *this;
}

Formula attn::operator*(const Formula &a, const Formula &b) {
  Formula product;
  for (const auto &[first, firstNumber] : a.terms)
    for (const auto &[second, secondNumber] : b.terms) {
      std::vector<std::string> names(first);
      names.insert(names.end(), second.begin(), second.end());
      std::sort(names.begin(), names.end(), isBefore);
      Formula term;
      term.terms[names] = firstNumber * secondNumber;
      product += term;
    }
  return product;
}

std::string Formula::str() const {
  std::string text;
  for (const auto &[names, number] : terms) {
    if (!text.empty())
      text += " + ";
    std::string term;
    if (number != 1 || names.empty())
      term = std::to_string(number);
    for (const std::string &name : names)
      term += (term.empty() ? "" : " ") + name;
    text += term;
  }
  return text.empty() ? "0" : text;
}

std::optional<int64_t> Formula::evaluate(const Sizes &sizes) const {
  int64_t sum = 0;
  for (const auto &[names, number] : terms) {
    int64_t term = number;
    for (const std::string &name : names) {
      auto size = sizes.find(name);
      if (size == sizes.end() || llvm::MulOverflow(term, size->second, term))
        return std::nullopt;
    }
    if (llvm::AddOverflow(sum, term, sum))
      return std::nullopt;
  }
  return sum;
}
