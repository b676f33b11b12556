//===- Link.cpp - from parts to one executable ----------------------------===//
//
// See Link.h. A part begins and ends with all queues at a barrier, where semaphores are 0 and no transfer is under way:
// that is all that a part knows of the others, so each is right wherever it stands.
//
//===----------------------------------------------------------------------===//
#include "backends/Trnx/Link.h"
#include "compiler/Support/Problems.h"
#include "dialects/Trn/ISA/ISA.h"
#include "dialects/Trn/Program.h"
#include "dialects/Trn/Target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <cstring>
#include <utility>

using namespace mlir;
using namespace trn;

namespace {

constexpr unsigned kRegisters = isa::DeviceInfo::registers;
/// The ring of the copies between rounds; ring 0 is for loads (passes/Schedule/Rings.h).
constexpr uint8_t kCopyRing = 1;
/// The weights of each part begin on a page of their own.
constexpr uint64_t kWeightAlignment = 4096;

/// The weights of all parts, one behind the other.
struct JoinedWeights {
  struct Piece {
    uint64_t begin;
    exe::WeightSource source;
  };
  std::vector<Piece> pieces;
  uint64_t bytes = 0;

  uint64_t add(exe::WeightSource source) {
    const uint64_t begin = llvm::alignTo(bytes, kWeightAlignment);
    bytes = begin + source.bytes;
    pieces.push_back({begin, std::move(source)});
    return begin;
  }

  /// Fills `size` bytes from `offset` on; 0 between pieces.
  bool read(uint64_t offset, void *out, uint64_t size) const {
    std::memset(out, 0, size);
    for (const Piece &piece : pieces) {
      const uint64_t begin = std::max(offset, piece.begin);
      const uint64_t end = std::min(offset + size, piece.begin + piece.source.bytes);
      if (begin < end &&
          !piece.source.read(begin - piece.begin, static_cast<char *>(out) + (begin - offset), end - begin))
        return false;
    }
    return true;
  }
};

class Linker {
public:
  Linker(ModuleOp module, ir::ProgramOp program, const EncodeOptions &options)
      : module(module), program(program), options(options), weights(std::make_shared<JoinedWeights>()) {}

  LogicalResult run() {
    device = findDevice(module, options.target);
    if (!device)
      return failure();
    semaphores = device->semaphores;
    dmaEngines = static_cast<int32_t>(device->dmaEngines);
    exe.device = device->name;
    exe.debug.emplace_back();
    for (unsigned engine = 0; engine < isa::kNumEngines; ++engine)
      exe.programs.push_back({static_cast<isa::Engine>(engine), {}});
    for (Attribute name : program.getInputs())
      inputs.insert(cast<StringAttr>(name).getValue());
    for (Attribute name : program.getOutputs())
      outputs.insert(cast<StringAttr>(name).getValue());
    if (failed(addBlock(program.getBody().front())))
      return failure();
    for (auto [names, kind] : {std::pair(program.getInputs(), "input"), std::pair(program.getOutputs(), "output")})
      for (Attribute name : names)
        if (!byName.contains(cast<StringAttr>(name).getValue()))
          return program.emitOpError("expected a part with the ") << kind << " " << name << " of the program";
    finish();
    return success();
  }

  exe::Executable exe;
  bool refused = false;

private:
  LogicalResult addBlock(Block &block) {
    for (Operation &op : block) {
      if (auto part = dyn_cast<ir::RunOp>(op)) {
        if (failed(addPart(part)))
          return failure();
      } else if (auto loop = dyn_cast<ir::RepeatOp>(op)) {
        if (failed(addLoop(loop)))
          return failure();
      } else if (auto either = dyn_cast<ir::EitherOp>(op)) {
        if (failed(addEither(either)))
          return failure();
      } else {
        return op.emitOpError("cannot be linked: expected parts, and loops and branches of parts");
      }
    }
    return success();
  }

