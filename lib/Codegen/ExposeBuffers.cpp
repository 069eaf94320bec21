// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives a function on tensors the arguments of its C interface:
//
//   func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
//     %y = ...
//     return %y
//
// becomes
//
//   func.func @f(%a: memref<?x8xf32, strided<[?, ?], offset: ?>>,
//                %b: memref<?x8xf32, strided<[?, 1], offset: ?>>) -> i32 {
//     %x = bufferization.to_tensor %a restrict
//     %y = ...
//     bufferization.materialize_in_destination %y in restrict writable %b
//     return %c0_i32
//
// An argument may not be written, a result may: one-shot-bufferize inserts copies where a function would write
// into its arguments. Where the computation of a result starts from a tensor without content, it starts from the
// result's memory instead, so that it grows in place. Where it starts from an argument, that is copied there first,
// unless the caller has let it lie there. What a loop hands from one step to the next stays in one place.

#include "ExposeBuffers.h"

#include "attn/Codegen/Passes.h"
#include "attn/Codegen/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::attn {
#define GEN_PASS_DEF_EXPOSEBUFFERS
#include "attn/Codegen/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

MemRefType attn::getBufferType(Type type, bool isDense) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    tensor = RankedTensorType::get({}, type);
  SmallVector<int64_t> strides(tensor.getRank(), ShapedType::kDynamic);
  if (isDense && !strides.empty())
    strides.back() = 1;
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), layout);
}

/// Replace argument `index` of `function` by memory and read the old one from
/// it.
static void exposeArgument(OpBuilder &builder, func::FuncOp function,
                           unsigned index) {
  BlockArgument argument = function.getArgument(index);
  Type type = argument.getType();
  Location loc = argument.getLoc();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    tensor = RankedTensorType::get({}, type);
  bool isDense = function.getArgAttr(index, kDenseAttrName) != Attribute();
  argument.setType(getBufferType(tensor, isDense));
  Operation *read = bufferization::ToTensorOp::create(
      builder, loc, tensor, argument, /*restrict=*/true, /*writable=*/false);
  Operation *first = read;
  if (tensor != type)
    read = tensor::ExtractOp::create(builder, loc, read->getResult(0),
                                     ValueRange());
  argument.replaceUsesWithIf(read->getResult(0), [&](OpOperand &use) {
    return use.getOwner() != first;
  });
}

/// Return `memory` with the shape that `collapse` has before it, or null where
/// the extents of that cannot be read off the memory.
static Value expandLike(tensor::CollapseShapeOp collapse, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  auto expanded =
      memref::ExpandShapeOp::computeExpandedType(type, shape, groups);
  if (failed(expanded))
    return nullptr;
  OpBuilder b = OpBuilder::atBlockBegin(memory.getParentBlock());
  if (Operation *op = memory.getDefiningOp())
    b.setInsertionPointAfter(op);
  Location loc = collapse.getLoc();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    int64_t known = 1, unknown = 0;
    for (int64_t part : group)
      ShapedType::isDynamic(shape[part]) ? ++unknown : known *= shape[part];
    if (unknown > 1 || (unknown == 1 && known == 0))
      return nullptr;
    for (int64_t part : group) {
      if (ShapedType::isStatic(shape[part])) {
        sizes.push_back(b.getIndexAttr(shape[part]));
        continue;
      }
      Value whole = memref::DimOp::create(b, loc, memory, dim);
      Value divisor = arith::ConstantIndexOp::create(b, loc, known);
      sizes.push_back(
          arith::DivUIOp::create(b, loc, whole, divisor).getResult());
    }
  }
  return memref::ExpandShapeOp::create(b, loc, *expanded, memory, groups,
                                       sizes);
}

/// Return whether `use` is of an argument, parts of which are overwritten.
static bool changesArgument(OpOperand &use) {
  auto read = use.get().getDefiningOp<bufferization::ToTensorOp>();
  return read && !read.getWritable() && isa<BlockArgument>(read.getBuffer()) &&
         isa<scf::ForallOp, scf::ForOp, tensor::InsertSliceOp>(use.getOwner());
}

