// RUN: attn-run %s --device=interpreter --function=integers | FileCheck %s --check-prefix=INTEGERS
// RUN: attn-run %s --device=interpreter --function=booleans | FileCheck %s --check-prefix=BOOLEANS
// RUN: attn-run %s --device=interpreter --function=reals | FileCheck %s --check-prefix=REALS
// RUN: attn-run %s --device=interpreter --function=comparisons | FileCheck %s --check-prefix=COMPARISONS
// RUN: attn-run %s --device=interpreter --function=elementwise | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: not attn-run %s --device=interpreter --function=by_zero 2>&1 | FileCheck %s --check-prefix=ZERO

// Integers wrap at their width; division rounds as its name says.
//
// INTEGERS: result 0: i8 = [-56]
// INTEGERS: result 1: i32 = [-3]
// INTEGERS: result 2: i32 = [-4]
// INTEGERS: result 3: i32 = [-3]
// INTEGERS: result 4: i32 = [1431655763]
// INTEGERS: result 5: i64 = [200]
func.func @integers() -> (i8, i32, i32, i32, i32, i64) {
  %c100 = arith.constant 100 : i8
  %wrapped = arith.addi %c100, %c100 : i8
  %a = arith.constant -7 : i32
  %b = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %quotient = arith.divsi %a, %b : i32
  %floor = arith.floordivsi %a, %b : i32
  %ceil = arith.ceildivsi %a, %b : i32
  %unsigned = arith.divui %a, %c3 : i32
  %widened = arith.extui %wrapped : i8 to i64
  return %wrapped, %quotient, %floor, %ceil, %unsigned, %widened
      : i8, i32, i32, i32, i32, i64
}

// A boolean is 1 where it is extended as unsigned and -1 as signed; as an index it counts from 0.
//
// BOOLEANS: result 0: i32 = [1]
// BOOLEANS: result 1: i32 = [-1]
// BOOLEANS: result 2: i1 = [1]
// BOOLEANS: result 3: i1 = [0]
func.func @booleans() -> (i32, i32, i1, i1) {
  %true = arith.constant true
  %false = arith.constant false
  %unsigned = arith.extui %true : i1 to i32
  %signed = arith.extsi %true : i1 to i32
  %less = arith.cmpi slt, %true, %false : i1
  %both = arith.addi %true, %true : i1
  return %unsigned, %signed, %less, %both : i32, i32, i1, i1
}

// maximumf keeps a NaN and maxnumf drops it; an unordered comparison is false
// unless its predicate says otherwise.
//
// REALS: result 0: f32 = [nan]
// REALS: result 1: f32 = [1]
// REALS: result 2: i1 = [0]
// REALS: result 3: i1 = [1]
// REALS: result 4: i32 = [1065353216]
// REALS: result 5: f64 = [0.841471]
func.func @reals() -> (f32, f32, i1, i1, i32, f64) {
  %nan = arith.constant 0x7FC00000 : f32
  %one = arith.constant 1.0 : f32
  %wide = arith.constant 1.0 : f64
  %keeps = arith.maximumf %nan, %one : f32
  %drops = arith.maxnumf %nan, %one : f32
  %ordered = arith.cmpf ole, %nan, %one : f32
  %unordered = arith.cmpf ule, %nan, %one : f32
  %bits = arith.bitcast %one : f32 to i32
  %sine = math.sin %wide : f64
  return %keeps, %drops, %ordered, %unordered, %bits, %sine
      : f32, f32, i1, i1, i32, f64
}

// Each comparison of 1 with 1, 2, 0 and NaN.
//
// COMPARISONS: result 0: 4xi1 = [1, 0, 0, 0]
// COMPARISONS: result 1: 4xi1 = [0, 0, 1, 0]
// COMPARISONS: result 2: 4xi1 = [0, 1, 1, 0]
// COMPARISONS: result 3: 4xi1 = [1, 1, 1, 0]
// COMPARISONS: result 4: 4xi1 = [1, 0, 0, 1]
// COMPARISONS: result 5: 4xi1 = [0, 0, 1, 1]
// COMPARISONS: result 6: 4xi1 = [1, 0, 1, 1]
// COMPARISONS: result 7: 4xi1 = [0, 1, 0, 1]
// COMPARISONS: result 8: 4xi1 = [1, 1, 0, 1]
// COMPARISONS: result 9: 4xi1 = [0, 1, 1, 1]
// COMPARISONS: result 10: 4xi1 = [0, 0, 0, 1]
func.func @comparisons() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>,
                             tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %a = arith.constant dense<1.0> : tensor<4xf32>
  %b = arith.constant dense<[1.0, 2.0, 0.0, 0x7FC00000]> : tensor<4xf32>
  %oeq = arith.cmpf oeq, %a, %b : tensor<4xf32>
  %ogt = arith.cmpf ogt, %a, %b : tensor<4xf32>
  %one = arith.cmpf one, %a, %b : tensor<4xf32>
  %ord = arith.cmpf ord, %a, %b : tensor<4xf32>
  %ueq = arith.cmpf ueq, %a, %b : tensor<4xf32>
  %ugt = arith.cmpf ugt, %a, %b : tensor<4xf32>
  %uge = arith.cmpf uge, %a, %b : tensor<4xf32>
  %ult = arith.cmpf ult, %a, %b : tensor<4xf32>
  %ule = arith.cmpf ule, %a, %b : tensor<4xf32>
  %une = arith.cmpf une, %a, %b : tensor<4xf32>
  %uno = arith.cmpf uno, %a, %b : tensor<4xf32>
  return %oeq, %ogt, %one, %ord, %ueq, %ugt, %uge, %ult, %ule, %une, %uno
    : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>,
      tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// Ops on tensors act on each element.
//
// ELEMENTWISE: result 0: 3xf32 = [1.5, 4, 7.5]
func.func @elementwise() -> tensor<3xf32> {
  %a = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %half = arith.constant dense<0.5> : tensor<3xf32>
  %b = arith.addf %a, %half : tensor<3xf32>
  %true = arith.constant true
  %c = arith.mulf %a, %b : tensor<3xf32>
  %d = arith.select %true, %c, %a : tensor<3xf32>
  %e = arith.subf %d, %half : tensor<3xf32>
  %f = arith.addf %e, %half : tensor<3xf32>
  %g = arith.divf %f, %a : tensor<3xf32>
  %h = arith.mulf %g, %a : tensor<3xf32>
  %i = arith.subf %h, %half : tensor<3xf32>
  %j = arith.addf %i, %half : tensor<3xf32>
  %two = arith.constant dense<[1.0, 1.25, 1.4]> : tensor<3xf32>
  %k = arith.divf %j, %two : tensor<3xf32>
  return %k : tensor<3xf32>
}

// ZERO: scalars.mlir:[[@LINE+3]]:{{[0-9]+}}: error: 'arith.divsi' op divides by 0
func.func @by_zero() -> i32 {
  %zero = arith.constant 0 : i32
  %quotient = arith.divsi %zero, %zero : i32
  return %quotient : i32
}