  void add(isa::Engine engine, isa::Instruction inst) {
    isa::Command command;
    command.inst = std::move(inst);
    command.engine = engine;
    command.debug = node;
    exe.programs[static_cast<unsigned>(engine)].commands.push_back(std::move(command));
  }
  void addEverywhere(const isa::Instruction &inst) {
    for (const exe::Program &queue : exe.programs)
      add(queue.engine, inst);
  }

  /// The instructions of a part, and the barrier at which all queues meet behind it.
  LogicalResult addPart(ir::RunOp run) {
    auto part = module.lookupSymbol<ModuleOp>(run.getPartAttr());
    if (!part)
      return run.emitOpError("names no part of the program");
    FailureOr<exe::Executable> encoded = encodeModule(part, options);
    if (failed(encoded))
      return failure();
    std::vector<uint32_t> buffers;
    SmallVector<std::pair<size_t, int32_t>> counts; // numbers in the part: a buffer, and the one that counts it
    const uint64_t weightBase = options.weights ? weights->add(std::move(encoded->weights)) : 0;
    for (exe::Buffer &buffer : encoded->buffers) {
      if (int32_t count = std::exchange(buffer.countBuffer, -1); count >= 0)
        counts.push_back({buffers.size(), count});
      if (buffer.kind == exe::BufferKind::Weight)
        buffer.weightOffset += weightBase;
      FailureOr<uint32_t> index = addBuffer(std::move(buffer), run);
      if (failed(index))
        return failure();
      buffers.push_back(*index);
    }
    for (auto [buffer, count] : counts)
      exe.buffers[buffers[buffer]].countBuffer = static_cast<int32_t>(buffers[static_cast<size_t>(count)]);
    const uint32_t debugBase = exe.debug.size() - 1; // entry 0, "no node", is shared
    exe.debug.insert(exe.debug.end(), encoded->debug.begin() + 1, encoded->debug.end());
    for (exe::Program &queue : encoded->programs)
      for (isa::Command &command : queue.commands) {
        isa::forEachOperand(command.inst, [&](isa::AP &operand, const isa::OperandInfo &) {
          if (operand.space == isa::Space::HBM)
            operand.buffer = buffers[operand.buffer];
        });
        command.debug += command.debug ? debugBase : 0;
        exe.programs[static_cast<unsigned>(queue.engine)].commands.push_back(std::move(command));
      }
    for (const auto &[key, value] : encoded->build)
      addFact(key, value);
    addEverywhere(isa::Barrier{});
    return success();
  }

  /// What the caller knows is the same for all parts. What a part counts adds up over them, work over the rounds, too,
  /// as far as they are known.
  void addFact(const std::string &key, const std::string &value) {
    if (options.build.count(key)) {
      exe.build[key] = value;
      return;
    }
    uint64_t more = 0, before = 0;
    const bool isWork = key == "model_macs" || key == "hardware_macs";
    std::string &fact = exe.build[key];
    const bool isNumber = !llvm::StringRef(value).getAsInteger(10, more) &&
                          (fact.empty() || !llvm::StringRef(fact).getAsInteger(10, before));
    if (isNumber && isWork && more > 0) {
      if (!rounds)
        unknownWork.insert(key);
      more = llvm::SaturatingMultiply(more, rounds.value_or(0));
    }
    fact = isNumber ? std::to_string(llvm::SaturatingAdd(before, more)) : value;
  }

  FailureOr<uint32_t> addBuffer(exe::Buffer buffer, Operation *user) {
    const auto index = static_cast<uint32_t>(exe.buffers.size());
    const bool isShared = buffer.kind == exe::BufferKind::Input || buffer.kind == exe::BufferKind::Output;
    if (!isShared) {
      exe.buffers.push_back(std::move(buffer));
      return index;
    }
    auto [entry, isNew] = byName.try_emplace(buffer.name, index);
    if (isNew) {
      buffer.kind = inputs.contains(buffer.name)    ? exe::BufferKind::Input
                    : outputs.contains(buffer.name) ? exe::BufferKind::Output
                                                    : exe::BufferKind::Scratch;
      exe.buffers.push_back(std::move(buffer));
      return index;
    }
    const exe::Buffer &known = exe.buffers[entry->second];
    if (known.dtype != buffer.dtype || known.bytes != buffer.bytes)
      return user->emitOpError("expected buffer '")
             << buffer.name << "' of " << known.bytes << " bytes of " << isa::name(known.dtype) << ", but got "
             << buffer.bytes << " of " << isa::name(buffer.dtype);
    return entry->second;
  }

