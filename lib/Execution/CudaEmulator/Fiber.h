// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of a GPU as fibers: each has a stack, one of them runs, and a switch saves what a call would save.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_FIBER_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_FIBER_H

#include <cstddef>
#include <vector>

namespace mlir::attn::emulator {

/// Bytes of a fiber's stack. A kernel's own arrays are a few KiB.
constexpr size_t kStackBytes = 64 * 1024;

/// A point at which execution goes on.
struct Fiber {
  void *stackPointer = nullptr;
  /// The lowest address of the stack; null for the one of an OS thread.
  char *stack = nullptr;
  /// What AddressSanitizer keeps for a fiber that does not run, and where the
  /// stack of an OS thread lies.
  void *shadow = nullptr;
  const void *ownBottom = nullptr;
  size_t ownBytes = 0;
};

/// Stacks for fibers, each above a page that may not be touched. They are kept
/// for the next block.
class FiberStacks {
public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks();

  /// Return the lowest address of stack `index`, or null if there is no memory.
  char *get(size_t index);

  /// Give the stacks back. To be called where fibers are left for good in the middle
  /// of what they do: AddressSanitizer holds on to what is on their stacks.
  void clear();

private:
  std::vector<char *> stacks;
};

/// Let `fiber` start with `entry(argument)` on `stack`. `entry` never returns.
void prepareFiber(Fiber &fiber, char *stack, void (*entry)(void *),
                  void *argument);

/// Go on with `to`; what runs now goes on when somebody switches to `from`. A
/// fiber that is `done` will not be switched to again.
void switchFiber(Fiber &from, Fiber &to, bool done = false);

/// The first thing that an entry does.
void enterFiber();

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_FIBER_H
