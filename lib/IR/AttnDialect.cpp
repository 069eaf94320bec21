// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect's ops and attributes, and prints the parts of their syntax that TableGen cannot.

#include "attn/IR/AttnDialect.h"
#include "attn/IR/AttnOps.h"
#include "attn/IR/ScoreRegion.h"
#include "attn/IR/ScoreRules.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

#include "attn/IR/AttnDialect.cpp.inc"

#include "attn/IR/AttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/IR/AttnAttrs.cpp.inc"

namespace {
/// All ops may move into a caller.
struct AttnInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void AttnDialect::initialize() {
  addInterfaces<AttnInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/IR/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/IR/AttnOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Rows or keys of a block at most, and rows, columns, lanes or streams of a tile,
/// each of which is code of its own; and elements of a tile.
static constexpr int64_t kMostBlock = 1 << 24, kMostTile = 1024,
                         kMostTileElements = 16 * 1024;

/// Warps of a block of threads at most, and blocks of keys that one holds.
static constexpr int64_t kMostWarps = 32, kMostStages = 16;

/// Sums that a warp has registers for: 255 of each of 32 threads, and none beside.
static constexpr int64_t kMostWarpSums = 255 * 32;

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 std::optional<int64_t> left,
                                 std::optional<int64_t> right) {
  // window-C1
  if (left.value_or(0) < 0)
    return emitError() << "expects 'left' of a window to be at least 0, got "
                       << *left;
  if (right.value_or(0) < 0)
    return emitError() << "expects 'right' of a window to be at least 0, got "
                       << *right;
  return success();
}

/// Fails unless a block of `warps` warps can work on tiles of these sizes.
static LogicalResult verifyWarps(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t blockM, int64_t blockN, int64_t rows,
                                 int64_t columns, int64_t lanes,
                                 int64_t warps) {
  // schedule-C9
  if (rows % 16 != 0)
    return emitError()
           << "expects 'rows' of a warp to be a multiple of 16, got " << rows;
  if (blockM != rows * warps)
    return emitError() << "expects 'block_m' to be 'rows' of each of " << warps
                       << " warps, got " << blockM << " and " << rows;
  // schedule-C10
  if ((lanes != 2 && lanes != 4) || columns != 4 * lanes)
    return emitError() << "expects 'lanes' of a thread to be 2 or 4 and "
                          "'columns' to be those of 4 threads, got "
                       << lanes << " and " << columns;
  // schedule-C15
  if (rows * blockN > kMostWarpSums)
    return emitError() << "expects 'rows' times 'block_n' of a warp to be at "
                          "most "
                       << kMostWarpSums << ", got " << rows << " and "
                       << blockN;
  return success();
}

namespace {
/// A number of a schedule, and what it is at least and at most.
struct BoundedNumber {
  StringRef name;
  int64_t value, least, most = INT64_MAX;
};
} // namespace

/// Fails unless each of `numbers` is one that code can be made for.
static LogicalResult verifyBounds(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<BoundedNumber> numbers) {
  for (const BoundedNumber &number : numbers) {
    // schedule-C1, schedule-C2, schedule-C7, schedule-C8
    if (number.value < number.least)
      return emitError() << "expects '" << number.name << "' to be "
                         << (number.least > 0 ? "positive" : "at least 0")
                         << ", got " << number.value;
    // schedule-C13
    if (number.value > number.most)
      return emitError() << "expects '" << number.name << "' to be at most "
                         << number.most << ", got " << number.value;
  }
  return success();
}

/// Fails unless what must divide what does.
static LogicalResult verifyDivides(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t blockM, int64_t blockN, int64_t rows,
                                   int64_t columns, int64_t lanes,
                                   int64_t chunk) {
  // schedule-C3
  if (columns % lanes != 0)
    return emitError() << "expects 'columns' to be a multiple of 'lanes', got "
                       << columns << " and " << lanes;
  // schedule-C4
  if (blockM % rows != 0)
    return emitError() << "expects 'block_m' to be a multiple of 'rows', got "
                       << blockM << " and " << rows;
  // schedule-C5
  if (blockN % columns != 0)
    return emitError() << "expects 'block_n' to be a multiple of 'columns', "
                          "got "
                       << blockN << " and " << columns;
  // schedule-C6
  if (chunk % blockN != 0)
    return emitError() << "expects 'chunk' to be a multiple of 'block_n', got "
                       << chunk << " and " << blockN;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t blockM, int64_t blockN, int64_t rows,
                                   int64_t columns, int64_t lanes,
                                   int64_t chunk, bool, int64_t streams,
                                   int64_t prefetch, int64_t warps,
                                   int64_t stages, Precision precision,
                                   bool inPlace) {
  if (failed(verifyBounds(emitError, {{"block_m", blockM, 1, kMostBlock},
                                      {"block_n", blockN, 1, kMostBlock},
                                      {"rows", rows, 1, kMostTile},
                                      {"columns", columns, 1, kMostTile},
                                      {"lanes", lanes, 1, kMostTile},
                                      {"chunk", chunk, 0},
                                      {"streams", streams, 0, kMostTile},
                                      {"prefetch", prefetch, 0},
                                      {"warps", warps, 0, kMostWarps},
                                      {"stages", stages, 0, kMostStages}})) ||
      failed(verifyDivides(emitError, blockM, blockN, rows, columns, lanes,
                           chunk)))
    return failure();
  if (warps > 0 && failed(verifyWarps(emitError, blockM, blockN, rows, columns,
                                      lanes, warps)))
    return failure();
  // schedule-C14
  if (streams == 0 && !llvm::isPowerOf2_64(columns))
    return emitError() << "expects 'columns' to be a power of two without "
                          "'streams', got "
                       << columns;
  // schedule-C13
  if (rows * columns > kMostTileElements)
    return emitError() << "expects 'rows' times 'columns' to be at most "
                       << kMostTileElements << ", got " << rows << " and "
                       << columns;
  // schedule-C11
  if (precision != Precision::Exact && (warps == 0 || lanes != 4))
    return emitError() << "expects 'warps' and 4 'lanes' with a 'precision' of "
                       << stringifyPrecision(precision) << ", got " << warps
                       << " and " << lanes;
  // schedule-C12
  if (inPlace && (streams > 0 || warps > 0))
    return emitError()
           << "expects no 'streams' and no 'warps' with 'in_place', "
              "got "
           << streams << " and " << warps;
  return success();
}

/// Parse `bshd` or `<query = bshd, ...>`.
static ParseResult parseLayouts(AsmParser &parser, LayoutsAttr &layouts) {
  MLIRContext *context = parser.getContext();
  StringRef word;
  if (failed(parser.parseOptionalLess())) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Layout> all = symbolizeLayout(word);
    if (!all)
      return parser.emitError(loc)
             << "expects a layout 'bhsd' or 'bshd', got '" << word << "'";
    layouts = LayoutsAttr::get(context, *all, *all, *all, *all);
    return success();
  }
  static constexpr StringLiteral names[] = {"query", "key", "value", "output"};
  Layout parsed[4] = {Layout::bhsd, Layout::bhsd, Layout::bhsd, Layout::bhsd};
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseKeyword(&word))
      return failure();
    const auto *found = llvm::find(names, name);
    std::optional<Layout> layout = symbolizeLayout(word);
    if (found == std::end(names) || !layout)
      return parser.emitError(loc)
             << "expects 'query', 'key', 'value' or 'output' with a layout "
                "'bhsd' or 'bshd', got '"
             << name << " = " << word << "'";
    parsed[found - std::begin(names)] = *layout;
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne) || parser.parseGreater())
    return failure();
  layouts =
      LayoutsAttr::get(context, parsed[0], parsed[1], parsed[2], parsed[3]);
  return success();
}

