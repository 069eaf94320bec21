// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in this process's memory, with the exact bytes that compiled code
// reads and writes: contiguous, or a strided view of memory that someone else
// owns.

#ifndef ATTN_EXECUTION_TENSOR_H
#define ATTN_EXECUTION_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace mlir::attn {

/// Types of elements. Integers are signless; a boolean takes one byte.
enum class ElementKind {
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  I1,
  I8,
  I32,
  I64
};

/// Return the name of `kind` as MLIR writes it: `bf16`, `i1`.
llvm::StringRef getName(ElementKind kind);

/// Return the kind called `name`, or none.
std::optional<ElementKind> parseElementKind(llvm::StringRef name);

/// Return the bytes that one element takes.
int64_t getByteSize(ElementKind kind);

/// Return whether elements of `kind` are floating-point numbers.
bool isFloat(ElementKind kind);

/// A typed, shaped, strided piece of memory. Copies share the memory.
class HostTensor {
public:
  HostTensor() = default;

  /// Allocate a contiguous tensor of zeros. Fails where the extents are
  /// negative or their product does not fit into memory.
  static llvm::Expected<HostTensor> create(ElementKind kind,
                                           llvm::ArrayRef<int64_t> shape);

  /// Look at memory of others; `strides` count elements.
  static HostTensor view(ElementKind kind, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> strides, void *data);

  ElementKind getKind() const { return kind; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  int64_t getDim(int64_t i) const { return shape[i]; }

  /// Return the number of elements.
  int64_t getSize() const;

  /// Return the address of the element whose indices are all 0.
  char *getData() const { return data; }

  /// Return whether elements follow each other in row-major order.
  bool isContiguous() const;

  /// Read or write one element, `offset` elements away from the first. An
  /// integer that is read as a double, or the reverse, is converted; doubles
  /// are rounded to the nearest number of the tensor's type.
  double load(int64_t offset) const;
  int64_t loadInteger(int64_t offset) const;
  void store(int64_t offset, double value) const;
  void storeInteger(int64_t offset, int64_t value) const;

  /// Return the offset of the element at `index`.
  int64_t getOffset(llvm::ArrayRef<int64_t> index) const;

  /// Call `visit` with the offset of each element in row-major order.
  void forEach(llvm::function_ref<void(int64_t offset)> visit) const;

  /// Return a contiguous copy with elements of type `newKind`.
  llvm::Expected<HostTensor> convert(ElementKind newKind) const;

  /// Return the same memory with elements of type `newKind`, of the same size.
  HostTensor reinterpret(ElementKind newKind) const;

  /// Return the same memory with dimensions reordered: dimension `i` of the
  /// result is dimension `permutation[i]` of this tensor.
  HostTensor transpose(llvm::ArrayRef<int64_t> permutation) const;

  /// Return the `SHAPExTYPE` of this tensor, as in `2x?x4xf32`.
  std::string getTypeName() const;

private:
  ElementKind kind = ElementKind::F32;
  llvm::SmallVector<int64_t, 4> shape, strides;
  char *data = nullptr;
  std::shared_ptr<char> owner;
};

/// Fill `tensor` from `seed`: floats uniform in (-1, 1), integers in [0, 8),
/// booleans true three times out of four. The same seed gives the same numbers
/// whatever the strides.
void fillRandom(const HostTensor &tensor, uint64_t seed);

/// A tensor to be made: `SHAPExTYPE[=SEED]`, as in `1x8x64xf32=3` or `i64`.
struct TensorSpec {
  ElementKind kind;
  llvm::SmallVector<int64_t, 4> shape;
  std::optional<uint64_t> seed;

  /// Read a specification; the error names the part that is not understood.
  static llvm::Expected<TensorSpec> parse(llvm::StringRef text);

  /// Make the tensor and fill it from its seed, or else from `defaultSeed`.
  llvm::Expected<HostTensor> create(uint64_t defaultSeed) const;
};

/// Return the one of `known` that is spelled most like `name`.
llvm::StringRef nearestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> known);

} // namespace mlir::attn

#endif // ATTN_EXECUTION_TENSOR_H
