// What attention needs, as formulas and as numbers.
//
// RUN: attnc %s --target=x86_64-linux-gnu:x86-64-v3 --report --report-sizes=M=1000,N=1000,threads=2 \
// RUN:   --report-peaks=fma=100,gemm=80,read=20 | FileCheck %s
// RUN: attnc %s --target=x86_64-linux-gnu:x86-64-v3 --report=json --report-sizes=threads=1 \
// RUN:   --report-peaks=fma=100,gemm=80,read=20 | FileCheck %s --check-prefix=JSON
// RUN: attn-opt %s --attn-set-target=target=x86_64-linux-gnu:x86-64-v3 \
// RUN:   --attn-report="sizes=M=1000,N=1000,threads=2 peaks=fma=100,gemm=80,read=20 file=%t.txt" -o /dev/null
// RUN: FileCheck %s --input-file=%t.txt
// RUN: not attnc %s --report=xml 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not attnc %s --report --report-sizes=Q=1 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not attnc %s --report --report-peaks=fma=1 2>&1 | FileCheck %s --check-prefix=PEAKS
// RUN: not attnc %s -o %t.o --report-sizes=M=1 2>&1 | FileCheck %s --check-prefix=NO-SIZES
// RUN: not attnc %s -o %t.o --report-peaks=fma=1,gemm=1,read=1 2>&1 | FileCheck %s --check-prefix=NO-PEAKS
//
// NO-SIZES: attnc: expects --report with --report-sizes
// NO-PEAKS: attnc: expects --report with --report-peaks
// KIND: attnc: expects --report=text or json, got xml
// SIZES: attnc: expects words like M=1024, got 'Q=1'
// PEAKS: attnc: expects peaks like fma=200,gemm=180,read=40, got 'fma=1'

// All pairs: 2 * 1 * 8 * 1000 * 1000 * (64 + 64) operations, 4 * 64 * (8 * 1000 + 2 * 2 * 1000) bytes read; the products
// take 2048000000 / 80e9 s, the weights 40 * 8000000 / 100e9 s.
//
// CHECK-LABEL: attnc-report.mlir:{{[0-9]+}}:8: attn.sdpa
// CHECK-NEXT:   sizes: B = 1, H = 8, G = 2, M = 1000, N = 1000, D = 64, E = 64
// CHECK-NEXT:   cells: 1000000 = S = M N
// CHECK-NEXT:   keys: 1000 = K = N
// CHECK-NEXT:   operations: 2048000000 = 2 B H S D + 2 B H S E{{$}}
// CHECK-NEXT:   exponentials: 8000000 = B H S
// CHECK-NEXT:   read: 3072000 bytes = 4 B G K D + 4 B G K E + 4 B H M D
// CHECK-NEXT:   written: 2048000 bytes = 4 B H M E
// CHECK-NEXT:   intensity: 400.00 operations a byte
// CHECK-NEXT:   held: {{[0-9]+}} bytes = {{.*}} threads
// CHECK-NEXT:   a tensor of all scores: 32000000 bytes = 4 B H M N
// CHECK-NEXT:   time: O(B H M N (D + E))
// CHECK-NEXT:   memory: O(1) a thread beside operands and results; all scores would take O(B H M N)
// CHECK-NEXT:   expected: 28.8 ms, by arithmetic (arithmetic 28.8 ms, memory 0.256 ms)
//
// JSON: "op": "attn.sdpa"
// JSON: "M": null,
// JSON: "operations": {
// JSON-NEXT: "formula": "2 B H S D + 2 B H S E",
// JSON-NEXT: "value": null
func.func @all(%q: tensor<1x8x?x64xf32>, %k: tensor<1x2x?x64xf32>) -> tensor<1x8x?x64xf32> {
  %o = attn.sdpa %q, %k, %k
    : tensor<1x8x?x64xf32>, tensor<1x2x?x64xf32>, tensor<1x2x?x64xf32> -> tensor<1x8x?x64xf32>
  return %o : tensor<1x8x?x64xf32>
}

// A triangle: 100 * 101 / 2 cells, not 10000.
//
// CHECK-LABEL: attn.sdpa
// CHECK:   cells: 5050 = S = sum over i < M of max(0, min(N, p + 1)), p = i; 50.5 % of M N
// CHECK:   operations: 1292800 = 2 B H S D + 2 B H S E, without mask 2560000
// CHECK:   exponentials: 20200 = B H S, without mask 40000
//
// JSON: "formula": "sum over i < M of max(0, min(N, p + 1)), p = i",
// JSON-NEXT: "value": 5050
// JSON: "value": 1292800,
// JSON-NEXT: "without_mask": 2560000
func.func @triangle(%x: tensor<2x2x100x16xf16>) -> tensor<2x2x100x16xf16> {
  %o = attn.sdpa %x, %x, %x causal = top_left
    : tensor<2x2x100x16xf16>, tensor<2x2x100x16xf16>, tensor<2x2x100x16xf16> -> tensor<2x2x100x16xf16>
  return %o : tensor<2x2x100x16xf16>
}

