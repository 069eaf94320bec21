// A product with A in registers gives what loops give: each register is where PTX says that a thread holds it, and B may
// lie by its rows or by its columns.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

// BUFFER a f16 64x32 mod7
// BUFFER rows f16 8x32 mod9
// BUFFER columns f16 32x8 mod9
// BUFFER d f32 64x8 zero
// BUFFER e f32 64x8 zero

!sums = !llvm.struct<(f32, f32, f32, f32)>

gpu.module @m {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // Returns two neighbours of A: of row `row`, from column `column` on.
  llvm.func @pair(%a: !llvm.ptr<1>, %row: i32, %column: i32) -> i32 {
    %width = llvm.mlir.constant(32 : i32) : i32
    %start = llvm.mul %row, %width : i32
    %i = llvm.add %start, %column : i32
    %from = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
    %x = llvm.load %from : !llvm.ptr<1> -> i32
    llvm.return %x : i32
  }

  // Writes the word of this thread to byte `to`, and returns the descriptors of both steps of 16 numbers along k: no
  // swizzle, 128 bytes between 8 of them.
  llvm.func @stage(%b: !llvm.ptr<1>, %to: i32) -> !llvm.struct<(i64, i64)> {
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %four = llvm.mlir.constant(4 : i32) : i32
    %step = llvm.mlir.constant(16 : i64) : i64
    %strides = llvm.mlir.constant(0x1000080000 : i64) : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %from = llvm.getelementptr %b[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %x = llvm.load %from : !llvm.ptr<1> -> i32
    %at = llvm.getelementptr %shared[%to] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %x, %at : i32, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    %number = llvm.ptrtoint %shared : !llvm.ptr<3> to i32
    %units = llvm.lshr %number, %four : i32
    %start = llvm.zext %units : i32 to i64
    %first = llvm.or %start, %strides : i64
    %second = llvm.add %first, %step : i64
    %none = llvm.mlir.poison : !llvm.struct<(i64, i64)>
    %one = llvm.insertvalue %first, %none[0] : !llvm.struct<(i64, i64)>
    %both = llvm.insertvalue %second, %one[1] : !llvm.struct<(i64, i64)>
    llvm.return %both : !llvm.struct<(i64, i64)>
  }

  // Row 16 w + lane / 4 and columns 2 (lane % 4), + 1 are a thread's first; the other registers are 8 rows, 8 columns
  // and both further.
  llvm.func @place() -> !llvm.struct<(i32, i32)> {
    %two = llvm.mlir.constant(2 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %warp = llvm.lshr %tid, %five : i32
    %w = llvm.shl %warp, %four : i32
    %high = llvm.lshr %tid, %two : i32
    %g = llvm.and %high, %seven : i32
    %row = llvm.add %w, %g : i32
    %q = llvm.and %tid, %three : i32
    %column = llvm.mul %q, %two : i32
    %none = llvm.mlir.poison : !llvm.struct<(i32, i32)>
    %one = llvm.insertvalue %row, %none[0] : !llvm.struct<(i32, i32)>
    %both = llvm.insertvalue %column, %one[1] : !llvm.struct<(i32, i32)>
    llvm.return %both : !llvm.struct<(i32, i32)>
  }

  llvm.func @store(%d: !llvm.ptr<1>, %sums: !sums, %row: i32, %column: i32) {
    %eight = llvm.mlir.constant(8 : i32) : i32
    %start = llvm.mul %row, %eight : i32
    %i = llvm.add %start, %column : i32
    %to = llvm.getelementptr %d[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %next = llvm.getelementptr %to[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %below = llvm.getelementptr %to[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %last = llvm.getelementptr %to[65] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %x0 = llvm.extractvalue %sums[0] : !sums
    %x1 = llvm.extractvalue %sums[1] : !sums
    %x2 = llvm.extractvalue %sums[2] : !sums
    %x3 = llvm.extractvalue %sums[3] : !sums
    llvm.store %x0, %to : f32, !llvm.ptr<1>
    llvm.store %x1, %next : f32, !llvm.ptr<1>
    llvm.store %x2, %below : f32, !llvm.ptr<1>
    llvm.store %x3, %last : f32, !llvm.ptr<1>
    llvm.return
  }

  // Returns what the thread holds of A, four registers for each of the two steps.
  llvm.func @registers(%a: !llvm.ptr<1>, %row: i32, %column: i32) -> !llvm.array<8 x i32> {
    %eight = llvm.mlir.constant(8 : i32) : i32
    %below = llvm.add %row, %eight : i32
    %c1 = llvm.add %column, %eight : i32
    %c2 = llvm.add %c1, %eight : i32
    %c3 = llvm.add %c2, %eight : i32
    %n = llvm.mlir.poison : !llvm.array<8 x i32>
    %x0 = llvm.call @pair(%a, %row, %column) : (!llvm.ptr<1>, i32, i32) -> i32
    %x1 = llvm.call @pair(%a, %below, %column) : (!llvm.ptr<1>, i32, i32) -> i32
    %x2 = llvm.call @pair(%a, %row, %c1) : (!llvm.ptr<1>, i32, i32) -> i32
    %x3 = llvm.call @pair(%a, %below, %c1) : (!llvm.ptr<1>, i32, i32) -> i32
    %x4 = llvm.call @pair(%a, %row, %c2) : (!llvm.ptr<1>, i32, i32) -> i32
    %x5 = llvm.call @pair(%a, %below, %c2) : (!llvm.ptr<1>, i32, i32) -> i32
    %x6 = llvm.call @pair(%a, %row, %c3) : (!llvm.ptr<1>, i32, i32) -> i32
    %x7 = llvm.call @pair(%a, %below, %c3) : (!llvm.ptr<1>, i32, i32) -> i32
    %n0 = llvm.insertvalue %x0, %n[0] : !llvm.array<8 x i32>
    %n1 = llvm.insertvalue %x1, %n0[1] : !llvm.array<8 x i32>
    %n2 = llvm.insertvalue %x2, %n1[2] : !llvm.array<8 x i32>
    %n3 = llvm.insertvalue %x3, %n2[3] : !llvm.array<8 x i32>
    %n4 = llvm.insertvalue %x4, %n3[4] : !llvm.array<8 x i32>
    %n5 = llvm.insertvalue %x5, %n4[5] : !llvm.array<8 x i32>
    %n6 = llvm.insertvalue %x6, %n5[6] : !llvm.array<8 x i32>
    %n7 = llvm.insertvalue %x7, %n6[7] : !llvm.array<8 x i32>
    llvm.return %n7 : !llvm.array<8 x i32>
  }

  // CHECK-LABEL: by_rows: 0 reports
  // CHECK-LABEL: loop_by_rows: 0 reports
  // CHECK-NEXT: d and e: same, not all 0
  //
  // LAUNCH by_rows grid 1 block 128 shared 512 with a rows d
  // LAUNCH loop_by_rows grid 64 block 8 shared 0 with a rows e
  // SAME d e
  llvm.func @by_rows(%in: !llvm.ptr<1>, %b: !llvm.ptr<1>, %d: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    // Words of a row are four to a unit of 16 bytes, rows lie side by side.
    %two = llvm.mlir.constant(2 : i32) : i32
    %three = llvm.mlir.constant(3 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %seven = llvm.mlir.constant(7 : i32) : i32
    %n = llvm.lshr %tid, %four : i32
    %nBytes = llvm.shl %n, %four : i32
    %high = llvm.lshr %tid, %two : i32
    %unit = llvm.and %high, %three : i32
    %unitBytes = llvm.shl %unit, %seven : i32
    %rest = llvm.and %tid, %three : i32
    %restBytes = llvm.shl %rest, %two : i32
    %sum = llvm.add %nBytes, %unitBytes : i32
    %to = llvm.add %sum, %restBytes : i32
    %descriptors = llvm.call @stage(%b, %to) : (!llvm.ptr<1>, i32) -> !llvm.struct<(i64, i64)>
    %b0 = llvm.extractvalue %descriptors[0] : !llvm.struct<(i64, i64)>
    %b1 = llvm.extractvalue %descriptors[1] : !llvm.struct<(i64, i64)>
    %c = llvm.mlir.zero : !sums
    %place = llvm.call @place() : () -> !llvm.struct<(i32, i32)>
    %row = llvm.extractvalue %place[0] : !llvm.struct<(i32, i32)>
    %column = llvm.extractvalue %place[1] : !llvm.struct<(i32, i32)>
    %a = llvm.call @registers(%in, %row, %column) : (!llvm.ptr<1>, i32, i32) -> !llvm.array<8 x i32>
    %a0 = llvm.extractvalue %a[0] : !llvm.array<8 x i32>
    %a1 = llvm.extractvalue %a[1] : !llvm.array<8 x i32>
    %a2 = llvm.extractvalue %a[2] : !llvm.array<8 x i32>
    %a3 = llvm.extractvalue %a[3] : !llvm.array<8 x i32>
    %a4 = llvm.extractvalue %a[4] : !llvm.array<8 x i32>
    %a5 = llvm.extractvalue %a[5] : !llvm.array<8 x i32>
    %a6 = llvm.extractvalue %a[6] : !llvm.array<8 x i32>
    %a7 = llvm.extractvalue %a[7] : !llvm.array<8 x i32>
    %sums = attn_gpu.wgmma %c, a(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) b(%b0, %b1) f16 : !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %sums, %row, %column) : (!llvm.ptr<1>, !sums, i32, i32) -> ()
    llvm.return
  }

  // CHECK-LABEL: by_columns: 0 reports
  // CHECK-LABEL: loop_by_columns: 0 reports
  // CHECK-NEXT: d and e: same, not all 0
  //
  // LAUNCH by_columns grid 1 block 128 shared 512 with a columns d
  // LAUNCH loop_by_columns grid 64 block 8 shared 0 with a columns e
  // SAME d e
  llvm.func @by_columns(%in: !llvm.ptr<1>, %b: !llvm.ptr<1>, %d: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %to = llvm.shl %tid, %two : i32
    %descriptors = llvm.call @stage(%b, %to) : (!llvm.ptr<1>, i32) -> !llvm.struct<(i64, i64)>
    %b0 = llvm.extractvalue %descriptors[0] : !llvm.struct<(i64, i64)>
    %b1 = llvm.extractvalue %descriptors[1] : !llvm.struct<(i64, i64)>
    %c = llvm.mlir.zero : !sums
    %place = llvm.call @place() : () -> !llvm.struct<(i32, i32)>
    %row = llvm.extractvalue %place[0] : !llvm.struct<(i32, i32)>
    %column = llvm.extractvalue %place[1] : !llvm.struct<(i32, i32)>
    %a = llvm.call @registers(%in, %row, %column) : (!llvm.ptr<1>, i32, i32) -> !llvm.array<8 x i32>
    %a0 = llvm.extractvalue %a[0] : !llvm.array<8 x i32>
    %a1 = llvm.extractvalue %a[1] : !llvm.array<8 x i32>
    %a2 = llvm.extractvalue %a[2] : !llvm.array<8 x i32>
    %a3 = llvm.extractvalue %a[3] : !llvm.array<8 x i32>
    %a4 = llvm.extractvalue %a[4] : !llvm.array<8 x i32>
    %a5 = llvm.extractvalue %a[5] : !llvm.array<8 x i32>
    %a6 = llvm.extractvalue %a[6] : !llvm.array<8 x i32>
    %a7 = llvm.extractvalue %a[7] : !llvm.array<8 x i32>
    %sums = attn_gpu.wgmma %c, a(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) b(%b0, %b1) transpose_b f16 : !sums
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.call @store(%d, %sums, %row, %column) : (!llvm.ptr<1>, !sums, i32, i32) -> ()
    llvm.return
  }

  // Element `row`, `column` of the product, of a B whose numbers lie `alongN` and `alongK` from each other.
  llvm.func @loop(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %e: !llvm.ptr<1>, %alongN: i32, %alongK: i32) {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %depth = llvm.mlir.constant(32 : i32) : i32
    %start = llvm.mlir.constant(0.0 : f32) : f32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %column = nvvm.read.ptx.sreg.tid.x : i32
    %rowA = llvm.mul %row, %depth : i32
    %rowB = llvm.mul %column, %alongN : i32
    llvm.br ^next(%zero, %start : i32, f32)
  ^next(%k: i32, %old: f32):
    %i = llvm.add %rowA, %k : i32
    %far = llvm.mul %k, %alongK : i32
    %j = llvm.add %rowB, %far : i32
    %atA = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
    %atB = llvm.getelementptr %b[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
    %x = llvm.load %atA : !llvm.ptr<1> -> f16
    %y = llvm.load %atB : !llvm.ptr<1> -> f16
    %xx = llvm.fpext %x : f16 to f32
    %yy = llvm.fpext %y : f16 to f32
    %z = llvm.fmul %xx, %yy : f32
    %new = llvm.fadd %old, %z : f32
    %l = llvm.add %k, %one : i32
    %more = llvm.icmp "ult" %l, %depth : i32
    llvm.cond_br %more, ^next(%l, %new : i32, f32), ^done
  ^done:
    %rowE = llvm.mul %row, %eight : i32
    %m = llvm.add %rowE, %column : i32
    %to = llvm.getelementptr %e[%m] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %new, %to : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @loop_by_rows(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %e: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %depth = llvm.mlir.constant(32 : i32) : i32
    llvm.call @loop(%a, %b, %e, %depth, %one) : (!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i32) -> ()
    llvm.return
  }
  llvm.func @loop_by_columns(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %e: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    llvm.call @loop(%a, %b, %e, %one, %eight) : (!llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i32) -> ()
    llvm.return
  }
}
