// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets loops over register tiles step through memory with pointers:
//
//   loop:                                            loop:
//     %i = phi i64 [ 0, %before ], [ %next, %loop ]    %p = phi ptr [ %base, %before ], [ %q, %loop ]
//     %x = shl i64 %i, 7                         ->    ...
//     %p = getelementptr i8, ptr %base, i64 %x         %q = getelementptr i8, ptr %p, i64 128
//
// The code generator has an address of a register, or of one and another times 1, 2, 4 or 8. Any other multiple of a
// loop's counter, and what does not change but was computed beside it, would be computed in each step. LLVM's own pass for
// this weighs all ways to count, which takes a tenth of the time to compile, and finds the same one.

#include "StepPointers.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace mlir::attn;
using namespace llvm::PatternMatch;

/// Vectors that a loop over a register tile carries, at least.
static constexpr int kLeastAccumulators = 4;

namespace {
/// A loop of one block, what runs before it, and one of its counters.
struct TileLoop {
  llvm::BasicBlock &block;
  llvm::BasicBlock &before;
  llvm::PHINode &counter;
  llvm::ConstantInt &step;
};
} // namespace

/// Move `value` out of `loop` if it does not change in it, and return whether it
/// is outside.
static bool moveOut(llvm::Value *value, const TileLoop &loop) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || instruction->getParent() != &loop.block)
    return true;
  unsigned code = instruction->getOpcode();
  if (code != llvm::Instruction::GetElementPtr &&
      code != llvm::Instruction::Shl && code != llvm::Instruction::Mul &&
      code != llvm::Instruction::Add && code != llvm::Instruction::Sub)
    return false;
  for (llvm::Value *operand : instruction->operands())
    if (!moveOut(operand, loop))
      return false;
  instruction->moveBefore(loop.before.getTerminator()->getIterator());
  return true;
}

/// Make a pointer of `address` that steps, if it is a multiple of the counter from
/// one that does not change.
static bool stepPointer(llvm::GetElementPtrInst &address,
                        const TileLoop &loop) {
  if (address.getNumIndices() != 1 || !address.getType()->isPointerTy())
    return false;
  llvm::Value *index = address.getOperand(1), *factor = nullptr;
  llvm::IRBuilder<> b(loop.before.getTerminator());
  if (llvm::ConstantInt *bits;
      match(index, m_Shl(m_Specific(&loop.counter), m_ConstantInt(bits))))
    factor = b.CreateShl(b.getIntN(bits->getBitWidth(), 1), bits);
  else if (!match(index, m_c_Mul(m_Specific(&loop.counter), m_Value(factor))))
    return false;
  llvm::Value *base = address.getPointerOperand();
  if (!moveOut(base, loop) || !moveOut(factor, loop))
    return false;
  llvm::Type *unit = address.getSourceElementType();
  llvm::Value *first = loop.counter.getIncomingValueForBlock(&loop.before);
  b.SetInsertPoint(loop.before.getTerminator());
  llvm::Value *start = base;
  if (!match(first, m_Zero()))
    start = b.CreateGEP(unit, base, b.CreateMul(first, factor));
  llvm::Value *distance = b.CreateMul(&loop.step, factor);
  b.SetInsertPoint(&loop.block, loop.block.begin());
  llvm::PHINode *pointer = b.CreatePHI(address.getType(), 2);
  b.SetInsertPoint(loop.block.getTerminator());
  pointer->addIncoming(start, &loop.before);
  pointer->addIncoming(b.CreateGEP(unit, pointer, distance), &loop.block);
  address.replaceAllUsesWith(pointer);
  address.eraseFromParent();
  return true;
}

/// Return the block from which `block`, a loop of its own, is entered, if there is
/// one.
static llvm::BasicBlock *findBefore(llvm::BasicBlock &block) {
  llvm::BasicBlock *before = nullptr;
  bool isLoop = false;
  for (llvm::BasicBlock *from : llvm::predecessors(&block)) {
    if (from == &block) {
      isLoop = true;
      continue;
    }
    if (before)
      return nullptr;
    before = from;
  }
  return isLoop ? before : nullptr;
}

static bool stepPointers(llvm::BasicBlock &block) {
  llvm::BasicBlock *before = findBefore(block);
  auto isVector = [](const llvm::PHINode &phi) {
    return phi.getType()->isVectorTy();
  };
  if (!before || llvm::count_if(block.phis(), isVector) < kLeastAccumulators)
    return false;
  bool changed = false;
  for (llvm::PHINode &counter : block.phis()) {
    llvm::ConstantInt *step;
    if (!match(counter.getIncomingValueForBlock(&block),
               m_c_Add(m_Specific(&counter), m_ConstantInt(step))))
      continue;
    TileLoop loop{block, *before, counter, *step};
    llvm::SmallVector<llvm::GetElementPtrInst *> addresses;
    for (llvm::Instruction &instruction : block)
      if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
        addresses.push_back(address);
    for (llvm::GetElementPtrInst *address : addresses)
      if (address->getParent() == &block)
        changed |= stepPointer(*address, loop);
  }
  return changed;
}

llvm::PreservedAnalyses StepPointers::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &) {
  bool changed = false;
  for (llvm::BasicBlock &block : function)
    changed |= stepPointers(block);
  return changed ? llvm::PreservedAnalyses::none()
                 : llvm::PreservedAnalyses::all();
}
