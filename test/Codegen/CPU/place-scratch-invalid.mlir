// RUN: attn-opt %s --attn-place-scratch --split-input-file --verify-diagnostics

// A size that is read from memory may be anything.
func.func @read(%sizes: memref<8xindex>) -> i32 {
  %good = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %size = memref.load %sizes[%c0] : memref<8xindex>
  // expected-error@+1 {{'memref.alloc' op expects a size that is known, or bounded, when the function starts}}
  %a = memref.alloc(%size) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return %good : i32
}

// -----

// A function that cannot say that memory is out.
//
// expected-error@+1 {{'func.func' op expects one block and a status as its only result}}
func.func @no_status() {
  %a = memref.alloc() : memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}
