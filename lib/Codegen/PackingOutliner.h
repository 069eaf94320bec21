// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of OutlinePacking on one function: what can be packed and the functions that pack and work
// (OutlinePacking.cpp), and the entries that call them (PackedEntries.cpp).

#ifndef ATTN_LIB_CODEGEN_PACKINGOUTLINER_H
#define ATTN_LIB_CODEGEN_PACKINGOUTLINER_H

#include "attn/Codegen/Signature.h"
#include "attn/IR/AttnDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {

/// Elements before the panels, a cache line of f32: the mark, and nothing.
inline constexpr int64_t kMarkElements = 16;

/// The first word of the mark: "ATTN".
inline constexpr int32_t kMark = 0x4e545441;

/// One weight in the packed block.
struct PackedWeight {
  BlockArgument argument;
  /// The projections that read it.
  SmallVector<linalg::GenericOp> users;
  ScheduleAttr schedule;
  int64_t panels = 0, ins = 0;
  /// Where its panels begin.
  int64_t offset = 0;

  int64_t size() const { return panels * ins * schedule.getColumns(); }
};

/// Outlines the packing of one function's weights.
class PackingOutliner {
public:
  explicit PackingOutliner(func::FuncOp function)
      : function(function), module(function->getParentOfType<ModuleOp>()),
        b(function.getLoc(), function.getContext()),
        name(function.getSymName().str()) {}

  LogicalResult run();

private:
  bool addWeight(BlockArgument argument);
  bool isUnused(const std::string &symbol);
  LogicalResult checkNames();
  bool isWeight(unsigned index) {
    return llvm::any_of(weights, [&](const PackedWeight &weight) {
      return weight.argument.getArgNumber() == index;
    });
  }
  SmallVector<Value> withoutWeights(ValueRange arguments);

  func::FuncOp createFunction(const Twine &symbol, TypeRange inputs,
                              TypeRange results);
  func::FuncOp cloneFunction(const Twine &symbol, func::FuncOp from,
                             IRMapping &map);
  void insertPacked(func::FuncOp entry);
  void createPack();
  void createWork();
  void createFew();
  void createPackEntry();
  void createPackedEntry();
  void setInPlace(func::FuncOp entry);
  void checkMark(func::FuncOp check, Value packed);
  void rewriteOriginal();
  Value takePanels(Value block, const PackedWeight &weight);
  Value putPanels(Value panels, Value block, const PackedWeight &weight);
  int32_t getShapesMark();
  Value call(StringRef callee, Type result, ValueRange operands);
  func::CallOp callWork(ValueRange arguments, Value packed, ValueRange places,
                        Value few);

  func::FuncOp function;
  ModuleOp module;
  ImplicitLocOpBuilder b;
  std::string name;
  SmallVector<PackedWeight> weights;
  /// Where few rows are told from many, and weights in place from packed ones.
  SetVector<scf::IfOp> choices;
  RankedTensorType packedType;
};

} // namespace mlir::attn

#endif // ATTN_LIB_CODEGEN_PACKINGOUTLINER_H
