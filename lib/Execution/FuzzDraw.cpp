// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random configurations.

#include "attn/Execution/FuzzDraw.h"

#include "FuzzAppend.h"
#include "FuzzExtents.h"
#include "FuzzLinear.h"

using namespace mlir::attn;
using llvm::StringRef;
using llvm::Twine;

static std::string drawBroadcast(FuzzRandom &random) {
  std::string shape = "BHMN";
  for (char &letter : shape)
    if (random.onceIn(3))
      letter = '1';
  return shape.substr(random.onceIn(2) ? 0 : random.below(4));
}

static StringRef drawFloat(const FuzzCase &fuzz, FuzzRandom &random) {
  if (fuzz.get("type") == "f64" && random.onceIn(2))
    return "f64";
  return random.pick<StringRef>({"f32", "f32", "f16", "bf16"});
}

/// Draw the operands that change scores.
static void drawScoreOperands(FuzzCase &fuzz, FuzzRandom &random) {
  static constexpr StringRef kInts[] = {"i32", "i64", "index"};
  if (random.onceIn(4))
    fuzz.set("bias", drawFloat(fuzz, random) + ":" + drawBroadcast(random));
  if (random.onceIn(4))
    fuzz.set("mask", drawBroadcast(random));
  if (random.onceIn(4))
    fuzz.set("lengths", random.pick(llvm::ArrayRef(kInts)));
  if (random.onceIn(3))
    fuzz.set("causal", random.pick<StringRef>({"top_left", "bottom_right"}));
  if (fuzz.get("causal") != "bottom_right" && random.onceIn(5))
    fuzz.set("offset", random.pick(llvm::ArrayRef(kInts)) +
                           (random.onceIn(2) ? ":B" : ""));
  if (random.onceIn(5))
    fuzz.set("sinks", drawFloat(fuzz, random));
  if (random.onceIn(3))
    fuzz.set("lse", "1");
}

/// Draw the numbers among the attributes of an attention.
static void drawAttributes(FuzzCase &fuzz, FuzzRandom &random) {
  if (random.onceIn(3))
    fuzz.set("scale", random.pick<StringRef>(
                          {"0", "-0.5", "1", "0.001", "0.3", "1e-30", "2"}));
  if (random.onceIn(5))
    fuzz.set("softcap", random.pick<StringRef>({"0.5", "1", "15", "50"}));
  if (random.onceIn(4)) {
    auto side = [&]() -> std::string {
      if (random.onceIn(3))
        return "";
      return std::to_string(
          random.pick<int64_t>({0, 1, 3, 5, 16, 31, 64, 100, 4095, INT64_MAX}));
    };
    std::string left = side(), right = side();
    if (!left.empty() || !right.empty())
      fuzz.set("window", left + ":" + right);
    // Lowering takes what is beyond 2^61 for endless: of an endless offset and
    // an endless window nobody can say which ends first.
    if (fuzz.get("window").contains(std::to_string(INT64_MAX)) &&
        fuzz.has("offset"))
      fuzz.set("offset", "i32");
  }
}

/// Draw regions. What they do with a position that is as far away as numbers go is
/// their own affair.
static void drawRegions(FuzzCase &fuzz, FuzzRandom &random) {
  if (random.onceIn(5))
    fuzz.set("score", random.pick<StringRef>(
                          {"alibi", "t5", "t5_causal", "tanh", "thirds"}));
  if (random.onceIn(4))
    fuzz.set("keep",
             random.pick<StringRef>({"prefix", "documents", "dilated", "chunks",
                                     "globals", "edges", "band"}));
  if (fuzz.get("keep") == "documents" || fuzz.get("keep") == "edges")
    fuzz.reset("offset");
  else if ((fuzz.has("score") || fuzz.has("keep")) && fuzz.has("offset"))
    fuzz.set("offset", "i32");
}

/// Draw how keys and values are stored.
static void drawStorage(FuzzCase &fuzz, FuzzRandom &random) {
  StringRef type = fuzz.get("type");
  if (type == "f64" || !random.onceIn(4))
    return;
  if (type == "f32" && random.onceIn(3)) {
    fuzz.set("stored", random.pick<StringRef>({"f16", "bf16"}));
    return;
  }
  fuzz.set("stored", random.pick<StringRef>({"i8", "f8E4M3FN", "f8E5M2"}));
  if (random.onceIn(4))
    return;
  std::string shape = random
                          .pick<StringRef>({"BGN", "BGN", "GN", "N", "G1",
                                            "BG1", "B1N", "1", "11", ""})
                          .str();
  fuzz.set("scales",
           random.pick<StringRef>({"f32", "f32", "f16", "bf16"}) + ":" + shape);
}