// The last 10 rows of 100 keys, of which each sees 8 and the last row the last: 80 cells, and 17 keys that are read. A
// bias of rows and keys is read where there are cells; weights take the scores twice, and memory of their own.
//
// CHECK-LABEL: attn.sdpa
// CHECK:   cells: 80 = S = sum over i < M of max(0, min(N, p + 1) - max(0, p - 7)), p = i + N - M; 8.0 % of M N
// CHECK-NEXT:   keys: 17 = K = the keys that some row sees
// CHECK:   operations: 7680 = 4 B H S D + 2 B H S E, without mask 96000
// CHECK:   exponentials: 160 = 2 B H S
// CHECK:   read: {{[0-9]+}} bytes = 8 B G K D + 8 B G K E + 8 B H M D + 4 S
// CHECK:   written: 9280 bytes = 8 B H M E + 8 B H M N
// CHECK:   time: O(B H M min(N, 8) (D + E))
func.func @window(%q: tensor<1x1x10x16xf64>, %k: tensor<1x1x100x16xf64>, %b: tensor<10x100xf32>)
    -> (tensor<1x1x10x16xf64>, tensor<1x1x10x100xf64>) {
  %o, %w = attn.sdpa %q, %k, %k bias(%b : tensor<10x100xf32>) causal = bottom_right window = <left = 7>
    : tensor<1x1x10x16xf64>, tensor<1x1x100x16xf64>, tensor<1x1x100x16xf64>
    -> tensor<1x1x10x16xf64> weights(tensor<1x1x10x100xf64>)
  return %o, %w : tensor<1x1x10x16xf64>, tensor<1x1x10x100xf64>
}

// A layer is the sum of its parts; its keys are the past and the new ones.
//
// CHECK-LABEL: attn.mha
// CHECK:   sizes: B = 1, H = 4, G = 2, M = 8, D = 16, E = 16, C = 32, F = 24, P = 40
// CHECK-NEXT:   cells: 356 = S
// CHECK-NEXT:   keys: 48 = K
// CHECK:   operations: {{[0-9]+}} = 2 B G M D C + 2 B G M E C + 2 B H M D C + 2 B H M E F + 2 B H S D + 2 B H S E,
// CHECK:   part query projection: operations 32768 = 2 B H M D C; read 9216, written 2048
// CHECK:   part key projection: operations 16384 = 2 B G M D C
// CHECK:   part value projection: operations 16384 = 2 B G M E C
// CHECK:   part attention: operations 91136 = 2 B H S D + 2 B H S E
// CHECK:   part output projection: operations 24576 = 2 B H M E F
func.func @layer(%x: tensor<1x8x32xf32>, %wq: tensor<64x32xf32>, %wk: tensor<32x32xf32>, %wo: tensor<24x64xf32>,
                 %past: tensor<1x2x40x16xf32>) -> tensor<1x8x24xf32> {
  %y, %pk, %pv = attn.mha %x query(%wq : tensor<64x32xf32>) key(%wk : tensor<32x32xf32>) value(%wk : tensor<32x32xf32>)
    output(%wo : tensor<24x64xf32>) past(%past : tensor<1x2x40x16xf32>, %past : tensor<1x2x40x16xf32>)
    heads = 4 kv_heads = 2 causal = bottom_right
    : tensor<1x8x32xf32> -> tensor<1x8x24xf32> present(tensor<1x2x48x16xf32>, tensor<1x2x48x16xf32>)
  return %y : tensor<1x8x24xf32>
}

