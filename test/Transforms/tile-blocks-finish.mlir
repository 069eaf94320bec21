// RUN: attn-opt %s --attn-tile-blocks --canonicalize --cse --split-input-file | FileCheck %s

// A strip is finished, and its rows are written, in its last block, before its state goes back: nothing reads that after
// the loops.
//
// CHECK-LABEL: func.func @last_block
// CHECK: scf.while ({{.*}}, %[[O:[a-z0-9]+]] = %{{.*}}, %{{[a-z0-9]+}} = %false)
// CHECK: scf.for %[[J:[a-z0-9]+]] = %c0 to %c64 step %c32 iter_args({{.*}} = %[[O]], %{{[a-z0-9]+}} = %false)
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c32
// CHECK: %[[LAST:.*]] = arith.cmpi sge, %[[NEXT]], %c64
// CHECK: scf.for %[[STRIP:.*]] = %c0 to %c2 step %c1 iter_args({{.*}}, %[[OUT:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[BAD:[a-z0-9]+]] = %{{[a-z0-9]+}})
// CHECK: %[[ROW:.*]] = affine.apply #{{.*}}()[%[[STRIP]]]
// CHECK: %[[R:.*]], %[[S:.*]], %[[A:.*]] = attn.block_step
// CHECK: scf.if %[[LAST]]
// CHECK: %[[OUTPUT:.*]], %{{.*}} = attn.finish %[[R]], %[[S]], %[[A]]
// CHECK: tensor.extract_slice %[[OUT]][%[[ROW]], 0] [8, 8]
// CHECK: linalg.unpack %[[OUTPUT]]
// CHECK: tensor.insert_slice {{.*}} into %[[OUT]][%[[ROW]], 0] [8, 8]
// CHECK: else
// CHECK-NEXT: scf.yield %[[OUT]], %[[BAD]]
// CHECK: tensor.insert_slice %[[A]]
// CHECK-NOT: attn.finish
func.func @last_block(%q: tensor<1x1x16x8xf32>, %k: tensor<1x1x64x8xf32>) -> tensor<1x1x16x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x16x8xf32>, tensor<1x1x64x8xf32>, tensor<1x1x64x8xf32>
    -> tensor<1x1x16x8xf32>
  return %o : tensor<1x1x16x8xf32>
}

// -----

// How many keys there are, the run knows: where they are one block, the state of all strips is in one place. Without keys
// there is one block, too. The last strip writes as many rows as it has.
//
// CHECK-LABEL: func.func @only_block
// CHECK: scf.while
// CHECK: %[[ONLY:.*]] = arith.cmpi sle, %[[KEYS:.*]], %c32
// CHECK: %[[SOME:.*]] = arith.maxsi %[[KEYS]], %c1
// CHECK: scf.for %{{.*}} = %c0 to %[[SOME]] step %c32
// CHECK: scf.for %[[STRIP:[a-z0-9]+]] = %c0
// CHECK: %[[SLOT:.*]] = arith.select %[[ONLY]], %c0, %[[STRIP]]
// CHECK: tensor.extract_slice %{{.*}}[%[[SLOT]], 0] [1, 8]
// CHECK: tensor.extract_slice %{{.*}}[%[[SLOT]], 0, 0] [1, 8, 16]
// CHECK: tensor.extract_slice %{{.*}}[%[[SLOT]], 0, 0, 0] [1, 1, 8, 16]
// CHECK: tensor.extract_slice %{{.*}}[%[[STRIP]], 0, 0] [1, 8, 8]
// CHECK: attn.finish
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: tensor.extract_slice %{{.*}} [%[[ROWS]], 8]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[SLOT]], 0] [1, 8]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[SLOT]], 0, 0] [1, 8, 16]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[SLOT]], 0, 0, 0] [1, 1, 8, 16]
func.func @only_block(%q: tensor<1x1x12x8xf32>, %k: tensor<1x1x?x8xf32>) -> tensor<1x1x12x8xf32> {
  %o = attn.sdpa %q, %k, %k schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x12x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>
    -> tensor<1x1x12x8xf32>
  return %o : tensor<1x1x12x8xf32>
}

// -----

// With a mask, which may leave a block out, the state is not begun in a block: each strip has its own.
//
// CHECK-LABEL: func.func @mask
// CHECK: linalg.fill {{.*}} tensor<?x8xf32>
// CHECK: scf.for
// CHECK: scf.for %[[STRIP:[a-z0-9]+]] = %c0
// CHECK-NOT: arith.select
// CHECK: tensor.extract_slice %{{.*}}[%[[STRIP]], 0, 0, 0] [1, 1, 8, 16]
// CHECK: attn.block_step
// CHECK: attn.finish
// CHECK-NOT: attn.finish
func.func @mask(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>, %m: tensor<?x?xi1>) -> tensor<1x1x?x8xf32> {
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<?x?xi1>) schedule = <block_m = 16, block_n = 32, rows = 8,
       columns = 16, lanes = 8>
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>
    -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}