/// Return once in how many draws keys have places of their own: more often for a GPU,
/// where most draws are such that they have none.
static int64_t getPlacesRate(const FuzzCase &fuzz) {
  return fuzz.has("device") ? 3 : 8;
}

/// Put keys and values in pages.
static void drawPages(FuzzCase &fuzz, FuzzRandom &random) {
  int64_t page =
      random.pick<int64_t>({1, 2, 5, 8, 16, 16, 24, 32, 64, 128, 256});
  int64_t pages = random.below(2 + fuzz.getInt("N") / page);
  fuzz.reset("weights");
  fuzz.set("S", Twine(page));
  fuzz.set("Y", Twine(pages));
  fuzz.set("N", Twine(page * pages));
  fuzz.set("O", Twine(1 + random.below(2 * pages + 2)));
  std::string dynamic = fuzz.get("dynamic").str();
  llvm::erase(dynamic, 'N');
  for (char letter : StringRef("SYO"))
    if (random.onceIn(3))
      dynamic += letter;
  fuzz.set("dynamic", dynamic);
}

/// Put keys and values in pages, or all sequences in one tensor.
static void drawPlaces(FuzzCase &fuzz, FuzzRandom &random) {
  if (random.onceIn(getPlacesRate(fuzz)))
    return drawPages(fuzz, random);
  if (random.onceIn(getPlacesRate(fuzz)) && fuzz.getInt("B") > 0) {
    fuzz.set("ragged", random.pick<StringRef>({"i32", "i64"}));
    for (StringRef key : {"bias", "mask", "layout", "weights"})
      fuzz.reset(key);
  }
}

/// Draw layouts, the type of the output, and which extents are dynamic.
static void drawForm(FuzzCase &fuzz, FuzzRandom &random) {
  if (random.onceIn(3)) {
    std::string layout = "hhhh";
    for (char &letter : layout)
      if (random.onceIn(2))
        letter = 's';
    fuzz.set("layout",
             random.onceIn(2) ? StringRef("ssss") : StringRef(layout));
  }
  if (random.onceIn(8))
    fuzz.set("out", random.pick<StringRef>({"f32", "f16", "bf16", "f64"}));
  std::string dynamic;
  int64_t rate = random.pick<int64_t>({1, 2, 3, 12});
  for (char letter : StringRef("BMN"))
    if (random.onceIn(rate))
      dynamic += letter;
  for (char letter : StringRef("HGDE"))
    if (random.onceIn(3 * rate))
      dynamic += letter;
  fuzz.set("dynamic", dynamic);
}

/// Draw how a GPU multiplies f32.
static void drawPrecision(FuzzCase &fuzz, FuzzRandom &random) {
  if (fuzz.has("device") && fuzz.get("type") == "f32" && !random.onceIn(3))
    fuzz.set("precision",
             random.pick<StringRef>({"tf32", "tf32", "tf32x3", "exact"}));
}

/// Draw an attention that blocks of threads of a GPU work on; f32 in more ways than
/// other types.
static void drawSdpaForBlocks(FuzzCase &fuzz, FuzzRandom &random) {
  fuzz.set("type",
           random.pick<StringRef>({"f16", "f16", "bf16", "f32", "f32", "f32"}));
  drawPrecision(fuzz, random);
  drawScoreOperands(fuzz, random);
  drawAttributes(fuzz, random);
  drawRegions(fuzz, random);
  drawForm(fuzz, random);
  std::string dynamic = fuzz.get("dynamic").str();
  llvm::erase_if(dynamic,
                 [](char letter) { return letter == 'D' || letter == 'E'; });
  fuzz.set("dynamic", dynamic);
  if (random.onceIn(5))
    drawPages(fuzz, random);
}

static void drawSdpa(FuzzCase &fuzz, FuzzRandom &random) {
  if (fuzz.has("device") && !random.onceIn(4))
    return drawSdpaForBlocks(fuzz, random);
  drawStorage(fuzz, random);
  drawPrecision(fuzz, random);
  drawScoreOperands(fuzz, random);
  drawAttributes(fuzz, random);
  drawRegions(fuzz, random);
  if (random.onceIn(6)) {
    StringRef type = fuzz.get("type");
    StringRef wide = type == "f64" ? "f64" : "f32";
    fuzz.set("weights", random.onceIn(2) ? type : wide);
  }
  drawForm(fuzz, random);
  drawPlaces(fuzz, random);
}

static void drawTables(FuzzCase &fuzz, FuzzRandom &random) {
  fuzz.set("R",
           Twine(random.onceIn(2) ? fuzz.getInt("D") / 2
                                  : random.below(fuzz.getInt("D") / 2 + 1)));
  if (random.onceIn(2)) {
    fuzz.set("positions", random.pick<StringRef>({"i32", "i64", "index"}));
    fuzz.set("T", Twine(1 + random.below(40)));
  }
  if (random.onceIn(2))
    fuzz.set("pairing", "interleaved");
}

