// RUN: attn-opt %s --split-input-file --verify-diagnostics

// copy_to_shared-C1
func.func @indices(%k: memref<?x64xf16>, %row: index, %to: i32) {
  // expected-error@+1 {{'attn_gpu.copy_to_shared' op expects an index for each of the 2 dimensions of 'source', got 1}}
  attn_gpu.copy_to_shared %k[%row] to %to dims [0, 1] in_bounds [true, true] : memref<?x64xf16>, vector<64x64xf16>
  return
}

// -----

// copy_to_shared-C2
func.func @type(%k: memref<?x64xf16>, %row: index, %to: i32) {
  // expected-error@+1 {{'attn_gpu.copy_to_shared' op expects a tile of rank 2 of 'f16' with rows of a multiple of 16 bytes, got 'vector<64x64xf32>'}}
  attn_gpu.copy_to_shared %k[%row, %row] to %to dims [0, 1] in_bounds [true, true] : memref<?x64xf16>, vector<64x64xf32>
  return
}

// -----

// copy_to_shared-C2
func.func @rows(%k: memref<?x64xf16>, %row: index, %to: i32) {
  // expected-error@+1 {{'attn_gpu.copy_to_shared' op expects a tile of rank 2 of 'f16' with rows of a multiple of 16 bytes, got 'vector<64x12xf16>'}}
  attn_gpu.copy_to_shared %k[%row, %row] to %to dims [0, 1] in_bounds [true, true] : memref<?x64xf16>, vector<64x12xf16>
  return
}

// -----

// copy_to_shared-C3
func.func @dims(%k: memref<?x64xf16>, %row: index, %to: i32) {
  // expected-error@+1 {{'attn_gpu.copy_to_shared' op expects 'dims' to be two dimensions of 'source', with two entries of 'in_bounds'}}
  attn_gpu.copy_to_shared %k[%row, %row] to %to dims [0, 2] in_bounds [true, true] : memref<?x64xf16>, vector<64x64xf16>
  return
}

// -----

// read_shared-C1
func.func @read(%at: i32) {
  // expected-error@+1 {{'attn_gpu.read_shared' op expects a tile of rank 2 with rows of a multiple of 16 bytes, got 'vector<64xf16>'}}
  %k = attn_gpu.read_shared %at : vector<64xf16>
  return
}
