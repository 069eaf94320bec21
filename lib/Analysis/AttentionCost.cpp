// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what attention needs. For attn.sdpa, of which S cells of the scores of each head are computed:
//
//   operations     2 B H S D + 2 B H S E       q . k and P . v
//   exponentials   B H S
//   read           the query, the keys and values that some row sees, and what else it takes
//   written        its results
//
// Of pages, those are counted that the entries of the batch have, whoever shares them. Of packed sequences S is the cells
// of all of them, and known when the program runs.
//
// attn.mha has its projections and rotations besides. (attn.linear_attention is counted in LinearAttentionCost.cpp.)

#include "CostParts.h"

#include "attn/IR/AttentionShape.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Add what changes scores, which attn.sdpa and attn.mha have alike.
template <typename OpT>
static void addScoreOperands(OperandReader &reader, OpT op) {
  reader.addBroadcast(op.getBias());
  reader.addBroadcast(op.getMask());
  reader.add(op.getKvLengths(), {"B"});
  if (Value offset = op.getQueryOffset())
    reader.add(offset,
               isa<RankedTensorType>(offset.getType()) ? Names{"B"} : Names());
  reader.add(op.getSinks(), {"H"});
  if (op.getKvLengths())
    reader.cost.notes.push_back("every length in kv_lengths is taken as N");
  if (op.getMask())
    reader.cost.notes.push_back("cells that the mask excludes are counted");
  if (!op.getScoreMod().empty() || !op.getMaskMod().empty())
    reader.cost.notes.push_back("regions are not counted");
}

/// Return what attention needs beside the bytes that it reads and writes. With
/// `packed` sequences S is the cells of all of them.
static CostPart attentionPart(bool packed = false) {
  CostPart part;
  part.name = "attention";
  Formula cells = named("H") * named("S");
  if (!packed)
    cells = named("B") * cells;
  part.operations = 2 * (cells * named("D")) + 2 * (cells * named("E"));
  part.exponentials = cells;
  return part;
}

/// State how an attention of this band grows, and what its scores, which are sums
/// in f64 or f32, would take.
static void setGrowth(AttentionCost &cost, StringRef more = "") {
  cost.space = "O(1) a thread beside operands and results";
  if (!cost.band) {
    cost.time = "O(H S (D + E))";
    return;
  }
  const ScoreBand &band = *cost.band;
  int64_t width = getElementTypeOrSelf(cost.op->getOperand(0)).isF64() ? 8 : 4;
  cost.scores = width * (named("B") * named("H") * named("M") * named("N"));
  bool narrow = band.left && (band.right || band.causal);
  std::string keys = "N";
  if (narrow)
    keys = "min(N, " +
           std::to_string(*band.left + 1 + (band.causal ? 0 : *band.right)) +
           ")";
  cost.time = "O(B H M " + keys + " (D + E)" + more.str() + ")";
  cost.space += "; all scores would take O(B H M N)";
}

/// Return the names of the dimensions of a key or a value with `channels`, as it
/// lies in memory.
static Names storedNames(SdpaOp op, Layout layout, StringRef channels) {
  if (op.hasPackedKeys())
    return {"Tk", "G", channels.str()};
  if (op.isPaged())
    return inLayout(layout, {"pool", "G", "page", channels.str()});
  return inLayout(layout, {"B", "G", "N", channels.str()});
}

/// Return the names of the dimensions of `scale`, of keys or values; a 1 has none.
static Names scaleNames(SdpaOp op, Value scale) {
  Names full = op.hasPackedKeys() ? Names{"", "G", "Tk"}
               : op.isPaged()     ? Names{"pool", "G", "page"}
                                  : Names{"B", "G", "N"};
  int64_t rank = cast<RankedTensorType>(scale.getType()).getRank();
  Names names(full.end() - rank, full.end());
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dimOf(scale, dim) == 1)
      names[dim].clear();
  return names;
}

/// Name the sizes of `op`.
static void setExtents(AttentionCost &cost, SdpaOp op) {
  AttentionShape shape = AttentionShape::get(op);
  cost.extents = {{"B", shape.batch}, {"H", shape.heads}, {"G", shape.kvHeads}};
  auto add = [&](StringRef name, int64_t extent) {
    cost.extents.push_back({name.str(), extent});
  };
  if (op.hasPackedRows())
    add("Tq", dimOf(op.getQuery(), 0));
  else
    add("M", shape.rows);
  if (op.hasPackedKeys())
    add("Tk", dimOf(op.getKey(), 0));
  else
    add("N", shape.keys);
  add("D", shape.headSize);
  add("E", shape.valueSize);
  if (!op.isPaged())
    return;
  add("pool", dimOf(op.getKey(), kBatchDim));
  add("page", dimOf(op.getKey(), sequenceDim(op.getKeyLayout())));
  add("pages", dimOf(op.getPageTable(), 1));
}

