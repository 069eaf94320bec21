// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs `cc -shared` or `ld.lld -shared` over temporary object files. libomp is linked by the name of its file,
// and only where an object calls it; no folder is written into the result, because LLVM's own has a
// libgomp.so.1 that is libomp and would take the place of the one that PyTorch brings.

#include "attn/Target/CPU/Link.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::attn;
using llvm::Error;
using llvm::Expected;
using llvm::SmallString;
using llvm::StringRef;

/// Return whether `path` is there, and a device, a pipe or the like, which cannot be
/// replaced by a finished file.
static bool isNoFile(StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) &&
         status.type() != llvm::sys::fs::file_type::regular_file;
}

/// Write `bytes` to `stream`, which fails where there is no room for them.
static std::error_code writeTo(llvm::raw_fd_ostream &stream,
                               llvm::ArrayRef<char> bytes) {
  stream.write(bytes.data(), bytes.size());
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

/// Write `bytes` beside `path`, then make them visible by one rename.
static Error replaceFile(llvm::ArrayRef<char> bytes, StringRef path) {
  auto file = llvm::sys::fs::TempFile::create(path + ".partial-%%%%%%");
  if (!file)
    return file.takeError();
  std::error_code code;
  {
    llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    code = writeTo(stream, bytes);
  }
  if (!code)
    return file->keep(path);
  llvm::consumeError(file->discard());
  return llvm::errorCodeToError(code);
}

/// Write `bytes` to what `path` is already.
static Error writeInto(llvm::ArrayRef<char> bytes, StringRef path) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  return llvm::errorCodeToError(code ? code : writeTo(stream, bytes));
}

Error attn::writeOutput(llvm::ArrayRef<char> bytes, StringRef path) {
  if (path == "-") {
    llvm::outs() << StringRef(bytes.data(), bytes.size());
    llvm::outs().flush();
    return Error::success();
  }
  Error error =
      isNoFile(path) ? writeInto(bytes, path) : replaceFile(bytes, path);
  if (!error)
    return Error::success();
  return llvm::createStringError(
      "cannot write '" + path +
      "': " + llvm::errorToErrorCode(std::move(error)).message());
}

/// Return true if the object refers to a symbol of the OpenMP run time.
static bool usesOpenMp(llvm::ArrayRef<char> object) {
  llvm::MemoryBufferRef buffer(StringRef(object.data(), object.size()), "");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  return llvm::any_of((*file)->symbols(), [](llvm::object::SymbolRef symbol) {
    Expected<StringRef> name = symbol.getName();
    if (name)
      return name->starts_with("__kmpc_") || name->starts_with("omp_");
    llvm::consumeError(name.takeError());
    return false;
  });
}

/// Return the path of the linker and whether it is driven as a C compiler is.
static Expected<std::pair<std::string, bool>>
findLinker(const TargetInfo &target, const LinkOptions &options) {
  auto isCompiler = [](StringRef path) {
    StringRef name = llvm::sys::path::filename(path);
    return !name.starts_with("ld") && !name.contains("ld.lld");
  };
  if (!options.linker.empty()) {
    auto path = llvm::sys::findProgramByName(options.linker);
    if (!path)
      return llvm::createStringError("expects a linker, but '" +
                                     options.linker + "' is not in PATH");
    return std::make_pair(*path, isCompiler(options.linker));
  }
  llvm::Triple triple(target.triple), self(llvm::sys::getProcessTriple());
  llvm::SmallVector<std::string> names;
  if (triple.getArch() == self.getArch() && triple.getOS() == self.getOS())
    names.push_back("cc");
  else
    names.push_back((triple.getArchName() + "-" + triple.getOSName() + "-" +
                     triple.getEnvironmentName() + "-gcc")
                        .str());
  names.push_back("ld.lld");
  for (const std::string &name : names)
    if (auto path = llvm::sys::findProgramByName(name))
      return std::make_pair(*path, isCompiler(name));
  return llvm::createStringError(
      "expects a linker in PATH, but neither '" + names[0] + "' nor '" +
      names[1] + "' is there; --linker= names another, and -o x.o needs none");
}

/// Return the path of the first of `names` that is in a folder of libraries of
/// `target`; empty where none is.
static std::string findLibrary(const TargetInfo &target,
                               llvm::ArrayRef<StringRef> names) {
  llvm::Triple triple(target.triple);
  std::string family = (triple.getArchName() + "-linux-gnu").str();
  llvm::SmallVector<std::string> folders = {
      "/usr/lib/" + family, "/lib/" + family, "/usr/" + family + "/lib"};
  llvm::Triple self(llvm::sys::getProcessTriple());
  if (triple.getArch() == self.getArch()) {
    // Debian keeps each version of LLVM in a folder of its own.
    for (int version = 30; version >= 14; --version)
      folders.push_back("/usr/lib/llvm-" + std::to_string(version) + "/lib");
    llvm::append_range(folders,
                       llvm::ArrayRef<std::string>{"/usr/lib64", "/usr/lib"});
  }
  for (const std::string &folder : folders)
    for (StringRef name : names)
      if (llvm::sys::fs::exists(folder + "/" + name.str()))
        return folder + "/" + name.str();
  return "";
}

