// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-emulate: runs the kernels of a module in the emulator of CUDA, as comments in a file say, and prints what went
// wrong and what came out. A tool for tests only.
//
//   // BUFFER x f32 64 iota            a buffer of 64 numbers 0, 1, ... (also: zero, one, mod7 = -3 .. 3 again and again)
//   // MAP m x swizzle 128 box 8 64    a tensor map of x; sizes as after BUFFER (`64x32`), outermost first, as is the box
//                                      (behind it: `sizes 64x32`, `strides 48` in bytes, or `at 4`, which is where it begins)
//   // LAUNCH k grid 1 block 32 shared 0 with x m 5      a map by value; &m is its address
//   // SAME x y                        prints whether two buffers are equal
//   // PRINT x 8                       prints the first 8 numbers
//
// Each kernel is launched under several schedules, with copies made early and late; reports are those of all together.

#include "attn/Execution/CudaEmulator.h"
#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttnGpuOps.h"
#include "attn/Interpreter/FloatFormats.h"
#include "attn/Target/CPU/Emit.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstring>
#include <set>

using namespace mlir;
using namespace mlir::attn;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("module, - for stdin"));
static cl::opt<std::string> script("script",
                                   cl::desc("file with the comments; default: "
                                            "the module's"));
static cl::opt<unsigned>
    seeds("seeds", cl::init(3),
          cl::desc("schedules to try, the plain one first"));
static cl::opt<bool> untracked("untracked", cl::desc("check no accesses"));
static cl::opt<unsigned> workers("workers", cl::init(1));
static cl::opt<unsigned> timed("time", cl::init(0),
                               cl::desc("time this many launches"));
static cl::opt<bool> banks("banks", cl::desc("print bank conflicts"));

/// By what neighbours in a buffer filled with `modN` differ.
constexpr uint64_t kModulusStep = 5;

namespace {
struct Buffer {
  StringRef type;
  SmallVector<uint64_t> sizes;
  std::vector<char> bytes;

  unsigned getElementBytes() const {
    return llvm::StringSwitch<unsigned>(type)
        .Cases({"f64", "i64"}, 8)
        .Cases({"f16", "bf16"}, 2)
        .Case("i8", 1)
        .Default(4);
  }
  uint64_t getCount() const { return bytes.size() / getElementBytes(); }
  double get(uint64_t index) const;
  void set(uint64_t index, double value);
};

/// A tensor map, aligned as a GPU wants it.
struct alignas(64) Map {
  char bytes[128];
};

/// What a map is made of; dimension 0 is the innermost.
struct MapShape {
  uint64_t sizes[5] = {}, strides[5] = {};
  uint32_t box[5] = {}, steps[5] = {1, 1, 1, 1, 1};
  uint64_t offset = 0;
};

/// Runs a script line by line.
class Script {
public:
  Script(CudaEmulator &emulator) : emulator(emulator) {}

  llvm::Error run(StringRef text);

private:
  using Words = SmallVector<StringRef>;

  llvm::Error addBuffer(const Words &words);
  llvm::Error addMap(const Words &words);
  llvm::Error launch(const Words &words);
  llvm::Error launchAll(StringRef kernel, std::array<uint32_t, 3> grid,
                        std::array<uint32_t, 3> block, uint32_t shared);
  llvm::Error addArgument(StringRef word);
  void printSame(const Words &words);
  void print(const Words &words);

  CudaEmulator &emulator;
  llvm::StringMap<Buffer> buffers;
  llvm::StringMap<Map> maps;
  /// What the parameters of the launch point to.
  std::vector<std::array<char, 8>> values;
  std::vector<void *> parameters;
};
} // namespace

static std::optional<FloatFormat> getFormat(StringRef type) {
  return llvm::StringSwitch<std::optional<FloatFormat>>(type)
      .Case("f16", FloatFormat::F16)
      .Case("bf16", FloatFormat::BF16)
      .Case("f32", FloatFormat::F32)
      .Case("f64", FloatFormat::F64)
      .Default(std::nullopt);
}

