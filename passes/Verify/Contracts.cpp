//===- Contracts.cpp - what holds at the stages scheduled to synced -------===//
//
// Owns the checks of Contracts.h.
//
//===----------------------------------------------------------------------===//
#include "passes/Verify/Contracts.h"
#include "dialects/Trn/TrnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Encode/Encode.h"
#include "passes/Schedule/ReadProgram.h"
#include "runtime/check/Check.h"

using namespace mlir;
using namespace trn;

namespace {

/// Errors after the first few say nothing new.
constexpr unsigned kMaxErrors = 16;

class ContractCheck {
public:
  ContractCheck(func::FuncOp entry, const isa::DeviceInfo &device) : entry(entry), device(device) {}

  LogicalResult scheduled();
  LogicalResult allocated();

private:
  void checkInstruction(ir::InstructionOpInterface op);
  void report(ir::InstructionOpInterface op, ArrayRef<isa::Violation> violations);
  void checkAddress(ir::AllocOp alloc);
  void checkDisjoint(const FunctionProgram &read);
  InFlightDiagnostic error(Operation *op) {
    ++errors;
    return op->emitOpError();
  }

  func::FuncOp entry;
  const isa::DeviceInfo &device;
  unsigned errors = 0;
  int64_t lastIssue = 0;
};

} // namespace

void ContractCheck::report(ir::InstructionOpInterface op, ArrayRef<isa::Violation> violations) {
  for (const isa::Violation &violation : violations)
    error(op) << "breaks rule " << violation.number << ": " << violation.message << " (" << violation.source << ")";
}

void ContractCheck::checkInstruction(ir::InstructionOpInterface op) {
  unsigned memrefs = llvm::count_if(op->getOperandTypes(), [](Type type) { return llvm::isa<MemRefType>(type); });
  unsigned patterns = op.getApsAttr() ? op.getApsAttr().size() : 0;
  if (patterns != memrefs) {
    error(op) << "expected " << memrefs << " access patterns, but got " << patterns;
    return;
  }
  if (!op.getEngine() || !op.getIssue() || !op.getCompletion()) {
    error(op) << "expected an engine, an issue and a completion";
    return;
  }
  if (op.isDma() && !op.getRing())
    error(op) << "expected a ring";
  if (*op.getIssue() < lastIssue)
    error(op) << "is issued at " << *op.getIssue() << ", but stands behind an instruction issued at " << lastIssue;
  lastIssue = std::max(lastIssue, *op.getIssue());
  if (*op.getCompletion() < *op.getIssue())
    error(op) << "completes at " << *op.getCompletion() << ", before its issue at " << *op.getIssue();

  FailureOr<isa::Instruction> inst = op.toInstruction([](Value) -> FailureOr<ir::ResolvedBuffer> { return ir::ResolvedBuffer(); });
  if (failed(inst)) {
    ++errors;
    return;
  }
  std::vector<isa::Violation> violations;
  isa::validate(*inst, device, isa::Phase::Shape, violations);
  isa::validateEngine(*inst, *op.getEngine(), device, violations);
  report(op, violations);
}

LogicalResult ContractCheck::scheduled() {
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitOpError("expected one block");
  for (Operation &op : entry.getBody().front().without_terminator()) {
    if (errors >= kMaxErrors)
      break;
    if (llvm::isa<ir::AllocOp, ir::GetGlobalOp>(op))
      continue;
    if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op))
      checkInstruction(instruction);
    else
      error(&op) << "expected only buffers and instructions";
  }
  return failure(errors != 0);
}

void ContractCheck::checkAddress(ir::AllocOp alloc) {
  FlatBuffer buffer = bufferOf(alloc.getResult());
  if (buffer.space == isa::Space::HBM)
    return;
  if (!alloc.getAddress()) {
    error(alloc) << "expected an address";
    return;
  }
  uint64_t end = *alloc.getAddress() + buffer.bytes;
  uint64_t capacity = device.capacity(buffer.space);
  if (end > capacity)
    error(alloc) << "ends at byte " << end << " of a partition, but " << isa::name(buffer.space) << " of "
                 << device.name << " has " << capacity;
}

