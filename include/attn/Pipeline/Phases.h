// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The road from attention to a binary, in named steps. Flags, files of --dump-phases-to, pipelines of attn-opt and
// attn-verify-phase all come from this one table.

#ifndef ATTN_PIPELINE_PHASES_H
#define ATTN_PIPELINE_PHASES_H

#include "attn/Pipeline/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <array>
#include <optional>

namespace mlir::attn {

struct PhaseInfo {
  Phase phase;
  llvm::StringLiteral name;
  /// What is true when the phase is done.
  llvm::StringLiteral holds;
  /// Whether only a GPU has the phase.
  bool onlyCuda = false;
};

inline constexpr std::array<PhaseInfo, 11> kPhases = {{
    {Phase::Input, "input",
     "verified ops on ranked tensors; calls inlined, nothing decided"},
    {Phase::Core, "core",
     "no attn.mha, attn.rope, attn.cache_append, no tensor of i1; checks and "
     "shapes are functions of their own"},
    {Phase::Schedule, "schedule",
     "every attn.sdpa carries a schedule that fits the target; CUDA: but those "
     "computed by their definition"},
    {Phase::Tiles, "tiles",
     "loops over attn.block_step, attn.merge and attn.finish; no attn.sdpa "
     "with a schedule"},
    {Phase::Linalg, "linalg",
     "the same loops over linalg; no attn op but attn.call, attn.threads "
     "and, CUDA, those that blocks of threads work on"},
    {Phase::Vectors, "vectors",
     "register tiles are vectors; tensors only around them"},
    {Phase::Buffers, "buffers",
     "no tensor; results written in place; CPU: no allocation inside a loop"},
    {Phase::Kernels, "kernels",
     "CUDA: what works on memory is a kernel of gpu.func that its function "
     "launches",
     true},
    {Phase::Nvvm, "nvvm", "CUDA: kernels are of llvm, nvvm and attn_gpu alone",
     true},
    {Phase::Llvm, "llvm", "only the llvm and omp dialects; C entries"},
    {Phase::Object, "object", "machine code"},
}};

/// Return the row of `phase`.
const PhaseInfo &getPhaseInfo(Phase phase);

/// Return the phase called `name`, or nothing.
std::optional<Phase> findPhase(StringRef name);

/// The same; fails with the list of known ones.
llvm::Expected<Phase> parsePhase(StringRef name);

/// Return the names of all phases in order.
SmallVector<StringRef> getPhaseNames();

/// Add the passes that lead from the phase before to `phase` on the road to a CPU;
/// none for object, which emitCpu makes.
void buildPhase(OpPassManager &pm, Phase phase);

/// The same on the road to a GPU, where emitCuda makes the object.
void buildCudaPhase(OpPassManager &pm, Phase phase);

/// Add all phases up to `options.stopAfter`, each followed by its check and by
/// what the options ask for.
void buildCpuPipeline(OpPassManager &pm, const CompileOptions &options);
void buildCudaPipeline(OpPassManager &pm, const CompileOptions &options);

/// Return true if `options`, or else `module`, name a GPU.
bool isForCuda(ModuleOp module, const CompileOptions &options);

/// Add the pipeline that leads `module` to its target.
void buildPipeline(OpPassManager &pm, const CompileOptions &options,
                   ModuleOp module);

/// Run that pipeline with `pm`, which is empty. What each phase leaves is verified,
/// not what each pass does, which would take a third of the time.
LogicalResult runPipeline(PassManager &pm, ModuleOp module,
                          const CompileOptions &options);

/// Register `attn-cpu-pipeline`, `attn-cuda-pipeline`, `attn-phase-NAME` and, where
/// a GPU's differ, `attn-cuda-phase-NAME` for attn-opt.
void registerPipelines();

/// Register the passes that phases are made of, so that flags can name them.
void registerCompilerPasses();

/// Register all dialects, interfaces and translations that compiling needs, and
/// nothing else.
void registerCompilerDialects(DialectRegistry &registry);

/// Fails with a diagnostic unless `module` is as `phase` leaves it.
LogicalResult verifyPhase(ModuleOp module, Phase phase);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_PHASES_H
