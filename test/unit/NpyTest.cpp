// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy files: what is written comes back, what is malformed is refused.

#include "Check.h"

#include "attn/Execution/Npy.h"
#include "llvm/Support/FileSystem.h"

using namespace attn_unit;
using namespace mlir::attn;
using llvm::cantFail;

static std::string makeFile(llvm::StringRef dictionary, llvm::StringRef data,
                            char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  file += static_cast<char>(dictionary.size());
  file += '\0';
  if (version > 1)
    file += std::string(2, '\0');
  return file + dictionary.str() + data.str();
}

static std::string messageFor(llvm::StringRef bytes) {
  llvm::Expected<HostTensor> tensor = parseNpy(bytes, "x.npy");
  return tensor ? "" : llvm::toString(tensor.takeError());
}

static void testRoundTrip(Checker &checker) {
  llvm::SmallString<128> path;
  EXPECT(!llvm::sys::fs::createTemporaryFile("attn", "npy", path));
  for (ElementKind kind :
       {ElementKind::F16, ElementKind::BF16, ElementKind::F32, ElementKind::F64,
        ElementKind::I1, ElementKind::I8, ElementKind::I32, ElementKind::I64})
    for (llvm::SmallVector<int64_t> shape :
         {llvm::SmallVector<int64_t>{}, {5}, {2, 3}, {3, 0, 2}}) {
      HostTensor tensor = cantFail(HostTensor::create(kind, shape));
      fillRandom(tensor, 1);
      cantFail(writeNpy(path, tensor));
      HostTensor again = cantFail(readNpy(path));
      EXPECT(again.getKind() == kind && again.getShape() == tensor.getShape());
      for (int64_t i = 0; i < tensor.getSize(); ++i)
        EXPECT(again.load(i) == tensor.load(i));
    }
  llvm::sys::fs::remove(path);
  EXPECT(
      !llvm::toString(writeNpy("/nowhere/at/all.npy", HostTensor())).empty());
}

static void testOrders(Checker &checker) {
  std::string data = "\1\2\3\4\5\6";
  HostTensor columns = cantFail(parseNpy(
      makeFile("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }",
               data, 2),
      "x.npy"));
  int64_t expected[] = {1, 3, 5, 2, 4, 6};
  for (int64_t i = 0; i < 6; ++i)
    EXPECT(columns.loadInteger(i) == expected[i]);
  HostTensor rows = cantFail(parseNpy(
      makeFile("{'shape': (6,), 'fortran_order': False, 'descr': '|u1'}", data,
               3),
      "x.npy"));
  EXPECT(rows.getShape() == llvm::ArrayRef<int64_t>({6}));
}

static void testMalformed(Checker &checker) {
  llvm::StringRef good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  EXPECT(messageFor(makeFile(good, std::string(8, 0))).empty());
  EXPECT(messageFor("PK") ==
         "'x.npy': the file does not begin as .npy files do");
  EXPECT(messageFor(makeFile(good, std::string(7, 0))) ==
         "'x.npy': the header and the 7 bytes of elements do not agree");
  EXPECT(messageFor(makeFile(good, "", 4)) ==
         "'x.npy': expects version 1, 2 or 3, got 4");
  EXPECT(messageFor(makeFile("{'descr': '>f4', 'fortran_order': False, "
                             "'shape': (2,)}",
                             "")) ==
         "'x.npy': expects little-endian elements, got '>f4'");
  EXPECT(messageFor(makeFile("{'descr': '<c8', 'fortran_order': False, "
                             "'shape': (2,)}",
                             "")) ==
         "'x.npy': expects elements of type f2, f4, f8, b1, i1, u1, i4, i8 or "
         "V2 (bf16), got '<c8'");
  EXPECT(!messageFor(makeFile("{'descr': '<f8', 'fortran_order': False, "
                              "'shape': (4611686018427387904, 4)}",
                              ""))
              .empty());
  // No prefix and no header without one of its letters may crash.
  std::string file = makeFile(good, std::string(8, 0));
  for (size_t i = 0; i < file.size(); ++i) {
    EXPECT(!messageFor(llvm::StringRef(file).take_front(i)).empty());
    std::string damaged = file;
    damaged[i] = '(';
    messageFor(damaged);
  }
}

void attn_unit::testNpy(Checker &checker) {
  testRoundTrip(checker);
  testOrders(checker);
  testMalformed(checker);
}
