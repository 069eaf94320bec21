// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Switches between stacks, in assembly for x86-64 and AArch64: the registers that a called function must keep are
// pushed on the stack that is left and popped from the one that is entered.

#include "Fiber.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define ATTN_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTN_FIBER_ASAN 1
#endif
#endif
#ifdef ATTN_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

using namespace mlir::attn;
using namespace mlir::attn::emulator;

extern "C" {
/// Save the registers, store the stack pointer in `*from`, continue at `to`.
void attn_fiber_switch(void **from, void *to);
/// Where a new fiber starts: calls the function in the first saved register with
/// the second.
void attn_fiber_start();
}

#if defined(__x86_64__)

/// Words that a switch pushes, the return address included.
constexpr size_t kSavedWords = 7;
/// Where in them a new fiber finds its function and its argument: r12 and rbx.
constexpr size_t kEntryWord = 3;
constexpr size_t kArgumentWord = 4;
constexpr size_t kReturnWord = 6;

asm(R"(
.text
.globl attn_fiber_switch
.type attn_fiber_switch, @function
attn_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size attn_fiber_switch, . - attn_fiber_switch
.globl attn_fiber_start
.type attn_fiber_start, @function
attn_fiber_start:
  movq %rbx, %rdi
  callq *%r12
  ud2
.size attn_fiber_start, . - attn_fiber_start
.section .note.GNU-stack,"",@progbits
.text
)");

#elif defined(__aarch64__)

/// Words that a switch stores: x19 to x30, d8 to d15.
constexpr size_t kSavedWords = 20;
/// Where in them a new fiber finds its function and its argument, x19 and x20,
/// and where it returns to, x30.
constexpr size_t kEntryWord = 0;
constexpr size_t kArgumentWord = 1;
constexpr size_t kReturnWord = 11;

asm(R"(
.text
.globl attn_fiber_switch
.type attn_fiber_switch, %function
attn_fiber_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size attn_fiber_switch, . - attn_fiber_switch
.globl attn_fiber_start
.type attn_fiber_start, %function
attn_fiber_start:
  mov x0, x20
  blr x19
  brk #1
.size attn_fiber_start, . - attn_fiber_start
.section .note.GNU-stack,"",%progbits
.text
)");

#else
#error "the emulator switches stacks on x86-64 and AArch64 only"
#endif

static size_t getPageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

FiberStacks::~FiberStacks() { clear(); }

void FiberStacks::clear() {
  for (char *stack : stacks)
    munmap(stack - getPageBytes(), kStackBytes + getPageBytes());
  stacks.clear();
}

char *FiberStacks::get(size_t index) {
  while (stacks.size() <= index) {
    size_t page = getPageBytes();
    void *memory =
        mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    mprotect(memory, page, PROT_NONE);
    stacks.push_back(static_cast<char *>(memory) + page);
  }
  return stacks[index];
}

/// Return how far from its end the stack at `stack` is used: stacks are whole pages
/// apart, and their ends would all be in the same few lines of a cache.
static size_t getColor(const char *stack) {
  constexpr size_t kLineBytes = 64, kColors = 64;
  size_t page = reinterpret_cast<uintptr_t>(stack) / getPageBytes();
  return kLineBytes * (1 + page * 7 % kColors);
}

void emulator::prepareFiber(Fiber &fiber, char *stack, void (*entry)(void *),
                            void *argument) {
  // The start finds the stack aligned to 16 bytes, as before a call.
  auto *top = reinterpret_cast<void **>(stack + kStackBytes - getColor(stack));
  void **saved = top - kSavedWords;
  std::memset(saved, 0, kSavedWords * sizeof(void *));
  saved[kEntryWord] = reinterpret_cast<void *>(entry);
  saved[kArgumentWord] = argument;
  saved[kReturnWord] = reinterpret_cast<void *>(&attn_fiber_start);
  fiber.stackPointer = saved;
  fiber.stack = stack;
  fiber.shadow = nullptr;
}

#ifdef ATTN_FIBER_ASAN

/// Who is left by the switch that is under way.
static thread_local Fiber *leaving = nullptr;

/// Tell AddressSanitizer that the switch has been made, and learn from it where an
/// OS thread's own stack lies.
static void finishSwitch(void *shadow) {
  const void *bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(shadow, &bottom, &bytes);
  if (leaving && !leaving->stack) {
    leaving->ownBottom = bottom;
    leaving->ownBytes = bytes;
  }
}

void emulator::switchFiber(Fiber &from, Fiber &to, bool done) {
  const void *bottom = to.stack ? to.stack : to.ownBottom;
  size_t bytes = to.stack ? kStackBytes : to.ownBytes;
  leaving = &from;
  __sanitizer_start_switch_fiber(done ? nullptr : &from.shadow, bottom, bytes);
  attn_fiber_switch(&from.stackPointer, to.stackPointer);
  finishSwitch(from.shadow);
}

void emulator::enterFiber() { finishSwitch(nullptr); }

#else

void emulator::switchFiber(Fiber &from, Fiber &to, bool done) {
  attn_fiber_switch(&from.stackPointer, to.stackPointer);
}

void emulator::enterFiber() {}

#endif
