// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes .npy files. A file is eight bytes of magic and version, the
// length of the header, the header, which is a Python dictionary, and the raw
// elements:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }

#include "attn/Execution/Npy.h"

#include "attn/Target/CPU/Link.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace mlir::attn;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

constexpr StringRef kMagic("\x93NUMPY", 6);

/// The header is padded so that the elements begin at a multiple of this.
constexpr size_t kHeaderAlignment = 64;

struct Header {
  ElementKind kind;
  bool fortranOrder;
  llvm::SmallVector<int64_t, 4> shape;
};

struct Descr {
  StringRef text;
  ElementKind kind;
};

/// Element types without the byte order; the first of a kind is written, the first
/// of a text is read. numpy has no name for floats of a byte.
static constexpr Descr kDescrs[] = {
    {"f2", ElementKind::F16},   {"V2", ElementKind::BF16},
    {"f4", ElementKind::F32},   {"f8", ElementKind::F64},
    {"b1", ElementKind::I1},    {"i1", ElementKind::I8},
    {"u1", ElementKind::I8},    {"i4", ElementKind::I32},
    {"i8", ElementKind::I64},   {"u1", ElementKind::F8E4M3FN},
    {"u1", ElementKind::F8E5M2}};

/// Return the text after `'key':` in the dictionary `header`.
static Expected<StringRef> findValue(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return createStringError("the header has no '" + key + "'");
  StringRef rest = header.substr(at + key.size() + 2).ltrim();
  if (!rest.consume_front(":"))
    return createStringError("the header has no ':' after '" + key + "'");
  return rest.ltrim();
}

static Expected<ElementKind> parseDescr(StringRef header) {
  Expected<StringRef> value = findValue(header, "descr");
  if (!value)
    return value.takeError();
  if (!value->consume_front("'"))
    return createStringError("'descr' is not the name of one type");
  StringRef descr = value->take_until([](char c) { return c == '\''; });
  if (descr == "bfloat16")
    return ElementKind::BF16;
  if (descr.starts_with(">"))
    return createStringError("expects little-endian elements, got '" + descr +
                             "'");
  for (const Descr &known : kDescrs)
    if (!descr.empty() && descr.drop_front() == known.text)
      return known.kind;
  return createStringError("expects elements of type f2, f4, f8, b1, i1, u1, "
                           "i4, i8 or V2 (bf16), got '" +
                           descr + "'");
}

static Expected<llvm::SmallVector<int64_t, 4>> parseShape(StringRef header) {
  Expected<StringRef> value = findValue(header, "shape");
  if (!value)
    return value.takeError();
  size_t end = value->find(')');
  if (!value->consume_front("(") || end == StringRef::npos)
    return createStringError("'shape' is not a tuple");
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<StringRef> parts;
  value->substr(0, end - 1).split(parts, ',');
  for (StringRef part : parts) {
    part = part.trim();
    int64_t extent;
    if (part.empty() && part.data() == parts.back().trim().data())
      continue;
    if (part.getAsInteger(10, extent) || extent < 0)
      return createStringError("'shape' expects sizes, got '" + part + "'");
    shape.push_back(extent);
  }
  return shape;
}

static Expected<Header> parseHeader(StringRef text) {
  Expected<ElementKind> kind = parseDescr(text);
  if (!kind)
    return kind.takeError();
  Expected<StringRef> order = findValue(text, "fortran_order");
  if (!order)
    return order.takeError();
  if (!order->starts_with("True") && !order->starts_with("False"))
    return createStringError("'fortran_order' is neither True nor False");
  auto shape = parseShape(text);
  if (!shape)
    return shape.takeError();
  return Header{*kind, order->starts_with("True"), *shape};
}

/// Split a file into its header and its elements.
static Expected<std::pair<StringRef, StringRef>> splitFile(StringRef bytes) {
  if (!bytes.consume_front(kMagic))
    return createStringError("the file does not begin as .npy files do");
  if (bytes.size() < 2)
    return createStringError("the file ends inside the header");
  unsigned version = static_cast<unsigned char>(bytes[0]);
  if (version < 1 || version > 3)
    return createStringError("expects version 1, 2 or 3, got " +
                             Twine(version));
  bytes = bytes.drop_front(2);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (bytes.size() < lengthBytes)
    return createStringError("the file ends inside the header");
  size_t length = version == 1 ? llvm::support::endian::read16le(bytes.data())
                               : llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(lengthBytes);
  if (bytes.size() < length)
    return createStringError("the file ends inside the header");
  return std::make_pair(bytes.take_front(length), bytes.drop_front(length));
}

