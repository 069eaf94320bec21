// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a case of the fuzzer to a function:
//
//   op=sdpa H=2 M=3 N=5 D=8 dynamic=N lse=1
//
// becomes
//
//   func.func @f(%query: tensor<1x2x3x8xf32>, %key: tensor<1x1x?x8xf32>, ...

#include "attn/Execution/FuzzCase.h"

#include "FuzzAppend.h"
#include "FuzzLinear.h"
#include "FuzzRegions.h"
#include "FuzzText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::attn;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

ElementKind FuzzValue::getKind() const {
  return element == "index" ? ElementKind::I64 : *parseElementKind(element);
}

/// Return the dimension of `value` that `break` makes larger, or -1.
static int64_t getBrokenDim(const FuzzCase &fuzz, StringRef name) {
  auto [operand, dim] = fuzz.get("break").split('.');
  int64_t number;
  if (operand != name || dim.getAsInteger(10, number))
    return -1;
  return number;
}

SmallVector<int64_t, 4> FuzzValue::getExtents(const FuzzCase &fuzz) const {
  SmallVector<int64_t, 4> extents;
  for (char letter : shape)
    extents.push_back(fuzz.getExtent(letter));
  int64_t broken = getBrokenDim(fuzz, name);
  // By one; but not from 0 to 1, which broadcasts.
  if (broken >= 0 && broken < static_cast<int64_t>(extents.size()))
    extents[broken] += extents[broken] == 0 ? 2 : 1;
  return extents;
}

static bool isDynamic(const FuzzCase &fuzz, char letter) {
  if (letter == 'X')
    return isDynamic(fuzz, 'M') ||
           isDynamic(fuzz, fuzz.get("op") == "mha" ? 'A' : 'N');
  // The keys of as many pages as there are.
  if (letter == 'N' && fuzz.getInt("S") > 0 && isDynamic(fuzz, 'Y'))
    return true;
  return fuzz.get("dynamic").contains(letter == 'Z' ? 'B' : letter);
}

std::string FuzzValue::getType(const FuzzCase &fuzz) const {
  if (isScalar)
    return element;
  std::string text = "tensor<";
  for (auto [letter, extent] : llvm::zip_equal(shape, getExtents(fuzz)))
    text += (isDynamic(fuzz, letter) ? "?" : std::to_string(extent)) + "x";
  return text + element + ">";
}

/// Return whether `name` has the extent that `break` names, and it is dynamic.
static bool isBreakDynamic(const FuzzCase &fuzz) {
  auto values = getFuzzOperands(fuzz);
  for (const FuzzValue &result : getFuzzResults(fuzz))
    values.push_back(result);
  for (const FuzzValue &value : values) {
    int64_t dim = getBrokenDim(fuzz, value.name);
    if (dim >= 0 && dim < static_cast<int64_t>(value.shape.size()))
      return isDynamic(fuzz, value.shape[dim]);
  }
  return false;
}

bool mlir::attn::isRefusedByVerifier(const FuzzCase &fuzz) {
  return fuzz.has("break") && !isBreakDynamic(fuzz);
}

bool mlir::attn::isRefusedAtRunTime(const FuzzCase &fuzz) {
  return (fuzz.has("break") && isBreakDynamic(fuzz)) ||
         (fuzz.has("positions") && fuzz.get("values") == "outside");
}

std::string mlir::attn::inLayout(const FuzzCase &fuzz, unsigned number,
                                 StringRef letters) {
  StringRef layout = fuzz.get("layout");
  std::string result = letters.str();
  if (number < layout.size() && layout[number] == 's')
    std::swap(result[1], result[2]);
  return result;
}

std::pair<std::string, std::string>
mlir::attn::getScaleParts(const FuzzCase &fuzz) {
  auto [element, letters] = fuzz.get("scales").split(':');
  std::string shape = letters.str();
  if (fuzz.getInt("S") > 0) {
    std::replace(shape.begin(), shape.end(), 'B', 'O');
    std::replace(shape.begin(), shape.end(), 'N', 'S');
  } else if (fuzz.has("ragged")) {
    std::replace(shape.begin(), shape.end(), 'B', '1');
  }
  return {element.str(), shape};
}

