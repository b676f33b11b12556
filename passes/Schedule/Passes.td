//===- Passes.td - from selected to synced ---------------------*- tablegen -*-===//
//
// Owns the declarations of the passes that turn instructions in loops into one placed, ordered and synchronised stream.
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_PASSES_SCHEDULE_PASSES_TD
#define TRN_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"
include "passes/Target.td"

def TrnFlatten : Pass<"trn-flatten", "::mlir::ModuleOp"> {
  let summary = "Unroll, inline and evaluate until only instructions on base buffers are left";
  let description = [{
    *Contract in*: stage `selected`: the module has one public function; instructions stand in `scf.for` with bounds
    that evaluate to constants, `scf.if` with conditions that do, and private functions that are not recursive; memrefs
    come from `memref.alloc`, `trn.alloc`, `trn.get_global` or are arguments of the public function.

    *Contract out*: one block of `trn.alloc`, `trn.get_global` and instructions whose operands are base buffers with an
    access pattern (`aps`) each. Every iteration has its own buffers where the allocation stood inside the loop.
    `accumulate_if` is evaluated into `accumulate`. Arguments of the public function have become globals: an output when
    an instruction writes it, else an input; their names are the argument attribute `trn.name`, then `onnx.name`, then
    `arg<n>`. Instructions of a function that is called more than once carry the location of the call as well.

    *Example*:
    ```mlir
    scf.for %k = %c0 to %c2 step %c1 {
      %v = memref.subview %x[0, %k, 0] [128, 1, 64] [1, 1, 1] : …
      trn.tensor_copy outs(%y : …) ins(%v : …)
    }
    // becomes
    trn.tensor_copy outs(%y : …) ins(%x : …) {aps = [#trn.ap<…>, #trn.ap<… offset = 0 …>]}
    trn.tensor_copy outs(%y : …) ins(%x : …) {aps = [#trn.ap<…>, #trn.ap<… offset = 64 …>]}
    ```

    *Not done*: loops with bounds that data decides; more than 2^27 evaluated operations and iterations; patterns of more than four dimensions are an error that
    `trn-split-access-patterns` prevents.
  }];
  let dependentDialects = ["::trn::ir::TrnDialect", "::mlir::func::FuncDialect"];
}

def TrnSplitBuffers : Pass<"trn-split-buffers", "::mlir::ModuleOp"> {
  let summary = "Give every definition web its own buffer";
  let description = [{
    *Contract in*: the output of `trn-flatten`.

    *Contract out*: the same instructions; where no byte of a buffer is live before an instruction, the instruction
    and those after it use a new buffer. Reuse of one buffer by unrelated values then no longer orders them.

    *Example*:
    ```mlir
    trn.tensor_copy outs(%t : …) ins(%a : …) …   // web 1
    trn.tensor_copy outs(%x : …) ins(%t : …) …
    trn.tensor_copy outs(%t : …) ins(%b : …) …   // overwrites all of %t: web 2, on a new trn.alloc
    ```

    *Not done*: writes of more than 256 separate runs count as keeping what was there.
  }];
  let dependentDialects = ["::trn::ir::TrnDialect"];
}

def TrnAssignEngines : Pass<"trn-assign-engines", "::mlir::ModuleOp"> {
  let summary = "Choose the queue of instructions that have only one sensible queue";
  let description = [{
    *Contract in*: the output of `trn-split-buffers`.

    *Contract out*: `engine` on every instruction that one queue executes, and `engine` and `ring` on every DMA:
    SP issues them, POOL those with indices and every second load that moves faster than SP can issue. Loads from globals
    go to ring 0 (POOL: 3), all other transfers to ring 1, so that results do not queue behind prefetches. `trn.memset`
    of SBUF goes to POOL.
    Values already set stay.

    *Example*: `trn.nc_matmul …` becomes `trn.nc_matmul … {engine = #trn.engine<PE>}`.

    *Not done*: an instruction that ACT and DVE execute at similar cost stays open; `trn-schedule` gives it to the queue
    that is free first. POOL gets no arithmetic that DVE can do: it is slower and shares DVE's port (device guide 2.1.9).
  }];
  let options = [TargetOption<>];
  let dependentDialects = ["::trn::ir::TrnDialect"];
}

def TrnSchedule : Pass<"trn-schedule", "::mlir::ModuleOp"> {
  let summary = "Order all instructions in modelled time under the budget of SBUF and PSUM";
  let description = [{
    *Contract in*: the output of `trn-assign-engines`.

    *Contract out*: stage `scheduled`: the instructions stand in the order of their modelled issue, with `engine`,
    `issue` and `completion`. `trn.act_table_load` stands where ACT changes tables. `load_stationary` is false where
    the array already holds the operand. A budget of 90 % of SBUF is tried first and lowered by 5 % until the buffers
    can also be placed. With `search`, all budgets are tried, each with several shares that early loads leave to
    computation, and the shortest schedule whose buffers can be placed is taken: never a longer one than without.

    *Example*: loads of weights for later layers move up as far as memory allows; two independent chains interleave.

    *Not done*: buffers are not spilled. A program that does not fit even in program order is an error that lists the
    buffers alive at the peak, with the nodes they belong to.
  }];
  let options = [TargetOption<>,
    Option<"printPlan", "print-plan", "bool", "false", "Print the plan's summary to the diagnostics stream; default off">,
    Option<"sbufBudget", "sbuf-budget", "uint64_t", "0",
           "Bytes per partition; default 0: 90 % of the target's usable SBUF, then less">,
    Option<"search", "search", "bool", "false", "Take the shortest of many schedules; default off: the first that fits">];
  let dependentDialects = ["::trn::ir::TrnDialect"];
}

def TrnAllocate : Pass<"trn-allocate", "::mlir::ModuleOp"> {
  let summary = "Give every on-chip buffer an address";
  let description = [{
    *Contract in*: stage `scheduled`.

    *Contract out*: stage `allocated`: `address` on every on-chip `trn.alloc`; buffers alive at the same modelled time
    are disjoint. A PSUM buffer has whole banks, those released longest ago. Unused buffers are gone.

    *Example*: `trn.alloc : memref<128x64xf32, #trn.sbuf>` becomes `trn.alloc {address = 512 : i64} : …`.

    *Not done*: buffers of few partitions still occupy their byte range in all 128.
  }];
  let options = [TargetOption<>,
    Option<"printPlan", "print-plan", "bool", "false", "Print the plan's summary to the diagnostics stream; default off">];
  let dependentDialects = ["::trn::ir::TrnDialect"];
}

def TrnInsertSync : Pass<"trn-insert-sync", "::mlir::ModuleOp"> {
  let summary = "Add the fewest semaphore waits that keep every dependence";
  let description = [{
    *Contract in*: stage `allocated`.

    *Contract out*: stage `synced`: `wait` and `update` on instructions; a second wait of an instruction is a
    `trn.semaphore_wait` before it in the same queue. The end of SP's queue waits for the last transfer of each ring.

    *Example*: an activation that evicts PSUM gets `wait = #trn.wait<0, 3>`, the third counting matmul
    `update = #trn.update<0, 1>`.

    *Not done*: semaphores are not reset; the loader resets them.
  }];
  let options = [TargetOption<>,
    Option<"printPlan", "print-plan", "bool", "false", "Print the plan's summary to the diagnostics stream; default off">];
  let dependentDialects = ["::trn::ir::TrnDialect"];
}

#endif // TRN_PASSES_SCHEDULE_PASSES_TD