/// Copy `elements`, whose first index changes fastest.
static void copyColumnsFirst(const HostTensor &tensor, StringRef elements) {
  llvm::SmallVector<int64_t, 4> strides(tensor.getRank());
  int64_t stride = 1;
  for (int64_t i = 0; i < tensor.getRank(); ++i) {
    strides[i] = stride;
    stride *= tensor.getDim(i);
  }
  int64_t bytes = getByteSize(tensor.getKind());
  char *next = tensor.getData();
  HostTensor::view(tensor.getKind(), tensor.getShape(), strides, nullptr)
      .forEach([&](int64_t offset) {
        std::memcpy(next, elements.data() + offset * bytes, bytes);
        next += bytes;
      });
}

static Expected<HostTensor> parseFile(StringRef bytes) {
  auto parts = splitFile(bytes);
  if (!parts)
    return parts.takeError();
  Expected<Header> header = parseHeader(parts->first);
  if (!header)
    return header.takeError();
  StringRef elements = parts->second;
  // Before memory is asked for: a header may promise more than the file has.
  llvm::SmallVector<int64_t, 4> &shape = header->shape;
  int64_t count = llvm::is_contained(shape, 0) ? 0 : 1;
  for (int64_t extent : shape)
    if (count > 0)
      count = extent > int64_t(elements.size()) / count ? -1 : count * extent;
  int64_t size = getByteSize(header->kind);
  if (count < 0 || count != int64_t(elements.size()) / size ||
      elements.size() % size != 0)
    return createStringError("the header and the " + Twine(elements.size()) +
                             " bytes of elements do not agree");
  Expected<HostTensor> tensor = HostTensor::create(header->kind, shape);
  if (!tensor)
    return tensor.takeError();
  if (header->fortranOrder)
    copyColumnsFirst(*tensor, elements);
  else if (!elements.empty())
    std::memcpy(tensor->getData(), elements.data(), elements.size());
  return tensor;
}

Expected<HostTensor> mlir::attn::parseNpy(StringRef bytes, StringRef name) {
  Expected<HostTensor> tensor = parseFile(bytes);
  if (!tensor)
    return createStringError("'" + name +
                             "': " + llvm::toString(tensor.takeError()));
  return tensor;
}

Expected<HostTensor> mlir::attn::readNpy(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("'" + path + "': " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), path);
}

/// Return everything that stands before the elements of `tensor`.
static std::string makeHeader(const HostTensor &tensor) {
  std::string dictionary;
  llvm::raw_string_ostream os(dictionary);
  os << "{'descr': '";
  for (const Descr &descr : kDescrs)
    if (descr.kind == tensor.getKind()) {
      os << (getByteSize(descr.kind) == 1 ? '|' : '<') << descr.text;
      break;
    }
  os << "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.getShape())
    os << extent << ", ";
  os << "), }";
  constexpr size_t kBefore = kMagic.size() + 4;
  size_t padded =
      llvm::alignTo(kBefore + dictionary.size() + 1, kHeaderAlignment);
  dictionary.resize(padded - kBefore - 1, ' ');
  dictionary += '\n';
  std::string header = kMagic.str() + std::string("\x01\x00", 2);
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

Error mlir::attn::writeNpy(StringRef path, const HostTensor &tensor) {
  Expected<HostTensor> rows = tensor.isContiguous()
                                  ? Expected<HostTensor>(tensor)
                                  : tensor.convert(tensor.getKind());
  if (!rows)
    return rows.takeError();
  std::string bytes = makeHeader(*rows);
  bytes.append(reinterpret_cast<const char *>(rows->getData()),
               rows->getSize() * getByteSize(rows->getKind()));
  return writeOutput({bytes.data(), bytes.size()}, path);
}
