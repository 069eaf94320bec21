// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that kernels call for copies that run beside their threads.

#include "Block.h"
#include "HostFunctions.h"

using namespace mlir::attn;
using namespace mlir::attn::emulator;

static void copy(Site site, char *to, const char *from, uint32_t size,
                 uint32_t bytes) {
  Block::current().copies.start(to, from, size, bytes, site);
}

static void commitCopies(Site) { Block::current().copies.commit(); }

static void waitForCopies(Site, uint32_t pending) {
  Block::current().copies.wait(pending);
}

static void arriveByCopies(Site site, void *barrier, uint32_t isCounted) {
  Block::current().copies.arrive(barrier, isCounted != 0, site);
}

static void loadTensor(Site site, char *to, const void *map, void *barrier,
                       const int32_t *coordinates, uint32_t rank,
                       uint32_t predicate) {
  if (!predicate)
    return;
  BulkCopies &bulk = Block::current().bulk;
  bulk.load(to, bulk.getBox(map, coordinates, rank, site), barrier, site);
}

static void storeTensor(Site site, const void *map, char *from,
                        const int32_t *coordinates, uint32_t rank,
                        uint32_t predicate) {
  if (!predicate)
    return;
  BulkCopies &bulk = Block::current().bulk;
  bulk.store(bulk.getBox(map, coordinates, rank, site), from, site);
}

static void loadBytes(Site site, char *to, char *from, void *barrier,
                      uint32_t bytes) {
  BulkSource source;
  source.data = from;
  source.bytes = bytes;
  Block::current().bulk.load(to, source, barrier, site);
}

static void storeBytes(Site site, char *to, char *from, uint32_t bytes) {
  BulkSource target;
  target.data = to;
  target.bytes = bytes;
  Block::current().bulk.store(target, from, site);
}

static void commitBulk(Site) { Block::current().bulk.commit(); }

static void waitForBulk(Site, uint32_t pending) {
  Block::current().bulk.wait(pending);
}

llvm::ArrayRef<HostFunction> emulator::getCopyFunctions() {
  static const HostFunction functions[] = {
      {"attn_cuda_copy", copy},
      {"attn_cuda_copy_commit", commitCopies},
      {"attn_cuda_copy_wait", waitForCopies},
      {"attn_cuda_copy_arrive", arriveByCopies},
      {"attn_cuda_tensor_load", loadTensor},
      {"attn_cuda_tensor_store", storeTensor},
      {"attn_cuda_bulk_load", loadBytes},
      {"attn_cuda_bulk_store", storeBytes},
      {"attn_cuda_bulk_commit", commitBulk},
      {"attn_cuda_bulk_wait", waitForBulk}};
  return functions;
}
