// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes cases of the fuzzer, and says which make sense.

#include "attn/Execution/FuzzCase.h"

#include "FuzzLinear.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir::attn;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

/// Shapes are words of the capital letters of extents. Those of `B` to `E` are
/// the contract's; `C` and `F` are channels of a layer, `P` is its past, `T`
/// the rows and `R` the columns of a rotary table. `rule` and what follows it are
/// linear attention's. With op=append there is `positions=i32` for each entry, or
/// `i32:M` for each row. `O` pages of `S` tokens, of which `Y` belong to an entry of
/// the batch. `device` is empty for a CPU, or `cuda-emulated`; there, `order` is that
/// of threads and copies. `guard` says where operands and results lie: at the back of a
/// page, at its front, or one element behind that, where little is aligned.
static constexpr FuzzKey kKeys[] = {
    {"op", "sdpa"},    {"type", "f32"},   {"out", ""},      {"B", "1"},
    {"H", "1"},        {"G", "1"},        {"M", "1"},       {"N", "1"},
    {"D", "1"},        {"E", "1"},        {"C", "1"},       {"F", "1"},
    {"P", "0"},        {"T", "0"},        {"R", "0"},       {"parts", "2"},
    {"dynamic", ""},   {"layout", ""},    {"bias", ""},     {"biasdata", ""},
    {"mask", ""},      {"maskdata", ""},  {"lengths", ""},  {"offset", ""},
    {"sinks", ""},     {"lse", ""},       {"scale", ""},    {"causal", ""},
    {"window", ""},    {"softcap", ""},   {"pairing", ""},  {"positions", ""},
    {"memory", ""},    {"biases", ""},    {"rope", ""},     {"amplitude", "1"},
    {"values", ""},    {"special", ""},   {"strides", "0"}, {"guard", "back"},
    {"break", ""},     {"check", ""},     {"threads", "1"}, {"opt", "0"},
    {"seed", "0"},     {"weights", ""},   {"rule", ""},     {"decay", ""},
    {"beta", ""},      {"state", ""},     {"sums", ""},     {"feature", ""},
    {"normalize", ""}, {"noncausal", ""}, {"score", ""},    {"keep", ""},
    {"stored", ""},    {"scales", ""},    {"O", "0"},       {"S", "0"},
    {"Y", "0"},        {"ragged", ""},    {"device", ""},   {"order", "0"},
    {"precision", ""}};

ArrayRef<FuzzKey> mlir::attn::getFuzzKeys() { return kKeys; }

/// Return the number of `key`, which is a keyword.
static size_t indexOf(StringRef key) {
  const auto *found = llvm::find_if(
      kKeys, [&](const FuzzKey &known) { return known.name == key; });
  assert(found != std::end(kKeys) && "not a keyword");
  return found - std::begin(kKeys);
}

FuzzCase::FuzzCase() {
  for (const FuzzKey &key : kKeys)
    values.push_back(key.fallback.str());
}

StringRef FuzzCase::get(StringRef key) const { return values[indexOf(key)]; }

int64_t FuzzCase::getInt(StringRef key) const {
  int64_t value = 0;
  get(key).getAsInteger(10, value);
  return value;
}

void FuzzCase::set(StringRef key, const Twine &value) {
  values[indexOf(key)] = value.str();
}

void FuzzCase::reset(StringRef key) {
  size_t index = indexOf(key);
  values[index] = kKeys[index].fallback.str();
}

std::string FuzzCase::print() const {
  SmallVector<std::string> words;
  for (auto [key, value] : llvm::zip_equal(kKeys, values))
    if (value != key.fallback)
      words.push_back((key.name + "=" + value).str());
  return words.empty() ? "op=sdpa" : llvm::join(words, " ");
}

Expected<FuzzCase> FuzzCase::parse(StringRef line) {
  FuzzCase result;
  SmallVector<StringRef> words, names;
  for (const FuzzKey &key : kKeys)
    names.push_back(key.name);
  llvm::SplitString(line, words);
  for (StringRef word : words) {
    auto [key, value] = word.split('=');
    if (!llvm::is_contained(names, key))
      return createStringError("a case has no '" + key + "'; the nearest is '" +
                               nearestName(key, names) + "'");
    result.set(key, value);
  }
  if (Error error = result.check())
    return std::move(error);
  return result;
}