/// Add the operands that change scores, for keys called `keys`.
static void addScoreOperands(const FuzzCase &fuzz, char keys,
                             std::vector<FuzzValue> &operands) {
  auto forKeys = [&](StringRef shape) {
    std::string text = shape.str();
    std::replace(text.begin(), text.end(), 'N', keys);
    return text;
  };
  if (fuzz.has("bias")) {
    auto [element, shape] = fuzz.get("bias").split(':');
    operands.push_back({"bias", element.str(), forKeys(shape)});
  }
  if (fuzz.has("mask"))
    operands.push_back({"mask", "i1", forKeys(fuzz.get("mask"))});
  if (fuzz.has("lengths"))
    operands.push_back({"kv_lengths", fuzz.get("lengths").str(), "B"});
  if (fuzz.has("offset")) {
    auto [element, shape] = fuzz.get("offset").split(':');
    operands.push_back(
        {"query_offset", element.str(), shape.str(), shape.empty()});
  }
  if (fuzz.has("sinks"))
    operands.push_back({"sinks", fuzz.get("sinks").str(), "H"});
}

/// Add the tables of a rotary embedding, and positions if there are any.
static void addTables(const FuzzCase &fuzz, std::vector<FuzzValue> &operands) {
  std::string element = fuzz.get("type") == "f64" ? "f64" : "f32";
  std::string shape = fuzz.has("positions") ? "TR" : "BMR";
  operands.push_back({"cos", element, shape});
  operands.push_back({"sin", element, shape});
  if (fuzz.has("positions"))
    operands.push_back({"positions", fuzz.get("positions").str(), "BM"});
}

static void addMhaOperands(const FuzzCase &fuzz,
                           std::vector<FuzzValue> &operands) {
  std::string type = fuzz.get("type").str();
  operands.push_back({"x", type, "BMC"});
  if (fuzz.has("memory"))
    operands.push_back({"memory", type, "BNC"});
  const std::pair<StringRef, StringRef> weights[] = {
      {"query", "qC"}, {"key", "kC"}, {"value", "vC"}, {"output", "Fo"}};
  for (auto [name, shape] : weights) {
    operands.push_back({name.str(), type, shape.str()});
    if (fuzz.has("biases"))
      operands.push_back(
          {name.str() + "_bias", type, shape.take_front().str()});
  }
  if (fuzz.has("rope"))
    addTables(fuzz, operands);
  if (fuzz.getInt("P") > 0) {
    operands.push_back({"past_key", type, "BGPD"});
    operands.push_back({"past_value", type, "BGPE"});
  }
  addScoreOperands(fuzz, 'A', operands);
  addCaptured(fuzz, operands);
}

std::vector<FuzzValue> mlir::attn::getFuzzOperands(const FuzzCase &fuzz) {
  std::vector<FuzzValue> operands;
  StringRef op = fuzz.get("op");
  std::string type = fuzz.get("type").str();
  if (op == "linear")
    return getLinearOperands(fuzz);
  if (op == "append")
    return getAppendOperands(fuzz);
  if (op == "rope") {
    operands.push_back({"input", type, inLayout(fuzz, 0, "BHMD")});
    addTables(fuzz, operands);
  } else if (op == "merge") {
    for (int64_t i = 0; i < fuzz.getInt("parts"); ++i) {
      operands.push_back({"output" + std::to_string(i), type, "BHME"});
      operands.push_back(
          {"lse" + std::to_string(i), type == "f64" ? "f64" : "f32", "BHM"});
    }
  } else if (op == "mha") {
    addMhaOperands(fuzz, operands);
  } else {
    bool isPaged = fuzz.getInt("S") > 0, isRagged = fuzz.has("ragged");
    std::string stored = fuzz.has("stored") ? fuzz.get("stored").str() : type;
    auto shape = [&](unsigned number, StringRef plain, StringRef pages,
                     StringRef packed) {
      return isRagged ? packed.str()
                      : inLayout(fuzz, number, isPaged ? pages : plain);
    };
    operands.push_back({"query", type, shape(0, "BHMD", "BHMD", "MHD")});
    operands.push_back({"key", stored, shape(1, "BGND", "OGSD", "NGD")});
    operands.push_back({"value", stored, shape(2, "BGNE", "OGSE", "NGE")});
    addScoreOperands(fuzz, 'N', operands);
    addCaptured(fuzz, operands);
    if (isPaged)
      operands.push_back({"page_table", "i32", "BY"});
    if (isRagged)
      for (StringRef name : {"cu_seqlens_q", "cu_seqlens_k"})
        operands.push_back({name.str(), fuzz.get("ragged").str(), "Z"});
    if (fuzz.has("scales")) {
      auto [element, shape] = getScaleParts(fuzz);
      operands.push_back({"key_scale", element, shape});
      operands.push_back({"value_scale", element, shape});
    }
  }
  return operands;
}

