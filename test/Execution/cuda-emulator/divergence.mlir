// Threads that should do something together and do not; nothing of it hangs.
//
// RUN: attn-emulate %s --seeds=2 | FileCheck %s

// BUFFER out i32 64 zero

gpu.module @m {
  // Half of a warp passes a barrier, the other half another one.
  //
  // CHECK-LABEL: two_barriers: {{[1-9]}} reports
  // CHECK: divergent barrier: {{.*}} (nvvm.barrier0 at {{.*}}) arrives, other threads of its warp arrive at nvvm.barrier0 at {{.*}}divergence.mlir
  //
  // LAUNCH two_barriers grid 1 block 32 shared 0 with
  llvm.func @two_barriers() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(16 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^high
  ^low:
    nvvm.barrier0
    llvm.br ^done
  ^high:
    nvvm.barrier0
    llvm.br ^done
  ^done:
    llvm.return
  }

  // Warps may meet at different places.
  //
  // CHECK-LABEL: two_places: 0 reports
  //
  // LAUNCH two_places grid 1 block 64 shared 0 with
  llvm.func @two_places() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(32 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^high
  ^low:
    nvvm.barrier0
    llvm.br ^done
  ^high:
    nvvm.barrier0
    llvm.br ^done
  ^done:
    llvm.return
  }

  // A barrier for 64 threads is reached by 32.
  //
  // CHECK-LABEL: too_few: 1 reports
  // CHECK-NEXT: deadlock: kernel 'too_few', block (0,0,0): no thread can go on: 32 from thread (0,0,0) on wait for a barrier (nvvm.barrier at {{.*}}divergence.mlir:[[# @LINE + 11]]:5), 32 have ended
  //
  // LAUNCH too_few grid 1 block 64 shared 0 with
  llvm.func @too_few() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %half = llvm.mlir.constant(32 : i32) : i32
    %count = llvm.mlir.constant(64 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^done
  ^low:
    nvvm.barrier id = %one number_of_threads = %count
    llvm.br ^done
  ^done:
    llvm.return
  }

  // A barrier of all does not wait for threads that have ended.
  //
  // CHECK-LABEL: ended: 0 reports
  //
  // LAUNCH ended grid 1 block 64 shared 0 with
  llvm.func @ended() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = llvm.mlir.constant(32 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^done
  ^low:
    nvvm.barrier0
    llvm.br ^done
  ^done:
    llvm.return
  }

  // A shuffle of all lanes that only half of them reach.
  //
  // CHECK-LABEL: half_a_shuffle: 1 reports
  // CHECK-NEXT: deadlock: {{.*}} 16 from thread (0,0,0) on wait for a shuffle (nvvm.shfl.sync at {{.*}}), 16 from thread (16,0,0) on wait for a barrier (nvvm.barrier0 at {{.*}})
  //
  // LAUNCH half_a_shuffle grid 1 block 32 shared 0 with
  llvm.func @half_a_shuffle() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %half = llvm.mlir.constant(16 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^done
  ^low:
    %x = nvvm.shfl.sync bfly %all, %tid, %one, %clamp : i32 -> i32
    llvm.br ^done
  ^done:
    nvvm.barrier0
    llvm.return
  }

  // Lanes outside of their own mask, and a value from a lane that is not in it.
  //
  // CHECK-LABEL: outside_of_mask: 2 reports
  // CHECK-DAG: divergent collective: {{.*}} thread (16,0,0) (nvvm.shfl.sync at {{.*}}) is not in its own mask of lanes
  // CHECK-DAG: misuse: {{.*}} asks lane {{.*}} for a value (nvvm.shfl.sync at {{.*}}), which is not in the mask or has ended
  //
  // LAUNCH outside_of_mask grid 1 block 32 shared 0 with
  llvm.func @outside_of_mask() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.mlir.constant(0xffff : i32) : i32
    %offset = llvm.mlir.constant(16 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %x = nvvm.shfl.sync bfly %low, %tid, %offset, %clamp : i32 -> i32
    llvm.return
  }

  // Halves of a warp that shuffle by themselves.
  //
  // CHECK-LABEL: two_shuffles: 0 reports
  // CHECK-NEXT: out = 1 0 3 2
  //
  // LAUNCH two_shuffles grid 1 block 32 shared 0 with out
  // PRINT out 4
  llvm.func @two_shuffles(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.mlir.constant(0xffff : i32) : i32
    %high = llvm.mlir.constant(0xffff0000 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %half = llvm.mlir.constant(16 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^high
  ^low:
    %x = nvvm.shfl.sync bfly %low, %tid, %one, %clamp : i32 -> i32
    llvm.br ^done(%x : i32)
  ^high:
    %y = nvvm.shfl.sync bfly %high, %tid, %one, %clamp : i32 -> i32
    llvm.br ^done(%y : i32)
  ^done(%z: i32):
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %z, %to : i32, !llvm.ptr<1>
    llvm.return
  }

  // A matrix instruction is one for the whole warp.
  //
  // CHECK-LABEL: two_products: 2 reports
  // CHECK-NEXT: divergent collective: {{.*}} is at nvvm.mma.sync at {{.*}} while others of its warp are at nvvm.mma.sync at
  //
  // LAUNCH two_products grid 1 block 32 shared 0 with
  llvm.func @two_products() attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %a = llvm.mlir.zero : vector<2xf16>
    %c = llvm.mlir.zero : f32
    %half = llvm.mlir.constant(16 : i32) : i32
    %is = llvm.icmp "ult" %tid, %half : i32
    llvm.cond_br %is, ^low, ^high
  ^low:
    %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.br ^done
  ^high:
    %e = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.br ^done
  ^done:
    llvm.return
  }

  // CHECK-LABEL: trap: 1 reports
  // CHECK-NEXT: trap: {{.*}} thread (0,0,0) reaches a trap (llvm.intr.trap at {{.*}}divergence.mlir:[[# @LINE + 4]]:5)
  //
  // LAUNCH trap grid 1 block 32 shared 0 with
  llvm.func @trap() attributes {nvvm.kernel} {
    "llvm.intr.trap"() : () -> ()
    llvm.return
  }

  // A thread writes, its warp meets, another lane reads: that is in order. Another warp is not.
  //
  // CHECK-LABEL: {{^}}warp_sync: 0 reports
  // CHECK-LABEL: warp_sync_is_not_for_others: {{[1-9]}} reports
  // CHECK: race: {{.*}}llvm.load
  //
  // LAUNCH warp_sync grid 1 block 32 shared 256 with out
  // LAUNCH warp_sync_is_not_for_others grid 1 block 64 shared 256 with out
  llvm.mlir.global external @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @exchange(%out: !llvm.ptr<1>, %distance: i32) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %all = llvm.mlir.constant(-1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %other = llvm.xor %tid, %distance : i32
    %mine = llvm.getelementptr %tile[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %theirs = llvm.getelementptr %tile[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %mine : i32, !llvm.ptr<3>
    nvvm.bar.warp.sync %all : i32
    %x = llvm.load %theirs : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %x, %to : i32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @warp_sync(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %distance = llvm.mlir.constant(5 : i32) : i32
    llvm.call @exchange(%out, %distance) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }
  llvm.func @warp_sync_is_not_for_others(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %distance = llvm.mlir.constant(32 : i32) : i32
    llvm.call @exchange(%out, %distance) : (!llvm.ptr<1>, i32) -> ()
    llvm.return
  }

  // Thread 0 waits for a flag that thread 1 sets, and then, in the other kernel, for one that nobody sets. That is bad
  // style, the tracker says so; it is no hang.
  //
  // CHECK-LABEL: waits_for_flag: {{[1-9]}} reports
  // CHECK-NOT: deadlock
  // CHECK-LABEL: waits_for_nothing: {{[1-9]}} reports
  // CHECK: deadlock: {{.*}} 1 from thread (0,0,0) on wait for a condition, asking again and again (llvm.cond_br at
  //
  // LAUNCH waits_for_flag grid 1 block 2 shared 256 with 1
  // LAUNCH waits_for_nothing grid 1 block 2 shared 256 with 0
  llvm.func @flag(%value: i32) {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %zero, %tile : i32, !llvm.ptr<3>
    nvvm.barrier0
    %is = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %is, ^ask, ^set
  ^ask:
    %x = llvm.load volatile %tile : !llvm.ptr<3> -> i32
    %more = llvm.icmp "ne" %x, %one : i32
    llvm.cond_br %more, ^ask, ^done
  ^set:
    llvm.store volatile %value, %tile : i32, !llvm.ptr<3>
    llvm.br ^done
  ^done:
    llvm.return
  }
  llvm.func @waits_for_flag(%value: i32) attributes {nvvm.kernel} {
    llvm.call @flag(%value) : (i32) -> ()
    llvm.return
  }
  llvm.func @waits_for_nothing(%value: i32) attributes {nvvm.kernel} {
    llvm.call @flag(%value) : (i32) -> ()
    llvm.return
  }
}