int64_t FuzzCase::getExtent(char letter) const {
  switch (letter) {
  case '1':
    return 1;
  case 'q': // what a layer projects to: queries, keys, values, all heads
    return getInt("H") * getInt("D");
  case 'k':
    return getInt("G") * getInt("D");
  case 'v':
    return getInt("G") * getInt("E");
  case 'o':
    return getInt("H") * getInt("E");
  case 'X': // as many as there are positions of rows and of keys
    return std::max(getInt("M"), getExtent(get("op") == "mha" ? 'A' : 'N'));
  case 't': // buckets of a relative bias
    return 32;
  case 'Z': // the ends of sequences
    return getInt("B") + 1;
  case 'L': // the keys of a layer without its past
    return has("memory") ? getInt("N") : getInt("M");
  case 'A': // and with it
    return getExtent('L') + getInt("P");
  default:
    return getInt(StringRef(&letter, 1));
  }
}

/// Fails unless `value` of `key` is one of `known`.
static Error checkWord(const FuzzCase &fuzz, StringRef key,
                       ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, fuzz.get(key)))
    return Error::success();
  return createStringError("expects '" + key + "' to be one of '" +
                           llvm::join(known, "', '") + "', got '" +
                           fuzz.get(key) + "'");
}

int64_t mlir::attn::getMostAmplitude(const FuzzCase &fuzz) {
  if (fuzz.get("op") == "linear")
    return getMostLinearAmplitude(fuzz);
  // Whole numbers times numbers of 16 bits are exact in straight loops. Their error,
  // which limits that of results, then says nothing of what is lost in large scores.
  return fuzz.get("op") == "sdpa" && fuzz.get("stored") == "i8" ? 4 : 20;
}

/// Fails unless all that counts is a number that is not negative.
static Error checkNumbers(const FuzzCase &fuzz) {
  for (StringRef key :
       {"B", "H",     "G",       "M",       "N",   "D",    "E",
        "C", "F",     "P",       "T",       "O",   "S",    "Y",
        "R", "parts", "strides", "threads", "opt", "seed", "order"}) {
    uint64_t value;
    if (fuzz.get(key).getAsInteger(10, value))
      return createStringError("expects '" + key + "' to be a number, got '" +
                               fuzz.get(key) + "'");
  }
  for (StringRef key : {"scale", "softcap", "amplitude"}) {
    double value;
    if (fuzz.has(key) && fuzz.get(key).getAsDouble(value))
      return createStringError("expects '" + key + "' to be a number, got '" +
                               fuzz.get(key) + "'");
  }
  return Error::success();
}

/// Fails unless `shape` broadcasts to `full`.
static Error checkBroadcast(StringRef key, StringRef shape, StringRef full) {
  if (shape.size() > full.size() || shape.empty())
    return createStringError("expects '" + key + "' of rank 1 to " +
                             Twine(full.size()));
  for (auto [got, letter] : llvm::zip(shape, full.take_back(shape.size())))
    if (got != '1' && got != letter)
      return createStringError("expects '" + key + "' like " + full +
                               ", with 1 for what is the same for all, got '" +
                               shape + "'");
  return Error::success();
}

/// Fails unless every word is one of those that its key has.
static Error checkWords(const FuzzCase &fuzz) {
  static constexpr StringRef kFloats[] = {"f32", "f16", "bf16", "f64"};
  static constexpr StringRef kMaybeFloat[] = {"", "f32", "f16", "bf16", "f64"};
  static constexpr StringRef kMaybeInt[] = {"", "i32", "i64", "index"};
  static constexpr StringRef kOps[] = {"sdpa", "rope",   "merge",
                                       "mha",  "linear", "append"};
  static constexpr StringRef kAlignments[] = {"", "none", "top_left",
                                              "bottom_right"};
  static constexpr StringRef kScores[] = {"",          "alibi", "t5",
                                          "t5_causal", "tanh",  "thirds"};
  static constexpr StringRef kRules[] = {"",        "prefix", "documents",
                                         "dilated", "chunks", "globals",
                                         "edges",   "band"};
  static constexpr StringRef kGuards[] = {"back", "front", "odd"};
  static constexpr StringRef kStored[] = {"",   "f16",      "bf16",
                                          "i8", "f8E4M3FN", "f8E5M2"};
  static constexpr StringRef kPrecisions[] = {"", "exact", "tf32", "tf32x3"};
  const std::pair<StringRef, ArrayRef<StringRef>> keys[] = {
      {"op", kOps},           {"type", kFloats},
      {"out", kMaybeFloat},   {"guard", kGuards},
      {"sinks", kMaybeFloat}, {"weights", kMaybeFloat},
      {"lengths", kMaybeInt}, {"causal", kAlignments},
      {"score", kScores},     {"keep", kRules},
      {"stored", kStored},    {"precision", kPrecisions}};
  for (auto [key, known] : keys)
    if (Error error = checkWord(fuzz, key, known))
      return error;
  return Error::success();
}

