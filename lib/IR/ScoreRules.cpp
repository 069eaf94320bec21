// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of the rules that models name. `mask_mod = prefix_lm(%n : index)` is read as
//
//   mask_mod(%b: index, %h: index, %i: index, %j: index) {
//     %inside = arith.cmpi slt, %j, %n : index
//     %past = arith.cmpi sle, %j, %i : index
//     %kept = arith.ori %inside, %past : i1
//     attn.yield %kept : i1
//   }
//
// and printed so: there is one form of each rule.

#include "attn/IR/ScoreRules.h"

#include "attn/IR/AttnOps.h"
#include "attn/IR/Indices.h"
#include "attn/IR/LinalgBuilder.h"
#include "attn/IR/ScoreRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

using Predicate = arith::CmpIPredicate;

namespace {
/// The body of a region that is being built.
struct RuleBody {
  RuleBody(Region &region, Location loc, Type scoreType = {})
      : b(loc, loc.getContext()) {
    Block &block = region.emplaceBlock();
    SmallVector<Type> types(scoreType ? 5 : 4, b.getIndexType());
    if (scoreType)
      types[0] = scoreType;
    block.addArguments(types, SmallVector<Location>(types.size(), loc));
    b.setInsertionPointToEnd(&block);
    place = getPlace(region);
    if (scoreType)
      score = block.getArgument(0);
  }

  /// Return j - i in 32 bits, whose vectors become floats at once.
  Value distance() {
    Value ahead = arith::SubIOp::create(b, place.key, place.position);
    return arith::IndexCastOp::create(b, b.getI32Type(), ahead);
  }

  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }

  Value read(Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(b, tensor, at);
  }

  void yield(Value value) { YieldOp::create(b, value); }

  ImplicitLocOpBuilder b;
  ScorePlace place;
  Value score;
};
} // namespace

void mlir::attn::buildAlibi(Region &scoreMod, Value slopes, Type scoreType) {
  RuleBody body(scoreMod, slopes.getLoc(), scoreType);
  ImplicitLocOpBuilder &b = body.b;
  Value slope = convertFloat(b, body.read(slopes, body.place.head), scoreType);
  Value distance = arith::SIToFPOp::create(b, scoreType, body.distance());
  Value term = arith::MulFOp::create(b, slope, distance);
  body.yield(arith::AddFOp::create(b, body.score, term));
}

/// Return the least distance of each bucket beyond `exact`, of `count` whose
/// widths grow up to `farthest`.
static SmallVector<int64_t> getBucketStarts(int64_t exact, int64_t count,
                                            int64_t farthest) {
  SmallVector<int64_t> starts;
  double ratio = static_cast<double>(farthest) / static_cast<double>(exact);
  // What is a whole number up to rounding is that number.
  constexpr double kRounding = 1e-9;
  for (int64_t k = 1; k < count; ++k)
    starts.push_back(static_cast<int64_t>(
        std::ceil(static_cast<double>(exact) *
                      std::pow(ratio, double(k) / double(count)) -
                  kRounding)));
  return starts;
}

void mlir::attn::buildT5RelativeBias(Region &scoreMod, Value table,
                                     const RelativeBuckets &buckets,
                                     Type scoreType) {
  RuleBody body(scoreMod, table.getLoc(), scoreType);
  ImplicitLocOpBuilder &b = body.b;
  int64_t count = cast<RankedTensorType>(table.getType()).getDimSize(0);
  Value distance = body.distance(), zero = body.i32(0), bucket;
  if (buckets.bidirectional) {
    count /= 2;
    Value isBehind = arith::CmpIOp::create(b, Predicate::sgt, distance, zero);
    bucket = arith::SelectOp::create(b, isBehind, body.i32(count), zero);
    // The least number has no absolute value.
    distance = arith::MaxSIOp::create(
        b, distance, body.i32(-std::numeric_limits<int32_t>::max()));
    distance = math::AbsIOp::create(b, distance);
  } else {
    distance = arith::SubIOp::create(b, zero, distance);
    distance = arith::MaxSIOp::create(b, distance, zero);
  }
  // Up to `exact` each distance has a bucket; then one more starts at each of a
  // few distances.
  int64_t exact = std::max<int64_t>(count / 2, 1);
  Value own = arith::MinSIOp::create(b, distance, body.i32(exact));
  for (int64_t start :
       getBucketStarts(exact, count - exact, buckets.maxDistance)) {
    Value beyond =
        arith::CmpIOp::create(b, Predicate::sge, distance, body.i32(start));
    Value one = arith::ExtUIOp::create(b, b.getI32Type(), beyond);
    own = arith::AddIOp::create(b, own, one);
  }
  bucket = bucket ? arith::AddIOp::create(b, bucket, own) : own;
  // The last one where all are exact.
  bucket = arith::MinSIOp::create(
      b, bucket,
      body.i32(cast<RankedTensorType>(table.getType()).getDimSize(0) - 1));
  Value at = arith::IndexCastOp::create(b, b.getIndexType(), bucket);
  Value term =
      convertFloat(b, body.read(table, {at, body.place.head}), scoreType);
  body.yield(arith::AddFOp::create(b, body.score, term));
}

