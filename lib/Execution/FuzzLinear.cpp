// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention for the fuzzer: what a case can say, its function, its data.

#include "FuzzLinear.h"
#include "FuzzText.h"

#include <cmath>
#include <limits>

using namespace mlir::attn;
using llvm::createStringError;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

/// Multiply-adds of one case at most: the references do them one by one.
constexpr int64_t kMostWork = 1500000;

/// Elements of one tensor at most.
constexpr int64_t kMostElements = 200000;

static bool isGated(const FuzzCase &fuzz) {
  return fuzz.get("rule").starts_with("gated");
}
static bool isDelta(const FuzzCase &fuzz) {
  return fuzz.get("rule").ends_with("delta");
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

Error mlir::attn::checkLinear(const FuzzCase &fuzz) {
  StringRef rule = fuzz.get("rule");
  if (!llvm::is_contained({"linear", "gated", "delta", "gated_delta"}, rule))
    return createStringError("expects a 'rule' of linear attention, got '" +
                             rule + "'");
  if (isGated(fuzz) != fuzz.has("decay") || isDelta(fuzz) != fuzz.has("beta"))
    return createStringError("expects 'decay' and 'beta' as the rule takes "
                             "them");
  if (fuzz.has("normalize") &&
      (isDelta(fuzz) || !fuzz.has("feature") || fuzz.has("scale")))
    return createStringError("expects 'normalize' with a feature map, no scale "
                             "and no delta rule");
  if (fuzz.has("noncausal") && rule != "linear")
    return createStringError("expects 'noncausal' with 'rule=linear'");
  if (fuzz.get("type") != "f64" && (fuzz.get("decay").starts_with("f64") ||
                                    fuzz.get("beta").starts_with("f64")))
    return createStringError("expects f64 only with 'type=f64'");
  return Error::success();
}

void mlir::attn::drawLinear(FuzzCase &fuzz, FuzzRandom &random) {
  auto drawFloat = [&]() -> StringRef {
    if (fuzz.get("type") == "f64" && random.onceIn(2))
      return "f64";
    return random.pick<StringRef>({"f32", "f32", "f16", "bf16"});
  };
  fuzz.set("rule", random.pick<StringRef>({"linear", "gated", "gated", "delta",
                                           "gated_delta", "gated_delta"}));
  if (isGated(fuzz))
    fuzz.set("decay", drawFloat() + (random.onceIn(2) ? ":D" : ":"));
  if (isDelta(fuzz))
    fuzz.set("beta", drawFloat() + (random.onceIn(3) ? ":1" : ":G"));
  fuzz.set("state", random.pick<StringRef>({"", "i", "o", "io", "io"}));
  // A delta rule with positive keys that are not short has no limit.
  if (random.onceIn(2))
    fuzz.set("feature", isDelta(fuzz)
                            ? StringRef("relu")
                            : random.pick<StringRef>({"elu1", "relu", "exp"}));
  if (fuzz.has("feature") && !isDelta(fuzz) && random.onceIn(2)) {
    fuzz.set("normalize", "1");
    fuzz.set("sums", random.pick<StringRef>({"", "i", "o", "io"}));
  } else if (random.onceIn(3)) {
    fuzz.set("scale", random.pick<StringRef>({"0", "-0.5", "1", "0.001"}));
  }
  bool isLinear = fuzz.get("rule") == "linear";
  if (isLinear && random.onceIn(3))
    fuzz.set("noncausal", "1");
  else
    fuzz.set("M", "1");
  if (random.onceIn(4))
    fuzz.set("N", Twine(random.pick({1, 2, 3, 4, 5, 31, 32, 33, 500})));
}

int64_t mlir::attn::getMostLinearAmplitude(const FuzzCase &fuzz) {
  if (isDelta(fuzz))
    return 1;
  // exp(20) is about all that a sum of products leaves room for in f32.
  return fuzz.has("feature") ? 4 : 20;
}

bool mlir::attn::isTooMuchLinear(const FuzzCase &fuzz) {
  auto get = [&](StringRef key) {
    return std::max<int64_t>(fuzz.getInt(key), 1);
  };
  int64_t steps = std::max(get("N"), get("M"));
  int64_t rows = get("B") * std::max(get("H"), get("G"));
  return rows * steps * get("D") * get("E") > kMostWork ||
         rows * steps * (get("D") + get("E")) > kMostElements ||
         rows * get("D") * get("E") > kMostElements;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Return the type of states.
static std::string getStateType(const FuzzCase &fuzz) {
  return fuzz.get("type") == "f64" ? "f64" : "f32";
}

static StringRef getRows(const FuzzCase &fuzz, StringRef free, StringRef tied) {
  return fuzz.has("noncausal") ? free : tied;
}

std::vector<FuzzValue> mlir::attn::getLinearOperands(const FuzzCase &fuzz) {
  std::string type = fuzz.get("type").str();
  std::vector<FuzzValue> operands = {
      {"query", type, inLayout(fuzz, 0, getRows(fuzz, "BHMD", "BHND"))},
      {"key", type, inLayout(fuzz, 1, "BGND")},
      {"value", type, inLayout(fuzz, 2, "BGNE")}};
  if (fuzz.has("decay")) {
    auto [element, channels] = fuzz.get("decay").split(':');
    operands.push_back({"decay", element.str(), ("BGN" + channels).str()});
  }
  if (fuzz.has("beta")) {
    auto [element, heads] = fuzz.get("beta").split(':');
    operands.push_back({"beta", element.str(), ("B" + heads + "N").str()});
  }
  if (fuzz.get("state").contains('i'))
    operands.push_back({"state", getStateType(fuzz), "BGDE"});
  if (fuzz.get("sums").contains('i'))
    operands.push_back({"normalizer", getStateType(fuzz), "BGD"});
  return operands;
}

std::vector<FuzzValue> mlir::attn::getLinearResults(const FuzzCase &fuzz) {
  StringRef type = fuzz.get("type");
  std::vector<FuzzValue> results = {
      {"output", (fuzz.has("out") ? fuzz.get("out") : type).str(),
       inLayout(fuzz, 3, getRows(fuzz, "BHME", "BHNE"))}};
  if (fuzz.get("state").contains('o'))
    results.push_back({"new_state", getStateType(fuzz), "BGDE"});
  if (fuzz.get("sums").contains('o'))
    results.push_back({"new_normalizer", getStateType(fuzz), "BGD"});
  return results;
}

std::string mlir::attn::getLinearText(const FuzzCase &fuzz,
                                      llvm::ArrayRef<FuzzValue> operands,
                                      llvm::ArrayRef<FuzzValue> results) {
  std::string text = "attn.linear_attention %query, %key, %value";
  for (const FuzzValue &operand : operands.drop_front(3))
    text += " " + operand.name + "(%" + operand.name + " : " +
            operand.getType(fuzz) + ")";
  text += (" rule = " + fuzz.get("rule")).str();
  if (fuzz.has("scale")) {
    std::string scale = fuzz.get("scale").str();
    if (!StringRef(scale).contains('.'))
      scale += ".0";
    text += " scale = " + scale;
  }
  if (fuzz.has("feature"))
    text += (" feature_map = " + fuzz.get("feature")).str();
  if (fuzz.has("normalize"))
    text += " normalize";
  if (fuzz.has("noncausal"))
    text += " non_causal";
  text += getLayoutText(fuzz);
  text += " : " + operands[0].getType(fuzz) + ", " + operands[1].getType(fuzz) +
          ", " + operands[2].getType(fuzz) + " -> " + results[0].getType(fuzz);
  for (const FuzzValue &result : results.drop_front())
    text += (result.name == "new_state" ? " state(" : " normalizer(") +
            result.getType(fuzz) + ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Fill a decay: mild, strong, far beyond every exponential, or positive now and
/// then. Where all that is not decayed may be 0, a quotient is of what is left of
/// the rest, which the accumulator's type has to hold.
static void fillDecay(const FuzzCase &fuzz, const HostTensor &tensor,
                      FuzzRandom &random) {
  bool isAllThereIs = fuzz.has("normalize") && fuzz.get("feature") == "relu";
  double size = random.pick({0.01, 0.1, 1.0, 1.0, 5.0, 50.0});
  if (isAllThereIs)
    size = std::min(size, 5.0);
  bool hasPositive = size <= 0.1 && random.onceIn(3);
  bool forgets = random.onceIn(4);
  tensor.forEach([&](int64_t offset) {
    double decay = size * random.uniform();
    if (!hasPositive)
      decay = -std::fabs(decay);
    if (forgets && random.onceIn(20))
      decay = random.pick({isAllThereIs ? -5.0 : -50.0, 0.0,
                           -std::numeric_limits<double>::infinity()});
    tensor.store(offset, decay);
  });
}

void mlir::attn::fillLinear(const FuzzCase &fuzz, const FuzzValue &value,
                            const HostTensor &tensor, FuzzRandom &random) {
  if (value.name == "decay")
    return fillDecay(fuzz, tensor, random);
  double amplitude = 1;
  if (value.name == "query" || value.name == "key")
    fuzz.get("amplitude").getAsDouble(amplitude);
  // With keys of length 1 a delta rule replaces, with longer ones it overshoots.
  if (value.name == "key" && isDelta(fuzz))
    amplitude *= std::sqrt(3.0 / (static_cast<double>(fuzz.getInt("D")) + 3));
  tensor.forEach([&](int64_t offset) {
    double number = amplitude * random.uniform();
    // Sums of keys, and most betas, are positive.
    if (value.name == "normalizer" || value.name == "beta")
      number = std::fabs(number);
    tensor.store(offset, number);
  });
}