static void drawRope(FuzzCase &fuzz, FuzzRandom &random) {
  fuzz.set("D", Twine(fuzz.getInt("D") / 2 * 2));
  fuzz.set("N", "1");
  fuzz.set("E", "1");
  drawTables(fuzz, random);
  if (random.onceIn(2))
    fuzz.set("layout", "s");
  std::string dynamic;
  for (char letter : StringRef("BHMT"))
    if (random.onceIn(2))
      dynamic += letter;
  fuzz.set("dynamic", dynamic);
}

static void drawMerge(FuzzCase &fuzz, FuzzRandom &random) {
  fuzz.set("N", "1");
  fuzz.set("parts", Twine(1 + random.below(4)));
  std::string dynamic;
  for (char letter : StringRef("BHME"))
    if (random.onceIn(2))
      dynamic += letter;
  fuzz.set("dynamic", dynamic);
}

/// Draw a layer. Its past, and what else changes the number of keys, is
/// static unless the tokens are dynamic.
static void drawMha(FuzzCase &fuzz, FuzzRandom &random) {
  auto [heads, kvHeads] = random.pick<std::pair<int, int>>(
      {{1, 1}, {2, 1}, {2, 2}, {4, 2}, {3, 1}});
  fuzz.set("H", Twine(heads));
  fuzz.set("G", Twine(kvHeads));
  for (StringRef key : {"M", "N"})
    fuzz.set(key, Twine(std::min<int64_t>(fuzz.getInt(key), 40)));
  for (StringRef key : {"D", "E"})
    fuzz.set(key, Twine(std::min<int64_t>(fuzz.getInt(key), 16) / 2 * 2));
  for (StringRef key : {"C", "F"})
    fuzz.set(key, Twine(random.pick({1, 7, 16, 33})));
  drawPrecision(fuzz, random);
  drawScoreOperands(fuzz, random);
  drawAttributes(fuzz, random);
  drawRegions(fuzz, random);
  if (random.onceIn(2))
    fuzz.set("biases", "1");
  if (random.onceIn(3))
    fuzz.set("memory", "1");
  else if (random.onceIn(2)) {
    fuzz.set("rope", "1");
    drawTables(fuzz, random);
  }
  if (random.onceIn(3)) {
    fuzz.set("P", Twine(random.pick({1, 5, 20})));
    fuzz.reset("offset");
    fuzz.set("causal", "bottom_right");
  }
  if (random.onceIn(2))
    fuzz.set("dynamic", random.pick<StringRef>({"BMNPA", "MNA", "PA", "BT"}));
}

FuzzCase mlir::attn::drawFunction(FuzzRandom &random, StringRef device) {
  FuzzCase fuzz;
  fuzz.set("device", device);
  fuzz.set("type",
           random.pick<StringRef>({"f32", "f32", "f32", "f16", "bf16", "f64"}));
  drawExtents(fuzz, random);
  int64_t which = random.below(20);
  fuzz.set("op", which == 0   ? "rope"
                 : which == 1 ? "merge"
                 : which == 2 ? "mha"
                 : which <= 4 ? "linear"
                 : which == 5 ? "append"
                              : "sdpa");
  if (which == 0)
    drawRope(fuzz, random);
  else if (which == 1)
    drawMerge(fuzz, random);
  else if (which == 2)
    drawMha(fuzz, random);
  else if (which <= 4) {
    drawLinear(fuzz, random);
    drawForm(fuzz, random);
  } else if (which == 5) {
    drawStorage(fuzz, random);
    drawAppend(fuzz, random);
    if (random.onceIn(getPlacesRate(fuzz)))
      drawPages(fuzz, random);
  } else
    drawSdpa(fuzz, random);
  limitWork(fuzz, fuzz.getInt("S") > 0 ? "N" : "");
  if (which == 5)
    makeRoom(fuzz, "");
  // Most errors are ours, and LLVM takes most of the time when it optimizes.
  if (random.onceIn(12))
    fuzz.set("opt", "3");
  return fuzz;
}

