// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of attnc.

#ifndef ATTN_TOOLS_ATTNC_FLAGS_H
#define ATTN_TOOLS_ATTNC_FLAGS_H

#include "llvm/Support/CommandLine.h"

namespace mlir::attn {

namespace cl = llvm::cl;

struct Flags {
  cl::OptionCategory ours{"Options of attnc"};
  cl::OptionCategory theirs{"Options of MLIR"};
  cl::opt<std::string> input{cl::Positional, cl::desc("INPUT"), cl::cat(ours)};
  cl::opt<std::string> output{
      "o", cl::value_desc("OUTPUT"), cl::cat(ours),
      cl::desc("where to write; its suffix says what: "
               ".mlir .ll .s .o .so .ptx .cubin, none: executable")};
  cl::opt<std::string> target{
      "target", cl::value_desc("host|TRIPLE[:CPU]|sm_80,..."), cl::cat(ours),
      cl::desc("the processor to compile for")};
  cl::opt<std::string> precision{
      "precision", cl::value_desc("exact|tf32|tf32x3"), cl::cat(ours),
      cl::desc("how a GPU multiplies f32 where an op does not say (exact)")};
  cl::opt<std::string> emit{
      "emit", cl::cat(ours),
      cl::value_desc("mlir|llvm|asm|obj|shared|ptx|cubin|exe"),
      cl::desc("what to write, whatever the suffix")};
  cl::opt<std::string> stopAfter{"stop-after", cl::value_desc("PHASE"),
                                 cl::cat(ours),
                                 cl::desc("write the IR after this phase")};
  cl::opt<std::string> dump{"dump-phases-to", cl::value_desc("DIR"),
                            cl::cat(ours),
                            cl::desc("write the IR after each phase")};
  cl::opt<std::string> remarks{"remarks", cl::value_desc("REGEX"),
                               cl::ValueOptional, cl::cat(ours),
                               cl::desc("say what was and was not done")};
  cl::opt<std::string> report{
      "report", cl::value_desc("text|json"), cl::ValueOptional, cl::cat(ours),
      cl::desc("print what each attention needs, and as text each kernel")};
  cl::opt<std::string> reportSizes{
      "report-sizes", cl::value_desc("M=N,..."), cl::cat(ours),
      cl::desc("of dynamic dimensions, and threads, for --report")};
  cl::opt<std::string> reportPeaks{
      "report-peaks", cl::value_desc("fma=X,gemm=X,read=X"), cl::cat(ours),
      cl::desc(
          "GFLOP/s and GB/s for --report; default: measured here, of a GPU "
          "from its data sheet")};
  cl::opt<bool> printPhases{"print-phases", cl::cat(ours),
                            cl::desc("list the phases")};
  cl::opt<std::string> header{"header", cl::value_desc("FILE.h"), cl::cat(ours),
                              cl::desc("write a C header of the functions")};
  cl::opt<double> tune{
      "tune", cl::value_desc("SECONDS"), cl::cat(ours),
      cl::desc("measure schedules on this machine, for about so long")};
  cl::opt<std::string> record{
      "tune-record", cl::value_desc("FILE.json"), cl::cat(ours),
      cl::desc("use what --tune measured before, and let it add to it")};
  cl::opt<std::string> linker{"linker", cl::value_desc("PATH"), cl::cat(ours),
                              cl::desc("instead of cc or ld.lld from PATH")};
  cl::opt<std::string> ptxas{"ptxas", cl::value_desc("PATH"), cl::cat(ours),
                             cl::desc("of CUDA, instead of the one found")};
};

/// Return whether the command line has `option`.
inline bool isGiven(const cl::Option &option) {
  return option.getNumOccurrences() > 0;
}

} // namespace mlir::attn

#endif // ATTN_TOOLS_ATTNC_FLAGS_H
