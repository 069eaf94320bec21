// Numbered barriers order those who arrive before those who wait, and nobody else.
//
// RUN: attn-emulate %s | FileCheck %s
// RUN: attn-emulate %s --workers=2 | FileCheck %s

// BUFFER out i32 64 zero

gpu.module @m {
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @write(%value: i32) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.mlir.constant(31 : i32) : i32
    %lane = llvm.and %tid, %low : i32
    %mine = llvm.getelementptr %tile[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.add %lane, %value : i32
    llvm.store %x, %mine : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.func @read(%out: !llvm.ptr<1>) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.mlir.constant(31 : i32) : i32
    %lane = llvm.and %tid, %low : i32
    %other = llvm.xor %lane, %low : i32
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %x = llvm.load %theirs : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %x, %to : i32, !llvm.ptr<1>
    llvm.return
  }

  // Warp 0 fills a tile three times, warp 1 reads it each time: "full" is barrier 1, "empty" is barrier 2.
  //
  // CHECK-LABEL: {{^}}ring: 0 reports
  // CHECK-NEXT: out = 231 230 229
  // CHECK-LABEL: ring_without_empty: {{[1-9]}} reports
  // CHECK: race: {{.*}} (llvm.{{load|store}} at
  //
  // LAUNCH ring grid 4 block 64 shared 256 with out
  // PRINT out 3
  // LAUNCH ring_without_empty grid 4 block 64 shared 256 with out
  llvm.func @ring(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %full = llvm.mlir.constant(1 : i32) : i32
    %empty = llvm.mlir.constant(2 : i32) : i32
    %step = llvm.mlir.constant(100 : i32) : i32
    %end = llvm.mlir.constant(300 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^produce(%zero : i32), ^consume(%zero : i32)
  ^produce(%i: i32):
    llvm.call @write(%i) : (i32) -> ()
    nvvm.barrier.arrive id = %full number_of_threads = %all
    nvvm.barrier id = %empty number_of_threads = %all
    %i2 = llvm.add %i, %step : i32
    %more = llvm.icmp "ult" %i2, %end : i32
    llvm.cond_br %more, ^produce(%i2 : i32), ^done
  ^consume(%j: i32):
    nvvm.barrier id = %full number_of_threads = %all
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    nvvm.barrier.arrive id = %empty number_of_threads = %all
    %j2 = llvm.add %j, %step : i32
    %again = llvm.icmp "ult" %j2, %end : i32
    llvm.cond_br %again, ^consume(%j2 : i32), ^done
  ^done:
    llvm.return
  }
  llvm.func @ring_without_empty(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %full = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^produce, ^consume
  ^produce:
    llvm.call @write(%zero) : (i32) -> ()
    nvvm.barrier.arrive id = %full number_of_threads = %all
    llvm.call @write(%full) : (i32) -> ()
    llvm.br ^done
  ^consume:
    nvvm.barrier id = %full number_of_threads = %all
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    llvm.br ^done
  ^done:
    llvm.return
  }

  // Two barriers of different numbers do not order the two warps.
  //
  // CHECK-LABEL: other_number: {{[1-9]}} reports
  // CHECK: race: {{.*}} (llvm.{{load|store}} at
  // CHECK-LABEL: other_count: {{[1-9]}} reports
  // CHECK: misuse: {{.*}} waits for {{64|32}} threads at a barrier where others wait for
  //
  // LAUNCH other_number grid 1 block 64 shared 256 with out
  // LAUNCH other_count grid 1 block 64 shared 256 with out
  llvm.func @other_number(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %warp : i32
    llvm.cond_br %is, ^produce, ^consume
  ^produce:
    llvm.call @write(%zero) : (i32) -> ()
    nvvm.barrier id = %one number_of_threads = %warp
    llvm.br ^done
  ^consume:
    nvvm.barrier id = %two number_of_threads = %warp
    llvm.call @read(%out) : (!llvm.ptr<1>) -> ()
    llvm.br ^done
  ^done:
    llvm.return
  }
  llvm.func @other_count(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %warp = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %warp : i32
    %count = llvm.select %is, %warp, %all : i1, i32
    nvvm.barrier id = %one number_of_threads = %count
    llvm.return
  }

  // A barrier that counts threads, and one that joins what they say.
  //
  // CHECK-LABEL: counts: 0 reports
  // CHECK-NEXT: out = 10 0
  // CHECK-LABEL: registers: 1 reports
  // CHECK-NEXT: misuse: {{.*}} setmaxregister asks for 74752 registers for the block, there are 65536
  //
  // LAUNCH counts grid 1 block 64 shared 0 with out
  // PRINT out 2
  // LAUNCH registers grid 1 block 384 shared 0 with
  llvm.func @counts(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %ten = llvm.mlir.constant(10 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %ten : i32
    %p = llvm.zext %is : i1 to i32
    %count = nvvm.barrier #nvvm.reduction<popc> %p -> i32
    %every = nvvm.barrier #nvvm.reduction<and> %p -> i32
    llvm.store %count, %out : i32, !llvm.ptr<1>
    %second = llvm.getelementptr %out[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
    llvm.store %every, %second : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @registers() attributes {nvvm.kernel} {
    %group = llvm.mlir.constant(128 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %is = llvm.icmp "ult" %tid, %group : i32
    llvm.cond_br %is, ^less, ^more
  ^less:
    nvvm.setmaxregister decrease 104
    llvm.return
  ^more:
    nvvm.setmaxregister increase 240
    llvm.return
  }
}
