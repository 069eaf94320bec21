// A region that reads outside of a tensor is an error for a key that nothing else excludes, and none for others.
//
// RUN: not attn-run %s --function=distances --input=1x1x40x8xf32 --input=1x1x40x8xf32 --input=39xf32 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHORT
// RUN: attn-run %s --function=distances --verify --input=1x1x40x8xf32 --input=1x1x40x8xf32 --input=40xf32 \
// RUN:   | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=table --input=1x1x4x8xf32 --input=1x1x9x8xf32 --input=8xi32 --input=4x9xi1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TABLE
// RUN: attn-run %s --function=table --verify --input=1x1x4x8xf32 --input=1x1x9x8xf32 --input=9xi32 --input=4x9xi1 \
// RUN:   | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=quotients --verify | FileCheck %s --check-prefix=PASS
// RUN: attn-run %s --function=biased --verify --input=1x1x4x8xf32 --input=1x1x9x8xf32 | FileCheck %s --check-prefix=PASS
// RUN: not attn-run %s --function=table --input=1x1x4x8xf32 --input=1x1x9x8xf32 --input=0xi32 --input=4x9xi1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EMPTY

// SHORT: 'attn.sdpa' op expects 'score_mod' to read inside of dimension 0 of 'tensor<?xf32>', argument 2, got index 39 of 39
// TABLE: 'attn.sdpa' op expects 'mask_mod' to read inside of dimension 0 of 'tensor<?xi32>', argument 2, got index 8 of 8
// EMPTY: 'attn.sdpa' op expects 'mask_mod' to read inside of dimension 0 of 'tensor<?xi32>', argument 2, got index {{[0-9]}} of 0
// PASS: pass: largest error {{.*}}, 0 elements beyond it

// A table of the distances to the keys before a row has none for those behind it.
func.func @distances(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>, %t: tensor<?xf32>) -> tensor<1x1x?x8xf32> {
  %o = attn.sdpa %q, %k, %k causal = top_left
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %d = arith.subi %i, %j : index
      %x = tensor.extract %t[%d] : tensor<?xf32>
      %y = arith.addf %s, %x : f32
      attn.yield %y : f32
    }
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// The mask is random: some row keeps the last key.
func.func @table(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>, %t: tensor<?xi32>, %m: tensor<?x?xi1>) -> tensor<1x1x?x8xf32> {
  %o = attn.sdpa %q, %k, %k mask(%m : tensor<?x?xi1>)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %x = tensor.extract %t[%j] : tensor<?xi32>
      %c = arith.constant 0 : i32
      %y = arith.cmpi sge, %x, %c : i32
      attn.yield %y : i1
    }
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}

// Beyond the length are quotients that no processor can give: of anything by 0, of the lowest number by -1.
func.func @quotients(%q: tensor<1x1x20x8xf32>, %k: tensor<1x1x12x8xf32>) -> tensor<1x1x20x8xf32> {
  %t = arith.constant dense<[3, -2, 5, 7, 1, 2, 3, -1, 0, -1, 0, -1]> : tensor<12xi32>
  %n = arith.constant dense<7> : tensor<1xi64>
  %o = attn.sdpa %q, %k, %k kv_lengths(%n : tensor<1xi64>)
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %low = arith.constant -2147483648 : i32
      %lowest = arith.constant -9223372036854775808 : i64
      %c = arith.constant 6 : i32
      %zero = arith.constant 0 : i64
      %by = tensor.extract %t[%j] : tensor<12xi32>
      %wide = arith.extsi %by : i32 to i64
      %x = arith.divsi %low, %by : i32
      %y = arith.remsi %low, %by : i32
      %z = arith.floordivsi %lowest, %wide : i64
      %sum = arith.addi %x, %y : i32
      %m = arith.cmpi ne, %sum, %c : i32
      %l = arith.cmpi ne, %z, %zero : i64
      %both = arith.andi %m, %l : i1
      attn.yield %both : i1
    }
    : tensor<1x1x20x8xf32>, tensor<1x1x12x8xf32>, tensor<1x1x12x8xf32> -> tensor<1x1x20x8xf32>
  return %o : tensor<1x1x20x8xf32>
}

// Regions are not asked about keys that a bias of -inf leaves out: the last one has no element in the table, and of
// the one before NaN would come.
func.func @biased(%q: tensor<1x1x?x8xf32>, %k: tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32> {
  %t = arith.constant dense<[0.5, 1.0, 0.5, 2.0, 1.0, 1.5, 0.5, 0x7FC00000]> : tensor<8xf32>
  %bias = arith.constant dense<[0.0, 1.0, 0xFF800000, 0.0, 0.5, 0.0, 0.0, 0xFF800000, 0xFF800000]> : tensor<9xf32>
  %o = attn.sdpa %q, %k, %k bias(%bias : tensor<9xf32>) softcap = 3.0
    score_mod(%s: f32, %b: index, %h: index, %i: index, %j: index) {
      %x = tensor.extract %t[%j] : tensor<8xf32>
      %y = arith.mulf %s, %x : f32
      attn.yield %y : f32
    }
    mask_mod(%b: index, %h: index, %i: index, %j: index) {
      %x = tensor.extract %t[%j] : tensor<8xf32>
      %c = arith.constant 0.0 : f32
      %y = arith.cmpf ugt, %x, %c : f32
      attn.yield %y : i1
    }
    : tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32>, tensor<1x1x?x8xf32> -> tensor<1x1x?x8xf32>
  return %o : tensor<1x1x?x8xf32>
}
