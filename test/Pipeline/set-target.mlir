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
// RUN: attn-opt %s --attn-set-target=target=sm_80 \
// RUN:   | FileCheck %s --check-prefix=CUDA
// RUN: attn-opt %s --attn-set-target=target=sm_90,sm_86 --attn-set-target \
// RUN:   | FileCheck %s --check-prefix=LIST
// RUN: not attn-opt %s --attn-set-target=target=sm_80,sm_91a 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GPU

// V3: attn.target = {cpu = "x86-64-v3", features = "", l1_bytes = 32768 : i64, l2_bytes = 1048576 : i64, triple = "x86_64-unknown-linux-gnu", vector_bits = 256 : i64, vector_registers = 16 : i64}
// V4: vector_bits = 512 : i64, vector_registers = 32 : i64
// AHEAD: prefetch_bytes = 2048 : i64
// ARM: cpu = "generic"
// ARM-SAME: triple = "aarch64-unknown-linux-gnu", vector_bits = 128 : i64, vector_registers = 32 : i64
// HOST: attn.target = {cpu = "
// CPU: error: expects a CPU of 'x86_64', got 'haswel'; known: {{.*}}; nearest: haswell
// TRIPLE: error: expects a target of an ELF system, got 'aarch65-linux-gnu'; known: host, x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu; nearest: aarch64-linux-gnu
// BITS: error: expects a target of a 64-bit little-endian CPU, got 'i386-unknown-linux-gnu'; known:
//
// Of several GPUs what all of them have is written.
//
// CUDA: attn.target = {architectures = ["sm_80"], cpu = "sm_80", features = "+ptx80", processor_registers = 65536 : i64, processor_warps = 64 : i64, shared_block_bytes = 166912 : i64, shared_processor_bytes = 167936 : i64, thread_registers = 255 : i64, triple = "nvptx64-nvidia-cuda"}
// LIST: architectures = ["sm_86", "sm_90"], cpu = "sm_86"
// LIST-SAME: processor_warps = 48 : i64, shared_block_bytes = 101376 : i64
// GPU: error: expects an architecture of CUDA, got 'sm_91a'; known: sm_80, sm_86, sm_89, sm_90, sm_90a; nearest: sm_90a
module {}
