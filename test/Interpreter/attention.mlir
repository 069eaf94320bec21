// RUN: attn-run %s --device=interpreter --function=weights | FileCheck %s --check-prefix=WEIGHTS
// RUN: attn-run %s --device=interpreter --function=groups --verify | FileCheck %s --check-prefix=GROUPS
// RUN: attn-run %s --device=interpreter --function=empty --verify | FileCheck %s --check-prefix=EMPTY
// RUN: attn-run %s --device=interpreter --function=everything --verify | FileCheck %s --check-prefix=EVERYTHING
// RUN: attn-run %s --device=interpreter --function=steps | FileCheck %s --check-prefix=STEPS
// RUN: attn-run %s --device=interpreter --function=packed_step | FileCheck %s --check-prefix=PACKED
// RUN: attn-run %s --device=interpreter --function=parts | FileCheck %s --check-prefix=PARTS
// RUN: not attn-run %s --device=interpreter --function=mismatch --input=1x1x1x4xf32 --input=1x1x3x4xf32 --input=1x1x2x4xf32 2>&1 | FileCheck %s --check-prefix=MISMATCH

// Scores log 1, log 2, log 3 give weights 1/6, 2/6, 3/6 of the values 0, 10, 20; the sum of exponentials is 6.
//
// WEIGHTS: result 0: 1x1x1x1xf64 = [13.3333]
// WEIGHTS: result 1: 1x1x1xf64 = [1.79176]
func.func @weights() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0], [0.69314718055994530942], [1.0986122886681098]]]]> : tensor<1x1x3x1xf64>
  %v = arith.constant dense<[[[[0.0], [10.0], [20.0]]]]> : tensor<1x1x3x1xf64>
  %o, %lse = attn.sdpa %q, %k, %v
    : tensor<1x1x1x1xf64>, tensor<1x1x3x1xf64>, tensor<1x1x3x1xf64> -> tensor<1x1x1x1xf64>, tensor<1x1x1xf64>
  return %o, %lse : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>
}

// Query heads 0 and 1 read key head 0, heads 2 and 3 key head 1.
//
// GROUPS: result 0: 1x4x1x1xf32 = [7, 7, 9, 9]
// GROUPS-NEXT: pass: largest error 0
func.func @groups() -> tensor<1x4x1x1xf32> {
  %q = arith.constant dense<1.0> : tensor<1x4x1x2xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x1x2xf32>
  %v = arith.constant dense<[[[[7.0]], [[9.0]]]]> : tensor<1x2x1x1xf32>
  %o = attn.sdpa %q, %k, %v : tensor<1x4x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x1xf32> -> tensor<1x4x1x1xf32>
  return %o : tensor<1x4x1x1xf32>
}

// The two first rows of a bottom_right triangle with more rows than keys have no key.
//
// EMPTY: result 0: 1x1x3x2xf32 = [0, 0, 0, 0,
// EMPTY-NEXT: result 1: 1x1x3xf32 = [-inf, -inf,
// EMPTY-NEXT: pass
func.func @empty(%q: tensor<1x1x3x2xf32>, %k: tensor<1x1x1x2xf32>)
    -> (tensor<1x1x3x2xf32>, tensor<1x1x3xf32>) {
  %o, %lse = attn.sdpa %q, %k, %k causal = bottom_right
    : tensor<1x1x3x2xf32>, tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32> -> tensor<1x1x3x2xf32>, tensor<1x1x3xf32>
  return %o, %lse : tensor<1x1x3x2xf32>, tensor<1x1x3xf32>
}

// The interpreter and the reference share no code; they agree on everything at once.
//
// EVERYTHING: pass: largest error {{.*}}, 0 elements beyond it
func.func @everything(%q: tensor<2x5x4x8xf16>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x7x2x6xf16>,
                      %bias: tensor<4x1x7xf32>, %mask: tensor<2x1x5x7xi1>, %lengths: tensor<2xi32>,
                      %offset: tensor<2xi64>, %sinks: tensor<4xf32>)
    -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>) {
  %o, %lse = attn.sdpa %q, %k, %v bias(%bias : tensor<4x1x7xf32>) mask(%mask : tensor<2x1x5x7xi1>)
    kv_lengths(%lengths : tensor<2xi32>) query_offset(%offset : tensor<2xi64>) sinks(%sinks : tensor<4xf32>)
    scale = -0.5 causal = top_left window = <left = 4> softcap = 3.0
    layout = <query = bshd, value = bshd, output = bshd>
    : tensor<2x5x4x8xf16>, tensor<2x2x7x8xf16>, tensor<2x7x2x6xf16> -> tensor<2x5x4x6xf32>, tensor<2x4x5xf32>
  return %o, %lse : tensor<2x5x4x6xf32>, tensor<2x4x5xf32>
}

