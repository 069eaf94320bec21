// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs the weights of projections that are constants:
//
//   %w = arith.constant dense<...> : tensor<384x384xbf16>
//   %y = linalg.generic (batch, row, out, in) ins(%x, %w) ... w[out, in]
//
// becomes
//
//   %p = arith.constant dense<...> : tensor<12x384x32xf32>
//   %y = linalg.generic (batch, row, out, in) ins(%x, %p) ... w[out / 32, in, out % 32]
//
// in the type in which products are added up, so that nothing is packed or converted at run time. Outputs beyond the last
// have weights of zero.

#include "attn/IR/AttrNames.h"
#include "attn/Transforms/Passes.h"
#include "attn/Transforms/Projection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/SwapByteOrder.h"

#include <cstring>

namespace mlir::attn {
#define GEN_PASS_DEF_PACKCONSTANTS
#include "attn/Transforms/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Return the elements of `attr` as they lie in memory, and whether one stands for
/// all; nothing where they are not there.
static std::optional<std::pair<ArrayRef<char>, bool>> getData(Attribute attr) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return std::make_pair(dense.getRawData(), dense.isSplat());
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  return std::make_pair(blob->getData(), false);
}

/// Write the float of type `from` at `source` as one of type `to`.
static void convertElement(const char *source, FloatType from, char *target,
                           FloatType to) {
  uint64_t word = 0;
  std::memcpy(&word, source, from.getWidth() / 8);
  APFloat number(from.getFloatSemantics(), APInt(from.getWidth(), word));
  bool losesInfo;
  number.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  word = number.bitcastToAPInt().getZExtValue();
  std::memcpy(target, &word, to.getWidth() / 8);
}

/// Return `attr`, [out, in], as panels of `columns` outputs of type `element`;
/// null where its elements are not known.
static TypedAttr packConstant(TypedAttr attr, FloatType element,
                              int64_t columns) {
  auto type = cast<RankedTensorType>(attr.getType());
  auto from = dyn_cast<FloatType>(type.getElementType());
  auto data = getData(attr);
  if (!from || !data || !llvm::sys::IsLittleEndianHost)
    return {};
  int64_t outs = type.getDimSize(0), ins = type.getDimSize(1);
  int64_t panels = llvm::divideCeil(outs, columns);
  size_t given = from.getWidth() / 8, wanted = element.getWidth() / 8;
  auto [bytes, isSplat] = *data;
  if (bytes.size() < given * (isSplat ? 1 : outs * ins))
    return {};
  std::vector<char> packed(panels * ins * columns * wanted, 0);
  for (int64_t out = 0; out < outs; ++out)
    for (int64_t in = 0; in < ins; ++in) {
      const char *source =
          bytes.data() + (isSplat ? 0 : (out * ins + in) * given);
      char *target =
          packed.data() +
          ((out / columns * ins + in) * columns + out % columns) * wanted;
      if (from == element)
        std::memcpy(target, source, wanted);
      else
        convertElement(source, from, target, element);
    }
  auto packedType = RankedTensorType::get({panels, ins, columns}, element);
  if (isa<DenseElementsAttr>(attr))
    return DenseElementsAttr::getFromRawBuffer(packedType, packed);
  return DenseResourceElementsAttr::get(
      packedType, "packed_weight",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(packed, /*align=*/64));
}

namespace {
struct PackConstants : public attn::impl::PackConstantsBase<PackConstants> {
  void runOnOperation() override {
    // Projections that share a weight share its panels.
    DenseMap<std::pair<Operation *, int64_t>, Value> known;
    getOperation()->walk([&](linalg::GenericOp op) {
      auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
      if (!schedule || schedule.getStreams() || !isProjection(op))
        return;
      auto weight = op.getDpsInputs()[1].getDefiningOp<arith::ConstantOp>();
      if (!weight)
        return;
      Value &panels = known[{weight, schedule.getColumns()}];
      if (!panels) {
        auto element = cast<FloatType>(getElementTypeOrSelf(op.getResult(0)));
        TypedAttr packed =
            packConstant(weight.getValue(), element, schedule.getColumns());
        if (!packed)
          return;
        OpBuilder b(weight);
        panels = arith::ConstantOp::create(b, weight.getLoc(), packed);
      }
      setPanels(op, panels);
    });
    SetVector<Operation *> weights;
    for (auto &[key, panels] : known)
      weights.insert(key.first);
    for (Operation *weight : weights)
      if (weight->use_empty())
        weight->erase();
  }
};
} // namespace
