// RUN: attn-opt %s --convert-nvvm-to-host-calls --split-input-file | FileCheck %s
// RUN: attn-opt %s --convert-nvvm-to-host-calls=track=true --split-input-file | FileCheck %s --check-prefix=TRACK

// A barrier is a call that says where it stands; beside the kernel is a function that loads its parameters.
//
// CHECK: module attributes {attn.sites = ["nvvm.barrier0 at {{.*}}nvvm-to-host-calls.mlir:[[# @LINE + 12]]:5"]}
// CHECK: llvm.func @attn_cuda_barrier(i32, i32, i32, i32, i32) -> i32
// CHECK-LABEL: llvm.func @barrier.k(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: i32) {
// CHECK: llvm.call @attn_cuda_barrier(
// CHECK: llvm.func @barrier.k.launch(%[[PARAMETERS:.*]]: !llvm.ptr) attributes {attn.block_size = array<i32: 64, 1, 1>, attn.dynamic_shared_offset = -1 : i64, attn.kernel = @barrier::@k, attn.static_shared_bytes = 0 : i64}
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[PARAMETERS]][1]
// CHECK: %[[POINTER:.*]] = llvm.load %[[PLACE]]
// CHECK: %[[N:.*]] = llvm.load %[[POINTER]] {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: llvm.call @barrier.k(%{{.*}}, %[[N]])
gpu.module @barrier {
  llvm.func @k(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    nvvm.barrier0
    llvm.return
  }
}

// -----

// Host code is dropped; a variable of no size is the shared memory that a launch asks for, behind those of known size.
//
// CHECK-LABEL: llvm.func @memory.k(
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK: %[[KNOWN:.*]] = llvm.call @attn_cuda_shared(
// CHECK: llvm.mlir.constant(1024 : i32)
// CHECK: %[[DYNAMIC:.*]] = llvm.call @attn_cuda_shared(
// CHECK: %[[X:.*]] = llvm.load %[[KNOWN]]
// CHECK: llvm.store %[[X]], %[[DYNAMIC]]
// CHECK: attn.dynamic_shared_offset = 1024 : i64
// CHECK-SAME: attn.static_shared_bytes = 400 : i64
//
// With the tracker, each access is announced: 4 bytes, aligned to 4, and 1 for a write.
//
// TRACK-LABEL: llvm.func @memory.k(
// TRACK: %[[BYTES:.*]] = llvm.mlir.constant(4 : i64)
// TRACK: %[[FLAGS:.*]] = llvm.mlir.constant(512 : i32)
// TRACK: llvm.call @attn_cuda_access(%{{.*}}, %{{.*}}, %[[BYTES]], %[[FLAGS]])
// TRACK-NEXT: llvm.load
// TRACK: %[[WRITE:.*]] = llvm.mlir.constant(513 : i32)
// TRACK: llvm.call @attn_cuda_access(%{{.*}}, %{{.*}}, %{{.*}}, %[[WRITE]])
// TRACK-NEXT: llvm.store
func.func @host() {
  return
}
gpu.module @memory {
  llvm.mlir.global internal @known() {addr_space = 3 : i32} : !llvm.array<100 x f32>
  llvm.mlir.global external @dynamic() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @k() attributes {nvvm.kernel} {
    %a = llvm.mlir.addressof @known : !llvm.ptr<3>
    %b = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
    %x = llvm.load %a : !llvm.ptr<3> -> f32
    llvm.store %x, %b : f32, !llvm.ptr<3>
    llvm.return
  }
}

// -----

// Matrices go through a buffer on the stack: operands in, results out.
//
// CHECK-LABEL: llvm.func @matrices.k(
// CHECK: %[[BUFFER:.*]] = llvm.alloca %{{.*}} x i8
// CHECK: llvm.store %{{.*}}, %[[BUFFER]] {alignment = 4 : i64} : vector<2xf16>
// CHECK-COUNT-5: llvm.store {{.*}} : vector<2xf16>
// CHECK-COUNT-4: llvm.store {{.*}} : f32
// CHECK: llvm.call @attn_cuda_mma(
// CHECK-NEXT: llvm.load %[[BUFFER]] {alignment = 4 : i64} : !llvm.ptr -> !llvm.struct<(f32, f32, f32, f32)>
gpu.module @matrices {
  llvm.func @k(%a: vector<2xf16>, %c: f32) attributes {nvvm.kernel} {
    %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

// -----

// Functions of real numbers stay: they are linked in, the same as on a GPU.
//
// CHECK-LABEL: llvm.func @__nv_tanhf(f32) -> f32
// CHECK: llvm.func @math.k(
// CHECK: llvm.call @__nv_tanhf(
// CHECK: llvm.call @attn_cuda_exp2(
// CHECK: llvm.call @__nv_powif(
gpu.module @math {
  llvm.func @__nv_tanhf(f32) -> f32
  llvm.func @__nv_abs(i32) -> i32
  llvm.func @__nv_powif(f32, i32) -> f32
  llvm.func @__nv_isnand(f64) -> i32
  llvm.func @k(%x: f32, %n: i32, %w: f64) attributes {nvvm.kernel} {
    %y = llvm.call @__nv_tanhf(%x) : (f32) -> f32
    %z = attn_gpu.exp2 %y
    %m = llvm.call @__nv_abs(%n) : (i32) -> i32
    %p = llvm.call @__nv_powif(%y, %m) : (f32, i32) -> f32
    %b = llvm.call @__nv_isnand(%w) : (f64) -> i32
    llvm.return
  }
}

// -----

// The tracker gives each accumulator of a warpgroup a number more: from which product it is.
//
// TRACK-LABEL: llvm.func @sums.k(
// TRACK: llvm.call @attn_cuda_wgmma_registers(
// TRACK: %[[D:.*]] = llvm.load {{.*}} -> !llvm.struct<(f32, f32, f32, f32, i64)>
// TRACK: %[[PRODUCT:.*]] = llvm.extractvalue %[[D]][4]
// TRACK: llvm.call @attn_cuda_use_accumulator(%{{.*}}, %[[PRODUCT]])
// TRACK: llvm.extractvalue %[[D]][0]
gpu.module @sums {
  llvm.func @k(%a: i32, %b: i64) attributes {nvvm.kernel} {
    %c = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %d = attn_gpu.wgmma %c, a(%a, %a, %a, %a) b(%b) f16 : !llvm.struct<(f32, f32, f32, f32)>
    %x = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}