// No scores: each step writes D * E numbers of a state a key head, and reads them for every query head; a delta rule reads
// them once more, and a decay multiplies them.
//
// CHECK-LABEL: attn.linear_attention
// CHECK:   sizes: B = 1, H = 4, G = 2, T = 50, D = 8, E = 16
// CHECK-NEXT:   operations: 115200 = 5 B G T D E + 2 B H T D E
// CHECK-NEXT:   read: {{[0-9]+}} bytes = 8 B G T + 4 B G T D + 4 B G T E + 4 B H T D
// CHECK-NEXT:   written: 13824 bytes = 4 B G D E + 4 B H T E
// CHECK:   time: O(B H T D E)
// CHECK-NEXT:   memory: O(B G D E)
func.func @linear(%q: tensor<1x4x50x8xf32>, %k: tensor<1x2x50x8xf32>, %v: tensor<1x2x50x16xf32>, %g: tensor<1x2x50xf32>)
    -> (tensor<1x4x50x16xf32>, tensor<1x2x8x16xf32>) {
  %o, %s = attn.linear_attention %q, %k, %v decay(%g : tensor<1x2x50xf32>) beta(%g : tensor<1x2x50xf32>)
    rule = gated_delta
    : tensor<1x4x50x8xf32>, tensor<1x2x50x8xf32>, tensor<1x2x50x16xf32>
    -> tensor<1x4x50x16xf32> state(tensor<1x2x8x16xf32>)
  return %o, %s : tensor<1x4x50x16xf32>, tensor<1x2x8x16xf32>
}

// Keys in pages: 3 pages of 16 tokens for each of 2 entries, whatever the pool holds. Each key has a scale, in 48 tokens.
//
// CHECK-LABEL: attn.sdpa
// CHECK:   sizes: B = 2, H = 4, G = 2, M = 5, N = 48, D = 8, E = 8, pool = 100, page = 16, pages = 3
// CHECK-NEXT:   cells: 240 = S = M N
// CHECK-NEXT:   keys: 48 = K = N
// CHECK-NEXT:   operations: 61440 = 2 B H S D + 2 B H S E
// CHECK:   read: {{[0-9]+}} bytes = 8 B G K + B G K D + B G K E + 4 B H M D + 4 B pages
// CHECK:   note: a page is counted for each entry that reads it
func.func @pages(%q: tensor<2x4x5x8xf32>, %k: tensor<100x2x16x8xi8>, %t: tensor<2x3xi32>, %s: tensor<100x2x16xf32>)
    -> tensor<2x4x5x8xf32> {
  %o = attn.sdpa %q, %k, %k page_table(%t : tensor<2x3xi32>) key_scale(%s : tensor<100x2x16xf32>)
    value_scale(%s : tensor<100x2x16xf32>)
    : tensor<2x4x5x8xf32>, tensor<100x2x16x8xi8>, tensor<100x2x16x8xi8> -> tensor<2x4x5x8xf32>
  return %o : tensor<2x4x5x8xf32>
}

// How many cells packed sequences have is not known before they are; their rows and keys are.
//
// CHECK-LABEL: attn.sdpa
// CHECK:   sizes: B = 3, H = 4, G = 2, Tq = 30, Tk = 70, D = 8, E = 8
// CHECK-NEXT:   operations: ? = 2 H S D + 2 H S E
// CHECK:   read: 12832 bytes = {{.*}} + 4 H D Tq
// CHECK:   written: 3840 bytes = 4 H E Tq
// CHECK:   time: O(H S (D + E))
// CHECK:   note: S, the cells of all sequences, is known when the program runs, and all keys are taken as read
func.func @packed(%q: tensor<30x4x8xf32>, %k: tensor<70x2x8xf32>, %e: tensor<4xi32>) -> tensor<30x4x8xf32> {
  %o = attn.sdpa %q, %k, %k cu_seqlens_q(%e : tensor<4xi32>) cu_seqlens_k(%e : tensor<4xi32>) causal = bottom_right
    : tensor<30x4x8xf32>, tensor<70x2x8xf32>, tensor<70x2x8xf32> -> tensor<30x4x8xf32>
  return %o : tensor<30x4x8xf32>
}

// A band of 2^40 rows is counted without going through them; what does not fit into 64 bits is not known.
//
// CHECK-LABEL: attn.sdpa
// CHECK:   sizes: B = 1, H = 1, G = 1, M = 1099511627776, N = 1099511627776, D = 2, E = 2
// CHECK-NEXT:   cells: 281474976678016 = S
// CHECK-NEXT:   keys: 1099511627776 = K
func.func @large(%q: tensor<1x1x1099511627776x2xf16>) -> tensor<1x1x1099511627776x2xf16> {
  %o = attn.sdpa %q, %q, %q causal = top_left window = <left = 255>
    : tensor<1x1x1099511627776x2xf16>, tensor<1x1x1099511627776x2xf16>, tensor<1x1x1099511627776x2xf16>
    -> tensor<1x1x1099511627776x2xf16>
  return %o : tensor<1x1x1099511627776x2xf16>
}
