// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What counts as equal, what is reported, and the limits of docs/Numerics.md.

#include "Check.h"

#include "attn/Execution/Compare.h"
#include <cmath>

using namespace attn_unit;
using namespace mlir::attn;

static HostTensor make(std::initializer_list<double> values) {
  HostTensor tensor = llvm::cantFail(HostTensor::create(
      ElementKind::F64, {static_cast<int64_t>(values.size())}));
  int64_t i = 0;
  for (double value : values)
    tensor.store(i++, value);
  return tensor;
}

void attn_unit::testCompare(Checker &checker) {
  CompareOptions options;
  options.limit = 0.5;
  HostTensor expected = make({1, NAN, INFINITY, -INFINITY});
  EXPECT(
      compareTensors(make({1.5, NAN, INFINITY, -INFINITY}), expected, options)
          .pass);
  Comparison off =
      compareTensors(make({1.625, 0, -INFINITY, -INFINITY}), expected, options);
  EXPECT(!off.pass && off.count == 3 && std::isinf(off.maxError));
  EXPECT(off.at.size() == 1 && off.at[0] == 1);
  EXPECT(!compareTensors(make({1}), expected, options).pass);

  // A NaN is tolerated where the plain computation has one, or where allowed.
  HostTensor plain = make({NAN, NAN, INFINITY, -INFINITY});
  options.plain = &plain;
  EXPECT(compareTensors(plain, expected, options).pass);
  options.plain = nullptr;
  HostTensor mayShow = llvm::cantFail(HostTensor::create(ElementKind::I1, {4}));
  mayShow.storeInteger(0, 1);
  options.mayShow = &mayShow;
  EXPECT(compareTensors(plain, expected, options).pass);

  // Neighbours that are one and the same double.
  HostTensor big = llvm::cantFail(HostTensor::create(ElementKind::I64, {1}));
  HostTensor next = llvm::cantFail(HostTensor::create(ElementKind::I64, {1}));
  big.storeInteger(0, INT64_MAX - 1);
  next.storeInteger(0, INT64_MAX);
  EXPECT(compareTensors(big, big, CompareOptions()).pass);
  EXPECT(!compareTensors(big, next, CompareOptions()).pass);

  ErrorTerms terms{1e-6, 10, 2, ElementKind::F32};
  EXPECT(outputLimit(terms) == 2e-6 + 0x1p-22 * 18 * 2);
  EXPECT(lseLimit(terms) == 2e-6 + 0x1p-22 * 18);
  terms.kind = ElementKind::BF16;
  EXPECT(outputLimit(terms) == 2e-6 + (0x1p-22 * 18 + 0x1p-8) * 2);
  EXPECT(largestDifference(make({1, 5, NAN}), make({2, 3, 1})) == 2);
}