double Buffer::get(uint64_t index) const {
  uint64_t bits = 0;
  unsigned size = getElementBytes();
  std::memcpy(&bits, bytes.data() + index * size, size);
  if (auto format = getFormat(type))
    return decodeFloat(bits, *format);
  unsigned unused = 64 - 8 * size;
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

void Buffer::set(uint64_t index, double value) {
  uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  if (auto format = getFormat(type))
    bits = encodeFloat(value, *format);
  unsigned size = getElementBytes();
  std::memcpy(bytes.data() + index * size, &bits, size);
}

/// Return the numbers in `text`, which are divided by `x`.
static SmallVector<uint64_t> parseNumbers(StringRef text) {
  SmallVector<uint64_t> numbers;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts) {
    uint64_t number = 0;
    (void)part.getAsInteger(10, number);
    numbers.push_back(number);
  }
  return numbers;
}

llvm::Error Script::addBuffer(const Words &words) {
  if (words.size() != 4)
    return llvm::createStringError("expects BUFFER name type sizes fill");
  Buffer &buffer = buffers[words[0]];
  buffer.type = words[1];
  buffer.sizes = parseNumbers(words[2]);
  uint64_t count = 1;
  for (uint64_t size : buffer.sizes)
    count *= size;
  buffer.bytes.resize(count * buffer.getElementBytes());
  StringRef fill = words[3];
  uint64_t modulus = 1;
  if (fill.consume_front("mod"))
    (void)fill.getAsInteger(10, modulus);
  // All numbers would be the same.
  if (modulus > 1 && kModulusStep % modulus == 0)
    return llvm::createStringError("expects a modulus that does not divide 5");
  for (uint64_t i = 0; i < count; ++i) {
    double value = fill == "zero" ? 0.0 : fill == "one" ? 1.0 : double(i);
    if (modulus > 1)
      value = double(i * kModulusStep % modulus) - double(modulus / 2);
    buffer.set(i, value);
  }
  emulator.registerBuffer(buffer.bytes.data(), buffer.bytes.size(), words[0]);
  return llvm::Error::success();
}

/// Return the shape that `words`, which follow the box, leave of `shape`.
static MapShape readShape(MapShape shape, ArrayRef<StringRef> words) {
  for (; words.size() >= 2; words = words.drop_front(2)) {
    SmallVector<uint64_t> numbers = parseNumbers(words[1]);
    std::reverse(numbers.begin(), numbers.end());
    if (words[0] == "at")
      shape.offset = numbers[0];
    for (size_t i = 0; i < numbers.size() && i < 5; ++i)
      if (words[0] == "sizes")
        shape.sizes[i] = numbers[i];
      else if (words[0] == "strides")
        shape.strides[i] = numbers[i];
  }
  return shape;
}

llvm::Error Script::addMap(const Words &words) {
  auto found = words.size() < 6 ? buffers.end() : buffers.find(words[1]);
  size_t rank = found == buffers.end() ? 0 : found->second.sizes.size();
  if (rank == 0 || rank > 5 || words.size() < 5 + rank)
    return llvm::createStringError(
        "expects MAP name buffer swizzle N box B..., of 1 to 5 dimensions");
  Buffer &buffer = found->second;
  MapShape shape;
  uint64_t bytes = buffer.getElementBytes();
  for (size_t i = 0; i < rank; ++i) {
    shape.sizes[i] = buffer.sizes[rank - 1 - i];
    bytes *= shape.sizes[i];
    shape.strides[i] = bytes;
    unsigned extent = 1;
    (void)words[4 + rank - i].getAsInteger(10, extent);
    shape.box[i] = extent;
  }
  shape = readShape(shape, ArrayRef(words).drop_front(5 + rank));
  int type = llvm::StringSwitch<int>(buffer.type)
                 .Case("f16", 6)
                 .Case("f32", 7)
                 .Case("bf16", 9)
                 .Default(2);
  int swizzle = llvm::StringSwitch<int>(words[3])
                    .Case("32", 1)
                    .Case("64", 2)
                    .Case("128", 3)
                    .Default(0);
  char *map = maps[words[0]].bytes, *data = buffer.bytes.data() + shape.offset;
  std::string fault = checkTensorMap(
      map, type, static_cast<uint32_t>(rank), data, shape.sizes, shape.strides,
      shape.box, shape.steps, /*interleave=*/0, swizzle);
  int code = attn_cuda_encode_tensor_map(
      map, type, static_cast<uint32_t>(rank), data, shape.sizes, shape.strides,
      shape.box, shape.steps, /*interleave=*/0, swizzle, /*promotion=*/0,
      /*fill=*/0);
  if (fault.empty() != (code == 0))
    return llvm::createStringError("the check and the encoder disagree");
  if (code != 0)
    llvm::outs() << words[0] << ": " << fault << "\n";
  return llvm::Error::success();
}

