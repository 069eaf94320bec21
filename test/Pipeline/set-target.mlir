// RUN: attn-opt %s --attn-set-target=target=x86_64-linux-gnu:x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=V3
// RUN: attn-opt %s --attn-set-target=target=x86_64-linux-gnu:x86-64-v4 \
// RUN:   | FileCheck %s --check-prefix=V4
// RUN: attn-opt %s --attn-set-target=target=x86_64-linux-gnu:sapphirerapids \
// RUN:   | FileCheck %s --check-prefix=AHEAD
// RUN: attn-opt %s --attn-set-target=target=aarch64-linux-gnu \
// RUN:   | FileCheck %s --check-prefix=ARM
// RUN: attn-opt %s --attn-set-target=target=aarch64-linux-gnu \
// RUN:   --attn-set-target | FileCheck %s --check-prefix=ARM
// RUN: attn-opt %s --attn-set-target | FileCheck %s --check-prefix=HOST
// RUN: not attn-opt %s --attn-set-target=target=x86_64-linux-gnu:haswel 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CPU
// RUN: not attn-opt %s --attn-set-target=target=aarch65-linux-gnu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TRIPLE
// RUN: not attn-opt %s --attn-set-target=target=i386-linux-gnu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BITS

// V3: attn.target = {cpu = "x86-64-v3", features = "", l1_bytes = 32768 : i64, l2_bytes = 1048576 : i64, triple = "x86_64-unknown-linux-gnu", vector_bits = 256 : i64, vector_registers = 16 : i64}
// V4: vector_bits = 512 : i64, vector_registers = 32 : i64
// AHEAD: prefetch_bytes = 2048 : i64
// ARM: cpu = "generic"
// ARM-SAME: triple = "aarch64-unknown-linux-gnu", vector_bits = 128 : i64, vector_registers = 32 : i64
// HOST: attn.target = {cpu = "
// CPU: error: expects a CPU of 'x86_64', got 'haswel'; known: {{.*}}; nearest: haswell
// TRIPLE: error: expects a target of an ELF system, got 'aarch65-linux-gnu'; known: host, x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu; nearest: aarch64-linux-gnu
// BITS: error: expects a target of a 64-bit little-endian CPU, got 'i386-unknown-linux-gnu'; known:
module {}
