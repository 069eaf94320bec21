// RUN: attn-opt %s --attn-verify-phase=phase=buffers --split-input-file \
// RUN:   --verify-diagnostics

func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{'memref.alloc' op expects no loop around it after phase 'buffers'}}
    %a = memref.alloc() : memref<8xf32>
    memref.dealloc %a : memref<8xf32>
  }
  return
}

// -----

// expected-error @below {{'func.func' op expects at most 262144 bytes of stack, got 262148}}
func.func @stack() {
  %a = memref.alloca() : memref<65536xf32>
  %b = memref.alloca() : memref<1xf32>
  return
}
