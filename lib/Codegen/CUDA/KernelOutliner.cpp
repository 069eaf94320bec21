// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a kernel and its launch: what the kernel needs of the host becomes a parameter, and what only the device knows
// is computed again in it.

#include "KernelOutliner.h"

#include "attn/Codegen/Workspace.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::attn;

/// Return a name for kernel number `number` of `function` that every assembler takes
/// and that none of `kernels` has: functions may differ in what it leaves out.
static std::string getKernelName(gpu::GPUModuleOp kernels, StringRef function,
                                 int64_t number) {
  std::string name = function.str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  name += "_k" + std::to_string(number);
  while (kernels.lookupSymbol(name))
    name += "_";
  return name;
}

Value attn::getMemory(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view))
      break;
    value = view.getViewSource();
  }
  return value;
}

/// Add what `op` and the ops in it write to `memories`.
static void collectWrites(Operation *op, SmallVectorImpl<Value> &memories) {
  op->walk([&](MemoryEffectOpInterface inner) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    inner.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (isa<MemoryEffects::Write>(effect.getEffect()) && effect.getValue())
        memories.push_back(getMemory(effect.getValue()));
  });
}

/// Return true if the host reaches `op` before `load` whenever it reaches `load`.
static bool comesBefore(Operation *op, Operation *load) {
  for (Operation *at = load; at; at = at->getParentOp())
    if (Operation *other = at->getBlock()->findAncestorOpInBlock(*op))
      return other != at && other->isBeforeInBlock(at);
  return false;
}

bool KernelOutliner::isStable(memref::LoadOp load) {
  // An argument is an input, which nobody writes, or an output.
  Value memory = getMemory(load.getMemRef());
  auto isLater = [&](Operation *op, ArrayRef<Value> memories) {
    return llvm::is_contained(memories, memory) && !comesBefore(op, load);
  };
  for (auto &[launch, memories] : writes)
    if (isLater(launch, memories))
      return false;
  return !function
              .walk([&](Operation *op) {
                SmallVector<Value> memories;
                if (op->getNumRegions() == 0 || isa<linalg::LinalgOp>(op))
                  collectWrites(op, memories);
                return WalkResult(failure(isLater(op, memories)));
              })
              .wasInterrupted();
}

LogicalResult KernelOutliner::collect(Value value,
                                      llvm::SetVector<Value> &params,
                                      llvm::SetVector<Value> &onDevice) {
  if (params.contains(value) || onDevice.contains(value))
    return success();
  Operation *op = value.getDefiningOp();
  bool isConstant = op && op->hasTrait<OpTrait::ConstantLike>();
  if (!isConstant && !device.isOnDevice(value)) {
    params.insert(value);
    return success();
  }
  if (!op)
    return emitError(
        value.getLoc(),
        "expects a number that the host knows or that a kernel can "
        "compute again");
  if (writesMemory(op))
    return op->emitOpError("expects to write no memory where it gives numbers "
                           "that kernels need");
  if (auto load = dyn_cast<memref::LoadOp>(op); load && !isStable(load))
    return load.emitOpError("expects memory that is not written afterwards");
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value operand : needed)
    if (failed(collect(operand, params, onDevice)))
      return failure();
  onDevice.insert(value);
  return success();
}

FailureOr<gpu::GPUFuncOp> KernelOutliner::createKernel(Operation *op,
                                                       LaunchShape shape,
                                                       IRMapping &mapping) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  llvm::SetVector<Value> params, onDevice;
  for (Value value : used)
    if (failed(collect(value, params, onDevice)))
      return failure();
  SmallVector<Value> operands = params.takeVector();
  if (status)
    operands.push_back(status);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(kernels.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      b, op->getLoc(), getKernelName(kernels, function.getName(), count++),
      b.getFunctionType(ValueRange(operands).getTypes(), {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({int32_t(shape.threads), 1, 1}));
  if (status)
    kernel->setAttr(kGuardedAttrName, b.getUnitAttr());
  Block &body = kernel.getBody().front();
  for (auto [operand, argument] : llvm::zip(operands, body.getArguments()))
    mapping.map(operand, argument);
  b.setInsertionPointToEnd(&body);
  for (Value value : onDevice) {
    if (!mapping.contains(value))
      b.clone(*value.getDefiningOp(), mapping);
  }
  gpu::ReturnOp::create(b, op->getLoc());
  launch(op, kernel, shape, operands);
  return kernel;
}

void KernelOutliner::launch(Operation *op, gpu::GPUFuncOp kernel,
                            LaunchShape shape, ValueRange operands) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value one = constant(builder, loc, 1);
  for (Value &blocks : shape.blocks)
    if (!blocks)
      blocks = one;
  auto launchOp = gpu::LaunchFuncOp::create(
      builder, loc, kernel,
      gpu::KernelDim3{shape.blocks[0], shape.blocks[1], shape.blocks[2]},
      gpu::KernelDim3{constant(builder, loc, shape.threads), one, one},
      /*dynamicSharedMemorySize=*/Value(), operands);
  collectWrites(op, writes[launchOp]);
}

/// Return the number of this thread among all.
static Value threadNumber(OpBuilder &builder, Location loc) {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value first = arith::MulIOp::create(
      builder, loc, block,
      arith::ConstantIndexOp::create(builder, loc, kThreads));
  return arith::AddIOp::create(builder, loc, first, thread);
}

void KernelOutliner::forPlaces(OpBuilder &builder, Location loc, Value count,
                               bool isKnown,
                               function_ref<void(OpBuilder &, Value)> emit) {
  Value number = threadNumber(builder, loc);
  OpBuilder::InsertionGuard guard(builder);
  if (isKnown) {
    Value mine = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       number, count);
    auto branch = scf::IfOp::create(builder, loc, mine);
    builder.setInsertionPointToStart(&branch.getThenRegion().front());
    return emit(builder, number);
  }
  Value step = constant(builder, loc, kBlocksOfUnknown * kThreads);
  auto loop = scf::ForOp::create(builder, loc, number, count, step);
  builder.setInsertionPointToStart(loop.getBody());
  emit(builder, loop.getInductionVar());
}
