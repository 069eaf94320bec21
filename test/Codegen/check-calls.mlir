// RUN: attn-opt %s --attn-check-calls --split-input-file --verify-diagnostics

// A call that inlining removes is fine.
func.func private @twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
func.func @calls(%x: f32) -> f32 {
  %y = call @twice(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func private @elsewhere(%x: f32) -> f32
func.func @external(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op expects a callee with a body, got external 'elsewhere'}}
  %y = call @elsewhere(%x) : (f32) -> f32
  return %y : f32
}

// -----

func.func @even(%x: f32) -> f32 {
  %y = call @odd(%x) : (f32) -> f32
  return %y : f32
}
func.func @odd(%x: f32) -> f32 {
  // expected-error @below {{'func.call' op expects no recursion, got a call of 'even' inside itself}}
  %y = call @even(%x) : (f32) -> f32
  return %y : f32
}
