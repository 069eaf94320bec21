// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the shared variables of a GPU's module lie in the memory of a block.

#ifndef ATTN_LIB_CONVERSION_SHAREDLAYOUT_H
#define ATTN_LIB_CONVERSION_SHAREDLAYOUT_H

#include "HostCallBuilder.h"

namespace mlir::attn {

/// The memory of a block: variables of known size, then the one whose size is
/// given by a launch.
struct SharedLayout {
  int64_t staticBytes = 0;
  /// -1 if there is no such variable.
  int64_t dynamicOffset = -1;
};

/// Give each shared variable of `module` a place, and replace its address by a
/// call that asks for it; integers made of addresses, and back, count from the
/// start of the window. The variables are removed.
FailureOr<SharedLayout> placeShared(Operation *module,
                                    HostCallBuilder &builder);

} // namespace mlir::attn

#endif // ATTN_LIB_CONVERSION_SHAREDLAYOUT_H
