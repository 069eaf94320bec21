// The definition of attn.linear_attention in linalg means what the op means: each
// function is run twice by the interpreter in f64, once with the op and once with
// what it is lowered to, and must agree in every bit of the rounded results. Then
// the lowered function is compiled and compared within the limits of
// docs/Numerics.md.
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
// REDEFINE: %{f} = linear
// RUN: %{check}
// REDEFINE: %{f} = gated
// RUN: %{check}
// REDEFINE: %{f} = delta
// RUN: %{check}
// REDEFINE: %{f} = gated_delta
// RUN: %{check}
// REDEFINE: %{f} = normalized
// RUN: %{check}
// REDEFINE: %{f} = no_steps
// RUN: %{check}
// REDEFINE: %{f} = encoder
// REDEFINE: %{in} = --input=2x5x4x16xf64 --input=2x7x2x16xf64 --input=2x2x7x3xf64
// RUN: %{check}
// REDEFINE: %{f} = dynamic
// REDEFINE: %{in} = --input=2x4x5x4xf32 --input=2x2x5x4xf32 --input=2x2x5x3xf32 --input=2x2x5x4xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=2x4x1x4xf32 --input=2x1x1x4xf32 --input=2x1x1x3xf32 --input=2x1x1x4xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=0x4x5x4xf32 --input=0x2x5x4xf32 --input=0x2x5x3xf32 --input=0x2x5x4xf32
// RUN: %{check}
// REDEFINE: %{in} = --input=2x4x0x4xf32 --input=2x2x0x4xf32 --input=2x2x0x3xf32 --input=2x2x0x4xf32
// RUN: %{check}

//--- linear

func.func @linear(%q: tensor<2x4x9x16xf32>, %k: tensor<2x4x9x16xf32>,
                  %v: tensor<2x4x9x5xf32>)
    -> (tensor<2x4x9x5xf32>, tensor<2x4x16x5xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v rule = linear
    : tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x5xf32>
    -> tensor<2x4x9x5xf32> state(tensor<2x4x16x5xf32>)
  return %o, %s : tensor<2x4x9x5xf32>, tensor<2x4x16x5xf32>
}

//--- gated

// Two heads share a state; a decay for each step, heads behind the steps.
func.func @gated(%q: tensor<2x9x4x16xf16>, %k: tensor<2x2x9x16xf16>,
                 %v: tensor<2x9x2x5xf16>, %g: tensor<2x2x9xf32>,
                 %s: tensor<2x2x16x5xf32>)
    -> (tensor<2x9x4x5xf16>, tensor<2x2x16x5xf32>) {
  %o, %n = attn.linear_attention %q, %k, %v decay(%g : tensor<2x2x9xf32>)
    state(%s : tensor<2x2x16x5xf32>) rule = gated
    layout = <query = bshd, value = bshd, output = bshd>
    : tensor<2x9x4x16xf16>, tensor<2x2x9x16xf16>, tensor<2x9x2x5xf16>
    -> tensor<2x9x4x5xf16> state(tensor<2x2x16x5xf32>)
  return %o, %n : tensor<2x9x4x5xf16>, tensor<2x2x16x5xf32>
}

//--- delta

// One beta for all heads.
func.func @delta(%q: tensor<2x4x9x4xbf16>, %k: tensor<2x2x9x4xbf16>,
                 %v: tensor<2x2x9x5xbf16>, %b: tensor<2x1x9xbf16>)
    -> (tensor<2x4x9x5xbf16>, tensor<2x2x4x5xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v beta(%b : tensor<2x1x9xbf16>)
    rule = delta scale = 0.25
    : tensor<2x4x9x4xbf16>, tensor<2x2x9x4xbf16>, tensor<2x2x9x5xbf16>
    -> tensor<2x4x9x5xbf16> state(tensor<2x2x4x5xf32>)
  return %o, %s : tensor<2x4x9x5xbf16>, tensor<2x2x4x5xf32>
}

//--- gated_delta

// A decay for each channel.
func.func @gated_delta(%q: tensor<1x2x9x4xf32>, %k: tensor<1x2x9x4xf32>,
                       %v: tensor<1x2x9x5xf32>, %g: tensor<1x2x9x4xf32>,
                       %b: tensor<1x2x9xf32>, %s: tensor<1x2x4x5xf32>)
    -> (tensor<1x2x9x5xf32>, tensor<1x2x4x5xf32>) {
  %o, %n = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x9x4xf32>)
    beta(%b : tensor<1x2x9xf32>) state(%s : tensor<1x2x4x5xf32>)
    rule = gated_delta
    : tensor<1x2x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x5xf32>
    -> tensor<1x2x9x5xf32> state(tensor<1x2x4x5xf32>)
  return %o, %n : tensor<1x2x9x5xf32>, tensor<1x2x4x5xf32>
}

//--- normalized

func.func @normalized(%q: tensor<1x4x9x4xf32>, %k: tensor<1x2x9x4xf32>,
                      %v: tensor<1x2x9x5xf32>, %g: tensor<1x2x9x4xf32>,
                      %z: tensor<1x2x4xf32>)
    -> (tensor<1x4x9x5xf32>, tensor<1x2x4xf32>) {
  %o, %n = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x9x4xf32>)
    normalizer(%z : tensor<1x2x4xf32>) rule = gated feature_map = exp normalize
    : tensor<1x4x9x4xf32>, tensor<1x2x9x4xf32>, tensor<1x2x9x5xf32>
    -> tensor<1x4x9x5xf32> normalizer(tensor<1x2x4xf32>)
  return %o, %n : tensor<1x4x9x5xf32>, tensor<1x2x4xf32>
}

//--- no_steps

// The state passes.
func.func @no_steps(%q: tensor<1x2x0x4xf32>, %v: tensor<1x2x0x5xf32>,
                    %s: tensor<1x2x4x5xf32>)
    -> (tensor<1x2x0x5xf32>, tensor<1x2x4x5xf32>) {
  %o, %n = attn.linear_attention %q, %q, %v state(%s : tensor<1x2x4x5xf32>)
    rule = linear
    : tensor<1x2x0x4xf32>, tensor<1x2x0x4xf32>, tensor<1x2x0x5xf32>
    -> tensor<1x2x0x5xf32> state(tensor<1x2x4x5xf32>)
  return %o, %n : tensor<1x2x0x5xf32>, tensor<1x2x4x5xf32>
}

//--- encoder

// Five queries read what seven keys wrote.
func.func @encoder(%q: tensor<2x?x4x16xf64>, %k: tensor<2x?x2x16xf64>,
                   %v: tensor<2x2x?x3xf64>)
    -> (tensor<2x4x?x3xf64>, tensor<2x2x16xf64>) {
  %o, %z = attn.linear_attention %q, %k, %v rule = linear feature_map = elu1
    normalize non_causal layout = <query = bshd, key = bshd>
    : tensor<2x?x4x16xf64>, tensor<2x?x2x16xf64>, tensor<2x2x?x3xf64>
    -> tensor<2x4x?x3xf64> normalizer(tensor<2x2x16xf64>)
  return %o, %z : tensor<2x4x?x3xf64>, tensor<2x2x16xf64>
}

//--- dynamic

func.func @dynamic(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>,
                   %v: tensor<?x?x?x?xf32>, %g: tensor<?x?x?x?xf32>)
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<?x?x?x?xf32>)
    rule = gated feature_map = relu
    : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
    -> tensor<?x?x?x?xf32> state(tensor<?x?x?x?xf32>)
  return %o, %s : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}
