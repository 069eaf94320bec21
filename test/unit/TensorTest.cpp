// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding, strides, random numbers and the text form of host tensors.

#include "Check.h"

#include "attn/Execution/Tensor.h"
#include "attn/Interpreter/FloatFormats.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <limits>

using namespace attn_unit;
using namespace mlir::attn;
using llvm::cantFail;

/// Every 16-bit pattern comes back; numbers between two round to even.
static void testRounding(Checker &checker) {
  for (FloatFormat format : {FloatFormat::F16, FloatFormat::BF16})
    for (uint64_t bits = 0; bits < 0x10000; ++bits) {
      double value = decodeFloat(bits, format);
      EXPECT(std::isnan(value) || encodeFloat(value, format) == bits);
    }
  EXPECT(roundFloat(65519.9, FloatFormat::F16) == 65504);
  EXPECT(std::isinf(roundFloat(65520, FloatFormat::F16)));
  EXPECT(roundFloat(1 + 0x1p-11, FloatFormat::F16) == 1);
  EXPECT(roundFloat(1 + 3 * 0x1p-11, FloatFormat::F16) == 1 + 0x1p-9);
  // By way of f32 this would become a tie and round down.
  EXPECT(roundFloat(1 + 0x1p-11 + 0x1p-40, FloatFormat::F16) == 1 + 0x1p-10);
  EXPECT(roundFloat(0x1p-25, FloatFormat::F16) == 0);
  EXPECT(roundFloat(0x1.8p-25, FloatFormat::F16) == 0x1p-24);
  EXPECT(roundFloat(0x1p-14 - 0x1p-25, FloatFormat::F16) == 0x1p-14);
  EXPECT(roundFloat(1 + 0x1p-8, FloatFormat::BF16) == 1);
  EXPECT(roundFloat(-1 - 3 * 0x1p-8, FloatFormat::BF16) == -1 - 0x1p-6);
  double lowest =
      roundFloat(std::numeric_limits<float>::lowest(), FloatFormat::BF16);
  EXPECT(std::isinf(lowest));
  EXPECT(std::isnan(roundFloat(NAN, FloatFormat::BF16)));
}

static void testViews(Checker &checker) {
  HostTensor tensor = cantFail(HostTensor::create(ElementKind::F32, {2, 3}));
  for (int64_t i = 0; i < 6; ++i)
    tensor.store(i, i);
  HostTensor columns = tensor.transpose({1, 0});
  EXPECT(!columns.isContiguous() && tensor.isContiguous());
  HostTensor copy = cantFail(columns.convert(ElementKind::I32));
  for (int64_t i = 0; i < 6; ++i)
    EXPECT(copy.loadInteger(i) == (i % 2) * 3 + i / 2);
  int visits = 0;
  cantFail(HostTensor::create(ElementKind::I1, {4, 0, 2}))
      .forEach([&](int64_t) { ++visits; });
  EXPECT(visits == 0);
}

static void testRandom(Checker &checker) {
  HostTensor a = cantFail(HostTensor::create(ElementKind::F64, {1000}));
  HostTensor b = cantFail(HostTensor::create(ElementKind::F64, {1000}));
  fillRandom(a, 5);
  fillRandom(b, 5);
  double sum = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT(a.load(i) == b.load(i) && std::fabs(a.load(i)) <= 1);
    sum += a.load(i);
  }
  EXPECT(std::fabs(sum) < 100);
  fillRandom(b, 6);
  EXPECT(a.load(0) != b.load(0));
}

/// Every float of a byte is what LLVM says it is, and so is what lies between two.
static void testBytes(Checker &checker) {
  const std::pair<ElementKind, const llvm::fltSemantics *> formats[] = {
      {ElementKind::F8E4M3FN, &llvm::APFloat::Float8E4M3FN()},
      {ElementKind::F8E5M2, &llvm::APFloat::Float8E5M2()}};
  for (auto [kind, semantics] : formats) {
    HostTensor tensor = cantFail(HostTensor::create(kind, {1}));
    for (unsigned code = 0; code < 256; ++code) {
      *tensor.getData() = static_cast<char>(code);
      llvm::APFloat exact(*semantics, llvm::APInt(8, code));
      double value = exact.convertToDouble();
      EXPECT(exact.isNaN() ? std::isnan(tensor.load(0))
                           : tensor.load(0) == value);
      for (double factor : {1.0, 1.03125, 1.0625, 1.125, 1.25, 1.46}) {
        llvm::APFloat rounded(value * factor);
        bool losesInfo;
        rounded.convert(*semantics, llvm::APFloat::rmNearestTiesToEven,
                        &losesInfo);
        tensor.store(0, value * factor);
        EXPECT(rounded.isNaN() ? std::isnan(tensor.load(0))
                               : static_cast<uint8_t>(*tensor.getData()) ==
                                     rounded.bitcastToAPInt().getZExtValue());
      }
    }
  }
}

static void testSpecs(Checker &checker) {
  TensorSpec spec = cantFail(TensorSpec::parse("1x8x64xbf16=3"));
  EXPECT(spec.kind == ElementKind::BF16 && spec.seed == 3);
  EXPECT((spec.shape == llvm::SmallVector<int64_t, 4>{1, 8, 64}));
  spec = cantFail(TensorSpec::parse("i64"));
  EXPECT(spec.shape.empty() && !spec.seed);
  auto message = [](llvm::StringRef text) {
    llvm::Expected<TensorSpec> spec = TensorSpec::parse(text);
    return spec ? "" : llvm::toString(spec.takeError());
  };
  EXPECT(message("1x?xf32") ==
         "'1x?xf32' expects sizes before its type, got '?'");
  EXPECT(message("4xf31") ==
         "'4xf31' expects a type out of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, "
         "i1, i8, i32, i64, got 'f31'; the nearest is 'f32'");
  EXPECT(message("4xf32=") == "'4xf32=' expects a number after '=', got ''");
  EXPECT(message("-1xf32") ==
         "'-1xf32' expects sizes before its type, got '-1'");
  EXPECT(!message("").empty());
  llvm::Expected<HostTensor> huge =
      HostTensor::create(ElementKind::F64, {INT64_MAX, 2});
  EXPECT(llvm::toString(huge.takeError()) ==
         "no memory for a tensor of 9223372036854775807x2xf64");
}

void attn_unit::testTensor(Checker &checker) {
  testRounding(checker);
  testViews(checker);
  testRandom(checker);
  testBytes(checker);
  testSpecs(checker);
}