/// Collect the tensors without content, and the arguments, that the computation of
/// `value` writes into: the operands where each comes in.
static void findOrigins(OpOperand &use, SmallVectorImpl<OpOperand *> &origins) {
  auto result = dyn_cast<OpResult>(use.get());
  if (!result)
    return;
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (isa<tensor::EmptyOp>(op) || changesArgument(use)) {
    origins.push_back(&use);
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return findOrigins(*loop.getTiedLoopInit(result), origins);
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return findOrigins(*loop.getTiedOpOperand(result), origins);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    findOrigins(branch.thenYield()->getOpOperand(index), origins);
    findOrigins(branch.elseYield()->getOpOperand(index), origins);
    return;
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return findOrigins(cast.getSourceMutable(), origins);
  if (auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op))
    findOrigins(*destinationStyle.getTiedOpOperand(result), origins);
}

/// Return `place`, the tensor in `memory`, with the content of the argument that
/// `argument` is read from: copied, unless it is there because both are the same.
static Value withContent(OpBuilder &b, Value argument, Value place,
                         Value memory) {
  Location loc = memory.getLoc();
  auto pointer = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  };
  Value isSame = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      pointer(argument.getDefiningOp<bufferization::ToTensorOp>().getBuffer()),
      pointer(memory));
  auto choice = scf::IfOp::create(
      b, loc, isSame,
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(nested, loc, place);
      },
      [&](OpBuilder &nested, Location) {
        auto copy = linalg::CopyOp::create(nested, loc, argument, place);
        scf::YieldOp::create(nested, loc, copy.getResults());
      });
  return choice.getResult(0);
}

/// Let what `use` reads be computed in `memory` where its computation starts
/// from tensors without content, or from an argument.
static void computeInPlace(OpOperand &use, Value memory) {
  SmallVector<OpOperand *> origins;
  findOrigins(use, origins);
  if (origins.empty())
    return;
  auto type = cast<MemRefType>(memory.getType());
  OpBuilder b(memory.getContext());
  b.setInsertionPointAfterValue(memory);
  Value tensor = bufferization::ToTensorOp::create(
      b, memory.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType()), memory,
      /*restrict=*/true, /*writable=*/true);
  for (OpOperand *origin : origins) {
    Value start = tensor, before = origin->get();
    if (changesArgument(*origin)) {
      b.setInsertionPoint(origin->getOwner());
      if (start.getType() != before.getType())
        start = tensor::CastOp::create(b, memory.getLoc(), before.getType(),
                                       tensor);
      start = withContent(b, before, start, memory);
    } else if (start.getType() == before.getType()) {
      // What is inserted where it was taken from grows in place too.
      before.replaceUsesWithIf(start, [](OpOperand &other) {
        return isa<tensor::ExtractSliceOp>(other.getOwner());
      });
    } else {
      b.setInsertionPoint(origin->getOwner());
      start =
          tensor::CastOp::create(b, memory.getLoc(), before.getType(), tensor);
    }
    origin->set(start);
  }
}

/// Return whether `value` is computed in place of `start`.
static bool growsFrom(Value value, Value start) {
  if (value == start)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return growsFrom(loop.getTiedLoopInit(result)->get(), start);
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return growsFrom(loop.getTiedOpOperand(result)->get(), start);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = result.getResultNumber();
    return growsFrom(branch.thenYield()->getOperand(number), start) &&
           growsFrom(branch.elseYield()->getOperand(number), start);
  }
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return growsFrom(op->getOperand(0), start);
  if (auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op))
    return growsFrom(destinationStyle.getTiedOpOperand(result)->get(), start);
  return false;
}

/// Return whether tensors `a` and `b` are known to have the same extents.
static bool haveSameExtents(Value a, Value b) {
  auto type = cast<RankedTensorType>(a.getType());
  return llvm::all_of(llvm::seq(type.getRank()), [&](int64_t dim) {
    if (!type.isDynamicDim(dim))
      return true;
    FailureOr<bool> same =
        ValueBoundsConstraintSet::areEqual({a, dim}, {b, dim});
    return succeeded(same) && *same;
  });
}

