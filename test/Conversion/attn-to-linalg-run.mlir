// Definitions in linalg mean what the ops mean: each function is run twice by
// the interpreter in f64, once with its attn ops and once with what they are
// lowered to. The two have no code in common, and must agree in every bit of the
// rounded results (scales are powers of two, which f32 holds as well as f64).
// Then the lowered function is compiled, and compared with the
// interpreter within the limits of the contract.
//
// REQUIRES: attn-run
//
// DEFINE: %{f} =
// DEFINE: %{in} =
// DEFINE: %{check} = \
// DEFINE:   attn-opt %t/%{f} --convert-attn-to-linalg -o %t/plain && \
// DEFINE:   not grep -q "attn\." %t/plain && \
// DEFINE:   attn-run %t/%{f} %{in} --device=interpreter --output=%t/a0.npy --output=%t/a1.npy && \
// DEFINE:   attn-run %t/plain %{in} --device=interpreter --output=%t/b0.npy --output=%t/b1.npy && \
// DEFINE:   cmp %t/a0.npy %t/b0.npy && cmp %t/a1.npy %t/b1.npy && \
// DEFINE:   attn-run %t/plain %{in} --device=cpu --verify
//
// RUN: split-file %s %t
//
// REDEFINE: %{f} = everything
// RUN: %{check}
// REDEFINE: %{f} = layouts
// RUN: %{check}
// REDEFINE: %{f} = no_keys
// RUN: %{check}
// REDEFINE: %{f} = merge
// RUN: %{check}
// REDEFINE: %{f} = rotary
// RUN: %{check}
// REDEFINE: %{f} = layer
// RUN: %{check}
//
// Every extent dynamic; then as many heads as groups; then none of either, no
// keys, no channels.
//
// REDEFINE: %{f} = dynamic
// REDEFINE: %{in} = --input=2x6x3x16xf32 --input=2x2x5x16xf32 --input=2x2x5x4xf32 --input=2x6x3x5xf32 --input=6xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=2x3x3x16xf32 --input=2x3x5x16xf32 --input=2x3x5x4xf32 --input=2x3x3x5xf32 --input=3xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=2x0x3x8xf32 --input=2x0x5x8xf32 --input=2x0x5x4xf32 --input=2x0x3x5xf32 --input=0xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=2x6x3x16xf32 --input=2x2x0x16xf32 --input=2x2x0x4xf32 --input=2x6x3x0xf32 --input=6xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=2x6x3x0xf32 --input=2x2x5x0xf32 --input=2x2x5x4xf32 --input=2x6x3x5xf32 --input=6xf32
// RUN: %{check}

//--- everything
func.func @everything(
    %q: tensor<2x6x5x8xf32>, %k: tensor<2x2x13x8xf32>, %v: tensor<2x2x13x4xf32>,
    %b: tensor<6x1x13xf32>, %m: tensor<2x1x5x1xi1>, %n: tensor<2xi32>,
    %s: tensor<6xf32>) -> (tensor<2x6x5x4xf32>, tensor<2x6x5xf32>) {
  %o, %l = attn.sdpa %q, %k, %v bias(%b : tensor<6x1x13xf32>)
       mask(%m : tensor<2x1x5x1xi1>) kv_lengths(%n : tensor<2xi32>)
       sinks(%s : tensor<6xf32>) scale = -0.5 causal = bottom_right
       window = <left = 3, right = 1> softcap = 2.0
    : tensor<2x6x5x8xf32>, tensor<2x2x13x8xf32>, tensor<2x2x13x4xf32>
    -> tensor<2x6x5x4xf32>, tensor<2x6x5xf32>
  return %o, %l : tensor<2x6x5x4xf32>, tensor<2x6x5xf32>
}

//--- layouts
func.func @layouts(
    %q: tensor<2x5x6x4xf32>, %k: tensor<2x13x3x4xf32>,
    %v: tensor<2x3x13x4xf32>) -> (tensor<2x5x6x4xf32>, tensor<2x6x5xf32>) {
  %o, %l = attn.sdpa %q, %k, %v causal = bottom_right
       layout = <query = bshd, key = bshd, output = bshd>
    : tensor<2x5x6x4xf32>, tensor<2x13x3x4xf32>, tensor<2x3x13x4xf32>
    -> tensor<2x5x6x4xf32>, tensor<2x6x5xf32>
  return %o, %l : tensor<2x5x6x4xf32>, tensor<2x6x5xf32>
}

