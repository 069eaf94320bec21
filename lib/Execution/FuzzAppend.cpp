// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows for a cache, plain or in pages, as they are or in bytes; several of one place, too.

#include "FuzzAppend.h"
#include "FuzzText.h"

using namespace mlir::attn;
using llvm::StringRef;
using llvm::Twine;

void mlir::attn::drawAppend(FuzzCase &fuzz, FuzzRandom &random) {
  fuzz.set("H", fuzz.get("G"));
  fuzz.reset("E");
  fuzz.set("M", Twine(random.pick({0, 1, 1, 1, 2, 3, 7, 16, 33})));
  fuzz.set("positions", random.pick<StringRef>({"i32", "i64", "index"}) +
                            (random.onceIn(2) ? ":M" : ""));
  std::string layout = "hh";
  for (char &letter : layout)
    if (random.onceIn(2))
      letter = 's';
  if (layout != "hh")
    fuzz.set("layout", layout);
  std::string dynamic;
  for (char letter : StringRef("BMNGD"))
    if (random.onceIn(2))
      dynamic += letter;
  fuzz.set("dynamic", dynamic);
}

void mlir::attn::makeRoom(FuzzCase &fuzz, StringRef keep) {
  int64_t rows = fuzz.getInt("M"), keys = fuzz.getInt("N"),
          page = fuzz.getInt("S");
  if (rows <= keys)
    return;
  if (!keep.contains('M')) {
    fuzz.set("M", Twine(keys));
  } else if (page > 0) {
    int64_t pages = (rows + page - 1) / page;
    fuzz.set("Y", Twine(pages));
    fuzz.set("N", Twine(page * pages));
  } else {
    fuzz.set("N", Twine(rows));
  }
}

std::vector<FuzzValue> mlir::attn::getAppendOperands(const FuzzCase &fuzz) {
  bool isPaged = fuzz.getInt("S") > 0;
  std::string type = fuzz.get("type").str();
  std::string stored = fuzz.has("stored") ? fuzz.get("stored").str() : type;
  auto [element, rows] = fuzz.get("positions").split(':');
  std::vector<FuzzValue> operands = {
      {"rows", type, inLayout(fuzz, 0, "BGMD")},
      {"cache", stored, inLayout(fuzz, 1, isPaged ? "OGSD" : "BGND")},
      {"positions", element.str(), "B" + rows.str()}};
  if (isPaged)
    operands.push_back({"page_table", "i32", "BY"});
  if (fuzz.has("scales")) {
    auto [scale, shape] = getScaleParts(fuzz);
    operands.push_back({"scale", scale, shape});
  }
  return operands;
}

std::string mlir::attn::getAppendText(const FuzzCase &fuzz,
                                      llvm::ArrayRef<FuzzValue> operands) {
  std::string text = "attn.cache_append %rows into %cache at(%positions : " +
                     operands[2].getType(fuzz) + ")";
  for (const FuzzValue &operand : operands.drop_front(3))
    text += " " + operand.name + "(%" + operand.name + " : " +
            operand.getType(fuzz) + ")";
  StringRef layout = fuzz.get("layout"), names[] = {"rows", "cache"};
  for (auto [name, letter] : llvm::zip(names, layout))
    if (letter == 's')
      text += (" " + name + "_layout = bshd").str();
  return text + " : " + operands[0].getType(fuzz) + " into " +
         operands[1].getType(fuzz);
}

void mlir::attn::fillAppendPositions(const FuzzCase &fuzz,
                                     const HostTensor &tensor,
                                     FuzzRandom &random) {
  int64_t keys = fuzz.getInt("N"), rows = fuzz.getInt("M");
  bool each = tensor.getRank() == 2;
  // A first position leaves room for the rows after it.
  int64_t places = std::max<int64_t>(each ? keys : keys - rows + 1, 1);
  std::optional<int64_t> outside;
  tensor.forEach([&](int64_t offset) {
    if (random.onceIn(2))
      outside = offset;
    tensor.storeInteger(offset, random.below(places));
  });
  if (fuzz.get("values") != "outside")
    return;
  // Last: with a stride of 0 several positions share their memory.
  if (!outside)
    tensor.forEach([&](int64_t offset) { outside = offset; });
  if (outside)
    tensor.storeInteger(*outside,
                        random.pick<int64_t>({-1, keys, INT32_MIN, INT32_MAX}));
}
