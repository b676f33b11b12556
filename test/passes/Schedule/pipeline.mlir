// The kernels of Inputs/ from `selected` to `synced`, with every contract on the way.
// RUN: trn-opt %S/Inputs/matmul.mlir --trn-flatten --trn-split-buffers --trn-assign-engines --trn-schedule --trn-verify-stage=stage=scheduled --trn-allocate --trn-verify-stage=stage=allocated --trn-insert-sync --trn-verify-sync | %FileCheck %s --check-prefix=MATMUL
// RUN: trn-opt %S/Inputs/conv3x3.mlir --trn-flatten --trn-split-buffers --trn-assign-engines --trn-schedule --trn-verify-stage=stage=scheduled --trn-allocate --trn-verify-stage=stage=allocated --trn-insert-sync --trn-verify-sync | %FileCheck %s --check-prefix=CONV
// RUN: trn-opt %S/Inputs/softmax.mlir --trn-flatten --trn-split-buffers --trn-assign-engines --trn-schedule --trn-verify-stage=stage=scheduled --trn-allocate --trn-verify-stage=stage=allocated --trn-insert-sync --trn-verify-sync | %FileCheck %s --check-prefix=SOFTMAX
// RUN: trn-opt %S/Inputs/softmax.mlir --trn-flatten --trn-split-buffers --trn-assign-engines --trn-schedule=print-plan=1 --trn-allocate=print-plan=1 --trn-insert-sync=print-plan=1 -o /dev/null 2>&1 | %FileCheck %s --check-prefix=PLAN

// Loads come first, on their own ring; the second matmul accumulates; the results leave on ring 1; the end of SP's queue
// waits for the last of them. Ring 0 completes in order, so that the first matmul waits once for both of its loads.
// MATMUL: trn.dma_copy {{.*}}engine = #trn.engine<SP>{{.*}}ring = 0
// MATMUL: trn.dma_copy {{.*}}ring = 0
// MATMUL: trn.nc_matmul {{.*}}wait = #trn.wait
// MATMUL: trn.nc_matmul {{.*}}{accumulate,{{.*}}update = #trn.update<{{[0-9]+}}, 1>
// MATMUL: trn.dma_copy {{.*}}#trn.hbm>) ins({{.*}}ring = 1
// MATMUL: trn.semaphore_wait {{.*}}engine = #trn.engine<SP>
// MATMUL-NEXT: return

// Nine taps each for two tiles; no matmul waits for another, only the first one for its operands.
// CONV: trn.nc_matmul {{.*}}wait =
// CONV-NOT: trn.nc_matmul {{.*}}wait =
// CONV: return

// One exchange of tables for both blocks, and the second block's load overlaps the first one's work.
// SOFTMAX-COUNT-2: trn.dma_copy {{.*}}ring = 0
// SOFTMAX: trn.act_table_load
// SOFTMAX-NOT: trn.act_table_load
// SOFTMAX: return

// PLAN: schedule: 12 instructions, {{[0-9.]+}} us, peak 16016 bytes of SBUF per partition and 0 PSUM banks
// PLAN: SP: busy
// PLAN: allocation: 12 SBUF buffers, peak {{[0-9]+}} bytes per partition (largest first), 0 PSUM buffers
// PLAN: synchronisation: {{[0-9]+}} dependences, {{[0-9]+}} waits (0 to reuse a semaphore