std::vector<FuzzValue> mlir::attn::getFuzzResults(const FuzzCase &fuzz) {
  StringRef op = fuzz.get("op");
  std::string type = fuzz.get("type").str();
  if (op == "linear")
    return getLinearResults(fuzz);
  if (op == "append") {
    FuzzValue cache = getAppendOperands(fuzz)[1];
    return {{"grown", cache.element, cache.shape}};
  }
  FuzzValue lse{"lse", type == "f64" ? "f64" : "f32", "BHM"};
  if (op == "rope")
    return {{"output", type, inLayout(fuzz, 0, "BHMD")}};
  if (op == "merge")
    return {{"output", type, "BHME"}, lse};
  std::vector<FuzzValue> results;
  if (op == "mha") {
    results.push_back({"y", type, "BMF"});
    if (fuzz.getInt("P") > 0) {
      results.push_back({"present_key", type, "BGAD"});
      results.push_back({"present_value", type, "BGAE"});
    }
  } else {
    bool isRagged = fuzz.has("ragged");
    results.push_back({"output", fuzz.has("out") ? fuzz.get("out").str() : type,
                       isRagged ? "MHE" : inLayout(fuzz, 3, "BHME")});
    if (isRagged)
      lse.shape = "HM";
  }
  if (fuzz.has("lse"))
    results.push_back(lse);
  if (fuzz.has("weights"))
    results.push_back({"weights", fuzz.get("weights").str(), "BHMN"});
  return results;
}

/// Return ` bias(%bias : tensor<..>)` and the like for those that are there.
static std::string getScoreText(const FuzzCase &fuzz,
                                llvm::ArrayRef<FuzzValue> operands) {
  std::string text;
  for (StringRef name :
       {"bias", "mask", "kv_lengths", "query_offset", "sinks", "page_table",
        "cu_seqlens_q", "cu_seqlens_k", "key_scale", "value_scale"})
    for (const FuzzValue &operand : operands)
      if (operand.name == name)
        text += (" " + name + "(%" + name + " : " + operand.getType(fuzz) + ")")
                    .str();
  return text;
}

/// Return ` scale = 1.0` and the other attributes of an attention.
static std::string getAttributeText(const FuzzCase &fuzz) {
  std::string text;
  auto asFloat = [](StringRef number) {
    double value = 0;
    number.getAsDouble(value);
    return llvm::formatv("{0:e12}", value).str();
  };
  if (fuzz.has("scale"))
    text += " scale = " + asFloat(fuzz.get("scale"));
  if (fuzz.has("causal"))
    text += " causal = " + fuzz.get("causal").str();
  if (fuzz.has("window")) {
    auto [left, right] = fuzz.get("window").split(':');
    SmallVector<std::string> sides;
    if (!left.empty())
      sides.push_back("left = " + left.str());
    if (!right.empty())
      sides.push_back("right = " + right.str());
    text += " window = <" + llvm::join(sides, ", ") + ">";
  }
  if (fuzz.has("softcap"))
    text += " softcap = " + asFloat(fuzz.get("softcap"));
  if (fuzz.has("precision"))
    text += " precision = " + fuzz.get("precision").str();
  return text;
}

std::string mlir::attn::getLayoutText(const FuzzCase &fuzz) {
  StringRef layout = fuzz.get("layout");
  if (layout.empty())
    return "";
  static constexpr StringRef kNames[] = {"query", "key", "value", "output"};
  SmallVector<std::string> words;
  for (auto [name, letter] : llvm::zip(kNames, layout))
    words.push_back((name + " = " + (letter == 's' ? "bshd" : "bhsd")).str());
  return " layout = <" + llvm::join(words, ", ") + ">";
}

static std::string getRopeText(const FuzzCase &fuzz,
                               llvm::ArrayRef<FuzzValue> operands) {
  std::string text = "attn.rope %input, %cos, %sin";
  if (fuzz.has("positions"))
    text += " positions(%positions : " + operands[3].getType(fuzz) + ")";
  text += " rotary_dim = " + std::to_string(2 * fuzz.getInt("R"));
  if (fuzz.has("pairing"))
    text += " pairing = " + fuzz.get("pairing").str();
  if (fuzz.get("layout").starts_with("s"))
    text += " layout = bshd";
  return text + " : " + operands[0].getType(fuzz) + ", " +
         operands[1].getType(fuzz) + ", " + operands[2].getType(fuzz);
}