// Keys 0 to 2 and 3 to 4 in two states that are merged are one attention over keys 0 to 4.
//
// STEPS: result 0: 3x2xf32 = [[VALUES:.*]]
// STEPS-NEXT: result 1: 3xf32 = [[LSES:.*]]
// STEPS-NEXT: result 2: 1x1x3x2xf32 = [[VALUES]]
// STEPS-NEXT: result 3: 1x1x3xf32 = [[LSES]]
func.func @steps(%q: tensor<1x1x3x4xf32>, %k: tensor<1x1x5x4xf32>, %v: tensor<1x1x5x2xf32>)
    -> (tensor<3x2xf32>, tensor<3xf32>, tensor<1x1x3x2xf32>, tensor<1x1x3xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %q2 = tensor.collapse_shape %q [[0, 1, 2], [3]] : tensor<1x1x3x4xf32> into tensor<3x4xf32>
  %k2 = tensor.collapse_shape %k [[0, 1, 2], [3]] : tensor<1x1x5x4xf32> into tensor<5x4xf32>
  %v2 = tensor.collapse_shape %v [[0, 1, 2], [3]] : tensor<1x1x5x2xf32> into tensor<5x2xf32>
  %k_first = tensor.extract_slice %k2[0, 0] [3, 4] [1, 1] : tensor<5x4xf32> to tensor<3x4xf32>
  %v_first = tensor.extract_slice %v2[0, 0] [3, 2] [1, 1] : tensor<5x2xf32> to tensor<3x2xf32>
  %k_last = tensor.extract_slice %k2[3, 0] [2, 4] [1, 1] : tensor<5x4xf32> to tensor<2x4xf32>
  %v_last = tensor.extract_slice %v2[3, 0] [2, 2] [1, 1] : tensor<5x2xf32> to tensor<2x2xf32>
  %none = arith.constant dense<0xFF800000> : tensor<3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %zeros = arith.constant dense<0.0> : tensor<3x2xf32>
  %r0, %s0, %a0 = attn.block_step %q2, %k_first, %v_first state(%none, %zero, %zeros)
    at(batch %c0, head %c0, row %c0 per %c3, position %c2, key %c0 of %c5) scale = 0.5 causal bounded
    : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x2xf32> -> tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>
  %r1, %s1, %a1 = attn.block_step %q2, %k_last, %v_last state(%none, %zero, %zeros)
    at(batch %c0, head %c0, row %c0 per %c3, position %c2, key %c3 of %c5) scale = 0.5 causal bounded
    : tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x2xf32> -> tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>
  %r, %s, %a = attn.merge (%r0, %s0, %a0), (%r1, %s1, %a1) : tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>
  %o, %lse = attn.finish %r, %s, %a
    : tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32> -> tensor<3x2xf32>, tensor<3xf32>
  %whole, %whole_lse = attn.sdpa %q, %k, %v scale = 0.5 causal = bottom_right
    : tensor<1x1x3x4xf32>, tensor<1x1x5x4xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x3x2xf32>, tensor<1x1x3xf32>
  return %o, %lse, %whole, %whole_lse : tensor<3x2xf32>, tensor<3xf32>, tensor<1x1x3x2xf32>, tensor<1x1x3xf32>
}

// Packed into panels, with a sum in two lanes: 3 rows of 2 channels and 3 keys in strips and panels of 2, padded with
// garbage that `length` excludes. All scores are 0, so that each row is the mean of the values. What the state holds
// before the first step does not matter.
//
// PACKED: result 0: 2x1x2x2xf32 = [3, 4, 3, 4, 3, 4, 3, 4]
// PACKED-NEXT: result 1: 2x2xf32 = [1.09861, 1.09861, 1.09861, 1.09861]
func.func @packed_step() -> (tensor<2x1x2x2xf32>, tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %q = arith.constant dense<0.0> : tensor<2x2x2xf32>
  %k = arith.constant dense<7.0> : tensor<2x2x2xf32>
  %v = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [100.0, 100.0]]]]> : tensor<1x2x2x2xf32>
  %none = arith.constant dense<5.0> : tensor<2x2xf32>
  %sum = arith.constant dense<6.0> : tensor<2x2x2xf32>
  %acc = arith.constant dense<7.0> : tensor<2x1x2x2xf32>
  %r, %s, %a = attn.block_step %q, %k, %v state(%none, %sum, %acc)
    at(batch %c0, head %c0, row %c0 per %c4, position %c0, key %c0 of %c3) scale = 1.0 bounded first
    : tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<1x2x2x2xf32>
    -> tensor<2x2xf32>, tensor<2x2x2xf32>, tensor<2x1x2x2xf32>
  %o, %lse = attn.finish %r, %s, %a
    : tensor<2x2xf32>, tensor<2x2x2xf32>, tensor<2x1x2x2xf32> -> tensor<2x1x2x2xf32>, tensor<2x2xf32>
  return %o, %lse : tensor<2x1x2x2xf32>, tensor<2x2xf32>
}

// Parts with sums of exponentials 1 and 3 count 1 and 3 times; an empty part does not count.
//
// PARTS: result 0: 2x1xf32 = [7, 5]
// PARTS-NEXT: result 1: 2xf32 = [1.38629, 0]
func.func @parts() -> (tensor<2x1xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[[1.0], [5.0]]> : tensor<2x1xf32>
  %b = arith.constant dense<[[9.0], [0.0]]> : tensor<2x1xf32>
  %la = arith.constant dense<0.0> : tensor<2xf32>
  %lb = arith.constant dense<[1.09861228866810969, 0xFF800000]> : tensor<2xf32>
  %o, %lse = attn.merge_outputs outputs(%a, %b) lses(%la, %lb) : tensor<2x1xf32>, tensor<2xf32>
  return %o, %lse : tensor<2x1xf32>, tensor<2xf32>
}

// MISMATCH: error: 'attn.sdpa' op expects 3 elements at dimension 2 of 'value', got 2
func.func @mismatch(%q: tensor<1x1x1x4xf32>, %k: tensor<1x1x?x4xf32>, %v: tensor<1x1x?x4xf32>)
    -> tensor<1x1x1x4xf32> {
  %o = attn.sdpa %q, %k, %v
    : tensor<1x1x1x4xf32>, tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32> -> tensor<1x1x1x4xf32>
  return %o : tensor<1x1x1x4xf32>
}
