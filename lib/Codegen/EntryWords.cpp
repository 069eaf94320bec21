// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets a function of an entry read the words of its tensors itself:
//
//   llvm.func @f.body(%data: !llvm.ptr, ..., %stride: i64) -> i32 {      // 44 words of four tensors of rank 4
//     %n = llvm.mul %stride, ...
//     omp.parallel { use %stride, %n }
//
// becomes
//
//   llvm.func @f.body(%words: !llvm.ptr) -> i32 {
//     omp.parallel {
//       %stride = llvm.load %words[43];  %n = llvm.mul %stride, ...
//       use %stride, %n
//
// A call with the 528 words of a model's twelve layers took 1.4 s to compile; and every value that a parallel region uses
// from outside it costs seven instructions, where reading or computing it again costs one or two.

#include "EntryBuilder.h"

#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

namespace {
/// Computes again, at the start of a region, what it uses of the function around.
class Recomputer {
public:
  Recomputer(Region &region, Value words, const DenseSet<Operation *> &loads)
      : region(region), words(words), loads(loads) {}

  void run();

private:
  bool isOutside(Value value) {
    return !region.isAncestor(value.getParentRegion());
  }
  bool follows(Value value);
  Value get(OpBuilder &b, Value value);

  Region &region;
  Value words;
  /// Loads of words, which do not change.
  const DenseSet<Operation *> &loads;
  /// Whether a value follows from words and constants alone.
  DenseMap<Value, bool> known;
  IRMapping copies;
};
} // namespace

bool Recomputer::follows(Value value) {
  if (value == words)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0)
    return false;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  bool result = (loads.contains(op) || isPure(op)) &&
                llvm::all_of(op->getOperands(),
                             [&](Value from) { return follows(from); });
  known[value] = result;
  return result;
}

/// Return `value`, which is computed outside, as the region has it.
Value Recomputer::get(OpBuilder &b, Value value) {
  if (Value copy = copies.lookupOrNull(value))
    return copy;
  Operation *op = value.getDefiningOp();
  if (!op || matchPattern(op, m_Constant()))
    return value;
  for (Value operand : op->getOperands())
    get(b, operand);
  b.clone(*op, copies);
  return copies.lookup(value);
}

void Recomputer::run() {
  OpBuilder b = OpBuilder::atBlockBegin(&region.front());
  SmallVector<OpOperand *> uses;
  region.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isOutside(operand.get()) && follows(operand.get()))
        uses.push_back(&operand);
  });
  for (OpOperand *use : uses)
    use->set(get(b, use->get()));
}

/// Erase what nobody uses of a function's first block.
static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void EntryBuilder::takeWords(LLVM::LLVMFuncOp function, int64_t more) {
  OpBuilder::InsertionGuard guard(b);
  Block &entry = function.getBody().front();
  int64_t count = entry.getNumArguments() - more;
  Value words = entry.insertArgument(0u, ptr, loc);
  b.setInsertionPointToStart(&entry);
  DenseSet<Operation *> loads;
  for (int64_t i = 0; i < count; ++i) {
    BlockArgument argument = entry.getArgument(i + 1);
    if (argument.use_empty())
      continue;
    auto load =
        LLVM::LoadOp::create(b, loc, argument.getType(), element(words, i));
    argument.replaceAllUsesWith(load);
    loads.insert(load);
  }
  entry.eraseArguments(1, count);
  function.removeArgAttrsAttr();
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(function.getFunctionType().getReturnType(),
                                  llvm::to_vector(entry.getArgumentTypes())));
  function.walk([&](omp::ParallelOp parallel) {
    Recomputer(parallel.getRegion(), words, loads).run();
  });
  eraseUnused(entry);
}
