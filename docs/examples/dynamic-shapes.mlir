// Every dimension is known at run time only, tensors are [batch, rows, heads, channels], and the default scale
// 1/sqrt(D) is computed there too. Sizes that do not fit together are an error with a message, before anything is
// written.
//
// RUN: attn-opt %s --verify-roundtrip -o /dev/null
// RUN: attn-run %s --verify --input=2x5x4x24xf32 --input=2x7x2x24xf32 --input=2x7x2x24xf32

func.func @dynamic(%q: tensor<?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>,
                   %v: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %o = attn.sdpa %q, %k, %v layout = bshd
    : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
    -> tensor<?x?x?x?xf32>
  return %o : tensor<?x?x?x?xf32>
}
