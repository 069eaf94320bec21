// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments,canonicalize,cse))' --split-input-file | FileCheck %s

// A tangent is a polynomial where it is small, else a quotient of powers of two, and has the sign of its number.
//
// CHECK-LABEL: gpu.func @tanh
// CHECK-NOT: math.tanh
// CHECK: %[[BITS:.*]] = arith.andi %{{.*}}, %c2147483647_i32
// CHECK: %[[SIZE:.*]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK-COUNT-4: llvm.intr.fma
// CHECK: %[[POWER:.*]] = attn_gpu.exp2
// CHECK: arith.subf %{{.*}}, %[[POWER]]
// CHECK: %[[SUM:.*]] = arith.addf %[[POWER]], %{{.*}}
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[SUM]])
// CHECK: arith.cmpf olt, %[[SIZE]]
// CHECK: arith.select
// CHECK: arith.andi %{{.*}}, %c-2147483648_i32
// CHECK: arith.ori
gpu.module @kernels {
  gpu.func @tanh(%i: memref<16x16xf32>, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %p = arith.constant 0.0 : f32
    %x = vector.transfer_read %i[%c0, %c0], %p {in_bounds = [true, true]} : memref<16x16xf32>, vector<16x16xf32>
    %y = math.tanh %x : vector<16x16xf32>
    vector.transfer_write %y, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// An exponential is a power of two, and what the exponent was rounded by makes up for it where the power is finite and not 0.
//
// CHECK-LABEL: gpu.func @exp
// CHECK-NOT: math.exp
// CHECK: %[[MOST:.*]] = arith.mulf %{{.*}}, %cst
// CHECK: %[[NEGATIVE:.*]] = arith.negf %[[MOST]]
// CHECK: %[[REST:.*]] = llvm.intr.fma(%{{.*}}, %{{.*}}, %[[NEGATIVE]])
// CHECK: %[[ALL:.*]] = llvm.intr.fma(%{{.*}}, %{{.*}}, %[[REST]])
// CHECK: %[[POWER:.*]] = attn_gpu.exp2 %[[MOST]]
// CHECK: %[[PART:.*]] = arith.mulf %[[ALL]]
// CHECK: %[[RESULT:.*]] = llvm.intr.fma(%[[POWER]], %[[PART]], %[[POWER]])
// CHECK: %[[IS:.*]] = arith.cmpf olt
// CHECK: arith.select %[[IS]], %[[RESULT]], %[[POWER]]
gpu.module @kernels {
  gpu.func @exp(%i: memref<16x16xf32>, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %p = arith.constant 0.0 : f32
    %x = vector.transfer_read %i[%c0, %c0], %p {in_bounds = [true, true]} : memref<16x16xf32>, vector<16x16xf32>
    %y = math.exp %x : vector<16x16xf32>
    vector.transfer_write %y, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
