// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds ptxas, runs it on temporary files, and reads what it says:
//
//   ptxas info : Compiling entry function 'f_k0' for 'sm_80'
//   ptxas info : Function properties for f_k0
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info : Used 168 registers, used 1 barriers, 40960 bytes smem

#include "attn/Target/CUDA/Ptxas.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::attn;
using llvm::Expected;
using llvm::SmallString;
using llvm::StringRef;

/// Add `folder`/nvidia/*/bin and the like, where Python's packages put it.
static void addPackages(StringRef folder,
                        llvm::SmallVectorImpl<std::string> &folders) {
  std::error_code code;
  SmallString<128> root(folder);
  llvm::sys::path::append(root, "nvidia");
  for (llvm::sys::fs::directory_iterator it(root, code), end;
       it != end && !code; it.increment(code))
    folders.push_back(it->path() + "/bin");
}

/// Return the folders that may hold ptxas, the likeliest first.
static llvm::SmallVector<std::string> getFolders() {
  llvm::SmallVector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto path = llvm::sys::Process::GetEnv(variable))
      folders.push_back(*path + "/bin");
  folders.append({"/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/lib/cuda/bin",
                  "/usr/lib/nvidia-cuda-toolkit/bin"});
  // An active environment, or the one that python3 of PATH belongs to.
  llvm::SmallVector<std::string> roots;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (auto path = llvm::sys::Process::GetEnv(variable))
      roots.push_back(*path);
  if (auto python = llvm::sys::findProgramByName("python3"))
    roots.push_back(
        llvm::sys::path::parent_path(llvm::sys::path::parent_path(*python))
            .str());
  for (const std::string &root : roots) {
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(root + "/lib", code), end;
         it != end && !code; it.increment(code))
      if (llvm::sys::path::filename(it->path()).starts_with("python"))
        addPackages(it->path() + "/site-packages", folders);
  }
  return folders;
}

Expected<std::optional<std::string>> mlir::attn::findPtxas(StringRef wanted) {
  if (!wanted.empty()) {
    auto path = llvm::sys::findProgramByName(wanted);
    if (path && llvm::sys::fs::can_execute(*path))
      return *path;
    return llvm::createStringError("expects ptxas, but '" + wanted +
                                   "' is no program");
  }
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  llvm::SmallVector<std::string> folders = getFolders();
  llvm::SmallVector<StringRef> names(folders.begin(), folders.end());
  if (auto path = llvm::sys::findProgramByName("ptxas", names))
    return *path;
  return std::nullopt;
}

/// Create a temporary file that ends in `suffix`.
static Expected<SmallString<128>> createFile(StringRef suffix) {
  SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("attnc", suffix, path))
    return llvm::createStringError("cannot make a temporary file: " +
                                   code.message());
  return path;
}

Expected<PtxasResult> mlir::attn::runPtxas(StringRef ptxas, StringRef ptx,
                                           StringRef architecture) {
  llvm::SmallVector<SmallString<128>> files;
  llvm::scope_exit removeFiles([&] {
    for (StringRef file : files)
      llvm::sys::fs::remove(file);
  });
  for (StringRef suffix : {"ptx", "cubin", "log"}) {
    Expected<SmallString<128>> file = createFile(suffix);
    if (!file)
      return file.takeError();
    files.push_back(*file);
  }
  std::error_code code;
  {
    llvm::raw_fd_ostream stream(files[0], code);
    if (!code)
      stream << ptx;
  }
  if (code)
    return llvm::createStringError("cannot write '" + files[0] +
                                   "': " + code.message());
  std::string arch = ("-arch=" + architecture).str();
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(files[2]),
                                          StringRef(files[2])};
  std::string reason;
  int status = llvm::sys::ExecuteAndWait(
      ptxas, {ptxas, "-v", "-O3", arch, files[0], "-o", files[1]}, std::nullopt,
      redirects, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  PtxasResult result;
  if (auto log = llvm::MemoryBuffer::getFile(files[2]))
    result.log = (*log)->getBuffer().str();
  reason += StringRef(result.log).rtrim();
  if (status != 0)
    return llvm::createStringError(
        "'" + ptxas + "' failed: " +
        (reason.empty() ? "it returned " + std::to_string(status) : reason));
  auto cubin = llvm::MemoryBuffer::getFile(files[1]);
  if (!cubin)
    return llvm::createStringError("cannot read what ptxas wrote: " +
                                   cubin.getError().message());
  if ((*cubin)->getBufferSize() == 0)
    return llvm::createStringError("'" + ptxas + "' failed: it wrote nothing");
  result.cubin.append((*cubin)->getBufferStart(), (*cubin)->getBufferEnd());
  return result;
}

/// Return the number that stands before `unit` in `line`, or 0.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  size_t begin = before.find_last_not_of("0123456789");
  int64_t number = 0;
  before.substr(begin + 1).getAsInteger(10, number);
  return number;
}

llvm::StringMap<KernelResources> mlir::attn::parsePtxasLog(StringRef log) {
  llvm::StringMap<KernelResources> kernels;
  StringRef current;
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    size_t entry = line.find("Compiling entry function '");
    if (entry != StringRef::npos)
      current = line.substr(entry).split('\'').second.split('\'').first;
    if (current.empty())
      continue;
    KernelResources &own = kernels[current];
    if (line.contains("bytes stack frame")) {
      own.stackBytes = numberBefore(line, " bytes stack frame");
      own.spillBytes = numberBefore(line, " bytes spill stores") +
                       numberBefore(line, " bytes spill loads");
    }
    if (line.contains("Used ")) {
      own.registers = numberBefore(line, " registers");
      own.sharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}
