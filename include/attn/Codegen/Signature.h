// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a C caller sees of a function: the tensors that go in and come out, with names. It is read off a function
// on tensors and, once that function works on memory, off its attribute `attn.signature`.

#ifndef ATTN_CODEGEN_SIGNATURE_H
#define ATTN_CODEGEN_SIGNATURE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::attn {

/// Attribute of a function on memory: its signature on tensors.
inline constexpr llvm::StringLiteral kSignatureAttrName = "attn.signature";
/// Attribute of an argument or a result: what messages and headers call it.
inline constexpr llvm::StringLiteral kNameAttrName = "attn.name";

/// Attribute of an argument whose innermost stride is 1; of a call, which operand
/// is such an argument.
inline constexpr llvm::StringLiteral kDenseAttrName = "attn.dense";
/// Attribute of a private function that writes its results where it is told, as a
/// public one does.
inline constexpr llvm::StringLiteral kOutputsAttrName = "attn.outputs";
/// Attribute of a private function that holds a task which several places run: it
/// takes inputs, then outputs.
inline constexpr llvm::StringLiteral kTaskAttrName = "attn.task";
/// Attribute of a public function: for each result which argument's memory it may
/// have, or -1. Absent where there is none.
inline constexpr llvm::StringLiteral kInPlaceAttrName = "attn.in_place";
/// Attribute of a public function: which arguments its packed entry does without,
/// and the type of the block that stands for them.
inline constexpr llvm::StringLiteral kPackedAttrName = "attn.packed";
/// What headers and messages call that block.
inline constexpr llvm::StringLiteral kPackedName = "packed";

/// Names of the private functions that belong to the public one of `name`; a
/// dot keeps them apart from everything that C could name.
inline std::string checkFunctionName(StringRef name) {
  return (name + ".check").str();
}
inline std::string shapeFunctionName(StringRef name) {
  return (name + ".shape").str();
}
inline std::string bodyFunctionName(StringRef name) {
  return (name + ".body").str();
}

/// The element types that C callers know, as DLPack numbers them.
struct ElementCode {
  int64_t code, bits;
};

/// Return how DLPack calls `type`, or nothing.
std::optional<ElementCode> getElementCode(Type type);

/// One tensor of a signature; a scalar is a tensor of rank 0.
struct SignatureTensor {
  RankedTensorType type;
  /// Empty where the source gives no name.
  std::string name;
};

struct Signature {
  SmallVector<SignatureTensor> inputs, outputs;
  /// For each output which input's memory it may have, or -1.
  SmallVector<int64_t> inPlace;

  /// Return the signature of a function on tensors and scalars. Fails with a
  /// diagnostic where C cannot call it.
  static FailureOr<Signature> get(func::FuncOp function);

  /// Return what `toAttr` wrote.
  static FailureOr<Signature> fromAttr(Operation *function);
  DictionaryAttr toAttr(MLIRContext *context) const;

  /// Return what messages call a tensor: "argument 'query'", "result 1".
  std::string inputLabel(unsigned index) const;
  std::string outputLabel(unsigned index) const;
};

/// Return for each result of `function` which argument's memory it may have, or -1:
/// a cache that rows are written into, and that nothing else reads.
SmallVector<int64_t> findInPlace(func::FuncOp function);

/// Write the C header of the public functions on tensors in `module`. `scheduled`
/// is the same module after phase `schedule`, which says what can be packed, or
/// null. Fails with a diagnostic where C cannot call a function.
LogicalResult writeHeader(ModuleOp module, ModuleOp scheduled,
                          llvm::raw_ostream &os);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_SIGNATURE_H
