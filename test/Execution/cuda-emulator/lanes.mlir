// Accesses of which only some lanes take place, and of runs of bytes, are tracked as those of single numbers are.
//
// RUN: attn-emulate %s --seeds=1 | FileCheck %s

// BUFFER in f32 4 iota
// BUFFER out f32 4 zero

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Lanes 0 and 1 of four.
  llvm.func @mask() -> vector<4xi1> {
    %mask = llvm.mlir.constant(dense<[true, true, false, false]> : vector<4xi1>) : vector<4xi1>
    llvm.return %mask : vector<4xi1>
  }

  // The places of four numbers, the second two in front of the first two.
  llvm.func @places(%p: !llvm.ptr<3>) -> vector<4x!llvm.ptr<3>> {
    %i = llvm.mlir.constant(dense<[2, 3, 0, 1]> : vector<4xi32>) : vector<4xi32>
    %at = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, vector<4xi32>) -> vector<4x!llvm.ptr<3>>, f32
    llvm.return %at : vector<4x!llvm.ptr<3>>
  }

  // Only lanes that are on are written, and read.
  //
  // CHECK-LABEL: {{^}}masked_store: 0 reports
  //
  // LAUNCH masked_store grid 1 block 1 shared 16 with
  llvm.func @masked_store() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    llvm.intr.masked.store %x, %tile, %mask {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<3>
    %p = llvm.getelementptr %tile[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.return
  }

  // CHECK-LABEL: masked_store_elsewhere: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} (llvm.load at {{.*}}) reads byte 8 of
  //
  // LAUNCH masked_store_elsewhere grid 1 block 1 shared 16 with
  llvm.func @masked_store_elsewhere() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    llvm.intr.masked.store %x, %tile, %mask {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<3>
    %p = llvm.getelementptr %tile[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.return
  }

  // CHECK-LABEL: {{^}}masked_load: 0 reports
  //
  // LAUNCH masked_load grid 1 block 1 shared 8 with
  llvm.func @masked_load() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    llvm.intr.masked.store %x, %tile, %mask {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<3>
    %y = llvm.intr.masked.load %tile, %mask, %x {alignment = 16 : i32} : (!llvm.ptr<3>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.return
  }

  // CHECK-LABEL: masked_load_too_early: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} (llvm.intr.masked.load at {{.*}}) reads byte 0 of
  //
  // LAUNCH masked_load_too_early grid 1 block 1 shared 16 with
  llvm.func @masked_load_too_early() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %y = llvm.intr.masked.load %tile, %mask, %x {alignment = 16 : i32} : (!llvm.ptr<3>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.return
  }

  // CHECK-LABEL: masked_store_behind: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} (llvm.intr.masked.store at {{.*}}) accesses shared memory, 4 bytes from byte 4 on, of 4 bytes
  //
  // LAUNCH masked_store_behind grid 1 block 1 shared 4 with
  llvm.func @masked_store_behind() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    llvm.intr.masked.store %x, %tile, %mask {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<3>
    llvm.return
  }

  // CHECK-LABEL: masked_races: 1 reports
  // CHECK-NEXT: race: {{.*}} (llvm.intr.masked.store at {{.*}}) writes byte
  //
  // LAUNCH masked_races grid 1 block 64 shared 16 with
  llvm.func @masked_races() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    llvm.intr.masked.store %x, %tile, %mask {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<3>
    llvm.return
  }

  // Each lane where it says.
  //
  // CHECK-LABEL: {{^}}scatter: 0 reports
  //
  // LAUNCH scatter grid 1 block 1 shared 16 with
  llvm.func @scatter() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %at = llvm.call @places(%tile) : (!llvm.ptr<3>) -> vector<4x!llvm.ptr<3>>
    llvm.intr.masked.scatter %x, %at, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr<3>>
    %y = llvm.intr.masked.gather %at, %mask, %x {alignment = 4 : i32} : (vector<4x!llvm.ptr<3>>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    %p = llvm.getelementptr %tile[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.return
  }

  // CHECK-LABEL: scatter_elsewhere: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} (llvm.load at {{.*}}) reads byte 0 of
  //
  // LAUNCH scatter_elsewhere grid 1 block 1 shared 16 with
  llvm.func @scatter_elsewhere() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %at = llvm.call @places(%tile) : (!llvm.ptr<3>) -> vector<4x!llvm.ptr<3>>
    llvm.intr.masked.scatter %x, %at, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr<3>>
    %p = llvm.getelementptr %tile[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.return
  }

  // CHECK-LABEL: gather_too_early: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} (llvm.intr.masked.gather at {{.*}}) reads byte 8 of
  //
  // LAUNCH gather_too_early grid 1 block 1 shared 16 with
  llvm.func @gather_too_early() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %at = llvm.call @places(%tile) : (!llvm.ptr<3>) -> vector<4x!llvm.ptr<3>>
    %y = llvm.intr.masked.gather %at, %mask, %x {alignment = 4 : i32} : (vector<4x!llvm.ptr<3>>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.return
  }

  // CHECK-LABEL: gather_behind: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} (llvm.intr.masked.scatter at {{.*}}) accesses shared memory, 4 bytes from byte 12 on, of 12 bytes
  //
  // LAUNCH gather_behind grid 1 block 1 shared 12 with
  llvm.func @gather_behind() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    nvvm.barrier0
    %at = llvm.call @places(%tile) : (!llvm.ptr<3>) -> vector<4x!llvm.ptr<3>>
    llvm.intr.masked.scatter %x, %at, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr<3>>
    llvm.return
  }

  // Lanes that lie one behind the other.
  //
  // CHECK-LABEL: {{^}}compressed: 0 reports
  //
  // LAUNCH compressed grid 1 block 1 shared 8 with
  llvm.func @compressed() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %odd = llvm.mlir.constant(dense<[false, true, false, true]> : vector<4xi1>) : vector<4xi1>
    "llvm.intr.masked.compressstore"(%x, %tile, %odd) : (vector<4xf32>, !llvm.ptr<3>, vector<4xi1>) -> ()
    %y = "llvm.intr.masked.expandload"(%tile, %odd, %x) : (!llvm.ptr<3>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
    llvm.return
  }

  // CHECK-LABEL: compressed_elsewhere: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} reads byte 8 of
  //
  // LAUNCH compressed_elsewhere grid 1 block 1 shared 16 with
  llvm.func @compressed_elsewhere() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %odd = llvm.mlir.constant(dense<[false, true, false, true]> : vector<4xi1>) : vector<4xi1>
    "llvm.intr.masked.compressstore"(%x, %tile, %odd) : (vector<4xf32>, !llvm.ptr<3>, vector<4xi1>) -> ()
    %p = llvm.getelementptr %tile[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.return
  }

  // Runs of bytes.
  //
  // CHECK-LABEL: {{^}}runs: 0 reports
  // CHECK-NEXT: out = 0 1 2 3
  //
  // LAUNCH runs grid 1 block 1 shared 16 with in out
  // PRINT out
  llvm.func @runs(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %n = llvm.mlir.constant(16 : i64) : i64
    "llvm.intr.memcpy"(%tile, %in, %n) <{isVolatile = false}> : (!llvm.ptr<3>, !llvm.ptr<1>, i64) -> ()
    "llvm.intr.memcpy"(%out, %tile, %n) <{isVolatile = false}> : (!llvm.ptr<1>, !llvm.ptr<3>, i64) -> ()
    llvm.return
  }

  // CHECK-LABEL: run_behind: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} (llvm.intr.memcpy at {{.*}}) accesses shared memory, 16 bytes from byte 0 on, of 8 bytes
  //
  // LAUNCH run_behind grid 1 block 1 shared 8 with in
  llvm.func @run_behind(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %n = llvm.mlir.constant(16 : i64) : i64
    "llvm.intr.memcpy"(%tile, %in, %n) <{isVolatile = false}> : (!llvm.ptr<3>, !llvm.ptr<1>, i64) -> ()
    llvm.return
  }

  // CHECK-LABEL: run_too_early: 1 reports
  // CHECK-NEXT: uninitialized: {{.*}} (llvm.intr.memcpy at {{.*}}) reads byte 0 of
  //
  // LAUNCH run_too_early grid 1 block 1 shared 16 with out
  llvm.func @run_too_early(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %n = llvm.mlir.constant(16 : i64) : i64
    "llvm.intr.memcpy"(%out, %tile, %n) <{isVolatile = false}> : (!llvm.ptr<1>, !llvm.ptr<3>, i64) -> ()
    llvm.return
  }

  // CHECK-LABEL: {{^}}filled: 0 reports
  //
  // LAUNCH filled grid 1 block 1 shared 16 with
  llvm.func @filled() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %n = llvm.mlir.constant(16 : i64) : i64
    %v = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%tile, %v, %n) <{isVolatile = false}> : (!llvm.ptr<3>, i8, i64) -> ()
    %p = llvm.getelementptr %tile[12] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %z = llvm.load %p : !llvm.ptr<3> -> f32
    llvm.return
  }

  // CHECK-LABEL: filled_behind: 1 reports
  // CHECK-NEXT: out of bounds: {{.*}} (llvm.intr.memset.inline at {{.*}}) accesses shared memory, 16 bytes
  //
  // LAUNCH filled_behind grid 1 block 1 shared 8 with
  llvm.func @filled_behind() attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    %v = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset.inline"(%tile, %v) <{isVolatile = false, len = 16 : i64}> : (!llvm.ptr<3>, i8) -> ()
    llvm.return
  }

  // CHECK-LABEL: copied_races: 1 reports
  // CHECK-NEXT: race: {{.*}} (llvm.intr.memcpy.inline at {{.*}}) writes byte 0
  //
  // LAUNCH copied_races grid 1 block 64 shared 16 with in
  llvm.func @copied_races(%in: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %mask = llvm.call @mask() : () -> vector<4xi1>
    %x = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
    "llvm.intr.memcpy.inline"(%tile, %in) <{isVolatile = false, len = 16 : i32}> : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
    llvm.return
  }
}