/// Run the linker and return its complaint as an error.
static Error run(StringRef program, llvm::ArrayRef<std::string> arguments) {
  llvm::SmallVector<StringRef> argv(arguments.begin(), arguments.end());
  SmallString<128> log;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("attnc-link", "txt", log))
    return llvm::createStringError("cannot make a temporary file: " +
                                   code.message());
  llvm::scope_exit removeLog([&] { llvm::sys::fs::remove(log); });
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  std::string reason;
  int status = llvm::sys::ExecuteAndWait(program, argv, std::nullopt, redirects,
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0,
                                         &reason);
  if (status == 0)
    return Error::success();
  if (auto text = llvm::MemoryBuffer::getFile(log))
    reason += (*text)->getBuffer().str();
  if (StringRef(reason).trim().empty())
    reason = "it returned " + std::to_string(status);
  return llvm::createStringError("'" + program +
                                 "' failed: " + StringRef(reason).rtrim());
}

/// Write each object to a temporary file, whose path goes into `files`.
static Error writeObjects(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                          llvm::SmallVectorImpl<SmallString<128>> &files) {
  for (llvm::ArrayRef<char> object : objects) {
    SmallString<128> file;
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("attnc", "o", file))
      return llvm::createStringError("cannot make a temporary file: " +
                                     code.message());
    files.push_back(file);
    if (Error error = writeOutput(object, file))
      return error;
  }
  return Error::success();
}

/// Append the libraries that the objects need to `arguments`.
static Error appendLibraries(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                             const TargetInfo &target, bool isCompiler,
                             std::vector<std::string> &arguments) {
  if (llvm::any_of(objects, usesOpenMp)) {
    // Linked by its file, it is needed by its soname, which all packages of it
    // share.
    std::string library = findLibrary(target, {"libomp.so.5", "libomp.so"});
    if (library.empty())
      return llvm::createStringError(
          "expects libomp.so.5 (Debian: libomp5-22) to link parallel loops, "
          "but it is not installed for '" +
          target.triple + "'");
    arguments.push_back(library);
  }
  if (isCompiler) {
    llvm::append_range(arguments,
                       llvm::ArrayRef<std::string>{"-lm", "-z", "defs"});
    return Error::success();
  }
  for (StringRef name : {"libm.so.6", "libc.so.6"})
    if (std::string library = findLibrary(target, name); !library.empty())
      arguments.push_back(library);
  return Error::success();
}

Error attn::link(llvm::ArrayRef<llvm::ArrayRef<char>> objects,
                 const TargetInfo &target, const LinkOptions &options,
                 StringRef output) {
  auto linker = findLinker(target, options);
  if (!linker)
    return linker.takeError();
  auto [program, isCompiler] = *linker;
  if (!options.shared && !isCompiler)
    return llvm::createStringError(
        "expects a C compiler to link an executable, got '" + program + "'");
  llvm::SmallVector<SmallString<128>> files;
  llvm::scope_exit removeFiles([&] {
    for (StringRef file : files)
      llvm::sys::fs::remove(file);
  });
  if (Error error = writeObjects(objects, files))
    return error;
  // The linker writes beside the output, then one rename makes it visible.
  bool copies = isNoFile(output);
  SmallString<128> partial;
  if (std::error_code code =
          copies ? llvm::sys::fs::createTemporaryFile("attnc", "out", partial)
                 : llvm::sys::fs::createUniqueFile(output + ".partial-%%%%%%",
                                                   partial))
    return llvm::createStringError("cannot write '" + output +
                                   "': " + code.message());
  llvm::scope_exit removePartial([&] { llvm::sys::fs::remove(partial); });
  std::vector<std::string> arguments = {program, "-o", partial.str().str()};
  if (options.shared)
    arguments.push_back("-shared");
  for (StringRef file : files)
    arguments.push_back(file.str());
  if (Error error = appendLibraries(objects, target, isCompiler, arguments))
    return error;
  if (Error error = run(program, arguments))
    return error;
  uint64_t size = 0;
  if (llvm::sys::fs::file_size(partial, size) || size == 0)
    return llvm::createStringError("'" + program +
                                   "' failed: it wrote nothing");
  if (copies) {
    auto bytes = llvm::MemoryBuffer::getFile(partial);
    if (!bytes)
      return llvm::createStringError("cannot read what '" + program +
                                     "' wrote: " + bytes.getError().message());
    return writeOutput({(*bytes)->getBufferStart(), (*bytes)->getBufferSize()},
                       output);
  }
  if (std::error_code code = llvm::sys::fs::rename(partial, output))
    return llvm::createStringError("cannot write '" + output +
                                   "': " + code.message());
  return Error::success();
}