/// Fails unless all that broadcasts has a shape that can.
static Error checkShapes(const FuzzCase &fuzz) {
  if (fuzz.has("bias"))
    if (Error error =
            checkBroadcast("bias", fuzz.get("bias").split(':').second, "BHMN"))
      return error;
  StringRef scales = fuzz.get("scales").split(':').second;
  if (!scales.empty())
    if (Error error = checkBroadcast("scales", scales, "BGN"))
      return error;
  return fuzz.has("mask") ? checkBroadcast("mask", fuzz.get("mask"), "BHMN")
                          : Error::success();
}

/// Fails where the operands of an attention do not go together.
static Error checkAttention(const FuzzCase &fuzz) {
  // Positions beyond the table would be errors.
  if (fuzz.has("offset") &&
      (fuzz.get("keep") == "documents" || fuzz.get("keep") == "edges"))
    return createStringError(
        "expects no 'offset' with 'keep=" + fuzz.get("keep") + "'");
  bool isPaged = fuzz.getInt("S") > 0, isRagged = fuzz.has("ragged");
  if (fuzz.has("weights") && (isPaged || isRagged))
    return createStringError("expects no pages or 'ragged' with 'weights'");
  if (isRagged && (isPaged || fuzz.has("bias") || fuzz.has("mask")))
    return createStringError("expects no pages, bias or mask with 'ragged'");
  if (isRagged && fuzz.getInt("B") == 0 &&
      fuzz.getInt("M") + fuzz.getInt("N") > 0)
    return createStringError("expects rows of at least one sequence");
  if (fuzz.has("offset") && fuzz.get("causal") == "bottom_right")
    return createStringError("expects no 'offset' with bottom_right");
  return Error::success();
}

Error FuzzCase::check() const {
  for (auto *part : {checkNumbers, checkWords, checkShapes, checkAttention})
    if (Error error = part(*this))
      return error;
  int64_t heads = getInt("H"), kvHeads = getInt("G");
  if (kvHeads == 0 ? heads != 0 : heads % kvHeads != 0)
    return createStringError("expects 'H' to be a multiple of 'G'");
  bool isPaged = getInt("S") > 0;
  if (isPaged && getInt("N") != getInt("S") * getInt("Y"))
    return createStringError("expects 'N' to be 'S' times 'Y'");
  if (get("op") == "append" && !has("positions"))
    return createStringError("expects 'positions' for rows");
  if (get("op") == "append" && getInt("M") > getInt("N"))
    return createStringError("expects room for 'M' rows in 'N'");
  if (2 * getInt("R") > getInt("D"))
    return createStringError("expects 'R' of at most half of 'D'");
  if (has("scales") &&
      !llvm::is_contained({"i8", "f8E4M3FN", "f8E5M2"}, get("stored")))
    return createStringError("expects 'scales' with 'stored' of a byte");
  double amplitude = 1;
  get("amplitude").getAsDouble(amplitude);
  if (amplitude > static_cast<double>(getMostAmplitude(*this)))
    return createStringError("expects an 'amplitude' of at most " +
                             Twine(getMostAmplitude(*this)) + ", got " +
                             get("amplitude"));
  if (get("type") != "f64" &&
      (get("bias").starts_with("f64") || get("sinks") == "f64"))
    return createStringError("expects f64 only with 'type=f64'");
  if (has("precision") && get("type") != "f32")
    return createStringError("expects a 'precision' with 'type=f32'");
  return get("op") == "linear" ? checkLinear(*this) : Error::success();
}
