// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes of everything that a function does with memory kernels, and of the function itself what launches them:
//
//   linalg.generic ... ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
//
// becomes
//
//   gpu.launch_func @kernels::@f_k0 blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1)
//       args(%x : memref<?xf32>, %y : memref<?xf32>)
//
//   gpu.module @kernels {
//     gpu.func @f_k0(%x: memref<?xf32>, %y: memref<?xf32>) kernel {
//       ... one thread an element of %y
//     }
//   }
//
// An scf.forall whose schedule has warps is a program of thread blocks, and becomes the body of a kernel as it is. What
// the host cannot know, since it is read from memory, each kernel computes again; loops over such numbers are the work
// of one thread.

#include "DeviceValues.h"
#include "ThreadKernel.h"

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Signature.h"
#include "attn/Codegen/Workspace.h"
#include "attn/IR/AttnDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::attn {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "attn/Codegen/CudaPasses.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Threads of a block where each computes an element.
static constexpr int64_t kThreads = 128;
/// Blocks of a kernel whose number of elements the host cannot know.
static constexpr int64_t kBlocksOfUnknown = 32;
/// Threads of a warp.
static constexpr int64_t kWarp = 32;

namespace {

/// How a kernel is launched.
struct LaunchShape {
  /// Blocks in x, y and z; null: 1.
  std::array<Value, 3> blocks;
  int64_t threads = 1;
};

/// Makes the kernels of one function.
class KernelOutliner {
public:
  KernelOutliner(func::FuncOp function, gpu::GPUModuleOp kernels)
      : function(function), kernels(kernels), b(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult visit(Block &block);
  LogicalResult visitOp(Operation *op);
  LogicalResult outlineLinalg(linalg::LinalgOp op);
  LogicalResult outlineBlocks(scf::ForallOp forall, int64_t warps);
  LogicalResult outlineForall(scf::ForallOp forall);
  LogicalResult outlineSerial(Operation *op);
  LogicalResult outlineChecks(func::FuncOp checks);

  bool isStable(memref::LoadOp load);
  FailureOr<gpu::GPUFuncOp> createKernel(Operation *op, LaunchShape shape,
                                         ValueRange more, IRMapping &mapping);
  LogicalResult collect(Value value, llvm::SetVector<Value> &params,
                        llvm::SetVector<Value> &onDevice);
  void launch(Operation *op, gpu::GPUFuncOp kernel, LaunchShape shape,
              ValueRange operands);
  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value threadNumber(OpBuilder &builder, Location loc);
  void forPlaces(OpBuilder &builder, Location loc, Value count, bool isKnown,
                 function_ref<void(OpBuilder &, Value)> emit);

  func::FuncOp function;
  gpu::GPUModuleOp kernels;
  OpBuilder b;
  DeviceValues device;
  /// What each launch writes.
  llvm::MapVector<Operation *, SmallVector<Value>> writes;
  /// The status, where there are checks of data.
  Value status;
  int64_t count = 0;
};

} // namespace

/// Return the name of a kernel that every assembler takes.
static std::string getKernelName(StringRef function, int64_t number) {
  std::string name = function.str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  return name + "_k" + std::to_string(number);
}

/// Return the memory that `value` is a view of; views of the workspace are many
/// memories, which do not overlap.
static Value getMemory(Value value) {
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

/// Return true if every write to the memory of `load` comes before it on the host,
/// so that a later kernel reads the same.
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

/// Add what a kernel needs to compute `value`: parameters, and numbers of the device.
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

/// Create an empty kernel for `op` and launch it before. `mapping` then leads from
/// what `op` and `more` use to what the kernel has.
FailureOr<gpu::GPUFuncOp> KernelOutliner::createKernel(Operation *op,
                                                       LaunchShape shape,
                                                       ValueRange more,
                                                       IRMapping &mapping) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  used.insert(more.begin(), more.end());
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
      b, op->getLoc(), getKernelName(function.getName(), count++),
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
Value KernelOutliner::threadNumber(OpBuilder &builder, Location loc) {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Value first = arith::MulIOp::create(builder, loc, block,
                                      constant(builder, loc, kThreads));
  return arith::AddIOp::create(builder, loc, first, thread);
}

/// Emit the work of this thread on `count` places: on one, or, where the host does
/// not know how many there are, on every so manieth.
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

LogicalResult KernelOutliner::outlineLinalg(linalg::LinalgOp op) {
  if (!canRunByThreads(op))
    return outlineSerial(op);
  Location loc = op.getLoc();
  // Constants are memory of kernels, but their shapes are known.
  bool isKnown = llvm::none_of(op->getOperands(), [&](Value operand) {
    return isa<MemRefType>(operand.getType()) && device.isOnDevice(operand) &&
           !getMemory(operand).getDefiningOp<memref::GetGlobalOp>();
  });
  LaunchShape shape;
  shape.threads = kThreads;
  OpBuilder builder(op);
  Value unit = constant(builder, loc, kThreads);
  shape.blocks[0] = isKnown ? arith::CeilDivUIOp::create(
                                  builder, loc, countThreads(builder, op), unit)
                                  .getResult()
                            : constant(builder, loc, kBlocksOfUnknown);
  IRMapping mapping;
  auto kernel = createKernel(op, shape, {}, mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  auto clone = cast<linalg::LinalgOp>(inner.clone(*op, mapping));
  inner.setInsertionPoint(clone);
  Value places = countThreads(inner, clone);
  forPlaces(inner, loc, places, isKnown,
            [&](OpBuilder &at, Value place) { emitThread(at, clone, place); });
  clone.erase();
  op.erase();
  return success();
}

/// Map the induction variables of `forall` to `numbers`, which count from 0.
static void mapInductionVars(OpBuilder &b, scf::ForallOp forall,
                             ValueRange numbers, IRMapping &mapping) {
  Location loc = forall.getLoc();
  for (auto [dim, number] : llvm::enumerate(numbers)) {
    auto get = [&](OpFoldResult value) {
      Value result = getValueOrCreateConstantIndexOp(b, loc, value);
      return mapping.lookupOrDefault(result);
    };
    Value step = get(forall.getMixedStep()[dim]);
    Value first = get(forall.getMixedLowerBound()[dim]);
    Value scaled = arith::MulIOp::create(b, loc, number, step);
    mapping.map(forall.getInductionVar(dim),
                arith::AddIOp::create(b, loc, first, scaled).getResult());
  }
}

/// Return how many steps dimension `dim` of `forall` has.
static Value countSteps(OpBuilder &b, scf::ForallOp forall, int64_t dim,
                        function_ref<Value(Value)> map) {
  Location loc = forall.getLoc();
  auto get = [&](OpFoldResult value) {
    return map(getValueOrCreateConstantIndexOp(b, loc, value));
  };
  Value first = get(forall.getMixedLowerBound()[dim]);
  Value end = get(forall.getMixedUpperBound()[dim]);
  Value extent = arith::SubIOp::create(
      b, loc, arith::MaxSIOp::create(b, loc, end, first), first);
  return arith::CeilDivUIOp::create(b, loc, extent,
                                    get(forall.getMixedStep()[dim]));
}

/// Clone the body of `forall`.
static void cloneBody(OpBuilder &b, scf::ForallOp forall, IRMapping &mapping) {
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, mapping);
}

/// One thread block a step of `forall`.
LogicalResult KernelOutliner::outlineBlocks(scf::ForallOp forall,
                                            int64_t warps) {
  Location loc = forall.getLoc();
  auto mapping = forall.getMapping();
  int64_t rank = forall.getRank();
  OpBuilder builder(forall);
  LaunchShape shape;
  shape.threads = kWarp * warps;
  SmallVector<gpu::Dimension> dimensions(rank);
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto block = mapping ? dyn_cast<gpu::GPUBlockMappingAttr>((*mapping)[dim])
                         : gpu::GPUBlockMappingAttr();
    if (!block || block.isLinearMapping() || block.getMappingId() > 2)
      return forall.emitOpError("expects a #gpu.block<x>, y or z for each "
                                "dimension");
    int64_t id = block.getMappingId();
    dimensions[dim] = static_cast<gpu::Dimension>(id);
    shape.blocks[id] =
        countSteps(builder, forall, dim, [](Value v) { return v; });
  }
  IRMapping values;
  auto kernel = createKernel(forall, shape, {}, values);
  if (failed(kernel))
    return failure();
  if (Attribute schedule = forall->getAttr("attn.schedule"))
    (*kernel)->setAttr("attn.schedule", schedule);
  // Without a word ptxas takes too few registers, for more blocks at once.
  (*kernel)->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
  OpBuilder inner((*kernel).getBody().front().getTerminator());
  SmallVector<Value> numbers;
  for (gpu::Dimension dimension : dimensions)
    numbers.push_back(gpu::BlockIdOp::create(inner, loc, dimension));
  mapInductionVars(inner, forall, numbers, values);
  cloneBody(inner, forall, values);
  forall.erase();
  return success();
}

/// One thread a step of `forall`.
LogicalResult KernelOutliner::outlineForall(scf::ForallOp forall) {
  Location loc = forall.getLoc();
  OpBuilder builder(forall);
  bool isKnown = llvm::none_of(forall->getOperands(), [&](Value operand) {
    return device.isOnDevice(operand);
  });
  auto countAll = [&](OpBuilder &at, function_ref<Value(Value)> map,
                      SmallVectorImpl<OpFoldResult> &steps) {
    Value total = constant(at, loc, 1);
    for (int64_t dim = 0; dim < forall.getRank(); ++dim) {
      Value count = countSteps(at, forall, dim, map);
      steps.push_back(count);
      total = arith::MulIOp::create(at, loc, total, count);
    }
    return total;
  };
  LaunchShape shape;
  shape.threads = kThreads;
  SmallVector<OpFoldResult> ignored;
  shape.blocks[0] = isKnown
                        ? arith::CeilDivUIOp::create(
                              builder, loc,
                              countAll(
                                  builder, [](Value v) { return v; }, ignored),
                              constant(builder, loc, kThreads))
                              .getResult()
                        : constant(builder, loc, kBlocksOfUnknown);
  IRMapping mapping;
  auto kernel = createKernel(forall, shape, {}, mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  SmallVector<OpFoldResult> steps;
  Value total = countAll(
      inner, [&](Value v) { return mapping.lookupOrDefault(v); }, steps);
  forPlaces(inner, loc, total, isKnown, [&](OpBuilder &at, Value place) {
    SmallVector<Value> numbers(steps.size());
    for (int64_t dim = int64_t(steps.size()) - 1; dim >= 0; --dim) {
      Value extent = cast<Value>(steps[dim]);
      numbers[dim] = arith::RemUIOp::create(at, loc, place, extent);
      place = arith::DivUIOp::create(at, loc, place, extent);
    }
    mapInductionVars(at, forall, numbers, mapping);
    cloneBody(at, forall, mapping);
  });
  forall.erase();
  return lowerToLoops(kernel->getBody());
}

/// One thread for all of `op`.
LogicalResult KernelOutliner::outlineSerial(Operation *op) {
  IRMapping mapping;
  auto kernel = createKernel(op, LaunchShape(), {}, mapping);
  if (failed(kernel))
    return failure();
  OpBuilder inner(kernel->getBody().front().getTerminator());
  inner.clone(*op, mapping);
  op->erase();
  return lowerToLoops(kernel->getBody());
}

LogicalResult KernelOutliner::visitOp(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return outlineLinalg(linalgOp);
  if (auto forall = dyn_cast<scf::ForallOp>(op)) {
    auto schedule = forall->getAttrOfType<ScheduleAttr>("attn.schedule");
    if (schedule && schedule.getWarps() > 0)
      return outlineBlocks(forall, schedule.getWarps());
    return outlineForall(forall);
  }
  if (!writesMemory(op))
    return success();
  if (isa<scf::ForOp, scf::IfOp>(op) && !device.isControlledByDevice(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visit(block)))
          return failure();
    return success();
  }
  if (op->getNumResults() > 0)
    return op->emitOpError("expects no results where only the device knows how "
                           "often it runs");
  return outlineSerial(op);
}

LogicalResult KernelOutliner::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!isa<gpu::LaunchFuncOp>(op) && failed(visitOp(&op)))
      return failure();
  return success();
}