llvm::Error Script::addArgument(StringRef word) {
  if (maps.contains(word)) {
    parameters.push_back(maps[word].bytes);
    return llvm::Error::success();
  }
  values.emplace_back();
  parameters.push_back(nullptr);
  char *place = values.back().data();
  void *data = nullptr;
  if (buffers.contains(word))
    data = buffers[word].bytes.data();
  else if (word.consume_front("&") && maps.contains(word))
    data = maps[word].bytes;
  if (data) {
    std::memcpy(place, &data, sizeof(data));
    return llvm::Error::success();
  }
  int64_t number = 0;
  double real = 0;
  if (!word.getAsInteger(10, number)) {
    std::memcpy(place, &number, sizeof(number));
  } else if (!word.getAsDouble(real)) {
    auto single = static_cast<float>(real);
    std::memcpy(place, &single, sizeof(single));
  } else {
    return llvm::createStringError("no buffer or number: '" + word + "'");
  }
  return llvm::Error::success();
}

/// Return the kind of a report and the places that it names: which threads came
/// first is chance.
static std::string getKey(StringRef report) {
  std::string key = report.split(':').first.str();
  while (true) {
    size_t at = report.find(" at ");
    if (at == StringRef::npos)
      return key;
    report = report.drop_front(at + 4);
    key += " " + report.take_until([](char c) { return c == ')'; }).str();
  }
}

/// Return up to three sizes.
static std::array<uint32_t, 3> parseSizes(StringRef text) {
  std::array<uint32_t, 3> sizes = {1, 1, 1};
  for (auto [index, number] : llvm::enumerate(parseNumbers(text)))
    if (index < 3)
      sizes[index] = static_cast<uint32_t>(number);
  return sizes;
}

llvm::Error Script::launch(const Words &words) {
  if (words.size() < 8 || words[7] != "with")
    return llvm::createStringError(
        "expects LAUNCH name grid N block N shared N with arguments...");
  uint32_t shared = 0;
  (void)words[6].getAsInteger(10, shared);
  values.clear();
  parameters.clear();
  for (StringRef word : ArrayRef(words).drop_front(8))
    if (llvm::Error error = addArgument(word))
      return error;
  size_t next = 0;
  for (void *&parameter : parameters)
    if (!parameter)
      parameter = values[next++].data();
  return launchAll(words[0], parseSizes(words[2]), parseSizes(words[4]),
                   shared);
}

llvm::Error Script::launchAll(StringRef kernel, std::array<uint32_t, 3> grid,
                              std::array<uint32_t, 3> block, uint32_t shared) {
  llvm::StringMap<std::vector<char>> before, first;
  for (auto &buffer : buffers)
    before[buffer.first()] = buffer.second.bytes;
  std::set<std::string> seen;
  SmallVector<std::string> reports;
  bool isSame = true;
  auto start = std::chrono::steady_clock::now();
  unsigned runs = timed ? timed : 2 * seeds;
  for (unsigned run = 0; run < runs; ++run) {
    if (!timed)
      for (auto &buffer : buffers)
        buffer.second.bytes = before[buffer.first()];
    emulator.setSchedule(timed ? 0 : run / 2,
                         run % 2 ? CopyTiming::Early : CopyTiming::Late);
    if (llvm::Error error =
            emulator.launch(kernel, grid, block, shared, parameters.data()))
      return error;
    for (std::string &report : emulator.takeReports()) {
      if (seen.insert(getKey(report)).second)
        reports.push_back(std::move(report));
    }
    for (auto &buffer : buffers) {
      auto [place, isNew] =
          first.try_emplace(buffer.first(), buffer.second.bytes);
      isSame &= isNew || timed || place->second == buffer.second.bytes;
    }
  }
  std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - start;
  llvm::outs() << kernel << ": " << reports.size() << " reports\n";
  for (const std::string &report : reports)
    llvm::outs() << "  " << report << "\n";
  if (!isSame)
    llvm::outs() << "  values depend on the schedule\n";
  if (timed)
    llvm::outs() << "  " << llvm::format("%.3f", time.count() / runs)
                 << " ms a launch\n";
  if (banks)
    llvm::outs() << "  bank conflicts: " << emulator.getBankCounts().conflicts
                 << "\n";
  return llvm::Error::success();
}

