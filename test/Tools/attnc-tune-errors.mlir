// What attnc refuses to measure, and which records it does not take. A record that is refused stays as it is.
//
// REQUIRES: attnc
// RUN: rm -rf %t && split-file %S/Inputs/records.txt %t
//
// RUN: %python %S/Inputs/status.py 2 attnc %s -o %t/x.o --tune=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: %python %S/Inputs/status.py 2 attnc %s -o %t/x.o --tune=1s 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: %python %S/Inputs/status.py 2 attnc %s -o %t/x.o --tune=1 --target=x86_64-linux-gnu:x86-64-v3 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// RUN: %python %S/Inputs/status.py 2 attnc %s --tune=1 --stop-after=core 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: %python %S/Inputs/status.py 2 attnc %s --tune=1 --header=%t/x.h 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 2 attnc %s --tune=1 --report 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: %python %S/Inputs/status.py 2 attnc %s --tune-record=%t/x.json --report 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: %python %S/Inputs/status.py 1 attnc %t/other.mlir -o %t/x.o --tune=1 2>&1 | FileCheck %s --check-prefix=MODULE
//
// ZERO: attnc: expects --tune of more than 0 seconds
// NUMBER: '1s' value invalid for floating point argument
// TARGET: attnc: expects --target=host with --tune, got --target=x86_64-linux-gnu:x86-64-v3
// PHASE: attnc: expects a phase from 'schedule' on with --tune, got --stop-after=core
// NOTHING: attnc: expects -o OUTPUT, --emit=KIND, --stop-after=PHASE or --dump-phases-to=DIR with --tune{{$}}
// RECORD: attnc: expects -o OUTPUT, --emit=KIND, --stop-after=PHASE or --dump-phases-to=DIR with --tune-record
// MODULE: attnc: expects a module for this machine to measure, got one for 'none-such'
//
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/half.json 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune=1 --tune-record=%t/half.json 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/list.json 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/version.json 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/member.json 2>&1 | FileCheck %s --check-prefix=MEMBER
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/schedule.json 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: %python %S/Inputs/status.py 1 attnc %s -o %t/x.o --tune-record=%t/text.json 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not ls %t/x.o
//
// NONE: attnc: cannot read '{{.*}}none.json': No such file or directory
// HALF: attnc: cannot read '{{.*}}half.json': {{.*}}Unterminated string
// LIST: attnc: cannot read '{{.*}}list.json': expected object when parsing record
// VERSION: attnc: cannot read '{{.*}}version.json': expects version 1 of a record of schedules, got 7
// MEMBER: attnc: cannot read '{{.*}}member.json': missing value at record.ops[0].threads
// SCHEDULE: attnc: cannot read '{{.*}}schedule.json': schedule of ops[0]: expects 'block_m' to be a multiple of 'rows', got 30 and 8
// TEXT: attnc: cannot read '{{.*}}text.json': schedule of ops[0]: expects an #attn.schedule, got '42 : i32'
//
// A record of another machine is not used, and nothing is added to it.
//
// RUN: attnc %s --stop-after=schedule --tune-record=%t/machine.json 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: %python %S/Inputs/status.py 1 attnc %s --tune=1 --stop-after=schedule --tune-record=%t/machine.json 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ADD
// RUN: split-file %S/Inputs/records.txt %t/again && diff %t/again/machine.json %t/machine.json
//
// MACHINE: warning: '{{.*}}machine.json' holds schedules for 'none-such' with vectors of 64 bits and other features than '{{.*}}' has here; none is used
// MACHINE: attn.sdpa {{.*}} schedule = <
// ADD: attnc: expects a file with schedules of this machine to add to, got '{{.*}}machine.json' for 'none-such'
func.func @one(%x: tensor<1x1x8x16xf32>) -> tensor<1x1x8x16xf32> {
  %o = attn.sdpa %x, %x, %x : tensor<1x1x8x16xf32>, tensor<1x1x8x16xf32>,
    tensor<1x1x8x16xf32> -> tensor<1x1x8x16xf32>
  return %o : tensor<1x1x8x16xf32>
}