/// Launch, before all else, one thread that writes the status.
LogicalResult KernelOutliner::outlineChecks(func::FuncOp checks) {
  Location loc = function.getLoc();
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Value workspace = entry.getArguments().back();
  auto type = MemRefType::get({kStatusWords}, builder.getI64Type());
  Value zero = constant(builder, loc, 0);
  Value words =
      memref::ViewOp::create(builder, loc, type, workspace, zero, ValueRange());
  // What the kernel is made from: a branch that is always taken.
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, /*width=*/1);
  auto branch = scf::IfOp::create(builder, loc, yes);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  IRMapping mapping;
  mapping.map(checks.getArguments(),
              entry.getArguments().take_front(checks.getNumArguments()));
  for (Operation &op : checks.getBody().front().without_terminator())
    builder.clone(op, mapping);
  Operation *returnOp = checks.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(returnOp->getOperands()))
    memref::StoreOp::create(builder, loc, mapping.lookupOrDefault(value), words,
                            constant(builder, loc, number));
  checks.erase();
  if (failed(outlineSerial(branch)))
    return failure();
  status = words;
  function->setAttr(kGuardedAttrName, b.getUnitAttr());
  return success();
}

LogicalResult KernelOutliner::run() {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto checks = module.lookupSymbol<func::FuncOp>(
          dataCheckFunctionName(function.getName())))
    if (failed(outlineChecks(checks)))
      return failure();
  return visit(function.getBody().front());
}

/// Give kernels their own constants.
static void copyGlobals(ModuleOp module, gpu::GPUModuleOp kernels) {
  OpBuilder b = OpBuilder::atBlockBegin(kernels.getBody());
  kernels.walk([&](memref::GetGlobalOp get) {
    if (kernels.lookupSymbol(get.getName()))
      return;
    if (auto global = module.lookupSymbol<memref::GlobalOp>(get.getName()))
      b.clone(*global);
  });
}

namespace {
struct OutlineKernels : attn::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(b, module.getLoc(), kKernelModuleName);
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(kSignatureAttrName))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(KernelOutliner(function, kernels).run()))
        return signalPassFailure();
    copyGlobals(module, kernels);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
  }
};
} // namespace
