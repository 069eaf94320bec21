// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function a phase: the list of its passes, under the command that runs the same.

#include "attn/Pipeline/Phases.h"
#include "attn/Codegen/CpuPasses.h"
#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Passes.h"
#include "attn/Conversion/Passes.h"
#include "attn/Pipeline/Passes.h"
#include "attn/Target/CUDA/Architectures.h"
#include "attn/Target/TargetInfo.h"
#include "attn/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

const PhaseInfo &attn::getPhaseInfo(Phase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

std::optional<Phase> attn::findPhase(StringRef name) {
  for (const PhaseInfo &info : kPhases)
    if (info.name == name)
      return info.phase;
  return std::nullopt;
}

llvm::Expected<Phase> attn::parsePhase(StringRef name) {
  if (std::optional<Phase> phase = findPhase(name))
    return *phase;
  return llvm::createStringError(withKnownValues(
      "expects a phase, got --stop-after=" + name, name, getPhaseNames()));
}

SmallVector<StringRef> attn::getPhaseNames() {
  SmallVector<StringRef> names;
  for (const PhaseInfo &info : kPhases)
    names.push_back(info.name);
  return names;
}

//===----------------------------------------------------------------------===//
// The phases
//===----------------------------------------------------------------------===//

/// Return upstream's canonicalizer for one round: what it changes it looks at again
/// within it, and a second one over all ops, which finds nothing, takes as long. Nor
/// are there blocks to merge: regions have one each.
static std::unique_ptr<Pass> createCanonicalizer() {
  GreedyRewriteConfig once;
  once.setMaxIterations(1);
  once.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(once);
}

// attn-opt --attn-check-calls --inline --symbol-dce
static void buildInput(OpPassManager &pm) {
  pm.addPass(createCheckCalls());
  pm.addPass(createInlinerPass(/*opPipelines=*/{},
                               /*defaultPipelineBuilder=*/nullptr));
  pm.addPass(createSymbolDCEPass());
}

// attn-opt --attn-outline-checks --attn-outline-shapes --attn-decompose-layers
//   --convert-elementwise-to-linalg --attn-booleans-to-bytes
//   --attn-normalize-operands --canonicalize
//   --resolve-ranked-shaped-type-result-dims --cse
static void buildCore(OpPassManager &pm) {
  pm.addPass(createOutlineChecks());
  pm.addPass(createOutlineShapes());
  pm.addPass(createDecomposeLayers());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createBooleansToBytes());
  pm.addPass(createNormalizeOperands());
  pm.addPass(createCanonicalizer());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addPass(createCSEPass());
}

// attn-opt --attn-select-schedule --attn-pack-constants --attn-outline-packing
static void buildSchedule(OpPassManager &pm) {
  pm.addPass(createSelectSchedule());
  pm.addPass(createPackConstants());
  pm.addPass(createOutlinePacking());
}

// attn-opt --attn-split-keys --attn-tile-blocks --attn-tile-linear-attention
//   --attn-tile-projections --resolve-ranked-shaped-type-result-dims
//   --canonicalize --cse --attn-share-tasks
static void buildTiles(OpPassManager &pm) {
  pm.addPass(createSplitKeys());
  pm.addPass(createTileBlocks());
  pm.addPass(createTileLinearAttention());
  pm.addPass(createTileProjections());
  // Sizes are those of arguments, which the scratch of later phases can know
  // when a function starts.
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
  pm.addPass(createShareTasks());
}

// attn-opt --convert-attn-to-linalg --canonicalize --cse
static void buildLinalg(OpPassManager &pm) {
  pm.addPass(createAttnToLinalg());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
}

// attn-opt --attn-register-tiles --canonicalize --cse --attn-approximate-math
//   --attn-expand-small-floats
static void buildVectors(OpPassManager &pm) {
  pm.addPass(createRegisterTiles());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
  pm.addPass(createApproximateMath());
  pm.addPass(createExpandSmallFloats());
}

