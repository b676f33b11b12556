//===- Schedule.cpp - order in modelled time ------------------------------===//
//
// Owns `trn-schedule`: it computes a schedule whose buffers can also be placed, and applies it.
//
//===----------------------------------------------------------------------===//
#include "compiler/Support/PlanReport.h"
#include "compiler/Support/Problems.h"
#include "dialects/Trn/ACT.h"
#include "dialects/Trn/PE.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Schedule/Analysis/AllocationPlan.h"
#include "passes/Schedule/Passes.h"
#include "passes/Schedule/ReadProgram.h"

using namespace mlir;

namespace trn {
#define GEN_PASS_DEF_TRNSCHEDULE
#include "passes/Schedule/Passes.h.inc"
} // namespace trn

using namespace trn;

/// First budget, as a share of SBUF: fragmentation costs 3 to 14 %. Then 5 % less each time, down to a half.
static constexpr unsigned kFirstBudgetPercent = 90;
static constexpr unsigned kBudgetStepPercent = 5;
static constexpr unsigned kLastBudgetPercent = 50;
/// What a search tries beside the default: how much early loads leave of the budget decides whether computation or loads
/// wait.
static constexpr double kComputeReserves[] = {0, 0.0625, 0.25, 0.375};
/// Buffers that a capacity error lists, the largest first.
static constexpr unsigned kListedBuffers = 12;

namespace {

struct SchedulePass : trn::impl::TrnScheduleBase<SchedulePass> {
  using TrnScheduleBase::TrnScheduleBase;
  void runOnOperation() override {
    const isa::DeviceInfo *device = findDevice(getOperation(), target);
    func::FuncOp entry = device ? findEntry(getOperation()) : func::FuncOp();
    if (!entry)
      return signalPassFailure();
    FailureOr<FunctionProgram> read = readProgram(entry, *device);
    if (failed(read))
      return signalPassFailure();
    SchedulePlan plan;
    if (failed(findSchedule(entry, *read, resourcesOf(*device), plan)))
      return signalPassFailure();
    apply(entry, *read, plan);
    reuseStationary(entry);
    if (printPlan)
      reportPlan(entry, plan);
  }

private:
  LogicalResult findSchedule(func::FuncOp entry, const FunctionProgram &read, const Resources &resources,
                             SchedulePlan &plan);
  LogicalResult reportFragmentation(func::FuncOp entry, const FunctionProgram &read, ArrayRef<uint32_t> homeless);
  void searchSchedule(const FunctionProgram &read, const DependenceGraph &graph, const Resources &resources,
                      SchedulePlan &best);
  LogicalResult reportCapacity(const FunctionProgram &read, const CapacityProblem &problem);
  void apply(func::FuncOp entry, FunctionProgram &read, const SchedulePlan &plan);
  void insertTableLoad(OpBuilder &builder, Location loc, const TableLoad &load);
  void reuseStationary(func::FuncOp entry);
};

} // namespace

LogicalResult SchedulePass::findSchedule(func::FuncOp entry, const FunctionProgram &read, const Resources &resources,
                                         SchedulePlan &plan) {
  DependenceGraph graph = computeDependences(read.program);
  CapacityProblem problem;
  auto attempt = [&](uint64_t budget) {
    problem = CapacityProblem();
    return computeSchedule(read.program, graph, resources, {budget, ScheduleOptions().computeReserve}, plan, problem);
  };
  if (sbufBudget)
    return attempt(sbufBudget) ? success() : reportCapacity(read, problem);
  AllocationPlan allocation;
  for (unsigned percent = kFirstBudgetPercent; percent >= kLastBudgetPercent; percent -= kBudgetStepPercent) {
    bool fits = attempt(resources.sbufBytes * percent / 100);
    if (!fits && problem.space == isa::Space::SBUF)
      problem.available = resources.sbufBytes;
    if (!fits && problem.needed > problem.available)
      return reportCapacity(read, problem);
    // Program order alone needs more than this budget: give it just that, so that little else is alive beside it.
    if (!fits && !attempt(problem.needed))
      return reportCapacity(read, problem);
    allocation = computeAllocation(read.program, plan.instructions, resources);
    if (allocation.ok()) {
      if (search)
        searchSchedule(read, graph, resources, plan);
      return success();
    }
    if (!fits)
      break;
  }
  return reportFragmentation(entry, read, allocation.failed);
}

/// The estimate does not see every stall that the event simulation does: what is to replace the plan that is known to be
/// good has to be shorter by this share of it.
static constexpr double kLeastGain = 0.05;

/// Replaces `best` by the shortest schedule whose buffers can be placed too, when it is clearly shorter.
void SchedulePass::searchSchedule(const FunctionProgram &read, const DependenceGraph &graph, const Resources &resources,
                                  SchedulePlan &best) {
  Ticks below = static_cast<Ticks>(best.makespan * (1 - kLeastGain));
  auto consider = [&](unsigned percent, double reserve) {
    SchedulePlan plan;
    CapacityProblem problem;
    if (computeSchedule(read.program, graph, resources, {resources.sbufBytes * percent / 100, reserve}, plan, problem) &&
        plan.makespan < std::min(below, best.makespan) && computeAllocation(read.program, plan.instructions, resources).ok())
      best = std::move(plan);
  };
  for (unsigned percent = kFirstBudgetPercent; percent >= kLastBudgetPercent; percent -= kBudgetStepPercent) {
    consider(percent, ScheduleOptions().computeReserve);
    for (double reserve : kComputeReserves)
      consider(percent, reserve);
  }
}

