// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and checks what every attention has.

#include "ReferenceParts.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir::attn;
using namespace mlir::attn::reference;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

HostTensor reference::headsFirst(const HostTensor &tensor, AxisOrder order) {
  return order == AxisOrder::HeadsFirst ? tensor
                                        : tensor.transpose({0, 2, 1, 3});
}

int64_t reference::addSaturating(int64_t a, int64_t b) {
  int64_t sum;
  if (!llvm::AddOverflow(a, b, sum))
    return sum;
  return a > 0 ? INT64_MAX : INT64_MIN;
}

Expected<Geometry> reference::readGeometry(const HeadsProblem &p) {
  for (const HostTensor *tensor : {p.query, p.key, p.value})
    if (!tensor || tensor->getRank() != 4)
      return createStringError("expects query, key and value of rank 4");
  Geometry g;
  g.query = headsFirst(*p.query, p.queryOrder);
  g.key = headsFirst(*p.key, p.keyOrder);
  g.value = headsFirst(*p.value, p.valueOrder);
  g.batch = g.query.getDim(0);
  g.heads = g.query.getDim(1);
  g.rows = g.query.getDim(2);
  g.headSize = g.query.getDim(3);
  g.kvHeads = g.key.getDim(1);
  g.keys = g.key.getDim(2);
  g.valueSize = g.value.getDim(3);
  return g;
}

Error reference::checkHeads(const Geometry &g) {
  if (g.kvHeads == 0 ? g.heads != 0 : g.heads % g.kvHeads != 0)
    return createStringError(Twine(g.heads) + " query heads do not share " +
                             Twine(g.kvHeads) + " key heads evenly");
  return Error::success();
}

double reference::getScale(const HeadsProblem &p, const Geometry &g) {
  return p.scale.value_or(
      g.headSize == 0 ? 1.0 : 1.0 / std::sqrt(double(g.headSize)));
}