void mlir::attn::buildPrefixLm(Region &maskMod, Value prefix) {
  RuleBody body(maskMod, prefix.getLoc());
  ImplicitLocOpBuilder &b = body.b;
  if (isa<RankedTensorType>(prefix.getType()))
    prefix = body.read(prefix, body.place.batch);
  prefix = toIndex(b, prefix);
  Value inside =
      arith::CmpIOp::create(b, Predicate::slt, body.place.key, prefix);
  Value past = arith::CmpIOp::create(b, Predicate::sle, body.place.key,
                                     body.place.position);
  body.yield(arith::OrIOp::create(b, inside, past));
}

void mlir::attn::buildDocumentMask(Region &maskMod, Value documents) {
  RuleBody body(maskMod, documents.getLoc());
  ImplicitLocOpBuilder &b = body.b;
  bool perEntry = cast<RankedTensorType>(documents.getType()).getRank() == 2;
  auto documentOf = [&](Value at) {
    return body.read(documents, perEntry ? ValueRange{body.place.batch, at}
                                         : ValueRange{at});
  };
  body.yield(arith::CmpIOp::create(b, Predicate::eq,
                                   documentOf(body.place.position),
                                   documentOf(body.place.key)));
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> mlir::attn::getScoreRules() {
  static constexpr StringRef kRules[] = {"alibi", "t5_bias", "t5_causal_bias"};
  return kRules;
}

ArrayRef<StringRef> mlir::attn::getMaskRules() {
  static constexpr StringRef kRules[] = {"prefix_lm", "documents"};
  return kRules;
}

LogicalResult
mlir::attn::verifyScoreRule(StringRef name, Value value,
                            function_ref<InFlightDiagnostic()> emitError) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Type element = getElementTypeOrSelf(value.getType());
  int64_t rank = type ? type.getRank() : 0;
  auto expect = [&](bool holds, StringRef wish) -> LogicalResult {
    if (holds)
      return success();
    return emitError() << "expects '" << name << "' of " << wish << ", got "
                       << value.getType();
  };
  if (name == "alibi")
    return expect(rank == 1 && isa<FloatType>(element),
                  "a float for each head, a tensor of rank 1");
  if (name.starts_with("t5"))
    return expect(rank == 2 && isa<FloatType>(element) &&
                      type.getDimSize(0) >= 2 && type.getDimSize(0) % 2 == 0,
                  "a tensor of rank 2 of floats, whose dimension 0 is static "
                  "and even");
  if (name == "prefix_lm")
    return expect(element.isIntOrIndex() && (!type || rank == 1),
                  "an integer, or a tensor of rank 1 of integers");
  return expect(element.isIntOrIndex() && (rank == 1 || rank == 2),
                "a tensor of rank 1 or 2 of integers");
}

void mlir::attn::buildScoreRule(Region &region, StringRef name, Value value) {
  Type score = getElementTypeOrSelf(value.getType());
  if (isa<FloatType>(score))
    score = getAccumulatorType(score);
  if (name == "alibi")
    return buildAlibi(region, value, score);
  if (name.starts_with("t5"))
    return buildT5RelativeBias(
        region, value, {/*maxDistance=*/128, name != "t5_causal_bias"}, score);
  if (name == "prefix_lm")
    return buildPrefixLm(region, value);
  buildDocumentMask(region, value);
}