  FailureOr<uint32_t> findBuffer(StringRef name, Operation *user) {
    auto entry = byName.find(name);
    if (entry == byName.end())
      return user->emitOpError("reads buffer '") << name << "', which no part before it has";
    return entry->second;
  }

  /// All of a buffer, in rows that the DMA engines share.
  isa::AP wholeOf(uint32_t index) const {
    const exe::Buffer &buffer = exe.buffers[index];
    const uint64_t elements = buffer.bytes / isa::byteSize(buffer.dtype);
    uint64_t rows = 128;
    while (elements % rows != 0)
      --rows;
    isa::AP ap{};
    ap.space = isa::Space::HBM;
    ap.dtype = buffer.dtype;
    ap.buffer = index;
    ap.partitions = static_cast<uint32_t>(rows);
    ap.partitionStep = static_cast<int64_t>(elements / rows);
    ap.rank = 1;
    ap.dims[0] = {1, static_cast<uint32_t>(elements / rows)};
    return ap;
  }

  /// Per queue the positions of branches whose target is not known yet.
  using Exits = SmallVector<SmallVector<size_t, 2>>;

  void exitIf(isa::AluOp compare, unsigned reg, Exits &exits) {
    isa::Branch branch;
    branch.compare = compare;
    branch.reg = static_cast<int32_t>(reg);
    for (auto [queue, list] : llvm::zip_equal(exe.programs, exits)) {
      list.push_back(queue.commands.size());
      add(queue.engine, branch);
    }
  }

  /// What is added next is where the branches lead to.
  void leadHere(const Exits &exits) {
    for (auto [queue, list] : llvm::zip_equal(exe.programs, exits))
      for (size_t position : list)
        std::get<isa::Branch>(queue.commands[position].inst).target = static_cast<int32_t>(queue.commands.size());
  }

  InFlightDiagnostic refuseRegisters(Operation *op, unsigned wanted) {
    return refuse(op) << "lies in too many loops and branches: expected at most " << kRegisters
                      << " registers of a queue for the counts and conditions of those in one another, but got "
                      << wanted << "; join inner ones in the model";
  }

  /// Each queue loads the integer or flag in a buffer into a register of its own.
  LogicalResult load(StringRef name, unsigned reg, Operation *user) {
    FailureOr<uint32_t> index = findBuffer(name, user);
    if (failed(index))
      return failure();
    const exe::Buffer &buffer = exe.buffers[*index];
    isa::RegisterLoad load;
    load.reg = static_cast<int32_t>(reg);
    load.src = wholeOf(*index);
    std::vector<isa::Violation> violations;
    isa::validate(load, *device, isa::Phase::Shape, violations);
    const uint64_t elements = buffer.bytes / isa::byteSize(buffer.dtype);
    if (!violations.empty())
      return user->emitOpError("expected one integer or flag in buffer '")
             << name << "' to decide the way, but got " << elements
             << (elements == 1 ? " element of " : " elements of ") << isa::name(buffer.dtype);
    addEverywhere(load);
    return success();
  }

