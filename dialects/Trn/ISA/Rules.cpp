//===- Rules.cpp - rules that hold for every instruction ------------------===//
//
// Owns the general rules, numbers 1 to 19: spaces, types, ranks, partitions, sizes, steps, capacity, engines. Rules of
// one instruction are in its record. Sources: A2 = NKI architecture guide v2, KLR = leanprover/KLR.
//
//   1 space            2 element type      3 rank              4 partition count    5 start partition
//   6 free size        7 steps and counts  8 capacity          9 alignment         10 core version
//  11 repeated writes 12 scalar operands  16 engine           17 POOL and PSUM
//
//===----------------------------------------------------------------------===//
#include "dialects/Trn/ISA/Partitions.h"
#include "dialects/Trn/ISA/RecordRules.h"
#include "dialects/Trn/ISA/Terms.h"

namespace trn::isa {

namespace {

/// Checks the operands of one instruction one by one.
struct OperandChecker {
  const InstInfo &inst;
  const DeviceInfo &device;
  Phase phase;
  std::vector<Violation> &out;

  void add(int number, const OperandInfo &info, const std::string &text, const char *source) {
    out.push_back({number, std::string("operand '") + info.name + "': " + text, source});
  }

  void space(const AP &ap, const OperandInfo &info) {
    if (info.spaces & maskOf(ap.space))
      return;
    std::string legal;
    for (Space candidate : {Space::HBM, Space::SBUF, Space::PSUM})
      if (info.spaces & maskOf(candidate))
        legal += (legal.empty() ? "" : " or ") + std::string(name(candidate));
    add(1, info, "expected memory space " + legal + ", but got " + name(ap.space), "A2 memory access table");
  }

  void type(const AP &ap, const OperandInfo &info) {
    if (!(info.dtypes & maskOf(ap.dtype)))
      add(2, info, std::string("element type ") + name(ap.dtype) + " is not supported by " + inst.mnemonic,
          "record of the instruction");
    // The OCP format is native from core version 4 on (EVRF051); transfers move it anywhere.
    else if (ap.dtype == DType::F8E4FN && device.version < 4 && !inst.isDma)
      add(2, info, "expected core version 4 for fp8e4fn, but got " + std::to_string(device.version), "EVRF051");
  }

  void partitions(const AP &ap, const OperandInfo &info) {
    if (ap.space == Space::HBM)
      return;
    if (ap.partitions > device.partitions)
      return add(4, info,
                 "expected at most " + std::to_string(device.partitions) + " partitions, but got " +
                     std::to_string(ap.partitions),
                 "A2");
    if (phase != Phase::Address)
      return;
    // A2: more than 64 partitions start at 0, more than 32 at 0 or 64, others at a multiple of 32. Transfers see SBUF
    // as linear memory, each partition a buffer of its own (A2 DMA address map), and may start anywhere.
    unsigned step = inst.isDma ? 1 : startPartitionStep(ap.partitions);
    if (ap.startPartition % step != 0 || ap.startPartition + ap.partitions > device.partitions)
      add(5, info,
          "expected " + std::to_string(ap.partitions) + " partitions to start at a multiple of " +
              std::to_string(step) + " and end within " + std::to_string(device.partitions) + ", but got start " +
              std::to_string(ap.startPartition),
          "A2 start partition rule");
  }

  void sizes(const AP &ap, const OperandInfo &info) {
    if (ap.space == Space::HBM)
      return;
    uint64_t limit = static_cast<uint64_t>(ap.space == Space::PSUM ? device.psumFreeMax : device.sbufFreeMax);
    if (ap.elements() > limit)
      add(6, info,
          "expected at most " + std::to_string(limit) + " elements per partition in " + name(ap.space) + ", but got " +
              std::to_string(ap.elements()),
          "A2 free size");
    // DMA descriptors are made per contiguous run and have no step field.
    if (inst.isDma)
      return;
    for (unsigned i = 0; i < ap.rank; ++i)
      if (ap.dims[i].step < INT16_MIN || ap.dims[i].step > INT16_MAX || ap.dims[i].count > UINT16_MAX)
        add(7, info,
            "expected steps of 16 bits and counts of 16 bits, but got [" + std::to_string(ap.dims[i].step) + ", " +
                std::to_string(ap.dims[i].count) + "]",
            "A2 access pattern");
  }

