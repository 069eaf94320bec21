// RUN: attn-opt %s --attn-specialize-kernels --split-input-file --allow-unregistered-dialect | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// The launch asks of each argument that a product reads whether rows are contiguous, begin at multiples of 16 bytes, and can
// be counted in 32 bits; of no other argument.
//
// CHECK-LABEL: func.func @launch
// CHECK: memref.extract_strided_metadata %arg0
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK: %[[CONTIGUOUS:.*]] = arith.cmpi eq, %{{.*}}#2, %c1
// CHECK: arith.andi %[[ALIGNED]], %[[CONTIGUOUS]]
// CHECK: arith.cmpi slt, %{{.*}}#1, %c1073741824
// CHECK: memref.extract_strided_metadata %arg1
// CHECK-NOT: memref.extract_strided_metadata
// CHECK: scf.if
// CHECK-NEXT: gpu.launch_func @kernels::@product
// CHECK-NEXT: } else {
// CHECK-NEXT: gpu.launch_func @kernels::@product_any
//
// Where all of them hold, extents are known to have 30 bits.
//
// CHECK: gpu.func @product(
// CHECK-SAME: attn.aligned = true
// CHECK: %[[DIM:.*]] = memref.dim
// CHECK: %[[WORD:.*]] = arith.index_cast %[[DIM]] : index to i32
// CHECK: %[[LOW:.*]] = arith.andi %[[WORD]], %c1073741823_i32
// CHECK: %[[EXTENT:.*]] = arith.index_castui %[[LOW]] : i32 to index
// CHECK: memref.subview {{.*}}[1, %[[EXTENT]], 64]
// CHECK: gpu.func @product_any(
// CHECK-SAME: attn.aligned = false
module attributes {gpu.container_module} {
  func.func @launch(%q: memref<8x?x64xf16, strided<[?, ?, ?], offset: ?>>, %k: memref<32x64xf16, strided<[?, ?], offset: ?>>, %o: memref<64x32xf32>) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @kernels::@product blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
      args(%q : memref<8x?x64xf16, strided<[?, ?, ?], offset: ?>>, %k : memref<32x64xf16, strided<[?, ?], offset: ?>>, %o : memref<64x32xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @product(%q: memref<8x?x64xf16, strided<[?, ?, ?], offset: ?>>, %k: memref<32x64xf16, strided<[?, ?], offset: ?>>, %o: memref<64x32xf32>) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>,
                    attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
      %c0 = arith.constant 0 : index
      %pad = arith.constant 0.0 : f16
      %zero = arith.constant dense<0.0> : vector<64x32xf32>
      %head = gpu.block_id y
      %c1 = arith.constant 1 : index
      %m = memref.dim %q, %c1 : memref<8x?x64xf16, strided<[?, ?, ?], offset: ?>>
      %qh = memref.subview %q[%head, 0, 0] [1, %m, 64] [1, 1, 1] : memref<8x?x64xf16, strided<[?, ?, ?], offset: ?>> to memref<?x64xf16, strided<[?, ?], offset: ?>>
      %qt = vector.transfer_read %qh[%c0, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16, strided<[?, ?], offset: ?>>, vector<64x64xf16>
      %kt = vector.transfer_read %k[%c0, %c0], %pad {in_bounds = [true, true]} : memref<32x64xf16, strided<[?, ?], offset: ?>>, vector<32x64xf16>
      %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %zero : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
      vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf32>, memref<64x32xf32>
      gpu.return
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A loop over columns by whole chunks begins each at a multiple of 16 bytes; one over single columns does not.
//
// CHECK: gpu.func @chunks(
// CHECK-SAME: attn.aligned = true
// CHECK: gpu.func @chunks_any(
// CHECK: gpu.func @columns(
// CHECK-NOT: attn.aligned
module attributes {gpu.container_module} {
  func.func @launch(%q: memref<64x640xf16>, %o: memref<64x64xf32>) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @kernels::@chunks blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%q : memref<64x640xf16>, %o : memref<64x64xf32>)
    gpu.launch_func @kernels::@columns blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) args(%q : memref<64x640xf16>, %o : memref<64x64xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @chunks(%q: memref<64x640xf16>, %o: memref<64x64xf32>) kernel
        attributes {attn.schedule = #attn.schedule<block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c640 = arith.constant 640 : index
      %pad = arith.constant 0.0 : f16
      %zero = arith.constant dense<0.0> : vector<64x64xf32>
      %s = scf.for %i = %c0 to %c640 step %c64 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
        %t = vector.transfer_read %q[%c0, %i], %pad {in_bounds = [true, true]} : memref<64x640xf16>, vector<64x64xf16>
        %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %t, %t, %sum : vector<64x64xf16>, vector<64x64xf16> into vector<64x64xf32>
        scf.yield %next : vector<64x64xf32>
      }
      vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
      gpu.return
    }
    gpu.func @columns(%q: memref<64x640xf16>, %o: memref<64x64xf32>) kernel
        attributes {attn.schedule = #attn.schedule<block_m = 64, block_n = 64, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c576 = arith.constant 576 : index
      %pad = arith.constant 0.0 : f16
      %zero = arith.constant dense<0.0> : vector<64x64xf32>
      %s = scf.for %i = %c0 to %c576 step %c1 iter_args(%sum = %zero) -> (vector<64x64xf32>) {
        %t = vector.transfer_read %q[%c0, %i], %pad {in_bounds = [true, true]} : memref<64x640xf16>, vector<64x64xf16>
        %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %t, %t, %sum : vector<64x64xf16>, vector<64x64xf16> into vector<64x64xf32>
        scf.yield %next : vector<64x64xf32>
      }
      vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
      gpu.return
    }
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Numbers that are handed to a kernel are few bits to it, too, where they are an extent of such an argument, or the difference
// of two; not where they may be any.
//
// CHECK-LABEL: gpu.func @numbers(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[D:[a-z0-9]+]]: index, %[[ANY:[a-z0-9]+]]: index
// CHECK-DAG: %[[WORD:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK-DAG: arith.andi %[[WORD]], %c1073741823_i32
// CHECK-DAG: %[[LESS:.*]] = arith.index_cast %[[D]] : index to i32
// CHECK-DAG: arith.shli %[[LESS]], %c1_i32
// CHECK-NOT: arith.index_cast %[[ANY]]
// CHECK: "use"
// CHECK-LABEL: gpu.func @numbers_any(
// CHECK: "use"(%{{.*}}, %{{.*}}, %{{.*}})
module attributes {gpu.container_module} {
  func.func @launch(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %any: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %m = memref.dim %q, %c0 : memref<?x64xf16>
    %n = memref.dim %k, %c0 : memref<?x64xf16>
    %d = arith.subi %n, %m : index
    gpu.launch_func @kernels::@numbers blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
      args(%q : memref<?x64xf16>, %k : memref<?x64xf16>, %n : index, %d : index, %any : index)
    return
  }
  gpu.module @kernels {
    gpu.func @numbers(%q: memref<?x64xf16>, %k: memref<?x64xf16>, %n: index, %d: index, %any: index) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>,
                    attn.schedule = #attn.schedule<block_m = 64, block_n = 32, rows = 16, columns = 8, lanes = 2, warps = 4, stages = 2>} {
      %c0 = arith.constant 0 : index
      %pad = arith.constant 0.0 : f16
      %zero = arith.constant dense<0.0> : vector<64x32xf32>
      %qt = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<64x64xf16>
      %kt = vector.transfer_read %k[%c0, %c0], %pad {in_bounds = [false, true]} : memref<?x64xf16>, vector<32x64xf16>
      %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %qt, %kt, %zero : vector<64x64xf16>, vector<32x64xf16> into vector<64x32xf32>
      "use"(%n, %d, %any) : (index, index, index) -> ()
      gpu.return
    }
  }
}
