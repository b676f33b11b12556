//===- Control.td - instructions of the sequencers -------------*- tablegen -*-===//
//
// Every queue has them. Registers are private to a queue (Family.td). Targets are positions
// in the queue's program. Costs: 64 cycles (device guide 3.6, inferred).
//
// Branches that data decides stand between barriers: each queue loads the same element into a register of its own and
// goes the same way, and the code between two barriers is synchronised by itself, whatever ran before it.
//
//===--------------------------------------------------------------------------===//
include "dialects/Trn/ISA/Family.td"
include "dialects/Trn/ISA/Inst.td"

defvar kAllEngines = ["PE", "ACT", "DVE", "POOL", "SP"];

class ControlInst<string mnemonic, int opcode, list<InstAttr> attrs> : Inst<mnemonic, opcode, [], attrs, kAllEngines> {
  let costs = [Cost<"", "device.minInterval", "device.minInterval", "inferred (device guide 3.6)">];
}
class RegisterAttr<string name> : IntAttr<name, 0, !sub(kQueueRegisters, 1)>;
class TargetAttr<string name> : IntAttr<name, 0, 1073741823>;

def SemaphoreWaitOp : ControlInst<"semaphore_wait", 0xA0, []> {
  let summary = "wait for one more semaphore condition";
  let description = "Does nothing; carries the wait (and update) that its neighbour in the queue has no room for.";
  let source = "profiles: EVENT_SEMAPHORE; one wait per instruction is ours (device guide 9.15)";
  let costs = [Cost<"", "device.cycles(engine, device.semaphoreWaitNs)", "device.cycles(engine, device.semaphoreWaitNs)",
                    "measured (device guide 11.4: EVENT_SEMAPHORE 13 to 18 ns)">];
}

def NopOp : ControlInst<"nop", 0xA1, []> {
  let summary = "do nothing";
  let description = "Occupies its place in the queue.";
  let source = "ours";
}

def RegisterMoveOp : ControlInst<"register_move", 0xA2,
    [RegisterAttr<"reg">, IntAttr<"value", -2147483647, 2147483647, 0>]> {
  let summary = "reg = value";
  let description = "Registers hold 32-bit integers.";
  let source = "ISA32 register_move";
}

def RegisterAddOp : ControlInst<"register_add", 0xA3,
    [RegisterAttr<"reg">, RegisterAttr<"source_reg">, IntAttr<"value", -2147483647, 2147483647, 0>]> {
  let summary = "reg = source_reg + value";
  let description = "Wraps around at 32 bits.";
  let source = "KLR RegisterAluOp";
}

def BranchOp : ControlInst<"branch", 0xA4,
    [DefaultAluAttr<"compare", AluBypass>, RegisterAttr<"reg">, IntAttr<"value", -2147483647, 2147483647, 0>,
     TargetAttr<"target">]> {
  let summary = "continue at target when the register compares with value";
  let description = "With `bypass` the branch is always taken. Signed comparison.";
  let source = "KLR CmpBranch";
  let rules = [
    Rule<20, "compare == AluOp::Bypass || info(compare).kind == AluKind::Compare",
         "expected a comparison or bypass, but got '{name(compare)}'", "KLR CmpBranch">,
  ];
}

def LoopOp : ControlInst<"loop", 0xA5, [RegisterAttr<"reg">, TargetAttr<"target">]> {
  let summary = "subtract 1 from the register and continue at target while it is positive";
  let description = "Closes a counted loop whose trip count a register holds.";
  let source = "A2 sequencer control; the combined form is ours";
}

def RegisterLoadOp : Inst<"register_load", 0xA6, [In<"src", ["HBM"], ["I8", "U8", "I32", "U32", "BOOL"]>],
    [RegisterAttr<"reg">], kAllEngines> {
  let summary = "reg = one integer of device memory";
  let description = "Narrow integers are extended by their sign; unsigned ones of 32 bits must fit 31.";
  let source = "ISA32 register_load";
  let rules = [Rule<20, "src.totalElements() == 1", "expected one element, but got {src.totalElements()}",
                    "ISA32 register_load">];
  let costs = [Cost<"", "device.cycles(engine, device.dmaStartNs + device.dmaCompletionNs)",
                    "device.cycles(engine, device.dmaStartNs + device.dmaCompletionNs)",
                    "inferred: as a transfer of one element">];
}

def BarrierOp : ControlInst<"barrier", 0xA7, []> {
  let summary = "wait until every queue is at its barrier";
  let description = [{
    A queue that has completed all it has issued waits here for the others. When all have come, all semaphores are 0 and
    every queue goes on. Transfers must be complete by then, and nothing behind a barrier may rely on what SBUF, PSUM or
    the tables of ACT held before it: what is to stay lies in device memory.
  }];
  let source = "ISA32 core_barrier, A2; for the queues of one core, and with the reset of semaphores, ours";
  let costs = [Cost<"", "device.cycles(engine, device.semaphoreWaitNs)", "device.cycles(engine, device.semaphoreWaitNs)",
                    "inferred: as an EVENT_SEMAPHORE">];
}