/// The node of the first instruction that writes a buffer.
static std::string writerOf(const FunctionProgram &read, uint32_t buffer) {
  for (uint32_t node = 0; node < read.operations.size(); ++node)
    for (const FlatAccess &access : read.program.accessesOf(node))
      if (access.buffer == buffer && access.writes)
        return originOf(read.operations[node]->getLoc()).node;
  return "";
}

LogicalResult SchedulePass::reportFragmentation(func::FuncOp entry, const FunctionProgram &read,
                                                ArrayRef<uint32_t> homeless) {
  InFlightDiagnostic error = emitError(entry.getLoc(), "the buffers of '")
                             << entry.getSymName() << "' fit in memory, but " << homeless.size()
                             << " of them find no place because free memory is fragmented; keep a large tensor in HBM";
  std::vector<std::string> nodes;
  for (uint32_t buffer : homeless.take_front(kListedBuffers)) {
    std::string writer = writerOf(read, buffer);
    error.attachNote(read.buffers[buffer].getLoc())
        << read.program.buffers[buffer].bytes << " bytes per partition: " << read.buffers[buffer].getType()
        << ", written by node '" << writer << "'";
    if (!writer.empty() && !llvm::is_contained(nodes, writer))
      nodes.push_back(writer);
  }
  markExceedsSbuf(error, nodes);
  return error;
}

LogicalResult SchedulePass::reportCapacity(const FunctionProgram &read, const CapacityProblem &problem) {
  ir::InstructionOpInterface at = read.operations[problem.instruction];
  bool sbuf = problem.space == isa::Space::SBUF;
  InFlightDiagnostic error = at->emitOpError("needs ")
                             << problem.needed << (sbuf ? " bytes of SBUF per partition" : " PSUM banks")
                             << " alive at once, but " << problem.available
                             << " are available, even in program order; tile the largest of these buffers, or keep it "
                                "in HBM";
  std::string crowded = originOf(at->getLoc()).node;
  if (sbuf)
    markExceedsSbuf(error, crowded.empty() ? ArrayRef<std::string>() : ArrayRef<std::string>(crowded));
  std::vector<uint32_t> live = problem.live;
  llvm::sort(live, [&](uint32_t a, uint32_t b) {
    return std::make_pair(read.program.buffers[b].bytes, a) < std::make_pair(read.program.buffers[a].bytes, b);
  });
  for (uint32_t buffer : ArrayRef(live).take_front(kListedBuffers))
    error.attachNote(read.buffers[buffer].getLoc())
        << read.program.buffers[buffer].bytes << " bytes per partition: " << read.buffers[buffer].getType()
        << ", written by node '" << writerOf(read, buffer) << "'";
  if (live.size() > kListedBuffers)
    error.attachNote() << "and " << live.size() - kListedBuffers << " smaller ones";
  return error;
}

void SchedulePass::apply(func::FuncOp entry, FunctionProgram &read, const SchedulePlan &plan) {
  Operation *end = entry.getBody().front().getTerminator();
  OpBuilder builder(end);
  ArrayRef<TableLoad> tableLoads = plan.tableLoads; // in the order of time
  for (uint32_t node : plan.order) {
    ir::InstructionOpInterface op = read.operations[node];
    const ScheduledInstruction &scheduled = plan.instructions[node];
    while (!tableLoads.empty() && tableLoads.front().issue <= scheduled.issue) {
      insertTableLoad(builder, read.operations[tableLoads.front().before]->getLoc(), tableLoads.front());
      tableLoads = tableLoads.drop_front();
    }
    op.setEngine(scheduled.engine);
    op.setIssue(scheduled.issue);
    op.setCompletion(scheduled.completion);
    op->moveBefore(end);
  }
}

void SchedulePass::insertTableLoad(OpBuilder &builder, Location loc, const TableLoad &load) {
  auto op = ir::ActTableLoadOp::create(builder, loc);
  op.setSet(load.set);
  auto instruction = cast<ir::InstructionOpInterface>(op.getOperation());
  instruction.setEngine(isa::Engine::ACT);
  instruction.setIssue(load.issue);
  instruction.setCompletion(load.completion);
}

/// The array keeps its stationary operand until another matmul or transpose loads one.
void SchedulePass::reuseStationary(func::FuncOp entry) {
  Value loaded;
  Attribute loadedPattern;
  for (Operation &op : entry.getBody().front()) {
    auto instruction = dyn_cast<ir::InstructionOpInterface>(op);
    if (!instruction)
      continue;
    if (auto matmul = dyn_cast<ir::NcMatmulOp>(op)) {
      Attribute pattern = matmul.getApsAttr()[1];
      bool same = loaded == matmul.getStationary() && loadedPattern == pattern;
      matmul.setLoadStationary(!same);
      loaded = matmul.getStationary();
      loadedPattern = pattern;
      continue;
    }
    if (instruction.getEngine() == isa::Engine::PE && !op.getOperands().empty())
      loaded = Value();
    for (OpOperand &operand : op.getOpOperands())
      if (operand.get() == loaded &&
          instruction.getOperandInfo(operand.getOperandNumber())->role != isa::Role::In)
        loaded = Value();
  }
}
