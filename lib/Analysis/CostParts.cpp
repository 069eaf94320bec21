// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of dimensions, and bytes of operands by them.

#include "CostParts.h"

using namespace mlir;
using namespace mlir::attn;

int64_t mlir::attn::elementBytes(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isIndex())
    return 8;
  return std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

Formula mlir::attn::bytesOf(Value value, const Names &names) {
  Formula bytes = elementBytes(value);
  for (const std::string &name : names)
    if (!name.empty())
      bytes = bytes * named(name);
  return bytes;
}

Names mlir::attn::inLayout(Layout layout, Names names) {
  if (layout == Layout::bshd)
    std::swap(names[1], names[2]);
  return names;
}

Names mlir::attn::broadcastNames(Value tensor) {
  static const Names kFull = {"B", "H", "M", "N"};
  auto type = cast<RankedTensorType>(tensor.getType());
  Names names;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    names.push_back(
        type.getDimSize(dim) == 1 ? "" : kFull[dim + 4 - type.getRank()]);
  return names;
}

/// Return the bytes that are read of a bias or a mask: of its rows and keys those
/// that belong to cells.
static Formula broadcastBytes(Value tensor, const Names &names) {
  Formula bytes = elementBytes(tensor);
  bool rows = false, keys = false;
  for (const std::string &name : names) {
    if (name == "M")
      rows = true;
    else if (name == "N")
      keys = true;
    else if (!name.empty())
      bytes = bytes * named(name);
  }
  if (rows && keys)
    return bytes * named("S");
  if (rows || keys)
    return bytes * named(rows ? "M" : "K");
  return bytes;
}

void OperandReader::add(Value operand, const Names &names) {
  if (!operand)
    return;
  cost.operands.push_back(names);
  read += bytesOf(operand, names);
}

void OperandReader::add(Value operand, const Names &names,
                        const Formula &count) {
  if (!operand)
    return;
  cost.operands.push_back(names);
  read += elementBytes(operand) * count;
}

void OperandReader::addKeys(Value operand, const Names &names, Names elements) {
  cost.operands.push_back(names);
  if (cost.band)
    std::replace(elements.begin(), elements.end(), std::string("N"),
                 std::string("K"));
  read += bytesOf(operand, elements);
}

void OperandReader::addBroadcast(Value operand) {
  if (!operand)
    return;
  cost.operands.push_back(broadcastNames(operand));
  read += broadcastBytes(operand, cost.operands.back());
}