/// Sweeps over modelled time and keeps the live buffers by address.
void ContractCheck::checkDisjoint(const FunctionProgram &read) {
  struct Edge {
    int64_t time;
    bool begins;
    uint32_t buffer;
  };
  std::vector<std::pair<int64_t, int64_t>> lives(read.buffers.size(), {INT64_MAX, -1});
  for (uint32_t node = 0; node < read.operations.size(); ++node)
    for (const FlatAccess &access : read.program.accessesOf(node)) {
      ir::InstructionOpInterface op = read.operations[node];
      auto &[begin, end] = lives[access.buffer];
      begin = std::min(begin, *op.getIssue());
      end = std::max(end, *op.getCompletion());
    }
  std::vector<Edge> edges;
  for (uint32_t buffer = 0; buffer < read.buffers.size(); ++buffer)
    if (read.program.buffers[buffer].space != isa::Space::HBM && lives[buffer].first < lives[buffer].second) {
      edges.push_back({lives[buffer].first, true, buffer});
      edges.push_back({lives[buffer].second, false, buffer});
    }
  llvm::sort(edges, [](const Edge &a, const Edge &b) {
    return std::make_tuple(a.time, a.begins, a.buffer) < std::make_tuple(b.time, b.begins, b.buffer);
  });
  std::map<std::pair<isa::Space, uint64_t>, std::pair<uint64_t, uint32_t>> live; // space, begin -> end, buffer
  for (const Edge &edge : edges) {
    auto alloc = read.buffers[edge.buffer].getDefiningOp<ir::AllocOp>();
    if (!alloc)
      continue;
    const FlatBuffer &buffer = read.program.buffers[edge.buffer];
    uint64_t begin = *alloc.getAddress(), end = begin + buffer.bytes;
    std::pair<isa::Space, uint64_t> key(buffer.space, begin);
    if (!edge.begins) {
      if (auto it = live.find(key); it != live.end() && it->second.second == edge.buffer)
        live.erase(it);
      continue;
    }
    auto next = live.lower_bound(key);
    auto conflict = live.end();
    if (next != live.end() && next->first.first == buffer.space && next->first.second < end)
      conflict = next;
    if (next != live.begin() && std::prev(next)->first.first == buffer.space &&
        std::prev(next)->second.first > begin)
      conflict = std::prev(next);
    if (conflict != live.end()) {
      Value other = read.buffers[conflict->second.second];
      InFlightDiagnostic diagnostic = error(alloc) << "shares bytes with a buffer that is alive at the same time";
      diagnostic.attachNote(other.getLoc()) << "the other buffer";
      continue;
    }
    live[key] = {end, edge.buffer};
  }
}

LogicalResult ContractCheck::allocated() {
  for (auto alloc : entry.getOps<ir::AllocOp>())
    checkAddress(alloc);
  if (errors)
    return failure();
  FailureOr<FunctionProgram> read = readProgram(entry, device);
  if (failed(read))
    return failure();
  checkDisjoint(*read);
  for (ir::InstructionOpInterface op : read->operations) {
    if (errors >= kMaxErrors)
      break;
    FailureOr<isa::Instruction> inst = op.toInstruction([](Value base) -> FailureOr<ir::ResolvedBuffer> {
      auto alloc = base.getDefiningOp<ir::AllocOp>();
      return ir::ResolvedBuffer{0, alloc && alloc.getAddress() ? static_cast<uint64_t>(*alloc.getAddress()) : 0};
    });
    if (failed(inst))
      return failure();
    std::vector<isa::Violation> violations;
    isa::validate(*inst, device, isa::Phase::Address, violations);
    report(op, violations);
  }
  return failure(errors != 0);
}

LogicalResult trn::verifyScheduled(ModuleOp module, const isa::DeviceInfo &device) {
  func::FuncOp entry = findEntry(module);
  return entry ? ContractCheck(entry, device).scheduled() : failure();
}

LogicalResult trn::verifyAllocated(ModuleOp module, const isa::DeviceInfo &device) {
  func::FuncOp entry = findEntry(module);
  if (!entry || failed(ContractCheck(entry, device).scheduled()))
    return failure();
  return ContractCheck(entry, device).allocated();
}

/// The operations by command number: engine by engine, each in its order.
static std::vector<Operation *> commandOperations(func::FuncOp entry) {
  std::vector<Operation *> queues[isa::kNumEngines];
  for (Operation &op : entry.getBody().front())
    if (auto instruction = dyn_cast<ir::InstructionOpInterface>(op))
      queues[static_cast<unsigned>(*instruction.getEngine())].push_back(&op);
  std::vector<Operation *> all;
  for (const std::vector<Operation *> &queue : queues)
    all.insert(all.end(), queue.begin(), queue.end());
  return all;
}

LogicalResult trn::verifySynced(ModuleOp module, const isa::DeviceInfo &device) {
  if (failed(verifyAllocated(module, device)))
    return failure();
  EncodeOptions options;
  options.target = device.name;
  options.weights = false;
  FailureOr<exe::Executable> executable = encodeModule(module, options);
  if (failed(executable))
    return failure();
  rt::CheckOptions checkOptions;
  checkOptions.legality = false; // the contract of stage allocated has validated every instruction
  checkOptions.maxFindings = kMaxErrors;
  rt::CheckReport report = rt::check(*executable, checkOptions);
  std::vector<Operation *> operations = commandOperations(findEntry(module));
  for (const rt::Finding &finding : report.findings) {
    if (!finding.isError)
      continue;
    Operation *op = finding.command < operations.size() ? operations[finding.command] : module.getOperation();
    InFlightDiagnostic diagnostic = op->emitOpError() << rt::name(finding.kind) << ": " << finding.message;
    if (finding.other < operations.size())
      diagnostic.attachNote(operations[finding.other]->getLoc()) << "the other instruction";
  }
  return success(report.ok());
}
