// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forked processes, and memory that they share with their parent.

#include "attn/Execution/Isolated.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::attn;

/// Plain data, since it is read after its writer has crashed.
struct SharedNotes::Notes {
  uint64_t configurations, refused, onBlocks;
  char text[4096];
  char complaint[16384];
};

llvm::Expected<SharedNotes> SharedNotes::create() {
  void *memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return llvm::createStringError("no memory to share with a process");
  SharedNotes result;
  result.notes = static_cast<Notes *>(memory);
  return result;
}

SharedNotes::~SharedNotes() {
  if (notes)
    munmap(notes, sizeof(Notes));
}

/// Seconds that a process may wait, for each of those that it may work.
constexpr unsigned kMostWaiting = 30;

/// Copy as much of `text` as fits.
static void copyText(MutableArrayRef<char> to, StringRef text) {
  size_t size = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), size);
  to[size] = '\0';
}

void SharedNotes::setCase(StringRef text) { copyText(notes->text, text); }
void SharedNotes::setComplaint(StringRef text) {
  copyText(notes->complaint, text);
}
void SharedNotes::countConfiguration() { ++notes->configurations; }
void SharedNotes::countRefused() { ++notes->refused; }
void SharedNotes::countOnBlocks() { ++notes->onBlocks; }
void SharedNotes::clear() {
  notes->configurations = notes->refused = notes->onBlocks = 0;
  notes->text[0] = notes->complaint[0] = '\0';
}

StringRef SharedNotes::getCase() const { return notes->text; }
StringRef SharedNotes::getComplaint() const { return notes->complaint; }
uint64_t SharedNotes::getConfigurations() const {
  return notes->configurations;
}
uint64_t SharedNotes::getRefused() const { return notes->refused; }
uint64_t SharedNotes::getOnBlocks() const { return notes->onBlocks; }

IsolatedProcess::IsolatedProcess(llvm::function_ref<void()> work,
                                 unsigned seconds, bool quiet)
    : id(fork()), seconds(seconds) {
  if (id != 0)
    return;
  // Of its own time, which does not pass faster where others need the processor;
  // the default action of either signal ends the process.
  std::signal(SIGXCPU, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  // Nobody may raise a hard limit that somebody set.
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min<rlim_t>(seconds, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
  alarm(kMostWaiting * seconds);
  int null = quiet ? open("/dev/null", O_WRONLY) : -1;
  if (null >= 0)
    dup2(null, STDERR_FILENO);
  work();
  _exit(0);
}

std::optional<std::string> IsolatedProcess::wait() const {
  if (id < 0)
    return "no process could be made";
  int status = 0;
  if (waitpid(id, &status, 0) != id)
    return "a process was lost";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "takes more than " + std::to_string(seconds) + " seconds";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "waits for more than " + std::to_string(kMostWaiting * seconds) +
           " seconds";
  if (WIFSIGNALED(status))
    return "crashes: " + std::string(strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return "ends its process with status " +
           std::to_string(WEXITSTATUS(status));
  return std::nullopt;
}
