// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions: those of rules that have a name, and some written out.

#include "FuzzRegions.h"

using namespace mlir::attn;
using llvm::StringRef;

void mlir::attn::addCaptured(const FuzzCase &fuzz,
                             std::vector<FuzzValue> &operands) {
  std::string element = fuzz.get("type") == "f64" ? "f64" : "f32";
  StringRef score = fuzz.get("score"), rule = fuzz.get("keep");
  if (score == "alibi")
    operands.push_back({"slopes", element, "H"});
  if (score.starts_with("t5"))
    operands.push_back({"table", element, "tH"});
  if (rule == "prefix")
    operands.push_back({"prefix", "i32", "B"});
  if (rule == "documents")
    operands.push_back({"documents", "i32", "BX"});
  if (rule == "edges")
    operands.push_back({"edges", "i1", fuzz.get("op") == "mha" ? "XA" : "XN"});
}

/// Return the body of a score_mod that is no rule with a name.
static StringRef getScoreBody(StringRef score) {
  if (score == "tanh")
    return "%c = arith.constant 0.25 : FLOAT\n %first = arith.mulf %s, %c : "
           "FLOAT\n"
           " %y = math.tanh %first : FLOAT\n %z = arith.divf %y, %c : FLOAT\n"
           " attn.yield %z : FLOAT\n";
  // Every third score of a row is -inf.
  return "%c = arith.constant 3 : index\n %d = arith.addi %i, %j : index\n"
         " %r = arith.remsi %d, %c : index\n"
         " %first = arith.index_cast %r : index to i32\n"
         " %one = arith.constant 1 : i32\n"
         " %y = arith.cmpi eq, %first, %one : i32\n"
         " %low = arith.constant LOWEST : FLOAT\n"
         " %z = arith.select %y, %low, %s : FLOAT\n attn.yield %z : FLOAT\n";
}

/// Return the body of a mask_mod that is no rule with a name.
static StringRef getMaskBody(StringRef rule) {
  if (rule == "dilated")
    return "%c = arith.constant 40 : index\n %t = arith.constant 3 : index\n"
           " %o = arith.constant 0 : index\n %d = arith.subi %i, %j : index\n"
           " %r = arith.remsi %d, %t : index\n"
           " %first = arith.cmpi eq, %r, %o : index\n"
           " %a = math.absi %d : index\n %y = arith.cmpi sle, %a, %c : index\n"
           " %k = arith.andi %first, %y : i1\n";
  if (rule == "chunks")
    return "%c = arith.constant 64 : index\n"
           " %first = arith.floordivsi %i, %c : index\n"
           " %y = arith.divsi %j, %c : index\n"
           " %e = arith.cmpi ne, %first, %y : index\n %t = arith.constant "
           "true\n"
           " %k = arith.xori %e, %t : i1\n";
  if (rule == "globals")
    return "%c = arith.constant 5 : index\n %w = arith.constant 30 : index\n"
           " %d = arith.subi %j, %i : index\n %a = math.absi %d : index\n"
           " %first = arith.cmpi slt, %a, %w : index\n"
           " %y = arith.cmpi slt, %i, %c : index\n"
           " %z = arith.cmpi slt, %j, %c : index\n"
           " %u = arith.ori %first, %y : i1\n %k = arith.ori %u, %z : i1\n";
  if (rule == "band") // which becomes attributes, in part
    return "%c = arith.constant 33 : index\n %f = arith.constant 7 : index\n"
           " %d = arith.subi %i, %j : index\n"
           " %first = arith.cmpi slt, %d, %c : index\n"
           " %y = arith.cmpi sle, %j, %i : index\n"
           " %z = arith.cmpi ne, %j, %f : index\n"
           " %u = arith.andi %first, %y : i1\n %k = arith.andi %z, %u : i1\n";
  return "%k = tensor.extract %edges[%i, %j] : EDGES\n";
}

std::string mlir::attn::getRegionText(const FuzzCase &fuzz,
                                      llvm::ArrayRef<FuzzValue> operands) {
  bool isDouble = fuzz.get("type") == "f64";
  auto typed = [&](StringRef name) -> std::string {
    for (const FuzzValue &operand : operands)
      if (operand.name == name)
        return ("(%" + name + " : " + operand.getType(fuzz) + ")").str();
    return "";
  };
  auto replace = [](std::string text, StringRef from, StringRef to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
    return text;
  };
  constexpr llvm::StringLiteral kPlace =
      "%b: index, %h: index, %i: index, %j: index) {\n ";
  StringRef score = fuzz.get("score"), rule = fuzz.get("keep");
  std::string text, type = isDouble ? "f64" : "f32";
  if (score == "alibi")
    text += " score_mod = alibi" + typed("slopes");
  else if (score.starts_with("t5"))
    text += (score + "_bias").str().insert(0, " score_mod = ") + typed("table");
  else if (!score.empty())
    text += " score_mod(%s: " + type + ", " + kPlace.str() +
            replace(replace(getScoreBody(score).str(), "FLOAT", type), "LOWEST",
                    isDouble ? "0xFFF0000000000000" : "0xFF800000") +
            "}";
  if (rule == "prefix")
    text += " mask_mod = prefix_lm" + typed("prefix");
  else if (rule == "documents")
    text += " mask_mod = documents" + typed("documents");
  else if (!rule.empty())
    text +=
        " mask_mod(" + kPlace.str() +
        replace(getMaskBody(rule).str(), "EDGES",
                rule == "edges"
                    ? StringRef(typed("edges")).drop_front(10).drop_back().str()
                    : "") +
        " attn.yield %k : i1\n}";
  return text;
}