// attn-opt --attn-expose-buffers --empty-tensor-to-alloc-tensor
//   --one-shot-bufferize --canonicalize --cse
static void buildBufferization(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createExposeBuffers());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  pm.addPass(bufferization::createOneShotBufferizePass());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
}

// attn-opt --loop-invariant-code-motion --canonicalize --cse
//   --attn-prefetch-blocks --attn-specialize-strides --attn-prefetch-streams
//   --attn-place-scratch
static void buildScratch(OpPassManager &pm) {
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
  pm.addPass(createPrefetchBlocks());
  pm.addPass(createSpecializeStrides());
  pm.addPass(createPrefetchStreams());
  pm.addPass(createPlaceScratch());
}

static void buildBuffers(OpPassManager &pm) {
  buildBufferization(pm);
  buildScratch(pm);
  // attn-opt --attn-copies-to-linalg --convert-linalg-to-loops
  //   --canonicalize --cse
  pm.addNestedPass<func::FuncOp>(createCopiesToLinalg());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizer());
  pm.addPass(createCSEPass());
}

// attn-opt --convert-attn-forall-to-openmp
//   --convert-vector-to-scf="full-unroll=1 target-rank=1"
//   --expand-strided-metadata --lower-affine
//   --arith-emulate-unsupported-floats="source-types=bf16 target-type=f32"
//   --arith-expand=include-bf16 --convert-scf-to-cf --convert-vector-to-llvm
//   --convert-to-llvm --attn-call-math --reconcile-unrealized-casts
//   --attn-emit-entries
static void buildLlvm(OpPassManager &pm) {
  pm.addPass(createForallToOpenMP());
  VectorTransferToSCFOptions rows;
  pm.addPass(
      createConvertVectorToSCFPass(rows.enableFullUnroll().setTargetRank(1)));
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createCallMath());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createEmitEntries());
}

void attn::buildPhase(OpPassManager &pm, Phase phase) {
  switch (phase) {
  case Phase::Input:
    return buildInput(pm);
  case Phase::Core:
    return buildCore(pm);
  case Phase::Schedule:
    return buildSchedule(pm);
  case Phase::Tiles:
    return buildTiles(pm);
  case Phase::Linalg:
    return buildLinalg(pm);
  case Phase::Vectors:
    return buildVectors(pm);
  case Phase::Buffers:
    return buildBuffers(pm);
  case Phase::Llvm:
    return buildLlvm(pm);
  case Phase::Kernels:
  case Phase::Nvvm:
  case Phase::Object:
    return;
  }
}

//===----------------------------------------------------------------------===//
// The whole road
//===----------------------------------------------------------------------===//

/// Add what follows a phase, number `number` of its road: its check, and its copy
/// on disk.
static void finishPhase(OpPassManager &pm, const PhaseInfo &info, int number,
                        const CompileOptions &options) {
  if (options.verifyPhases)
    pm.addPass(createVerifyPhase({info.name.str()}));
  if (!options.dumpFolder.empty())
    pm.addPass(
        createWritePhase({options.dumpFolder + "/" + std::to_string(number) +
                          "-" + info.name.str() + ".mlir"}));
}

/// What comes before the first phase: defaults are written into the IR.
static void buildStart(OpPassManager &pm, const CompileOptions &options) {
  pm.addPass(createSetTarget({options.target}));
  if (!options.precision.empty())
    pm.addPass(createSetPrecision({options.precision}));
}

void attn::buildCpuPipeline(OpPassManager &pm, const CompileOptions &options) {
  buildStart(pm, options);
  int number = 0;
  for (const PhaseInfo &info : kPhases) {
    if (info.phase > options.stopAfter || info.phase == Phase::Object)
      return;
    if (info.onlyCuda)
      continue;
    if (info.phase == Phase::Schedule && options.record)
      pm.addPass(createApplyRecord(options.record));
    buildPhase(pm, info.phase);
    if (info.phase == Phase::Llvm && options.executable)
      pm.addPass(createEmitMain());
    finishPhase(pm, info, ++number, options);
  }
}

