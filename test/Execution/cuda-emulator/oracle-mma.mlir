// Upstream's own way to matrix instructions (convert-vector-to-gpu, ldmatrix, mma.sync) gives what loops give. What the
// emulator believes of fragments is so what upstream believes.
// The pass takes any arithmetic for a part of its products, so the loops use that of LLVM.
//
// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(convert-vector-to-gpu{use-nvgpu}, canonicalize, cse, convert-nvgpu-to-nvvm, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-arith-to-llvm, convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true}, convert-vector-to-llvm, canonicalize, cse, reconcile-unrealized-casts))' \
// RUN: | attn-emulate - --script=%s --seeds=2 | FileCheck %s

// BUFFER a f16 16x16 mod7
// BUFFER b f16 16x8 mod9
// BUFFER bt f16 8x16 mod9
// BUFFER zero f16 16x8 zero
// BUFFER zero32 f32 16x8 zero
// BUFFER d f16 16x8 zero
// BUFFER e f16 16x8 zero
// BUFFER d32 f32 16x8 zero
// BUFFER e32 f32 16x8 zero

gpu.module @m {
  // B is [k][n], and so loaded transposed; sums are f16.
  //
  // CHECK-LABEL: tensor_cores: 0 reports
  // CHECK-LABEL: loops: 0 reports
  // CHECK-NEXT: d and e: same, not all 0
  //
  // LAUNCH tensor_cores grid 1 block 32 shared 0 with a b d
  // LAUNCH loops grid 1 block 16x8 shared 0 with a b e
  // SAME d e
  gpu.func @tensor_cores(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %d: memref<16x8xf16>)
      workgroup(%sa: memref<16x16xf16, #gpu.address_space<workgroup>> {llvm.align = 128 : i64},
                %sb: memref<16x8xf16, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
      kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = arith.constant 16 : index
    %columns = arith.constant 8 : index
    %lane = gpu.thread_id x
    %is = arith.cmpi ult, %lane, %rows : index
    scf.if %is {
      scf.for %j = %zero to %rows step %one {
        %x = memref.load %a[%lane, %j] : memref<16x16xf16>
        memref.store %x, %sa[%lane, %j] : memref<16x16xf16, #gpu.address_space<workgroup>>
      }
      scf.for %j = %zero to %columns step %one {
        %x = memref.load %b[%lane, %j] : memref<16x8xf16>
        memref.store %x, %sb[%lane, %j] : memref<16x8xf16, #gpu.address_space<workgroup>>
      }
    }
    gpu.barrier
    %pad = arith.constant 0.0 : f16
    %sums = arith.constant dense<0.0> : vector<16x8xf16>
    %va = vector.transfer_read %sa[%zero, %zero], %pad {in_bounds = [true, true]} : memref<16x16xf16, #gpu.address_space<workgroup>>, vector<16x16xf16>
    %vb = vector.transfer_read %sb[%zero, %zero], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<16x8xf16, #gpu.address_space<workgroup>>, vector<8x16xf16>
    %vd = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %va, %vb, %sums : vector<16x16xf16>, vector<8x16xf16> into vector<16x8xf16>
    vector.transfer_write %vd, %d[%zero, %zero] {in_bounds = [true, true]} : vector<16x8xf16>, memref<16x8xf16>
    gpu.return
  }
  gpu.func @loops(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %d: memref<16x8xf16>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %depth = arith.constant 16 : index
    %start = arith.constant 0.0 : f16
    %row = gpu.thread_id x
    %column = gpu.thread_id y
    %sum = scf.for %k = %zero to %depth step %one iter_args(%old = %start) -> f16 {
      %x = memref.load %a[%row, %k] : memref<16x16xf16>
      %y = memref.load %b[%k, %column] : memref<16x8xf16>
      %new = llvm.intr.fma(%x, %y, %old) : (f16, f16, f16) -> f16
      scf.yield %new : f16
    }
    memref.store %sum, %d[%row, %column] : memref<16x8xf16>
    gpu.return
  }

  // B is [n][k]; sums are f32.
  //
  // CHECK-LABEL: tensor_cores_f32: 0 reports
  // CHECK-LABEL: loops_f32: 0 reports
  // CHECK-NEXT: d32 and e32: same, not all 0
  //
  // LAUNCH tensor_cores_f32 grid 1 block 32 shared 0 with a bt d32
  // LAUNCH loops_f32 grid 1 block 16x8 shared 0 with a bt e32
  // SAME d32 e32
  gpu.func @tensor_cores_f32(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %d: memref<16x8xf32>)
      workgroup(%sa: memref<16x16xf16, #gpu.address_space<workgroup>> {llvm.align = 128 : i64},
                %sb: memref<8x16xf16, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
      kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = arith.constant 16 : index
    %columns = arith.constant 8 : index
    %lane = gpu.thread_id x
    %is = arith.cmpi ult, %lane, %rows : index
    scf.if %is {
      scf.for %j = %zero to %rows step %one {
        %x = memref.load %a[%lane, %j] : memref<16x16xf16>
        memref.store %x, %sa[%lane, %j] : memref<16x16xf16, #gpu.address_space<workgroup>>
      }
      scf.for %j = %zero to %columns step %one {
        %x = memref.load %b[%j, %lane] : memref<8x16xf16>
        memref.store %x, %sb[%j, %lane] : memref<8x16xf16, #gpu.address_space<workgroup>>
      }
    }
    gpu.barrier
    %pad = arith.constant 0.0 : f16
    %sums = arith.constant dense<0.0> : vector<16x8xf32>
    %va = vector.transfer_read %sa[%zero, %zero], %pad {in_bounds = [true, true]} : memref<16x16xf16, #gpu.address_space<workgroup>>, vector<16x16xf16>
    %vb = vector.transfer_read %sb[%zero, %zero], %pad {in_bounds = [true, true]} : memref<8x16xf16, #gpu.address_space<workgroup>>, vector<8x16xf16>
    %vd = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %va, %vb, %sums : vector<16x16xf16>, vector<8x16xf16> into vector<16x8xf32>
    vector.transfer_write %vd, %d[%zero, %zero] {in_bounds = [true, true]} : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
  gpu.func @loops_f32(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %d: memref<16x8xf32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %depth = arith.constant 16 : index
    %start = arith.constant 0.0 : f32
    %row = gpu.thread_id x
    %column = gpu.thread_id y
    %sum = scf.for %k = %zero to %depth step %one iter_args(%old = %start) -> f32 {
      %x = memref.load %a[%row, %k] : memref<16x16xf16>
      %y = memref.load %b[%column, %k] : memref<8x16xf16>
      %xx = llvm.fpext %x : f16 to f32
      %yy = llvm.fpext %y : f16 to f32
      %new = llvm.intr.fma(%xx, %yy, %old) : (f32, f32, f32) -> f32
      scf.yield %new : f32
    }
    memref.store %sum, %d[%row, %column] : memref<16x8xf32>
    gpu.return
  }
}