static std::string getMhaText(const FuzzCase &fuzz,
                              llvm::ArrayRef<FuzzValue> operands,
                              llvm::ArrayRef<FuzzValue> results) {
  auto find = [&](StringRef name) -> std::string {
    for (const FuzzValue &operand : operands)
      if (operand.name == name)
        return ("%" + name + " : " + operand.getType(fuzz)).str();
    return "";
  };
  std::string text = "attn.mha %x";
  if (fuzz.has("memory"))
    text += " memory(" + find("memory") + ")";
  for (StringRef name : {"query", "key", "value", "output"})
    text +=
        (" " + name + "(" + find(name) +
         (fuzz.has("biases") ? ", " + find((name + "_bias").str()) : "") + ")")
            .str();
  if (fuzz.has("rope"))
    text += " rope(" + find("cos") + ", " + find("sin") +
            (fuzz.has("positions") ? ", " + find("positions") : "") + ")";
  if (fuzz.getInt("P") > 0)
    text += " past(" + find("past_key") + ", " + find("past_value") + ")";
  text += getScoreText(fuzz, operands) + " heads = " + fuzz.get("H").str() +
          " kv_heads = " + fuzz.get("G").str() + getAttributeText(fuzz);
  if (fuzz.has("pairing"))
    text += " pairing = " + fuzz.get("pairing").str();
  text += getRegionText(fuzz, operands);
  text += " : " + operands[0].getType(fuzz) + " -> " + results[0].getType(fuzz);
  if (fuzz.getInt("P") > 0)
    text += " present(" + results[1].getType(fuzz) + ", " +
            results[2].getType(fuzz) + ")";
  if (fuzz.has("lse"))
    text += " lse(" + results.back().getType(fuzz) + ")";
  return text;
}

/// Return the op without its results.
static std::string getOpText(const FuzzCase &fuzz,
                             llvm::ArrayRef<FuzzValue> operands,
                             llvm::ArrayRef<FuzzValue> results) {
  StringRef op = fuzz.get("op");
  if (op == "rope")
    return getRopeText(fuzz, operands);
  if (op == "mha")
    return getMhaText(fuzz, operands, results);
  if (op == "linear")
    return getLinearText(fuzz, operands, results);
  if (op == "append")
    return getAppendText(fuzz, operands);
  SmallVector<std::string> types;
  std::string weights;
  for (const FuzzValue &result : results)
    if (result.name == "weights")
      weights = " weights(" + result.getType(fuzz) + ")";
    else
      types.push_back(result.getType(fuzz));
  if (op == "sdpa")
    return "attn.sdpa %query, %key, %value" + getScoreText(fuzz, operands) +
           getAttributeText(fuzz) + getLayoutText(fuzz) +
           getRegionText(fuzz, operands) + " : " + operands[0].getType(fuzz) +
           ", " + operands[1].getType(fuzz) + ", " + operands[2].getType(fuzz) +
           " -> " + llvm::join(types, ", ") + weights;
  SmallVector<std::string> outputs, lses;
  for (int64_t i = 0; i < fuzz.getInt("parts"); ++i) {
    outputs.push_back("%output" + std::to_string(i));
    lses.push_back("%lse" + std::to_string(i));
  }
  return "attn.merge_outputs outputs(" + llvm::join(outputs, ", ") + ") lses(" +
         llvm::join(lses, ", ") + ") : " + llvm::join(types, ", ");
}

std::string mlir::attn::getFuzzModule(const FuzzCase &fuzz) {
  auto operands = getFuzzOperands(fuzz);
  auto results = getFuzzResults(fuzz);
  SmallVector<std::string> arguments, names, types;
  for (const FuzzValue &operand : operands)
    arguments.push_back("%" + operand.name + ": " + operand.getType(fuzz));
  for (auto [number, result] : llvm::enumerate(results)) {
    names.push_back("%r" + std::to_string(number));
    types.push_back(result.getType(fuzz));
  }
  std::string resultTypes = llvm::join(types, ", ");
  std::string resultNames = llvm::join(names, ", ");
  return "func.func @f(" + llvm::join(arguments, ", ") + ") -> (" +
         resultTypes + ") {\n  " + resultNames + " = " +
         getOpText(fuzz, operands, results) + "\n  return " + resultNames +
         " : " + resultTypes + "\n}\n";
}
