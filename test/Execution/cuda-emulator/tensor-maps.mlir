// Tensor maps that the driver would refuse are refused, and say why.
//
// RUN: attn-emulate %s --seeds=1 | FileCheck %s

// BUFFER x f32 64x64 iota
// BUFFER y f16 8x8x8 zero
// BUFFER out f32 32 zero
//
// CHECK: size: expects a size of dimension 1 from 1 to 2^32, got 4294967297
// MAP size x swizzle 0 box 8 32 sizes 4294967297x64
// CHECK-NEXT: empty: expects a size of dimension 0 from 1 to 2^32, got 0
// MAP empty x swizzle 0 box 8 32 sizes 64x0
// CHECK-NEXT: wide: expects a box of dimension 0 of 1 to 256 elements, got 257
// MAP wide x swizzle 0 box 8 257
// CHECK-NEXT: none: expects a box of dimension 1 of 1 to 256 elements, got 0
// MAP none y swizzle 0 box 8 0 8
// CHECK-NEXT: stride: expects a stride of dimension 1 that is a multiple of 16 bytes and less than 2^40, got 264
// MAP stride x swizzle 0 box 8 32 strides 264
// CHECK-NEXT: far: expects a stride of dimension 1 that is a multiple of 16 bytes and less than 2^40, got 1099511627776
// MAP far x swizzle 0 box 8 32 strides 1099511627776
// CHECK-NEXT: place: expects a tensor at a multiple of 16 bytes
// MAP place x swizzle 0 box 8 32 at 8
// CHECK-NEXT: row: expects rows of a box of a multiple of 16 bytes, got 24
// MAP row x swizzle 0 box 8 6
// CHECK-NEXT: span: expects rows of a box of up to the 32 bytes of the swizzle, got 64
// MAP span x swizzle 32 box 8 16
//
// MAP large y swizzle 0 box 256 256 256
// MAP many x swizzle 0 box 8 32 sizes 4294967296x64 strides 16

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @load(%map: !llvm.ptr, %is_large: i32) {
    %bar = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    %box = llvm.getelementptr %bar[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %large = llvm.icmp "ne" %is_large, %zero : i32
    llvm.cond_br %large, ^large, ^small
  ^large:
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %map, %bar, box[%zero, %zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.return
  ^small:
    nvvm.cp.async.bulk.tensor.shared.cluster.global %box, %map, %bar, box[%zero, %zero] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.return
  }

  // A box that no shared memory holds.
  //
  // CHECK-NEXT: {{^}}large_box: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} accesses the target of a copy, 33554432 bytes from byte 1024 on, of 4096 bytes
  //
  // LAUNCH large_box grid 1 block 1 shared 4096 with large
  llvm.func @large_box(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.call @load(%map, %one) : (!llvm.ptr, i32) -> ()
    llvm.return
  }

  // 2^32 rows, which are more than there are.
  //
  // CHECK-NEXT: {{^}}many_rows: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} accesses 68719476976 bytes of global memory across the end of 'x' (16384 bytes)
  //
  // LAUNCH many_rows grid 1 block 1 shared 4096 with many
  llvm.func @many_rows(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    llvm.call @load(%map, %zero) : (!llvm.ptr, i32) -> ()
    llvm.return
  }
}