  LogicalResult addLoop(ir::RepeatOp loop) {
    llvm::SaveAndRestore<UsedRegisters> outer(used);
    const unsigned counter = loop.getCount() ? used.loaded++ : kRegisters - ++used.counted;
    const unsigned flag = loop.getCondition() ? used.loaded++ : 0;
    if (used.loaded + used.counted > kRegisters)
      return refuseRegisters(loop, used.loaded + used.counted);
    llvm::SaveAndRestore<std::optional<uint64_t>> around(rounds);
    if (loop.getCount() || loop.getCondition())
      rounds.reset();
    else if (rounds)
      rounds = llvm::SaturatingMultiply(*rounds, uint64_t(loop.getLimit()));
    llvm::SaveAndRestore<uint32_t> scope(node, addNode(loop, "loop"));
    Exits exits(exe.programs.size());
    isa::RegisterMove limit;
    limit.reg = static_cast<int32_t>(counter);
    limit.value = static_cast<int32_t>(loop.getLimit());
    if (!loop.getCount()) {
      addEverywhere(limit);
    } else {
      if (failed(load(*loop.getCount(), counter, loop)))
        return failure();
      addEverywhere(isa::Barrier{}); // what comes behind no round may write the count anew: all must have read it
    }
    exitIf(isa::AluOp::IsLe, counter, exits);
    auto checkCondition = [&]() -> LogicalResult {
      if (!loop.getCondition())
        return success();
      if (failed(load(*loop.getCondition(), flag, loop)))
        return failure();
      addEverywhere(isa::Barrier{}); // a round writes the condition anew: all must have read it
      exitIf(isa::AluOp::IsEq, flag, exits);
      return success();
    };
    if (failed(checkCondition()))
      return failure();
    SmallVector<size_t> begin;
    for (const exe::Program &queue : exe.programs)
      begin.push_back(queue.commands.size());
    if (failed(addBlock(loop.getBody().front())) || failed(copyCarried(loop)) || failed(checkCondition()))
      return failure();
    isa::Loop back;
    back.reg = static_cast<int32_t>(counter);
    for (auto [queue, first] : llvm::zip_equal(exe.programs, begin)) {
      back.target = static_cast<int32_t>(first);
      add(queue.engine, back);
    }
    leadHere(exits);
    return success();
  }

  /// Each queue loads the condition and goes on at its part of one body. Both bodies end with a barrier, so that nothing
  /// writes the condition anew before all have read it; its register is free again behind the branch.
  LogicalResult addEither(ir::EitherOp either) {
    if (used.loaded + used.counted + 1 > kRegisters)
      return refuseRegisters(either, used.loaded + used.counted + 1);
    llvm::SaveAndRestore<std::optional<uint64_t>> around(rounds);
    rounds.reset();
    llvm::SaveAndRestore<uint32_t> scope(node, addNode(either, "branch"));
    Exits toElse(exe.programs.size()), toEnd(exe.programs.size());
    if (failed(load(either.getCondition(), used.loaded, either)))
      return failure();
    exitIf(isa::AluOp::IsEq, used.loaded, toElse);
    if (failed(addBody(either.getThenBody())))
      return failure();
    exitIf(isa::AluOp::Bypass, used.loaded, toEnd);
    leadHere(toElse);
    if (failed(addBody(either.getElseBody())))
      return failure();
    leadHere(toEnd);
    return success();
  }

  /// Parts and bodies of branches end at a barrier; a loop may do no round.
  static bool endsAtBarrier(Block &block) { return !block.empty() && llvm::isa<ir::RunOp, ir::EitherOp>(block.back()); }

  /// A body of a branch, up to a barrier.
  LogicalResult addBody(Region &body) {
    if (failed(addBlock(body.front())))
      return failure();
    if (!endsAtBarrier(body.front()))
      addEverywhere(isa::Barrier{});
    return success();
  }

  /// An entry of the debug map for what the linker adds.
  uint32_t addNode(Operation *op, StringRef kind) {
    NodeOrigin origin = originOf(op->getLoc());
    exe.debug.push_back({origin.node, origin.op, kind.str()});
    return static_cast<uint32_t>(exe.debug.size() - 1);
  }

