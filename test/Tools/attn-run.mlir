// Wrong use of attn-run: exit status 2, and a message that says what would be right.
//
// RUN: attn-run --help | FileCheck %s --check-prefix=HELP
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=gpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --inptu=i32 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=statik 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=dynamic 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --input=2xf32 --input=2xf32 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --input=3xf32 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --input=2xf33 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --input=@%t.none.npy 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --labels=%s 2>&1 | FileCheck %s --check-prefix=LABELS
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --output=a.npy --output=b.npy 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %t.none.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=interpreter --function=static --benchmark 2>&1 | FileCheck %s --check-prefix=BENCHMARK
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --benchmark=x 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --function=static --target=riscv64-linux-gnu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --function=static --target=hosst 2>&1 | FileCheck %s --check-prefix=SPELLING
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --function=static --precision=tf32 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: %python %S/Inputs/expect-status.py 2 attn-run %s --device=cuda-emulated --function=static --precision=tf 2>&1 | FileCheck %s --check-prefix=WORD

// HELP: --benchmark
// HELP-NEXT: --device=<cpu | interpreter | cuda | cuda-emulated>
// HELP-NEXT: --emulator-seed=<N>
// HELP-NEXT: --emulator-tracks
// HELP-NEXT: --function=<NAME>
// HELP-NEXT: --input=<SHAPExTYPE[=SEED] | @FILE.npy>
// HELP-NEXT: --json
// HELP-NEXT: --labels=<FILE>
// HELP-NEXT: --output=<FILE.npy>
// HELP-NEXT: --plot-weights=<DIR>
// HELP-NEXT: --precision=<exact|tf32|tf32x3>
// HELP-NEXT: --ptxas=<PATH>
// HELP-NEXT: --target=<host|sm_80>
// HELP-NEXT: --threads=<N>
// HELP-NEXT: --verify

// DEVICE: attn-run: --device expects cpu, interpreter, cuda or cuda-emulated, got 'gpu'; the nearest is 'cpu'
// FLAG: Unknown command line argument '--inptu=i32'
// FLAG: Did you mean '--input=i32'?
// WHICH: attn-run: expects --function= with one of static, dynamic
// NAME: attn-run: no public function is called 'statik'; the nearest is 'static'
// DYNAMIC: attn-run: argument 0 of 'dynamic', tensor<2x?xf32>, has no static shape: give --input= for each
// COUNT: attn-run: expects --input= for each of the 1 arguments of 'static', got 2
// SHAPE: attn-run: argument 0 of 'static', tensor<2xf32>, does not take 3xf32
// TYPE: attn-run: argument 0 of 'static', tensor<2xf32>: '2xf33' expects a type out of f16, bf16, f32, f64, f8E4M3FN, f8E5M2, i1, i8, i32, i64, got 'f33'; the nearest is 'f32'
// FILE: attn-run: argument 0 of 'static', tensor<2xf32>: '{{.*}}none.npy': No such file or directory
// LABELS: attn-run: expects --plot-weights with --labels
// OUTPUTS: attn-run: expects at most 1 times --output= for 'static', got 2
// INPUT: attn-run: cannot open input file '{{.*}}none.mlir': No such file or directory
// BENCHMARK: attn-run: --benchmark expects --device=cpu: the interpreter is not timed
// CALLS: attn-run: --benchmark expects a number of calls, got 'x'
// TARGET: attn-run: --target expects a target that runs here, such as host or {{.*}}, got 'riscv64-linux-gnu'
// PRECISION: attn-run: --precision expects --device=cuda or cuda-emulated with tf32{{$}}
// WORD: attn-run: --precision expects a precision, got 'tf'; known: exact, tf32, tf32x3; nearest: tf32{{$}}
// SPELLING: attn-run: --target {{.*}} got 'hosst'; known: {{.*}}nearest: host

// What is right: the same seed gives the same numbers, files come and go, text and bytecode and standard input are read.
//
// RUN: attn-run %s --device=interpreter --function=static --input=2xf32=7 --output=%t.npy > %t.first
// RUN: attn-run - --device=interpreter --function=static --input=2xf32=7 < %s | diff %t.first -
// RUN: mlir-opt %s --emit-bytecode -o %t.mlirbc
// RUN: attn-run %t.mlirbc --device=interpreter --function=static --input=2xf32=7 | diff %t.first -
// RUN: attn-run %s --device=interpreter --function=static --input=@%t.npy --verify --json | FileCheck %s --check-prefix=JSON
// JSON: "function": "static"
// JSON: "type": "2xf32"
// JSON: "verify": {
// JSON-NEXT: "pass": true,
// JSON-NEXT: "max_error": 0,
// JSON-NEXT: "at": "result 0 [0]",
// JSON-NEXT: "limit": {{[0-9.e-]+}},
// JSON-NEXT: "count": 0

func.func @static(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

func.func @dynamic(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  return %x : tensor<2x?xf32>
}
