//===- InsertSync.cpp - semaphores ----------------------------------------===//
//
// Owns `trn-insert-sync`: it shows the allocated program to the planner in physical memory and writes the waits and
// updates that the planner chose.
//
//===----------------------------------------------------------------------===//
#include "compiler/Support/PlanReport.h"
#include "dialects/Trn/Control.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Analysis/SyncPlan.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNINSERTSYNC
#include "passes/Schedule/Passes.h.inc"
} // namespace trn

using namespace trn;

namespace {

/// SBUF and PSUM are memories 0 and 1, HBM buffers come behind.
enum : uint32_t { kSbuf, kPsum, kFirstHbm };

struct InsertSyncPass : trn::impl::TrnInsertSyncBase<InsertSyncPass> {
  using TrnInsertSyncBase::TrnInsertSyncBase;
  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    func::FuncOp entry = device ? findEntry(getOperation()) : func::FuncOp();
    if (!entry)
      return signalPassFailure();
    FailureOr<FunctionProgram> read = readProgram(entry, *device);
    SyncProgram program;
    if (failed(read) || failed(placeAccesses(*read, program)))
      return signalPassFailure();
    SyncPlan plan;
    if (!computeSync(program, resourcesOf(*device), plan)) {
      entry.emitOpError("needs more than the ") << device->semaphores << " semaphores of " << device->name;
      return signalPassFailure();
    }
    apply(entry, *read, plan);
    if (printPlan)
      reportPlan(entry, plan);
  }

private:
  LogicalResult placeAccesses(const FunctionProgram &read, SyncProgram &program);
  void apply(func::FuncOp entry, FunctionProgram &read, const SyncPlan &plan);
};

} // namespace

LogicalResult InsertSyncPass::placeAccesses(const FunctionProgram &read, SyncProgram &program) {
  program.memories = kFirstHbm + read.buffers.size();
  std::vector<uint64_t> addresses(read.buffers.size(), 0);
  for (uint32_t buffer = 0; buffer < read.buffers.size(); ++buffer) {
    auto alloc = read.buffers[buffer].getDefiningOp<ir::AllocOp>();
    if (!alloc || read.program.buffers[buffer].space == isa::Space::HBM)
      continue;
    if (!alloc.getAddress())
      return alloc.emitOpError("expected an address; run trn-allocate");
    addresses[buffer] = *alloc.getAddress();
  }
  for (uint32_t node = 0; node < read.operations.size(); ++node) {
    ir::InstructionOpInterface op = read.operations[node];
    if (!op.getEngine())
      return op->emitOpError("expected an engine; run trn-schedule");
    const FlatInstruction &flat = read.program.instructions[node];
    uint32_t first = program.accesses.size();
    for (FlatAccess access : read.program.accessesOf(node)) {
      isa::Space space = read.program.buffers[access.buffer].space;
      access.region = access.region.shifted(addresses[access.buffer]);
      access.buffer = space == isa::Space::HBM ? kFirstHbm + access.buffer : space == isa::Space::PSUM ? kPsum : kSbuf;
      program.accesses.push_back(access);
    }
    program.instructions.push_back({*op.getEngine(), flat.isDma, flat.ring, first, flat.numAccesses});
  }
  return success();
}

static ir::WaitAttr waitAttr(MLIRContext *context, const isa::Wait &wait) {
  return ir::WaitAttr::get(context, wait.semaphore, wait.value);
}

/// A wait that its instruction has no room for, in front of it in the queue.
static void insertWait(OpBuilder &builder, Location loc, isa::Engine engine, const isa::Wait &wait,
                       std::optional<int64_t> time) {
  auto op = ir::SemaphoreWaitOp::create(builder, loc);
  op.setEngine(engine);
  op.setWaitAttr(waitAttr(builder.getContext(), wait));
  if (time) {
    op.setIssue(*time);
    op.setCompletion(*time);
  }
}

void InsertSyncPass::apply(func::FuncOp entry, FunctionProgram &read, const SyncPlan &plan) {
  MLIRContext *context = &getContext();
  for (uint32_t node = 0; node < read.operations.size(); ++node) {
    ir::InstructionOpInterface op = read.operations[node];
    const SyncPlan::Instruction &sync = plan.instructions[node];
    OpBuilder builder(op);
    for (const isa::Wait &wait : ArrayRef(sync.waits).drop_front(sync.waits.empty() ? 0 : 1))
      insertWait(builder, op->getLoc(), *op.getEngine(), wait, op.getIssue());
    if (!sync.waits.empty())
      op.setWaitAttr(waitAttr(context, sync.waits.front()));
    if (sync.update)
      op.setUpdateAttr(ir::UpdateAttr::get(context, sync.update->semaphore, sync.update->add));
  }
  Operation *end = entry.getBody().front().getTerminator();
  OpBuilder builder(end);
  int64_t last = 0;
  for (ir::InstructionOpInterface op : read.operations)
    last = std::max(last, op.getCompletion().value_or(0));
  for (const isa::Wait &wait : plan.finalWaits)
    insertWait(builder, end->getLoc(), isa::Engine::SP, wait, last);
}