/// Draw other values for dynamic extents.
static void drawDynamicExtents(FuzzCase &fuzz, FuzzRandom &random) {
  StringRef op = fuzz.get("op");
  bool isLayer = op == "mha";
  std::string dynamic = fuzz.get("dynamic").str();
  std::string keep;
  for (char letter : StringRef("BMN"))
    if (!StringRef(dynamic).contains(letter))
      keep += letter;
  if (fuzz.has("ragged") && fuzz.getInt("B") == 0)
    fuzz.set("B", "1");
  FuzzCase other = fuzz;
  drawExtents(other, random);
  for (char letter : StringRef(dynamic)) {
    StringRef key(&letter, 1);
    if (letter == 'T')
      fuzz.set("T", Twine(1 + random.below(40)));
    else if (letter == 'P')
      fuzz.set("P", Twine(fuzz.getInt("P") > 0 ? 1 + random.below(20) : 0));
    else if (letter == 'M' || letter == 'N')
      fuzz.set(key, Twine(isLayer ? random.below(40) : other.getInt(key)));
    else if (letter == 'B' || letter == 'D' || letter == 'E')
      fuzz.set(key, Twine(op == "rope" && letter == 'D' ? fuzz.getInt("D")
                                                        : other.getInt(key)));
  }
  if (fuzz.getInt("S") > 0) {
    if (StringRef(dynamic).contains('Y'))
      fuzz.set("Y", Twine(random.below(2 + 600 / fuzz.getInt("S"))));
    fuzz.set("N", Twine(fuzz.getInt("S") * fuzz.getInt("Y")));
    keep += "N";
  }
  if (fuzz.has("ragged") && fuzz.getInt("B") == 0)
    fuzz.set("B", "2");
  // Heads keep their ratio unless both are free.
  bool hasHeads = StringRef(dynamic).contains('H'),
       hasKvHeads = StringRef(dynamic).contains('G');
  if (hasHeads && hasKvHeads) {
    fuzz.set("H", Twine(other.getInt("H")));
    fuzz.set("G", Twine(other.getInt("G")));
  } else if (hasHeads && fuzz.getInt("G") > 0) {
    fuzz.set("H", Twine(fuzz.getInt("G") * random.below(5)));
  }
  limitWork(fuzz, keep);
  if (op == "append")
    makeRoom(fuzz, keep);
}

/// Return whether a number of rows or of keys stands in one operand only, and so may
/// be any.
static bool isFree(char letter, llvm::ArrayRef<FuzzValue> values) {
  int64_t places = 0;
  for (const FuzzValue &value : values)
    places += llvm::count(value.shape, letter);
  bool isCount = letter == 'M' || letter == 'N';
  return (isCount && places == 1) || letter == 'Y' || letter == 'S';
}

/// Make one extent wrong that no broadcast makes right.
static void drawBreak(FuzzCase &fuzz, FuzzRandom &random) {
  auto values = getFuzzOperands(fuzz);
  for (const FuzzValue &result : getFuzzResults(fuzz))
    values.push_back(result);
  const FuzzValue &value = values[random.below(values.size())];
  if (value.shape.empty())
    return;
  int64_t dim = random.below(value.shape.size());
  // What a region captures may have more than is read.
  if (llvm::is_contained({"slopes", "table", "prefix", "documents", "edges"},
                         StringRef(value.name)))
    return;
  if (StringRef("1TXt").contains(value.shape[dim]) ||
      isFree(value.shape[dim], values))
    return;
  fuzz.set("break", value.name + "." + Twine(dim));
}

FuzzCase mlir::attn::drawCall(const FuzzCase &fuzz, FuzzRandom &random) {
  FuzzCase call = fuzz;
  drawDynamicExtents(call, random);
  call.set("seed", Twine(1 + random.below(1000000)));
  if (random.onceIn(3))
    call.set("strides", Twine(1 + random.below(1000000)));
  call.set("guard", random.pick<StringRef>({"back", "front", "odd"}));
  if (call.has("device"))
    call.set("order", Twine(random.below(random.onceIn(3) ? 2 : 1000)));
  if (random.onceIn(10))
    call.set("amplitude", random.pick<StringRef>({"4", "0.01", "20"}));
  if (int64_t most = getMostAmplitude(call); call.getInt("amplitude") > most)
    call.set("amplitude", Twine(most));
  if (call.has("bias") && random.onceIn(2))
    call.set("biasdata", random.pick<StringRef>({"i", "l", "n", "il"}));
  if (call.has("mask") && random.onceIn(2))
    call.set("maskdata",
             random.pick<StringRef>({"none", "all", "sparse", "prefix"}));
  if (call.get("op") == "sdpa" && random.onceIn(5))
    call.set("special", random.pick<StringRef>({"q", "k", "v", "kv", "qkv"}));
  if (call.get("op") == "sdpa" && random.onceIn(10))
    call.set("values", "ones");
  if (call.has("positions") && random.onceIn(4) && call.getInt("M") > 0 &&
      call.getInt("B") > 0)
    call.set("values", "outside");
  if (random.onceIn(3))
    call.set("check", random.pick<StringRef>({"shapes", "threads", "entry"}));
  if (call.get("check") == "entry" &&
      (!call.get("dynamic").contains('B') || call.getInt("S") > 0 ||
       call.has("ragged")))
    call.reset("check");
  if (call.get("op") == "append" && random.onceIn(2))
    call.set("check", "place");
  if (random.onceIn(16))
    drawBreak(call, random);
  return call;
}