/// Add what says where keys and rows lie, and what stored ones are multiplied by.
static void addPlaces(OperandReader &reader, SdpaOp op) {
  reader.add(op.getPageTable(), {"B", "pages"});
  // (Of ends there is one more than there are sequences.)
  for (Value ends : {op.getCuSeqlensQ(), op.getCuSeqlensK()})
    reader.add(ends, {"?"}, named("B") + 1);
  for (Value scale : {op.getKeyScale(), op.getValueScale()}) {
    if (!scale)
      continue;
    Names names = scaleNames(op, scale), read = names;
    // Of pages those of all entries.
    std::replace(read.begin(), read.end(), std::string("pool"),
                 std::string("B"));
    std::replace(read.begin(), read.end(), std::string("page"),
                 std::string("N"));
    reader.addKeys(scale, names, read);
  }
}

/// State what is not in the numbers of `op`.
static void addNotes(AttentionCost &cost, SdpaOp op) {
  if (op.isPaged())
    cost.notes.push_back("a page is counted for each entry that reads it");
  if (op.hasPackedRows())
    cost.notes.push_back("S, the cells of all sequences, is known when the "
                         "program runs, and all keys are taken as read");
}

static AttentionCost costOf(SdpaOp op) {
  AttentionCost cost;
  cost.op = op;
  setExtents(cost, op);
  bool packed = op.hasPackedRows();
  if (!packed)
    cost.band = ScoreBand::get(op);
  CostPart part = attentionPart(packed);
  OperandReader reader{cost, {}};
  Names rows = packed ? Names{"Tq", "H"} : Names{"B", "H", "M"};
  auto withChannels = [&](StringRef channels, Layout layout) {
    Names names = rows;
    names.push_back(channels.str());
    return packed ? names : inLayout(layout, names);
  };
  reader.add(op.getQuery(), withChannels("D", op.getQueryLayout()));
  for (auto [stored, layout, channels] :
       {std::tuple(op.getKey(), op.getKeyLayout(), "D"),
        std::tuple(op.getValue(), op.getValueLayout(), "E")})
    reader.addKeys(stored, storedNames(op, layout, channels),
                   op.hasPackedKeys() ? Names{"Tk", "G", channels}
                                      : Names{"B", "G", "N", channels});
  addScoreOperands(reader, op);
  addPlaces(reader, op);
  addNotes(cost, op);
  part.read = reader.read;
  part.written = bytesOf(op.getOutput(), withChannels("E", Layout::bhsd));
  if (op.getLse())
    part.written += bytesOf(op.getLse(), rows);
  if (op.getWeights()) {
    part.written += bytesOf(op.getWeights(), {"B", "H", "M", "N"});
    part.operations += 2 * (part.exponentials * named("D"));
    part.exponentials += part.exponentials;
  }
  cost.parts.push_back(part);
  setGrowth(cost);
  return cost;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Return the projection of `rows` rows of `ins` channels to `outs`.
static CostPart projection(StringRef name, int64_t width, const Formula &rows,
                           const Formula &ins, const Formula &outs,
                           bool biased) {
  CostPart part;
  part.name = name.str();
  Formula tokens = named("B") * rows;
  part.operations = 2 * (tokens * ins * outs);
  part.read = width * (tokens * ins) + width * (ins * outs);
  part.written = width * (tokens * outs);
  if (biased) {
    part.operations += tokens * outs;
    part.read += width * outs;
  }
  return part;
}

static int64_t quotientOf(int64_t size, int64_t divisor) {
  return ShapedType::isDynamic(size) || divisor == 0 ? ShapedType::kDynamic
                                                     : size / divisor;
}

/// Return the names of the operands' dimensions, in order; what is a product of
/// sizes has none, and is static in all that matters.
static std::vector<Names> layerOperands(MhaOp op, const std::string &newKeys,
                                        const std::string &channels) {
  std::vector<Names> names = {{"B", "M", "C"}};
  if (op.getMemory())
    names.push_back({"B", newKeys, channels});
  for (Value operand : op->getOperands().drop_front(names.size())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    names.emplace_back(type ? type.getRank() : 0, "?");
    if (operand == op.getPastKey() || operand == op.getPastValue())
      names.back() = {"B", "G", "P", operand == op.getPastKey() ? "D" : "E"};
    else if (operand == op.getBias() || operand == op.getMask())
      names.back() = broadcastNames(operand);
    else if (operand == op.getPositions())
      names.back() = {"B", "M"};
    else if (operand == op.getSinks())
      names.back() = {"H"};
    else if (type && type.getRank() == 1 &&
             (operand == op.getKvLengths() || operand == op.getQueryOffset()))
      names.back() = {"B"};
  }
  return names;
}

static AttentionCost costOf(MhaOp op) {
  AttentionCost cost;
  cost.op = op;
  bool cross = bool(op.getMemory()), past = bool(op.getPastKey());
  std::string newKeys = cross ? "N'" : "M", channels = cross ? "C'" : "C";
  int64_t heads = op.getNumHeads(), groups = op.getKvHeads();
  cost.extents = {{"B", dimOf(op.getX(), 0)},
                  {"H", heads},
                  {"G", groups},
                  {"M", dimOf(op.getX(), 1)},
                  {"D", quotientOf(dimOf(op.getQWeight(), 0), heads)},
                  {"E", quotientOf(dimOf(op.getVWeight(), 0), groups)},
                  {"C", dimOf(op.getX(), 2)},
                  {"F", dimOf(op.getOWeight(), 0)}};
  if (cross) {
    cost.extents.push_back({"N'", dimOf(op.getMemory(), 1)});
    cost.extents.push_back({"C'", dimOf(op.getMemory(), 2)});
  }
  if (past)
    cost.extents.push_back({"P", dimOf(op.getPastKey(), 2)});
  cost.band = ScoreBand::get(op);
  int64_t width = elementBytes(op.getX());
  Formula queries = named("H") * named("D"), keys = named("G") * named("D"),
          values = named("G") * named("E"), outs = named("H") * named("E");
  cost.parts = {projection("query projection", width, named("M"), named("C"),
                           queries, bool(op.getQBias())),
                projection("key projection", width, named(newKeys),
                           named(channels), keys, bool(op.getKBias())),
                projection("value projection", width, named(newKeys),
                           named(channels), values, bool(op.getVBias()))};
  if (op.getCos()) {
    CostPart rope;
    rope.name = "rotary embedding";
    int64_t pairs = dimOf(op.getCos(), op.getPositions() ? 1 : 2);
    cost.extents.push_back({"R", pairs});
    Formula tokens = named("B") * named("M");
    Formula rotated = tokens * (named("H") + named("G"));
    rope.operations = 6 * (rotated * named("R"));
    rope.read = width * (rotated * named("D")) +
                2 * elementBytes(op.getCos()) * (tokens * named("R"));
    rope.written = width * (rotated * named("D"));
    cost.parts.push_back(rope);
  }
  CostPart part = attentionPart();
  OperandReader reader{cost, {}};
  addScoreOperands(reader, op);
  cost.operands = layerOperands(op, newKeys, channels);
  part.read = reader.read + width * (named("B") * named("M") * queries) +
              width * (named("B") * named("K") * (keys + values));
  part.written = width * (named("B") * named("M") * outs);
  cost.parts.push_back(part);
  cost.parts.push_back(projection("output projection", width, named("M"), outs,
                                  named("F"), bool(op.getOBias())));
  setGrowth(cost, " + B M C (H + G) D");
  cost.notes.push_back("what one part leaves to the next is counted as written "
                       "and read");
  return cost;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::optional<AttentionCost> AttentionCost::get(Operation *op) {
  if (auto sdpa = dyn_cast<SdpaOp>(op))
    return costOf(sdpa);
  if (auto mha = dyn_cast<MhaOp>(op))
    return costOf(mha);
  if (auto linear = dyn_cast<LinearAttentionOp>(op))
    return getLinearCost(linear);
  return std::nullopt;
}

CostPart AttentionCost::total() const {
  CostPart sum;
  sum.name = "all";
  for (const CostPart &part : parts) {
    sum.operations += part.operations;
    sum.exponentials += part.exponentials;
    sum.read += part.read;
    sum.written += part.written;
  }
  return sum;
}

Sizes AttentionCost::getSizes(const Sizes &given) const {
  Sizes sizes;
  for (const auto &[name, extent] : extents) {
    if (ShapedType::isStatic(extent))
      sizes[name] = extent;
    else if (given.contains(name))
      sizes[name] = given.lookup(name);
  }
  if (given.contains("O"))
    sizes["O"] = given.lookup("O");
  if (auto mha = dyn_cast<MhaOp>(op)) {
    StringRef fresh = mha.getMemory() ? "N'" : "M";
    bool known =
        sizes.contains(fresh) && (!mha.getPastKey() || sizes.contains("P"));
    int64_t keys;
    if (known &&
        !llvm::AddOverflow(sizes.lookup(fresh), sizes.lookup("P"), keys))
      sizes["N"] = keys;
  }
  if (sizes.contains("page") && sizes.contains("pages"))
    if (auto keys =
            (Formula::size("page") * Formula::size("pages")).evaluate(sizes))
      sizes["N"] = *keys;
  if (!band)
    return sizes;
  if (std::optional<int64_t> cells = band->countCells(sizes))
    sizes["S"] = *cells;
  if (std::optional<int64_t> keys = band->countKeys(sizes))
    sizes["K"] = *keys;
  return sizes;
}

Sizes AttentionCost::withoutBand(Sizes sizes) {
  if (!sizes.contains("S"))
    return sizes;
  auto cells = (Formula::size("M") * Formula::size("N")).evaluate(sizes);
  sizes.erase("S");
  if (cells)
    sizes["S"] = *cells;
  sizes["K"] = sizes.lookup("N");
  return sizes;
}