  void address(const AP &ap, const OperandInfo &info) {
    if (ap.space == Space::HBM || phase != Phase::Address)
      return;
    if (firstByte(ap) < 0 || lastByte(ap) >= device.capacity(ap.space))
      add(8, info,
          "expected bytes 0 to " + std::to_string(device.capacity(ap.space) - 1) + " of " + name(ap.space) +
              ", but got " + std::to_string(firstByte(ap)) + " to " + std::to_string(lastByte(ap)),
          "A2; KLR usable SBUF");
    int64_t alignment = ap.space == Space::PSUM ? device.psumAlignment : device.sbufAlignment;
    if (ap.address % static_cast<uint64_t>(alignment) != 0)
      add(9, info,
          "expected an address that is a multiple of " + std::to_string(alignment) + ", but got " +
              std::to_string(ap.address),
          "KLR alignment");
  }

  void writes(const AP &ap, const OperandInfo &info) {
    if (info.role == Role::In)
      return;
    bool repeats = ap.space == Space::HBM && ap.partitions > 1 && ap.partitionStep == 0;
    for (unsigned i = 0; i < ap.rank; ++i)
      repeats |= ap.dims[i].count > 1 && ap.dims[i].step == 0;
    if (repeats)
      add(11, info, "expected each element written once, but the pattern has a step of 0", "ours");
  }

  void operator()(const AP &ap, const OperandInfo &info) {
    space(ap, info);
    type(ap, info);
    if (ap.rank > info.maxRank)
      add(3, info,
          "expected at most " + std::to_string(info.maxRank) + " free dimensions, but got " + std::to_string(ap.rank),
          "A2 access pattern");
    partitions(ap, info);
    sizes(ap, info);
    address(ap, info);
    writes(ap, info);
  }
};

/// The partition count that a per-partition scalar must have: that of the widest other operand. All operands of the
/// instructions with scalar operands lie on the same partitions (their records' rules), so this is well defined.
uint32_t partitionsOfTensors(const Instruction &inst) {
  uint32_t partitions = 0;
  forEachOperand(inst, [&](const AP &ap, const OperandInfo &info) {
    if (!info.scalar)
      partitions = std::max(partitions, ap.partitions);
  });
  return partitions;
}

} // namespace

void validate(const Instruction &inst, const DeviceInfo &device, Phase phase, std::vector<Violation> &violations) {
  const InstInfo &record = info(opcode(inst));
  if (device.version < record.since)
    violations.push_back({10,
                          "expected core version " + std::to_string(record.since) + " for '" + record.mnemonic +
                              "', but got " + std::to_string(device.version),
                          "record of the instruction"});
  OperandChecker checker{record, device, phase, violations};
  forEachOperand(inst, checker);
  uint32_t partitions = partitionsOfTensors(inst);
  forEachOperand(inst, [&](const AP &ap, const OperandInfo &info) {
    if (info.scalar && (ap.elements() != 1 || ap.partitions != partitions))
      checker.add(12, info,
                  "expected one element on each of " + std::to_string(partitions) + " partitions, but got " +
                      std::to_string(ap.partitions) + " x " + std::to_string(ap.elements()),
                  "ISA32");
  });
  checkRecordRules(inst, device, phase, Engine::SP, violations);
}

void validateEngine(const Instruction &inst, Engine engine, const DeviceInfo &device,
                    std::vector<Violation> &violations) {
  const InstInfo &record = info(opcode(inst));
  if (!(record.engines & maskOf(engine))) {
    violations.push_back(
        {16, std::string("'") + record.mnemonic + "' does not run on " + name(engine), "SH26 operator table"});
    return;
  }
  if (engine == Engine::POOL && !record.isDma)
    forEachOperand(inst, [&](const AP &ap, const OperandInfo &info) {
      if (ap.space == Space::PSUM)
        violations.push_back({17, std::string("operand '") + info.name + "': expected sbuf on POOL, but got psum",
                              "A2 memory access table"});
    });
  checkRecordRules(inst, device, Phase::Engine, engine, violations);
}

bool runsOn(const Instruction &inst, Engine engine, const DeviceInfo &device) {
  std::vector<Violation> violations;
  validateEngine(inst, engine, device, violations);
  return violations.empty();
}

} // namespace trn::isa
