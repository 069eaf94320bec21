// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings the dialect and the passes into a stock mlir-opt of the same version:
//
//   mlir-opt x.mlir --load-dialect-plugin=AttnPlugin.so --load-pass-plugin=AttnPlugin.so
//     --pass-pipeline='builtin.module(func.func(convert-attn-to-linalg))'
//
// The first flag brings no pass and the second no dialect: both are needed.

#include "attn/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

constexpr const char *kName = "attn-mlir";
constexpr const char *kVersion = "0.1.0";

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, kVersion,
          [](mlir::DialectRegistry *registry) {
            mlir::attn::registerAllDialects(*registry);
            mlir::attn::registerAllExtensions(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, kVersion,
          []() { mlir::attn::registerAllPasses(); }};
}
