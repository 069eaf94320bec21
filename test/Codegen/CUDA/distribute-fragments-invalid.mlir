// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(attn-distribute-fragments))' --split-input-file --verify-diagnostics

// An op without a rule.
gpu.module @kernels {
  gpu.func @transpose(%x: f32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %s = vector.broadcast %x : f32 to vector<16x16xf32>
    // expected-error@+1 {{'vector.transpose' op has no rule that splits its vectors over the threads of a block}}
    %t = vector.transpose %s, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    gpu.return
  }
}

// -----

// Rows that warps cannot share.
gpu.module @kernels {
  gpu.func @rows(%x: f32, %o: memref<24x16xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 32, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 2, stages = 2>} {
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{'vector.broadcast' op expects 16 rows for each of 2 warps, or a multiple, got 24 rows}}
    %s = vector.broadcast %x : f32 to vector<24x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<24x16xf32>, memref<24x16xf32>
    gpu.return
  }
}

// -----

// A block whose warps are not known.
gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op expects 'known_block_size' of whole warps in one dimension}}
  gpu.func @block(%x: f32) kernel
      attributes {attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %s = vector.broadcast %x : f32 to vector<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A right side that is computed.
gpu.module @kernels {
  gpu.func @right(%x: f16, %o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 8, lanes = 2, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = vector.broadcast %x : f16 to vector<16x16xf16>
    // expected-error@+1 {{'vector.contract' op expects the right side to be read from memory, not computed}}
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %q, %zero : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Columns that matrix instructions give to other threads.
gpu.module @kernels {
  gpu.func @lanes(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x16xf16>
    // expected-error@+1 {{'vector.contract' op expects 'lanes' of the schedule to be 2 for a product of 'f16', got 4}}
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %q, %zero : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Numbers of 16 bits have nothing to round to tf32.
gpu.module @kernels {
  gpu.func @short(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x16xf16>
    // expected-error@+1 {{'vector.contract' op expects f32 on both sides with a 'precision' of tf32 or tf32x3, got 'f16' and 'f16'}}
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %q, %zero : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// A depth that is no two instructions of tf32.
gpu.module @kernels {
  gpu.func @depth(%o: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>,
                  attn.schedule = #attn.schedule<block_m = 16, block_n = 16, rows = 16, columns = 16, lanes = 4, warps = 1, stages = 2, precision = tf32>} {
    %c0 = arith.constant 0 : index
    %at = arith.constant 0 : i32
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %q = attn_gpu.read_shared %at : vector<16x8xf32>
    // expected-error@+1 {{'vector.contract' op expects multiples of 16 with a 'precision' of tf32 or tf32x3, got 16 columns and depth 8}}
    %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %q, %zero : vector<16x8xf32>, vector<16x8xf32> into vector<16x16xf32>
    vector.transfer_write %s, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
