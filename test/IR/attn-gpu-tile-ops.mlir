// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// Copies say which dimensions of memory a tile runs along; a copy may be switched off.
//
// CHECK-LABEL: func.func @copy
// CHECK: attn_gpu.copy_to_shared %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} when %{{.*}} dims [0, 1] in_bounds [false, true] : memref<?x64xf16>, vector<64x64xf16>
// CHECK: attn_gpu.copy_to_shared %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} dims [1, 0] in_bounds [true, true] : memref<?x64xf16>, vector<64x64xf16>
func.func @copy(%k: memref<?x64xf16>, %row: index, %to: i32, %more: i1) {
  attn_gpu.copy_to_shared %k[%row, %row] to %to when %more dims [0, 1] in_bounds [false, true] : memref<?x64xf16>, vector<64x64xf16>
  attn_gpu.copy_to_shared %k[%row, %row] to %to dims [1, 0] in_bounds [true, true] : memref<?x64xf16>, vector<64x64xf16>
  return
}

// A tile in shared memory is a value.
//
// CHECK-LABEL: func.func @read
// CHECK: attn_gpu.read_shared %{{.*}} : vector<64x64xf16>
func.func @read(%at: i32) -> vector<64x64xf16> {
  %k = attn_gpu.read_shared %at : vector<64x64xf16>
  return %k : vector<64x64xf16>
}
