// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One configuration that the fuzzer tries, as text that can be pasted:
//
//   op=sdpa type=f32 B=1 H=2 M=3 N=5 D=8 dynamic=MN bias=f32:1HMN seed=7
//
// and what it is as a function: its operands, its results and its module.

#ifndef ATTN_EXECUTION_FUZZCASE_H
#define ATTN_EXECUTION_FUZZCASE_H

#include "attn/Execution/Tensor.h"

#include <array>

namespace mlir::attn {

/// A keyword of a case, and the value that it has where it is absent.
struct FuzzKey {
  llvm::StringLiteral name, fallback;
};

/// Return all keywords, in the order in which they are printed.
llvm::ArrayRef<FuzzKey> getFuzzKeys();

/// Values of keywords. Absent ones have their fallback.
class FuzzCase {
public:
  FuzzCase();

  /// Read `KEY=VALUE ...`. Fails for an unknown keyword and for values that
  /// make no function.
  static llvm::Expected<FuzzCase> parse(llvm::StringRef line);

  /// Return the text that parse reads; keywords with their fallback are left
  /// out.
  std::string print() const;

  llvm::StringRef get(llvm::StringRef key) const;
  int64_t getInt(llvm::StringRef key) const;
  bool has(llvm::StringRef key) const { return !get(key).empty(); }
  void set(llvm::StringRef key, const llvm::Twine &value);
  void reset(llvm::StringRef key);

  /// Fails where the values do not go together.
  llvm::Error check() const;

  /// Return the extent that a letter of a shape stands for.
  int64_t getExtent(char letter) const;

private:
  std::vector<std::string> values;
};

/// An operand or a result of the function that a case describes. Its shape is
/// a word such as `BHMD`; `1` is an extent of one that broadcasts.
struct FuzzValue {
  std::string name, element, shape;
  bool isScalar = false;

  /// Return what the tensor has in memory.
  ElementKind getKind() const;
  llvm::SmallVector<int64_t, 4> getExtents(const FuzzCase &fuzz) const;
  std::string getType(const FuzzCase &fuzz) const;
};

/// Return how large the numbers of queries and keys may be.
int64_t getMostAmplitude(const FuzzCase &fuzz);

/// Return the operands and the results, in order.
std::vector<FuzzValue> getFuzzOperands(const FuzzCase &fuzz);
std::vector<FuzzValue> getFuzzResults(const FuzzCase &fuzz);

/// Return a module with the function `f`.
std::string getFuzzModule(const FuzzCase &fuzz);

/// Return whether the module must be refused by the verifier, or a call when
/// it runs, because `break` made one extent differ.
bool isRefusedByVerifier(const FuzzCase &fuzz);
bool isRefusedAtRunTime(const FuzzCase &fuzz);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_FUZZCASE_H