  /// What a round leaves becomes what the next one takes: transfers of SP, each with a semaphore of its own.
  LogicalResult copyCarried(ir::RepeatOp loop) {
    ArrayAttr carried = loop.getCarried();
    for (size_t i = 0; i < carried.size();) {
      const size_t end = std::min<size_t>(carried.size(), i + semaphores), begin = i;
      for (; i < end; ++i) {
        StringRef name = cast<StringAttr>(carried[i]).getValue();
        FailureOr<uint32_t> to = findBuffer(name, loop), from = findBuffer((name + ".next").str(), loop);
        if (failed(to) || failed(from))
          return failure();
        if (exe.buffers[*to].bytes != exe.buffers[*from].bytes || exe.buffers[*to].dtype != exe.buffers[*from].dtype)
          return loop.emitOpError("carries '") << name << "', which a round leaves in another type or size";
        if (exe.buffers[*to].bytes == 0)
          continue;
        isa::DmaCopy copy;
        copy.dst = wholeOf(*to);
        copy.src = wholeOf(*from);
        add(isa::Engine::SP, copy);
        isa::Command &command = exe.programs[static_cast<unsigned>(isa::Engine::SP)].commands.back();
        command.ring = kCopyRing;
        command.hasUpdate = true;
        command.update = {static_cast<uint16_t>(i - begin), dmaEngines};
      }
      for (size_t k = begin; k < end; ++k) {
        if (exe.buffers[byName.lookup(cast<StringAttr>(carried[k]).getValue())].bytes == 0)
          continue;
        add(isa::Engine::SP, isa::SemaphoreWait{});
        isa::Command &command = exe.programs[static_cast<unsigned>(isa::Engine::SP)].commands.back();
        command.hasWait = true;
        command.wait = {static_cast<uint16_t>(k - begin), static_cast<uint32_t>(dmaEngines)};
      }
      addEverywhere(isa::Barrier{});
    }
    return success();
  }

  /// A program that is right, but beyond the linker.
  InFlightDiagnostic refuse(Operation *op) {
    refused = true;
    return op->emitOpError();
  }

  void finish() {
    uint64_t instructions = 0;
    for (const exe::Program &queue : exe.programs)
      instructions += queue.commands.size();
    exe.build["instructions"] = std::to_string(instructions);
    // What one part leaves for another is an output of the part.
    exe.build["scratch_bytes"] = std::to_string(exe.bytesOf(exe::BufferKind::Scratch));
    for (const auto &key : unknownWork.keys())
      exe.build.erase(key.str());
    exe.weights.bytes = weights->bytes;
    exe.weights.read = [joined = weights](uint64_t offset, void *out, uint64_t size) {
      return joined->read(offset, out, size);
    };
  }

  ModuleOp module;
  ir::ProgramOp program;
  const EncodeOptions &options;
  llvm::StringSet<> inputs, outputs;
  llvm::StringMap<uint32_t> byName; ///< buffers that parts share
  std::shared_ptr<JoinedWeights> weights;
  const isa::DeviceInfo *device = nullptr;
  int64_t semaphores = 0;
  int32_t dmaEngines = 0;
  /// Registers of the loops around: what data loads from 0 up, what only counts from the end down, so that the text of a
  /// program tells loops that data decides by their register (runtime/timing/Unroll.h).
  struct UsedRegisters {
    unsigned loaded = 0, counted = 0;
  } used;
  std::optional<uint64_t> rounds = 1; ///< how often what is added now is executed; none when data decides
  llvm::StringSet<> unknownWork;      ///< facts to leave out, for data decides their rounds
  uint32_t node = 0; ///< index in the debug map for what the linker adds
};

} // namespace

FailureOr<exe::Executable> trn::linkModule(ModuleOp module, const EncodeOptions &options, bool *refused) {
  ir::ProgramOp program = ir::findProgram(module);
  if (!program)
    return encodeModule(module, options);
  Linker linker(module, program, options);
  if (failed(linker.run())) {
    if (refused)
      *refused = linker.refused;
    return failure();
  }
  return std::move(linker.exe);
}