void attn::buildCudaPipeline(OpPassManager &pm, const CompileOptions &options) {
  buildStart(pm, options);
  int number = 0;
  for (const PhaseInfo &info : kPhases) {
    if (info.phase > options.stopAfter || info.phase == Phase::Object)
      return;
    buildCudaPhase(pm, info.phase);
    finishPhase(pm, info, ++number, options);
  }
}

bool attn::isForCuda(ModuleOp module, const CompileOptions &options) {
  if (options.target.empty())
    return TargetInfo::get(module).isCuda();
  return namesArchitectures(options.target);
}

void attn::buildPipeline(OpPassManager &pm, const CompileOptions &options,
                         ModuleOp module) {
  if (isForCuda(module, options))
    return buildCudaPipeline(pm, options);
  buildCpuPipeline(pm, options);
}

LogicalResult attn::runPipeline(PassManager &pm, ModuleOp module,
                                const CompileOptions &options) {
  pm.enableVerifier(false);
  buildPipeline(pm, options, module);
  return pm.run(module);
}

namespace {
struct RoadOptions : PassPipelineOptions<RoadOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("host, TRIPLE, TRIPLE:CPU or sm_80,sm_90")};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc(
          "how a GPU multiplies f32 where an op does not say: exact, "
          "tf32 or tf32x3")};
  Option<std::string> stopAfter{*this, "stop-after",
                                llvm::cl::desc("the last phase to run"),
                                llvm::cl::init("llvm")};
};
} // namespace

void attn::registerCompilerPasses() {
  registerAttnCodegenPasses();
  registerAttnCudaPasses();
  registerAttnConversionPasses();
  registerAttnPipelinePasses();
  registerAttnTransformsPasses();
  arith::registerArithPasses();
  bufferization::registerBufferizationPasses();
  memref::registerMemRefPasses();
  registerConversionPasses();
  registerLinalgPasses();
  registerSCFPasses();
  registerTransformsPasses();
}

/// Register the pipeline that `build` adds as `name`.
static void registerRoad(StringRef name, StringRef description,
                         void (*build)(OpPassManager &,
                                       const CompileOptions &)) {
  PassPipelineRegistration<RoadOptions>(
      name, description, [build](OpPassManager &pm, const RoadOptions &flags) {
        CompileOptions options;
        options.target = flags.target;
        options.precision = flags.precision;
        std::optional<Phase> last = findPhase(flags.stopAfter);
        options.stopAfter = last.value_or(Phase::Input);
        build(pm, options);
        // Nothing else here can fail: the check says which names are known.
        if (!last)
          pm.addPass(createVerifyPhase({flags.stopAfter}));
      });
}

/// Register the passes of `phase` on one road as `name`.
static void registerPhase(const Twine &name, const PhaseInfo &info,
                          void (*build)(OpPassManager &, Phase)) {
  PassPipelineRegistration<>(
      name.str(), info.holds,
      [phase = info.phase, build](OpPassManager &pm) { build(pm, phase); });
}

void attn::registerPipelines() {
  registerRoad("attn-cpu-pipeline",
               "All phases for the CPU down to the llvm dialect",
               buildCpuPipeline);
  registerRoad("attn-cuda-pipeline",
               "All phases for a GPU down to the llvm dialect",
               buildCudaPipeline);
  for (const PhaseInfo &info : kPhases) {
    if (info.phase == Phase::Object)
      continue;
    registerPhase("attn-phase-" + info.name, info,
                  info.onlyCuda ? buildCudaPhase : buildPhase);
    if (!info.onlyCuda && info.phase > Phase::Core)
      registerPhase("attn-cuda-phase-" + info.name, info, buildCudaPhase);
  }
}
