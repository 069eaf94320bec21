// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of files that a compiled module becomes.

#ifndef ATTN_PIPELINE_OUTPUT_H
#define ATTN_PIPELINE_OUTPUT_H

#include "attn/Pipeline/Options.h"
#include "attn/Target/CUDA/Emit.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>

namespace mlir::attn {

enum class OutputKind {
  Mlir,
  LlvmIr,
  Assembly,
  Object,
  Shared,
  Ptx,
  Cubin,
  Executable
};

struct OutputInfo {
  OutputKind kind;
  /// As --emit calls it.
  llvm::StringLiteral name;
  /// Of the files that are of this kind.
  llvm::StringLiteral suffix;
};

inline constexpr std::array<OutputInfo, 8> kOutputs = {{
    {OutputKind::Mlir, "mlir", ".mlir"},
    {OutputKind::LlvmIr, "llvm", ".ll"},
    {OutputKind::Assembly, "asm", ".s"},
    {OutputKind::Object, "obj", ".o"},
    {OutputKind::Shared, "shared", ".so"},
    {OutputKind::Ptx, "ptx", ".ptx"},
    {OutputKind::Cubin, "cubin", ".cubin"},
    {OutputKind::Executable, "exe", ""},
}};

/// Return the kind called `name`. Fails with the list of known ones.
llvm::Expected<OutputKind> findOutputByName(StringRef name);

/// Return the kind of files called as `path` is; "-" is MLIR. Fails with the
/// list of known suffixes.
llvm::Expected<OutputKind> findOutputByPath(StringRef path);

/// Return the kind of what is written to `path`, "" or "-" being the console: the
/// one called `name`, unless that is empty, else that of the path, and MLIR where
/// phases stop before the last. Fails where these do not go together.
llvm::Expected<OutputKind> chooseOutput(StringRef name, StringRef path,
                                        Phase stopAfter);

/// Write `module`, which has gone through its phases, to `path` as `kind`.
/// `linker`: see LinkOptions. Of a GPU's module, LLVM IR, assembly and object are
/// the host's part, with the binaries in it; a PTX or cubin file is for the one
/// architecture of the target. A module that cannot be compiled has a diagnostic
/// besides the error.
llvm::Error writeModule(ModuleOp module, OutputKind kind, StringRef path,
                        StringRef linker, unsigned optLevel,
                        const CudaOptions &cuda = {});

/// Fails unless `target` can be written as `kind`.
llvm::Error checkOutput(OutputKind kind, const TargetInfo &target);

/// Fails unless the target of `options` is known and leads to their last phase and
/// to `kind`.
llvm::Error checkOutput(const CompileOptions &options,
                        std::optional<OutputKind> kind);

/// Print the C header of the functions in `module`, compiled for `target`, with
/// the entries for packed weights.
LogicalResult printHeader(ModuleOp module, StringRef target,
                          llvm::raw_ostream &os);

/// The same, to `path`.
llvm::Error writeHeaderFile(ModuleOp module, StringRef target, StringRef path);

} // namespace mlir::attn

#endif // ATTN_PIPELINE_OUTPUT_H
