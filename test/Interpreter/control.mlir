// RUN: attn-run %s --device=interpreter --function=loops | FileCheck %s --check-prefix=LOOPS
// RUN: attn-run %s --device=interpreter --function=branches | FileCheck %s --check-prefix=BRANCHES
// RUN: attn-run %s --device=interpreter --function=tasks | FileCheck %s --check-prefix=TASKS
// RUN: attn-run %s --device=interpreter --function=indices | FileCheck %s --check-prefix=INDICES
// RUN: not attn-run %s --device=interpreter --function=endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not attn-run %s --device=interpreter --function=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// A for loop sums 0 + 2 + 4; a while loop doubles until it passes 100.
//
// LOOPS: result 0: i64 = [6]
// LOOPS: result 1: i64 = [128]
func.func @loops() -> (index, i64) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %sum = scf.for %i = %c0 to %c6 step %c2 iter_args(%s = %c0) -> index {
    %next = arith.addi %s, %i : index
    scf.yield %next : index
  }
  %one = arith.constant 1 : i64
  %limit = arith.constant 100 : i64
  %doubled = scf.while (%x = %one) : (i64) -> i64 {
    %goes_on = arith.cmpi sle, %x, %limit : i64
    scf.condition(%goes_on) %x : i64
  } do {
  ^bb0(%x: i64):
    %next = arith.addi %x, %x : i64
    scf.yield %next : i64
  }
  return %sum, %doubled : index, i64
}

// BRANCHES: result 0: i64 = [7]
// BRANCHES: result 1: i64 = [30]
func.func @branches() -> (i64, i64) {
  %true = arith.constant true
  %seven = call @seven() : () -> i64
  %a = scf.if %true -> i64 {
    scf.yield %seven : i64
  } else {
    %zero = arith.constant 0 : i64
    scf.yield %zero : i64
  }
  %c3 = arith.constant 3 : index
  %b = scf.index_switch %c3 -> i64
  case 3 {
    %value = arith.constant 30 : i64
    scf.yield %value : i64
  }
  default {
    scf.yield %seven : i64
  }
  return %a, %b : i64, i64
}

func.func private @seven() -> i64 {
  %seven = arith.constant 7 : i64
  return %seven : i64
}

// Each task sees the shared tensor as it was at entry, whatever others insert.
//
// TASKS: result 0: 4xf32 = [9, 9, 9, 9]
func.func @tasks() -> tensor<4xf32> {
  %init = arith.constant dense<8.0> : tensor<4xf32>
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %result = scf.forall (%i) in (4) shared_outs(%out = %init) -> tensor<4xf32> {
    %first = tensor.extract %out[%c0] : tensor<4xf32>
    %more = arith.addf %first, %one : f32
    %element = tensor.from_elements %more : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %element into %out[%i] [1] [1]
          : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %result : tensor<4xf32>
}

// INDICES: result 0: i64 = [4]
// INDICES: result 1: i64 = [7]
// INDICES: result 2: i64 = [-2]
func.func @indices() -> (index, index, index) {
  %n = arith.constant 23 : index
  %apply = affine.apply affine_map<(d0) -> (d0 ceildiv 8 + d0 mod 8 - 6)>(%n)
  %min = affine.min affine_map<(d0)[s0] -> (d0 - 16, s0)>(%n)[%n]
  %max = affine.max affine_map<(d0) -> (-d0 floordiv 8 + 1, -30)>(%n)
  return %apply, %min, %max : index, index, index
}

// ENDLESS: error: the interpreter expects at most 200 calls inside each other
func.func @endless() -> i64 {
  %x = call @endless() : () -> i64
  return %x : i64
}

// UNKNOWN: control.mlir:[[@LINE+2]]:{{[0-9]+}}: error: the interpreter does not know 'tensor.bitcast' on these types
func.func @unknown(%x: tensor<2xf32>) -> tensor<2xi32> {
  %y = tensor.bitcast %x : tensor<2xf32> to tensor<2xi32>
  return %y : tensor<2xi32>
}