/// Print what parseLayouts reads.
static void printLayouts(AsmPrinter &printer, LayoutsAttr layouts) {
  Layout query = layouts.getQuery();
  if (query == layouts.getKey() && query == layouts.getValue() &&
      query == layouts.getOutput()) {
    printer << stringifyLayout(query);
    return;
  }
  printer << "<query = " << stringifyLayout(query)
          << ", key = " << stringifyLayout(layouts.getKey())
          << ", value = " << stringifyLayout(layouts.getValue())
          << ", output = " << stringifyLayout(layouts.getOutput()) << ">";
}

Attribute LayoutsAttr::parse(AsmParser &parser, Type) {
  LayoutsAttr layouts;
  if (parser.parseLess() || parseLayouts(parser, layouts) ||
      parser.parseGreater())
    return {};
  return layouts;
}

void LayoutsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printLayouts(printer, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Custom parts of the assembly
//===----------------------------------------------------------------------===//

static void printLayouts(OpAsmPrinter &printer, Operation *,
                         LayoutsAttr layouts) {
  printLayouts(static_cast<AsmPrinter &>(printer), layouts);
}

/// Parse ` = alibi(%slopes : tensor<8xf32>)`, a rule by name.
static ParseResult parseScoreRule(OpAsmParser &parser, Region &body) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  OpAsmParser::UnresolvedOperand operand;
  Type type;
  SmallVector<Value> values;
  if (parser.parseKeyword(&name))
    return failure();
  SmallVector<StringRef> known(getScoreRules());
  llvm::append_range(known, getMaskRules());
  if (!llvm::is_contained(known, name))
    return parser.emitError(place)
           << "expects one of '" << llvm::join(known, "', '") << "', got '"
           << name << "'";
  if (parser.parseLParen() || parser.parseOperand(operand) ||
      parser.parseColonType(type) || parser.parseRParen() ||
      parser.resolveOperand(operand, type, values))
    return failure();
  auto emitError = [&] { return parser.emitError(place); };
  if (failed(verifyScoreRule(name, values.front(), emitError)))
    return failure();
  buildScoreRule(body, name, values.front());
  return success();
}

