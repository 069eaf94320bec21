// RUN: attn-opt %s --split-input-file --verify-diagnostics

// wgmma-C1
llvm.func @columns(%c: !llvm.struct<(f32, f32)>, %a: i32, %b: i64) {
  // expected-error @below {{'attn_gpu.wgmma' op expects 'accumulator' to be a struct of 4, 8, ... or 128 f32, got '!llvm.struct<(f32, f32)>'}}
  %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a) b(%b) f16 : !llvm.struct<(f32, f32)>
  llvm.return
}

// -----

// wgmma-C1
!acc = !llvm.struct<(f32, f32, i32, f32)>
llvm.func @numbers(%c: !acc, %a: i32, %b: i64) {
  // expected-error @below {{'attn_gpu.wgmma' op expects 'accumulator' to be a struct of 4, 8, ... or 128 f32, got '!llvm.struct<(f32, f32, i32, f32)>'}}
  %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a) b(%b) f16 : !acc
  llvm.return
}

// -----

// wgmma-C2
!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @registers(%c: !acc, %a: i32, %b: i64) {
  // expected-error @below {{'attn_gpu.wgmma' op expects 4 registers 'a' for each descriptor 'b', and at least one descriptor, got 4 and 2}}
  %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a) b(%b, %b) f16 : !acc
  llvm.return
}

// -----

// wgmma-C2
!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @nothing(%c: !acc) {
  // expected-error @below {{'attn_gpu.wgmma' op expects 4 registers 'a' for each descriptor 'b', and at least one descriptor, got 0 and 0}}
  %d = attn_gpu.wgmma %c, a() b() f16 : !acc
  llvm.return
}

// -----

!acc = !llvm.struct<(f32, f32, f32, f32)>
llvm.func @element(%c: !acc, %a: i32, %b: i64) {
  // expected-error @below {{attribute 'elementType' failed to satisfy constraint}}
  %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a) b(%b) f32 : !acc
  llvm.return
}
