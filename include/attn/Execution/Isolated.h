// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does something that may crash in a process of its own.

#ifndef ATTN_EXECUTION_ISOLATED_H
#define ATTN_EXECUTION_ISOLATED_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace mlir::attn {

/// Memory that a process and those it has forked share: texts that survive the
/// crash of whoever wrote them.
class SharedNotes {
public:
  static llvm::Expected<SharedNotes> create();
  SharedNotes(SharedNotes &&other) : notes(std::exchange(other.notes, {})) {}
  ~SharedNotes();

  void setCase(StringRef text);
  void setComplaint(StringRef text);
  /// Count a configuration; then, of which kind it was.
  void countConfiguration();
  void countRefused();
  void countOnBlocks();
  void clear();

  StringRef getCase() const;
  StringRef getComplaint() const;
  uint64_t getConfigurations() const;
  uint64_t getRefused() const;
  uint64_t getOnBlocks() const;

private:
  struct Notes;
  SharedNotes() = default;

  Notes *notes = nullptr;
};

/// A forked process that does one piece of work and ends.
class IsolatedProcess {
public:
  /// Begin `work`, which is ended after `seconds`. A quiet process prints no
  /// errors.
  IsolatedProcess(llvm::function_ref<void()> work, unsigned seconds,
                  bool quiet);

  /// Wait for its end. Return what went wrong with the process, a signal or
  /// more than its time; none if nothing did.
  std::optional<std::string> wait() const;

private:
  int id;
  unsigned seconds;
};

} // namespace mlir::attn

#endif // ATTN_EXECUTION_ISOLATED_H