/// Parse the region of a score: `(%s: f32, %b: index, ...) { ... }`, or a rule.
static ParseResult parseScoreBody(OpAsmParser &parser, Region &body) {
  if (succeeded(parser.parseOptionalEqual()))
    return parseScoreRule(parser, body);
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true))
    return failure();
  return parser.parseRegion(body, arguments);
}

/// Print what parseScoreBody reads.
static void printScoreBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer, [&](BlockArgument arg) {
    printer.printRegionArgument(arg);
  });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

/// Parse `score_mod` and `mask_mod` with their regions, where they are there.
static ParseResult
parseScoreBodies(OpAsmParser &parser,
                 SmallVectorImpl<std::unique_ptr<Region>> &bodies) {
  for (StringRef name : {"score_mod", "mask_mod"}) {
    if (failed(parser.parseOptionalKeyword(name)))
      continue;
    bodies.push_back(std::make_unique<Region>());
    if (parseScoreBody(parser, *bodies.back()))
      return failure();
  }
  return success();
}

/// Print what parseScoreBodies reads.
static void printScoreBodies(OpAsmPrinter &printer, Operation *op,
                             MutableArrayRef<Region> bodies) {
  for (auto [name, body] :
       {std::pair<StringRef, Region *>{"score_mod", findScoreMod(bodies)},
        {"mask_mod", findMaskMod(bodies)}}) {
    if (!body)
      continue;
    printer << ' ' << name;
    printScoreBody(printer, op, *body);
  }
}

/// The operands of merge_outputs have the types of its results.
static ParseResult
parseSameTypes(OpAsmParser &, ArrayRef<OpAsmParser::UnresolvedOperand> outputs,
               SmallVectorImpl<Type> &outputTypes,
               ArrayRef<OpAsmParser::UnresolvedOperand> lses,
               SmallVectorImpl<Type> &lseTypes, Type output, Type lse) {
  outputTypes.assign(outputs.size(), output);
  lseTypes.assign(lses.size(), lse);
  return success();
}
static void printSameTypes(OpAsmPrinter &, Operation *, OperandRange, TypeRange,
                           OperandRange, TypeRange, Type, Type) {}

/// The result of an append is the cache, if that is a tensor, and is not written.
static ParseResult parseAppendResult(OpAsmParser &, Type cache, Type &result) {
  result = isa<RankedTensorType>(cache) ? cache : Type();
  return success();
}
static void printAppendResult(OpAsmPrinter &, Operation *, Type, Type) {}

/// The state that goes into a step has the types of the one that comes out.
static ParseResult parseStateTypes(OpAsmParser &, Type &reference, Type &sum,
                                   Type &acc, Type newReference, Type newSum,
                                   Type newAcc) {
  reference = newReference;
  sum = newSum;
  acc = newAcc;
  return success();
}
static void printStateTypes(OpAsmPrinter &, Operation *, Type, Type, Type, Type,
                            Type, Type) {}

#define GET_OP_CLASSES
#include "attn/IR/AttnOps.cpp.inc"
