// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each op must check at run time, and what is said when it fails.

#ifndef ATTN_CODEGEN_RUNTIMECHECKS_H
#define ATTN_CODEGEN_RUNTIMECHECKS_H

#include "attn/IR/AttnOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Attributes of the function of checks: what each says when it fails, with places for
/// two numbers, and the error code that goes with it.
inline constexpr llvm::StringLiteral kMessagesAttrName = "attn.messages";
inline constexpr llvm::StringLiteral kKindsAttrName = "attn.kinds";

/// An extent that must equal another: dimension `dim` of the tensor called
/// `name`, or the number `extent` alone.
struct NamedExtent {
  std::string name;
  Value tensor;
  int64_t dim = 0;
  OpFoldResult extent;

  NamedExtent(StringRef name, Value tensor, int64_t dim)
      : name(name.str()), tensor(tensor), dim(dim) {}
  NamedExtent(StringRef what, OpFoldResult extent)
      : name(what.str()), extent(extent) {}
};

/// Collects the checks of one function; the first that fails counts.
class CheckBuilder {
public:
  /// With `onlyShapes`, checks that read data keep their numbers and messages, but
  /// are not built.
  explicit CheckBuilder(func::FuncOp function, bool onlyShapes = false);

  bool empty() const { return messages.empty(); }

  /// Return true if a check that reads data was met.
  bool needsData() const { return anyData; }

  /// The place where the checks of the current op are built.
  OpBuilder builder;

  /// Work on `op`, before which its checks are built.
  void setOp(Operation *op);

  /// Check that two extents are equal, unless both are static.
  void agree(const NamedExtent &a, const NamedExtent &b);

  /// Check that the heads `a` are a multiple of the heads `b`.
  void divides(const NamedExtent &a, const NamedExtent &b);

  /// Check that every element of `positions`, called `name`, is at least 0 and
  /// below extent 0 of the tensor `table`, called `tableName`.
  void inTable(StringRef name, Value positions, StringRef tableName,
               Value table);

  /// Report `message`, which has a place for each of two numbers, where `fails`.
  void require(Value fails, Value got, Value wanted, StringRef message);

  /// Return `count`, or 0 after a check that failed: then tensors may not fit
  /// together, and no more than their extents may be looked at.
  Value ifGoodSoFar(Value count);

  /// Return an extent as an index.
  Value readExtent(const NamedExtent &extent);

  /// Check that `ends`, called `name`, begin with 0, never fall, and end with
  /// `total`.
  void sequences(StringRef name, Value ends, const NamedExtent &total);

  /// Check that every row of `op` goes to a position that its cache has, and to a
  /// page that there is.
  void places(CacheAppendOp op);

  /// Return the number of rows of the longest sequence.
  OpFoldResult longest(Value ends);

  /// Check that each entry of the page table of `op` that is read is the number of
  /// a page.
  void pages(SdpaOp op);

  /// Return the sum of two extents.
  OpFoldResult sum(const NamedExtent &a, const NamedExtent &b);

  /// Write the messages on the function and return what it returns: the number
  /// of the failed check, and its two numbers.
  SmallVector<Value> finish();

private:
  void add(Value fails, Value got, Value wanted, StringRef message,
           int64_t kind);

  func::FuncOp function;
  bool onlyShapes, anyData = false;
  Operation *op = nullptr;
  SmallVector<std::string> messages;
  SmallVector<int64_t> kinds;
  /// The state of what has been checked so far, i64 each.
  Value number, got, wanted;
};

/// Build the checks of `op` if it is one of ours that needs any.
void addRuntimeChecks(CheckBuilder &checks, Operation *op);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_RUNTIMECHECKS_H
