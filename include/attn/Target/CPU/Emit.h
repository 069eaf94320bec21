// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module of the llvm (and omp) dialect to what a CPU or its linker reads, in memory.

#ifndef ATTN_TARGET_CPU_EMIT_H
#define ATTN_TARGET_CPU_EMIT_H

#include "attn/Target/TargetInfo.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::attn {

/// The forms in which the CPU's back end can leave.
enum class CpuOutput { LlvmIr, Bitcode, Assembly, Object };

/// Register the translations that emitCpu needs.
void registerCpuTranslations(DialectRegistry &registry);

/// Return `module` as `output` for the CPU `target`, optimized at `optLevel` (0
/// to 3). An object is complete but for libc, libm and, where it has parallel
/// loops, libomp. Fails with a diagnostic on `module`.
FailureOr<SmallVector<char, 0>> emitCpu(ModuleOp module,
                                        const TargetInfo &target,
                                        CpuOutput output,
                                        unsigned optLevel = 2);

} // namespace mlir::attn

#endif // ATTN_TARGET_CPU_EMIT_H
