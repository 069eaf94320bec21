// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a module and keeps the names that its author gave:
//
//   func.func @f(%query: tensor<8xf32>) -> tensor<8xf32> {
//     ...
//     return %output
//
// becomes
//
//   func.func @f(%query: tensor<8xf32> {attn.name = "query"}) -> (tensor<8xf32> {attn.name = "output"})

#include "attn/Pipeline/Input.h"
#include "attn/Codegen/Signature.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::attn;

/// Return the name at `range` without its `%`; nothing for a number.
static StringRef readName(SMRange range) {
  if (!range.isValid())
    return "";
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  text.consume_front("%");
  return text.empty() || llvm::isDigit(text.front()) ? StringRef() : text;
}

/// Return what the source calls `value`.
static StringRef findName(const AsmParserState &state, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const auto *block = state.getBlockDef(argument.getOwner());
    if (!block || block->arguments.size() <= argument.getArgNumber())
      return "";
    return readName(block->arguments[argument.getArgNumber()].loc);
  }
  auto result = cast<OpResult>(value);
  const auto *op = state.getOpDef(result.getOwner());
  if (!op)
    return "";
  for (const auto &group : op->resultGroups)
    if (group.startIndex == result.getResultNumber())
      return readName(group.definition.loc);
  return "";
}

/// Write the names of one function.
static void keepNames(const AsmParserState &state, func::FuncOp function) {
  if (function.isExternal())
    return;
  Builder b(function.getContext());
  llvm::StringSet<> taken;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    StringRef name = findName(state, argument);
    if (!name.empty() && !function.getArgAttr(index, kNameAttrName))
      function.setArgAttr(index, kNameAttrName, b.getStringAttr(name));
    taken.insert(name);
  }
  auto returnOp =
      dyn_cast<func::ReturnOp>(function.getBody().back().getTerminator());
  if (!returnOp)
    return;
  for (auto [index, value] : llvm::enumerate(returnOp.getOperands())) {
    StringRef name = findName(state, value);
    if (!name.empty() && taken.insert(name).second &&
        !function.getResultAttr(index, kNameAttrName))
      function.setResultAttr(index, kNameAttrName, b.getStringAttr(name));
  }
}

OwningOpRef<ModuleOp> attn::parseInput(const llvm::SourceMgr &sources,
                                       MLIRContext *context) {
  llvm::MemoryBufferRef buffer =
      sources.getMemoryBuffer(sources.getMainFileID())->getMemBufferRef();
  if (isBytecode(buffer))
    return parseSourceFile<ModuleOp>(sources, context);
  ParserConfig config(context);
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return nullptr;
  // As everywhere in MLIR, a file of functions is a module of them.
  block.walk([&](func::FuncOp function) { keepNames(state, function); });
  LocationAttr location = FileLineColLoc::get(
      context, buffer.getBufferIdentifier(), /*line=*/0, /*column=*/0);
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, context, location);
}