/// Let each step of a loop leave the tensors that the next one takes where those of
/// the one before were, unless they may grow.
static void keepInPlace(scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  OpBuilder b(yield);
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value next = yield->getOperand(number);
    if (!isa<RankedTensorType>(argument.getType()) ||
        growsFrom(next, argument) || !haveSameExtents(next, argument))
      continue;
    auto copy = linalg::CopyOp::create(b, loop.getLoc(), next, argument);
    yield->setOperand(number, copy.getResult(0));
  }
}

/// Write what `function` returns into new arguments and return a status.
static void exposeResults(func::FuncOp function, func::ReturnOp returnOp) {
  OpBuilder builder(returnOp);
  Location loc = returnOp.getLoc();
  for (Value result : returnOp.getOperands()) {
    if (!isa<RankedTensorType>(result.getType()))
      result = tensor::FromElementsOp::create(
          builder, loc, RankedTensorType::get({}, result.getType()), result);
    auto type = cast<RankedTensorType>(result.getType());
    Value memory = function.getBody().front().addArgument(
        getBufferType(type, /*isDense=*/true), loc);
    // Any memory can be expanded, so that what comes before a collapse can be
    // computed in place.
    while (auto collapse = result.getDefiningOp<tensor::CollapseShapeOp>()) {
      Value expanded = expandLike(collapse, memory);
      if (!expanded)
        break;
      memory = expanded;
      result = collapse.getSrc();
    }
    auto write = bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), result, memory, /*restrict=*/false,
        /*writable=*/true);
    computeInPlace(write.getSourceMutable(), memory);
  }
  Value good = arith::ConstantIntOp::create(builder, loc, 0, 32);
  returnOp.getOperandsMutable().assign(good);
}

/// Make the type of `function` and its attributes those of its body.
static void updateType(func::FuncOp function, func::ReturnOp returnOp) {
  Block &entry = function.getBody().front();
  SmallVector<DictionaryAttr> argAttrs;
  function.getAllArgAttrs(argAttrs);
  argAttrs.resize(entry.getNumArguments(),
                  DictionaryAttr::get(function.getContext()));
  function.setType(FunctionType::get(function.getContext(),
                                     entry.getArgumentTypes(),
                                     returnOp.getOperandTypes()));
  function.setAllArgAttrs(argAttrs);
  if (returnOp.getNumOperands() == 1)
    function.setAllResultAttrs(
        ArrayRef<DictionaryAttr>{DictionaryAttr::get(function.getContext())});
}

/// Return the one return of `function`, or null after a diagnostic.
static func::ReturnOp getReturn(func::FuncOp function) {
  if (!function.getBody().hasOneBlock()) {
    function.emitOpError("expects a body of one block, got more");
    return nullptr;
  }
  return dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
}

/// Fails unless `function` can be a task: what ShareTasks made, with an argument for
/// each result.
static LogicalResult verifyTask(func::FuncOp function) {
  ArrayRef<Type> results = function.getResultTypes(),
                 arguments = function.getArgumentTypes();
  if (function.isPrivate() && arguments.size() >= results.size() &&
      arguments.take_back(results.size()) == results)
    return success();
  return function.emitOpError() << "expects '" << kTaskAttrName
                                << "' on a private function that ends in an "
                                   "argument for each result";
}

namespace {
struct ExposeBuffers : attn::impl::ExposeBuffersBase<ExposeBuffers> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    func::ReturnOp returnOp = getReturn(function);
    if (!returnOp)
      return signalPassFailure();
    if (function.isPublic()) {
      FailureOr<Signature> signature = Signature::get(function);
      if (failed(signature))
        return signalPassFailure();
      function->setAttr(kSignatureAttrName, signature->toAttr(&getContext()));
    }
    function.walk(keepInPlace);
    if (function->hasAttr(kTaskAttrName)) {
      if (failed(verifyTask(function)))
        return signalPassFailure();
      exposeTask(function, returnOp);
      updateType(function, returnOp);
      return;
    }
    if (llvm::any_of(function.getBody().front(),
                     [](Operation &op) { return isa<func::CallOp>(op); })) {
      exposeCalls(function, returnOp);
      updateType(function, returnOp);
      return;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      exposeArgument(builder, function, i);
    if (function.isPublic() || function->hasAttr(kOutputsAttrName))
      exposeResults(function, returnOp);
    updateType(function, returnOp);
  }
};
} // namespace
