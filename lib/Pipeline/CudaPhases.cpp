// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of a GPU that differ from those of a CPU: one function a phase, the list of its passes, under the command
// that runs the same.

#include "attn/Codegen/CudaPasses.h"
#include "attn/Codegen/Passes.h"
#include "attn/Pipeline/Phases.h"
#include "attn/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

// attn-opt --attn-select-schedule
//
// What has no schedule is computed by its definition.
static void buildSchedule(OpPassManager &pm) {
  pm.addPass(createSelectSchedule());
}

// attn-opt --attn-split-keys --attn-tile-blocks --attn-tile-projections
//   --resolve-ranked-shaped-type-result-dims --canonicalize --cse
static void buildTiles(OpPassManager &pm) {
  pm.addPass(createSplitKeys());
  pm.addPass(createTileBlocks());
  pm.addPass(createTileProjections());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

// attn-opt --attn-vectorize-blocks --canonicalize --cse
static void buildVectors(OpPassManager &pm) {
  pm.addPass(createVectorizeBlocks());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

// attn-opt --attn-expose-buffers --empty-tensor-to-alloc-tensor
//   --one-shot-bufferize --canonicalize --cse --attn-copies-to-linalg
//   --canonicalize --cse
static void buildBuffers(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createExposeBuffers());
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  pm.addPass(bufferization::createOneShotBufferizePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createCopiesToLinalg());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

// attn-opt --attn-place-workspace --attn-outline-kernels --canonicalize --cse
//   --attn-specialize-kernels --attn-stage-copies --canonicalize --cse --attn-distribute-fragments
//   --canonicalize --cse
static void buildKernels(OpPassManager &pm) {
  pm.addPass(createPlaceWorkspace());
  pm.addPass(createOutlineKernels());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSpecializeKernels());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createStageCopies());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createDistributeFragments());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

// attn-opt --attn-guard-kernels --pass-pipeline="builtin.module(gpu.module(
//   attn-expand-small-floats,
//   arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},
//   convert-nvgpu-to-nvvm, convert-vector-to-scf, convert-scf-to-cf,
//   expand-strided-metadata, lower-affine, convert-arith-to-llvm,
//   arith-expand, convert-arith-to-llvm, convert-gpu-to-nvvm, convert-vector-to-llvm,
//   convert-math-to-llvm, reconcile-unrealized-casts, canonicalize, cse))"
static void buildNvvm(OpPassManager &pm) {
  pm.addPass(createGuardKernels());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createExpandSmallFloats());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  kernels.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  kernels.addPass(createConvertNVGPUToNVVMPass());
  kernels.addPass(createConvertVectorToSCFPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  // Before the gpu dialect's: it would make calls of maxima. Divisions that round up
  // are expanded after it, which would make comparisons of maxima.
  kernels.addPass(createArithToLLVMConversionPass());
  kernels.addPass(arith::createArithExpandOpsPass());
  kernels.addPass(createArithToLLVMConversionPass());
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  kernels.addPass(createConvertVectorToLLVMPass());
  kernels.addPass(createConvertMathToLLVMPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

// attn-opt --attn-launches-to-calls --expand-strided-metadata --lower-affine
//   --arith-expand --convert-scf-to-cf --convert-to-llvm
//   --reconcile-unrealized-casts --canonicalize --attn-emit-cuda-entries
static void buildLlvm(OpPassManager &pm) {
  pm.addPass(createLaunchesToCalls());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createEmitCudaEntries());
}

void attn::buildCudaPhase(OpPassManager &pm, Phase phase) {
  switch (phase) {
  case Phase::Input:
  case Phase::Core:
  case Phase::Linalg:
    return buildPhase(pm, phase);
  case Phase::Schedule:
    return buildSchedule(pm);
  case Phase::Tiles:
    return buildTiles(pm);
  case Phase::Vectors:
    return buildVectors(pm);
  case Phase::Buffers:
    return buildBuffers(pm);
  case Phase::Kernels:
    return buildKernels(pm);
  case Phase::Nvvm:
    return buildNvvm(pm);
  case Phase::Llvm:
    return buildLlvm(pm);
  case Phase::Object:
    return;
  }
}