//--- no_keys
func.func @no_keys(
    %q: tensor<1x2x3x4xf32>, %k: tensor<1x2x0x4xf32>,
    %v: tensor<1x2x0x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>) {
  %o, %l = attn.sdpa %q, %k, %v
    : tensor<1x2x3x4xf32>, tensor<1x2x0x4xf32>, tensor<1x2x0x4xf32>
    -> tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
  return %o, %l : tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
}

//--- dynamic
func.func @dynamic(
    %q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>, %v: tensor<?x?x?x?xf32>,
    %b: tensor<?x?x?x?xf32>,
    %s: tensor<?xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {
  %o, %l = attn.sdpa %q, %k, %v bias(%b : tensor<?x?x?x?xf32>)
       sinks(%s : tensor<?xf32>) window = <left = 1>
    : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
    -> tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
  return %o, %l : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
}

//--- merge
func.func @merge(
    %o0: tensor<2x3x4xf32>, %o1: tensor<2x3x4xf32>, %o2: tensor<2x3x4xf32>,
    %l0: tensor<2x3xf32>, %l1: tensor<2x3xf32>,
    %l2: tensor<2x3xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>) {
  %o, %l = attn.merge_outputs outputs(%o0, %o1, %o2) lses(%l0, %l1, %l2)
    : tensor<2x3x4xf32>, tensor<2x3xf32>
  return %o, %l : tensor<2x3x4xf32>, tensor<2x3xf32>
}

//--- rotary
func.func @rotary(
    %x: tensor<2x3x4x6xf32>, %y: tensor<2x4x3x6xf32>, %cos: tensor<9x2xf32>,
    %sin: tensor<9x2xf32>, %p: tensor<2x4xi32>)
    -> (tensor<2x3x4x6xf32>, tensor<2x4x3x6xf32>) {
  %a = attn.rope %x, %cos, %sin positions(%p : tensor<2x4xi32>) rotary_dim = 4
    : tensor<2x3x4x6xf32>, tensor<9x2xf32>, tensor<9x2xf32>
  %b = attn.rope %y, %cos, %sin positions(%p : tensor<2x4xi32>) rotary_dim = 4
       pairing = interleaved layout = bshd
    : tensor<2x4x3x6xf32>, tensor<9x2xf32>, tensor<9x2xf32>
  return %a, %b : tensor<2x3x4x6xf32>, tensor<2x4x3x6xf32>
}

//--- layer
func.func @layer(
    %x: tensor<2x3x8xf32>, %wq: tensor<16x8xf32>, %wk: tensor<8x8xf32>,
    %wv: tensor<6x8xf32>, %wo: tensor<8x12xf32>, %b: tensor<8xf32>,
    %cos: tensor<2x3x1xf32>, %past: tensor<2x2x4x4xf32>,
    %past_v: tensor<2x2x4x3xf32>) -> (tensor<2x3x8xf32>, tensor<2x2x7x4xf32>) {
  %y, %k, %v = attn.mha %x query(%wq : tensor<16x8xf32>)
       key(%wk : tensor<8x8xf32>, %b : tensor<8xf32>)
       value(%wv : tensor<6x8xf32>)
       output(%wo : tensor<8x12xf32>, %b : tensor<8xf32>)
       rope(%cos : tensor<2x3x1xf32>, %cos : tensor<2x3x1xf32>)
       past(%past : tensor<2x2x4x4xf32>, %past_v : tensor<2x2x4x3xf32>)
       heads = 4 kv_heads = 2 causal = bottom_right
    : tensor<2x3x8xf32> -> tensor<2x3x8xf32>
      present(tensor<2x2x7x4xf32>, tensor<2x2x7x3xf32>)
  return %y, %k : tensor<2x3x8xf32>, tensor<2x2x7x4xf32>
}
