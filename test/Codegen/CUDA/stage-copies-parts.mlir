// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-stage-copies))' --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#v = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A loop over parts of channels copies the next part ahead. Behind a barrier the first one is copied again for each block of
// keys, and before it the values, which are read behind the loop: all threads have waited for them in its first iteration.
// What is read again of single keys takes the room of the stages.
//
// CHECK-LABEL: gpu.func @parts
// CHECK-SAME: attn.shared_bytes = 28672 : i64
// CHECK: scf.for %[[J:.*]] = %c0 to %arg3 step %c32
// CHECK: gpu.barrier
// CHECK: attn_gpu.copy_to_shared %arg2[%[[J]], %c0] to %[[V:.*]] dims
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NOT: barrier
// CHECK: attn_gpu.copy_to_shared %arg0[%c0, %c0]
// CHECK: attn_gpu.copy_to_shared %arg1[%[[J]], %c0]
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: wait
// CHECK: scf.for %[[D:.*]] = %c0 to %c320 step %c64 iter_args(%{{.*}}, %[[STAGE:.*]] = %c0_i32{{.*}})
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: %[[NEXT:.*]] = arith.addi %[[D]], %c64
// CHECK: attn_gpu.copy_to_shared %arg0[%c0, %[[NEXT]]] {{.*}} when
// CHECK: attn_gpu.copy_to_shared %arg1[%[[J]], %[[NEXT]]] {{.*}} when
// CHECK: vector.contract
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NOT: gpu.barrier
// CHECK: attn_gpu.read_shared %[[V]] : vector<32x64xf16>
// CHECK: scf.for {{.*}} step %c1
// CHECK: scf.for {{.*}} step %c64
// CHECK: gpu.barrier
// CHECK: attn_gpu.copy_to_shared %arg1
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
gpu.module @kernels {
  gpu.func @parts(%q: memref<64x320xf16>, %k: memref<?x320xf16>, %v: memref<?x64xf16>, %n: index, %o: memref<64x64xf32>,
                  %p: memref<64x16xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c320 = arith.constant 320 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %none = arith.constant dense<0.0> : vector<64x32xf32>
    %few = arith.constant dense<0.0> : vector<64x16xf32>
    %r = scf.for %j = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %vt = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %s = scf.for %d = %c0 to %c320 step %c64 iter_args(%sum = %none) -> (vector<64x32xf32>) {
        %qt = vector.transfer_read %q[%c0, %d], %pad {in_bounds = [true, true]} : memref<64x320xf16>, vector<64x64xf16>
        %kt = vector.transfer_read %k[%j, %d], %pad {in_bounds = [false, true]} : memref<?x320xf16>, vector<32x64xf16>
        %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %sum : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
        scf.yield %next : vector<64x32xf32>
      }
      %w = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %next = vector.contract {indexing_maps = [#a, #v, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %vt, %acc : vector<64x32xf16>, vector<32x64xf16> into vector<64x64xf32>
      scf.yield %next : vector<64x64xf32>
    }
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %few) -> (vector<64x16xf32>) {
      %s = scf.for %d = %c0 to %c320 step %c64 iter_args(%sum = %acc) -> (vector<64x16xf32>) {
        %qt = vector.transfer_read %q[%c0, %d], %pad {in_bounds = [true, true]} : memref<64x320xf16>, vector<64x64xf16>
        %kt = vector.transfer_read %k[%j, %d], %pad {in_bounds = [false, true]} : memref<?x320xf16>, vector<16x64xf16>
        %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %sum : vector<64x64xf16>, vector<16x64xf16> into vector<64x16xf32>
        scf.yield %next : vector<64x16xf32>
      }
      scf.yield %s : vector<64x16xf32>
    }
    vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    vector.transfer_write %t, %p[%c0, %c0] {in_bounds = [true, true]} : vector<64x16xf32>, memref<64x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#v = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A loop that may not run waits for nothing: what is read behind it is waited for before.
//
// CHECK-LABEL: gpu.func @parts_unknown
// CHECK: scf.for
// CHECK: attn_gpu.copy_to_shared %arg2
// CHECK: attn_gpu.copy_to_shared %arg1
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: attn_gpu.read_shared {{.*}} : vector<32x64xf16>
// CHECK: scf.for {{.*}} to %arg4
gpu.module @kernels {
  gpu.func @parts_unknown(%q: memref<64x?xf16>, %k: memref<?x?xf16>, %v: memref<?x64xf16>, %n: index, %channels: index, %o: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %none = arith.constant dense<0.0> : vector<64x32xf32>
    %r = scf.for %j = %c0 to %n step %c32 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %vt = vector.transfer_read %v[%j, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %s = scf.for %d = %c0 to %channels step %c64 iter_args(%sum = %none) -> (vector<64x32xf32>) {
        %qt = vector.transfer_read %q[%c0, %d], %pad {in_bounds = [true, false]} : memref<64x?xf16>, vector<64x64xf16>
        %kt = vector.transfer_read %k[%j, %d], %pad {in_bounds = [false, false]} : memref<?x?xf16>, vector<32x64xf16>
        %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %sum : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
        scf.yield %next : vector<64x32xf32>
      }
      %w = arith.truncf %s : vector<64x32xf32> to vector<64x32xf16>
      %next = vector.contract {indexing_maps = [#a, #v, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %vt, %acc : vector<64x32xf16>, vector<32x64xf16> into vector<64x64xf32>
      scf.yield %next : vector<64x64xf32>
    }
    vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