void Script::printSame(const Words &words) {
  const Buffer &a = buffers[words[0]], &b = buffers[words[1]];
  uint64_t wrong = 0, nonzero = 0, firstWrong = 0;
  if (a.bytes.empty() || a.getCount() != b.getCount()) {
    llvm::outs() << words[0] << " and " << words[1] << ": no such buffers\n";
    return;
  }
  for (uint64_t i = 0; i < a.getCount(); ++i) {
    nonzero += a.get(i) != 0;
    if (a.get(i) == b.get(i))
      continue;
    firstWrong = wrong++ == 0 ? i : firstWrong;
  }
  llvm::outs() << words[0] << " and " << words[1] << ": ";
  if (wrong == 0)
    llvm::outs() << "same, " << (nonzero > 0 ? "not all 0" : "all 0") << "\n";
  else
    llvm::outs() << wrong << " of " << a.getCount() << " differ, the first at "
                 << firstWrong << ": " << a.get(firstWrong) << " and "
                 << b.get(firstWrong) << "\n";
}

void Script::print(const Words &words) {
  const Buffer &buffer = buffers[words[0]];
  uint64_t count = buffer.getCount();
  if (words.size() > 1)
    (void)words[1].getAsInteger(10, count);
  llvm::outs() << words[0] << " =";
  for (uint64_t i = 0; i < count && i < buffer.getCount(); ++i)
    llvm::outs() << " " << llvm::format("%g", buffer.get(i));
  llvm::outs() << "\n";
}

llvm::Error Script::run(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (!line.consume_front("// "))
      continue;
    Words words;
    line.split(words, ' ', -1, /*KeepEmpty=*/false);
    if (words.empty())
      continue;
    StringRef verb = words.front();
    words.erase(words.begin());
    llvm::Error error = llvm::Error::success();
    if (verb == "BUFFER")
      error = addBuffer(words);
    else if (verb == "MAP")
      error = addMap(words);
    else if (verb == "LAUNCH")
      error = launch(words);
    else if (verb == "SAME" && words.size() == 2)
      printSame(words);
    else if (verb == "PRINT" && !words.empty())
      print(words);
    if (error)
      return error;
  }
  return llvm::Error::success();
}

/// Print `error`, and return what main returns then.
static int fail(llvm::Error error) {
  llvm::errs() << "attn-emulate: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "runs kernels as comments say\n");
  DialectRegistry registry;
  registry.insert<AttnDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, attn_gpu::AttnGpuDialect>();
  registerCpuTranslations(registry);
  MLIRContext context(registry);
  auto sources = std::make_shared<llvm::SourceMgr>();
  std::string message;
  auto file = openInputFile(input, &message);
  auto text = llvm::MemoryBuffer::getFile(script.empty() ? input : script);
  if (!file || !text)
    return fail(llvm::createStringError("the module or the script cannot be "
                                        "read"));
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  CudaEmulatorOptions options;
  options.track = !untracked;
  options.workers = workers;
  auto emulator = CudaEmulator::create(*module, options);
  if (!emulator)
    return fail(emulator.takeError());
  if (llvm::Error error = Script(**emulator).run((*text)->getBuffer()))
    return fail(std::move(error));
  return 0;
}
