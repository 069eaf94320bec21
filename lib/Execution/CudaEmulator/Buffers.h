// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory that kernels may access: what the host has registered.

#ifndef ATTN_LIB_EXECUTION_CUDAEMULATOR_BUFFERS_H
#define ATTN_LIB_EXECUTION_CUDAEMULATOR_BUFFERS_H

#include <cstdint>
#include <map>
#include <string>

namespace mlir::attn::emulator {

class Buffers {
public:
  void add(const void *data, uint64_t bytes, std::string name) {
    buffers[toNumber(data)] = {bytes, std::move(name)};
  }
  /// Add a constant of the kernels, which is always there.
  void addConstant(const void *data, uint64_t bytes) {
    constants[toNumber(data)] = {bytes, ""};
  }
  void remove(const void *data) { buffers.erase(toNumber(data)); }

  /// Return whether no buffer is known: then any access is allowed.
  bool empty() const { return buffers.empty(); }

  /// Return whether one buffer holds `bytes` bytes at `address`.
  bool holds(const void *address, uint64_t bytes) const {
    return holds(buffers, address, bytes) || holds(constants, address, bytes);
  }

  /// Say where `address` lies: `4 bytes behind the end of 'key' (1024 bytes)`.
  std::string describe(const void *address) const {
    auto buffer = find(buffers, address);
    if (buffer == buffers.end())
      return "in front of all buffers";
    uint64_t end = buffer->first + buffer->second.bytes;
    std::string name = "'" + buffer->second.name + "' (" +
                       std::to_string(buffer->second.bytes) + " bytes)";
    if (toNumber(address) < end)
      return "across the end of " + name;
    return std::to_string(toNumber(address) - end) +
           " bytes behind the end of " + name;
  }

private:
  struct Buffer {
    uint64_t bytes;
    std::string name;
  };

  static uint64_t toNumber(const void *address) {
    return reinterpret_cast<uintptr_t>(address);
  }

  using Map = std::map<uint64_t, Buffer>;

  /// Return the last buffer that starts at or before `address`.
  static Map::const_iterator find(const Map &map, const void *address) {
    auto next = map.upper_bound(toNumber(address));
    return next == map.begin() ? map.end() : std::prev(next);
  }

  static bool holds(const Map &map, const void *address, uint64_t bytes) {
    auto buffer = find(map, address);
    if (buffer == map.end())
      return false;
    uint64_t offset = toNumber(address) - buffer->first;
    return offset <= buffer->second.bytes &&
           bytes <= buffer->second.bytes - offset;
  }

  Map buffers;
  Map constants;
};

} // namespace mlir::attn::emulator

#endif // ATTN_LIB_EXECUTION_CUDAEMULATOR_BUFFERS_H
