// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what attn.linear_attention needs, which has no scores, but a state that every step changes:
//
//   operations     2 B G T D E + 2 B H T D E       k v^T into the state, and q read from it

#include "CostParts.h"

#include "attn/IR/AttentionShape.h"

using namespace mlir;
using namespace mlir::attn;

AttentionCost mlir::attn::getLinearCost(LinearAttentionOp op) {
  AttentionCost cost;
  cost.op = op;
  AttentionShape shape = AttentionShape::get(op);
  cost.extents = {{"B", shape.batch},    {"H", shape.heads},
                  {"G", shape.kvHeads},  {"T", shape.keys},
                  {"D", shape.headSize}, {"E", shape.valueSize}};
  std::string queries = "T";
  if (op.getNonCausal()) {
    queries = "M";
    cost.extents.insert(cost.extents.begin() + 3, {"M", shape.rows});
  }
  CostPart part;
  part.name = "linear attention";
  Formula cells = named("B") * named("D") * named("E");
  Formula steps = cells * named("T") * named("G");
  part.operations = 2 * steps + 2 * (cells * named(queries) * named("H"));
  if (op.isGated())
    part.operations += steps;
  if (op.isDelta())
    part.operations += 2 * steps;
  if (op.getNormalize())
    part.operations +=
        named("B") * named("D") *
        (named("T") * named("G") + 2 * (named(queries) * named("H")));
  if (op.getFeatureMap() != FeatureMap::Identity &&
      op.getFeatureMap() != FeatureMap::Relu)
    part.exponentials = named("B") * named("D") *
                        (named("T") * named("G") + named(queries) * named("H"));
  OperandReader reader{cost, {}};
  reader.add(op.getQuery(),
             inLayout(op.getQueryLayout(), {"B", "H", queries, "D"}));
  reader.add(op.getKey(), inLayout(op.getKeyLayout(), {"B", "G", "T", "D"}));
  reader.add(op.getValue(),
             inLayout(op.getValueLayout(), {"B", "G", "T", "E"}));
  reader.add(op.getDecay(), op.hasChannelDecay() ? Names{"B", "G", "T", "D"}
                                                 : Names{"B", "G", "T"});
  if (Value beta = op.getBeta())
    reader.add(beta, dimOf(beta, 1) == 1 ? Names{"B", "", "T"}
                                         : Names{"B", "G", "T"});
  reader.add(op.getState(), {"B", "G", "D", "E"});
  reader.add(op.getNormalizer(), {"B", "G", "D"});
  part.read = reader.read;
  part.written = bytesOf(op.getOutput(), {"B", "H", queries, "E"});
  if (op.getNewState())
    part.written += bytesOf(op.getNewState(), {"B", "G", "D", "E"});
  if (op.getNewNormalizer())
    part.written += bytesOf(op.getNewNormalizer(), {"B", "G", "D"});
  cost.parts.push_back(part);
  cost.time = op.getNonCausal() ? "O(B (H M + G T) D E)" : "O(B H T D E)";
  cost.space = "O(B G D E)";
  cost.notes.push_back("operations are those of one step after the other");
  return cost;
}
