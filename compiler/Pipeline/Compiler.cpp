//===- Compiler.cpp - from a file to an executable, stage by stage --------===//
#include "compiler/Pipeline/Compiler.h"
#include "compiler/Import/Import.h"
#include "compiler/Pipeline/DeviceMemory.h"
#include "compiler/Support/ReadModule.h"
#include "compiler/Support/Register.h"
#include "dialects/Trn/Program.h"
#include "passes/Buffer/Passes.h"
#include "backends/Trnx/Link.h"
#include "passes/Graph/ControlFlow.h"
#include "passes/Graph/Passes.h"
#include "passes/Schedule/Passes.h"
#include "passes/Select/Passes.h"
#include "passes/Tensor/ModelWork.h"
#include "passes/Tensor/Passes.h"
#include "passes/Tile/LayoutPasses.h"
#include "passes/Tile/SchedulePasses.h"
#include "passes/Verify/StageContracts.h"
#include "runtime/src/TensorFile.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace trn {

//===----------------------------------------------------------------------===//
// The order of the passes
//===----------------------------------------------------------------------===//

/// The spellings of --auto-cast and --auto-cast-type.
static std::string autoCastName(AutoCast cast) {
  return cast == AutoCast::None ? "none" : cast == AutoCast::All ? "all" : "matmult";
}
static std::string autoCastTypeName(AutoCastType type) { return type == AutoCastType::FP16 ? "fp16" : "bf16"; }

/// The level's own plan.
static PlanVariant planOf(const OptLevel &level) {
  PlanVariant plan;
  plan.foldTaps = level.foldTaps;
  if (!level.residency)
    plan.residency.percent = 0;
  return plan;
}

void Compiler::addPasses(Stage stage, OpPassManager &manager, const CompileOptions &options) const {
  const OptLevel &level = allOptLevels()[options.optLevel];
  switch (stage) {
  case Stage::Imported:
  case Stage::Encoded:
    return;
  case Stage::Graph:
    return buildGraphPipeline(manager, options.target);
  case Stage::Tensor:
    return buildTensorPipeline(manager, {autoCastName(options.autoCast), autoCastTypeName(options.autoCastType),
                                         level.fuseMaps});
  case Stage::Grouped:
    return addLayoutPasses(manager, {options.target, options.printPlans, plan_.foldTaps, plan_.residency});
  case Stage::Tiled:
    return buildTilePipeline(manager, options.target, options.printPlans);
  case Stage::Buffered:
    return buildBufferPipeline(manager);
  case Stage::Selected:
    return buildSelectPipeline(manager, options.target);
  case Stage::Scheduled:
    manager.addPass(createTrnFlatten());
    manager.addPass(createTrnSplitBuffers());
    manager.addPass(createTrnAssignEngines({options.target}));
    manager.addPass(createTrnSchedule({options.target, options.printPlans, /*sbufBudget=*/0, level.search}));
    return;
  case Stage::Allocated:
    manager.addPass(createTrnAllocate({options.target, options.printPlans}));
    return;
  case Stage::Synced:
    manager.addPass(createTrnInsertSync({options.target, options.printPlans}));
    return;
  }
}

//===----------------------------------------------------------------------===//
// Searching plans
//===----------------------------------------------------------------------===//

/// Shares of SBUF for whole tensors that a search tries beside the default: more room for prefetched weights.
static constexpr unsigned kSearchedPercents[] = {40, 60, 75};

std::optional<SmallVector<int64_t>> Compiler::tryPlan(const PlanVariant &plan) {
  ScopedDiagnosticHandler quiet(context_.get(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> trial = module_->clone();
  CompileOptions options = options_;
  options.printPlans = false;
  options.optLevel = kDefaultOptLevel; // one schedule for each plan
  plan_ = plan;
  SmallVector<int64_t> ends;
  for (ModuleOp part : ir::partsOf(*trial)) {
    for (Stage stage : allStages()) {
      if (stage <= stage_ || stage > Stage::Scheduled)
        continue;
      PassManager manager(context_.get(), ModuleOp::getOperationName());
      manager.enableVerifier(false);
      addPasses(stage, manager, options);
      if (llvm::failed(manager.run(part)))
        return std::nullopt;
    }
    int64_t &end = ends.emplace_back(0);
    part.walk([&](ir::InstructionOpInterface op) { end = std::max(end, op.getCompletion().value_or(0)); });
  }
  return ends;
}

/// Whether a program is clearly faster however often its parts run: no part is slower, and one by more than the estimate
/// of a schedule may be off.
static bool isFaster(ArrayRef<int64_t> times, ArrayRef<int64_t> than) {
  constexpr double kLeastGain = 0.05;
  bool faster = false;
  for (auto [time, other] : llvm::zip_equal(times, than)) {
    if (time > other)
      return false;
    faster |= time < other * (1 - kLeastGain);
  }
  return faster;
}

void Compiler::searchPlan() {
  const PlanVariant own = planOf(allOptLevels()[options_.optLevel]);
  llvm::SmallVector<PlanVariant> others = {{!own.foldTaps, own.residency}};
  for (unsigned percent : kSearchedPercents)
    others.push_back({own.foldTaps, {percent, {}}});
  PlanVariant best = own;
  std::optional<SmallVector<int64_t>> shortest = tryPlan(own);
  // Without one the program exceeds SBUF, and room is made at its crowded nodes, which no plan here does.
  for (const PlanVariant &plan : shortest ? ArrayRef(others) : ArrayRef<PlanVariant>())
    if (std::optional<SmallVector<int64_t>> times = tryPlan(plan); times && isFaster(*times, *shortest)) {
      shortest = std::move(times);
      best = plan;
    }
  plan_ = best;
  searched_ = true;
  if (options_.printPlans)
    emitRemark(module_->getLoc()) << "plan search: " << 1 + others.size() << " plans, taken: taps "
                                  << (best.foldTaps ? "folded, " : "apart, ") << best.residency.percent
                                  << " % of SBUF for whole tensors";
}

//===----------------------------------------------------------------------===//
// Compiler
//===----------------------------------------------------------------------===//

Compiler::Compiler(CompileOptions options) : options_(std::move(options)), plan_(planOf(allOptLevels()[options_.optLevel])) {
  DialectRegistry registry;
  registerDialects(registry);
  context_ = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context_->allowUnregisteredDialects(false);
  context_->printOpOnDiagnostic(false); // a message names the node; the operation's text helps nobody
  loadImportDialects(*context_);
  // The evaluator builds operations of these outside of any pass.
  context_->loadDialect<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect,
                        ir::TrnDialect>();
  collector_ = std::make_unique<DiagnosticCollector>(context_.get(), problems_, options_.printPlans);
}

Compiler::~Compiler() {
  module_ = {};
  beforeLayout_ = {};
}

void Compiler::error(const std::string &reason, const std::string &hint) {
  Problem problem;
  problem.reason = reason;
  problem.hint = hint;
  problems_.add(problem);
}

LogicalResult Compiler::fail(Failure failure) {
  failure_ = failure;
  return failure_ == Failure::None ? success() : llvm::failure();
}

static FailureOr<ImportOptions> importOptions(const CompileOptions &options, Diagnostics &problems) {
  ImportOptions result;
  result.dims = options.dims;
  result.shapes = options.shapes;
  result.absent = options.absent;
  result.allowExternalLinks = options.allowExternalLinks;
  bool ok = true;
  for (const auto &[name, file] : options.constInputs) {
    absl::StatusOr<rt::TensorFile> read = rt::readTensorFile(file);
    if (!read.ok() || read->tensors.size() != 1) {
      Problem problem;
      problem.kind = Problem::Kind::Broken;
      problem.reason = read.ok() ? "'" + file + "' does not hold exactly one tensor" : std::string(read.status().message());
      problems.add(problem);
      ok = false;
      continue;
    }
    const rt::HostTensor &tensor = read->tensors.front();
    result.constInputs[name] = {static_cast<int32_t>(tensor.type), tensor.shape,
                                std::string(tensor.bytes.begin(), tensor.bytes.end())};
  }
  if (!ok)
    return failure();
  return result;
}

/// The exit code's family of an importer's problems: a broken file weighs more than an unsupported operator.
static Compiler::Failure importFailure(const Diagnostics &problems) {
  for (const Problem &problem : problems.problems())
    if (problem.severity == Problem::Severity::Error && problem.kind == Problem::Kind::Broken)
      return Compiler::Failure::BadInput;
  return Compiler::Failure::Unsupported;
}

/// Gives the memref arguments of hand-written functions the names that they have in the text, so that `--input a=…` can
/// name them. MLIR drops the names of values; the parser's state for editors still has their places in the text.
static void nameArguments(ModuleOp module, const llvm::SourceMgr &sources) {
  bool kernel = false;
  module.walk([&](func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      kernel |= llvm::isa<mlir::MemRefType>(function.getArgumentTypes()[i]) && !function.getArgAttr(i, "trn.name");
  });
  if (!kernel)
    return;
  Block parsed;
  AsmParserState state;
  ParserConfig config(module.getContext());
  if (llvm::failed(parseAsmSourceFile(sources, &parsed, config, &state)))
    return; // the first parse has reported it
  for (Operation &op : parsed)
    op.walk([&](func::FuncOp function) {
      const AsmParserState::BlockDefinition *block =
          function.empty() ? nullptr : state.getBlockDef(&function.front());
      auto target = module.lookupSymbol<func::FuncOp>(function.getName());
      if (!block || !target)
        return;
      for (unsigned i = 0; i < std::min<size_t>(block->arguments.size(), target.getNumArguments()); ++i) {
        llvm::SMRange range = block->arguments[i].loc;
        llvm::StringRef text(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
        if (text.consume_front("%") && llvm::isa<mlir::MemRefType>(target.getArgumentTypes()[i]) && !target.getArgAttr(i, "trn.name"))
          target.setArgAttr(i, "trn.name", StringAttr::get(module.getContext(), text));
      }
    });
}

OwningOpRef<ModuleOp> Compiler::parse(const std::string &path, llvm::SourceMgr &sources) {
  std::string reason;
  std::unique_ptr<llvm::MemoryBuffer> buffer = mlir::openInputFile(path, &reason);
  if (!buffer) {
    error(reason);
    return {};
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = readModule(sources, ParserConfig(context_.get()), reason);
  if (!module && problems_.problems().empty())
    error("'" + path + "' " + (reason.empty() ? "cannot be read" : reason));
  return module;
}

LogicalResult Compiler::replace(const std::string &path, Stage stage) {
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module = parse(path, sources);
  if (!module)
    return fail(Failure::BadInput);
  adopt(std::move(module), stage);
  handWritten_ = true;
  return success();
}

LogicalResult Compiler::checkContract() {
  const isa::DeviceInfo *device = isa::device(options_.target);
  if (!device || llvm::failed(verify(*module_)))
    return llvm::failure();
  for (ModuleOp part : ir::partsOf(*module_))
    if (llvm::failed(verifyStage(stage_, part, *device)))
      return llvm::failure();
  return success();
}

/// A module of ours that breaks the contract of its stage is a defect of ours.
LogicalResult Compiler::checkBorder() {
  if (succeeded(checkContract()))
    return success();
  if (handWritten_)
    return fail(Failure::BadInput); // the problems are the module's own
  error("the module breaks the contract of stage '" + stageName(stage_).str() + "'",
        "this is a defect of the compiler; please report it with the model");
  return fail(Failure::Internal);
}

void Compiler::refuse(const std::string &reason) {
  error(reason);
  (void)fail(Failure::BadInput);
}

LogicalResult Compiler::finishImport(FailureOr<OwningOpRef<ModuleOp>> imported) {
  if (llvm::failed(imported) || problems_.hasErrors())
    return fail(importFailure(problems_));
  adopt(std::move(*imported), Stage::Imported);
  return isa::device(options_.target) ? checkBorder() : success();
}

LogicalResult Compiler::open(llvm::ArrayRef<char> model, const std::string &folder) {
  FailureOr<ImportOptions> import = importOptions(options_, problems_);
  if (llvm::failed(import))
    return fail(Failure::BadInput);
  return finishImport(importModel(*context_, model, folder, *import, problems_));
}

LogicalResult Compiler::open(const std::string &path, std::optional<Stage> startFrom) {
  if (llvm::StringRef(path).ends_with(".mlir")) {
    llvm::SourceMgr sources;
    module_ = parse(path, sources);
    if (!module_)
      return fail(Failure::BadInput);
    stage_ = startFrom.value_or(Stage::Selected);
    if (isa::device(options_.target) && llvm::failed(checkContract())) {
      error("'" + path + "' is not a module of stage '" + stageName(stage_).str() + "'",
            "say with --start-from at which stage it is");
      return fail(Failure::BadInput);
    }
    handWritten_ = true;
    nameArguments(*module_, sources);
    return success();
  }
  FailureOr<ImportOptions> import = importOptions(options_, problems_);
  if (llvm::failed(import))
    return fail(Failure::BadInput);
  return finishImport(importModel(*context_, path, *import, problems_));
}

void Compiler::adopt(OwningOpRef<ModuleOp> module, Stage stage) {
  module_ = std::move(module);
  stage_ = stage;
  beforeLayout_ = {};
  plan_ = planOf(allOptLevels()[options_.optLevel]);
  searched_ = false;
  attempts_ = 0;
}

LogicalResult Compiler::advance(Stage stage) {
  const isa::DeviceInfo *device = isa::device(options_.target);
  if (!device) {
    error("unknown target '" + options_.target + "'", "'trnc targets' lists the devices");
    return fail(Failure::Unsupported);
  }
  LogicalResult done = runStages(stage, *device);
  while (llvm::failed(done) && keepLessInSbuf())
    done = runStages(stage, *device);
  return done;
}

/// Layouts that make room only at the nodes at which SBUF was exceeded; after them half of it goes everywhere, then all.
static constexpr unsigned kCrowdedAttempts = 6;

bool Compiler::keepLessInSbuf() {
  Residency &residency = plan_.residency;
  if (!beforeLayout_ || failure_ != Failure::Unsupported || !problems_.onlyExceedsSbuf() || residency.percent == 0)
    return false;
  std::vector<std::string> crowded;
  for (const Problem &problem : problems_.problems())
    if (problem.severity == Problem::Severity::Error)
      crowded.insert(crowded.end(), problem.crowdedNodes.begin(), problem.crowdedNodes.end());
  std::string change;
  if (!crowded.empty() && ++attempts_ <= kCrowdedAttempts) {
    change = "less room for whole tensors at '" + llvm::join(crowded, "', '") + "'";
    residency.crowdedNodes.insert(residency.crowdedNodes.end(), crowded.begin(), crowded.end());
  } else {
    residency.percent = residency.percent > Residency().percent / 2 ? residency.percent / 2 : 0;
    change = "whole tensors in at most " + std::to_string(residency.percent) + " % of SBUF";
  }
  problems_.retractErrors(options_.printPlans, "compiled again from stage 'tensor', with " + change);
  failure_ = Failure::None;
  module_ = std::move(beforeLayout_);
  stage_ = Stage::Tensor;
  return true;
}

bool Compiler::runPasses(Stage stage) {
  auto run = [&](ModuleOp module, llvm::function_ref<void(OpPassManager &)> addTo) {
    PassManager manager(context_.get(), ModuleOp::getOperationName());
    if (options_.timing)
      manager.enableTiming();
    manager.enableVerifier(false); // once, at the border of the stage
    addTo(manager);
    return succeeded(manager.run(module));
  };
  // Loops and branches decide which parts there are; each part then goes its way by itself.
  const bool hasBodies = stage == Stage::Graph && module_->walk([](Operation *op) {
    return mayLoop(op) ? WalkResult::interrupt() : WalkResult::advance();
  }).wasInterrupted();
  if (hasBodies && !run(*module_, [&](OpPassManager &manager) { buildControlPipeline(manager, options_.target); }))
    return false;
  for (ModuleOp part : ir::partsOf(*module_))
    if (!run(part, [&](OpPassManager &manager) { addPasses(stage, manager, options_); }))
      return false;
  return true;
}

LogicalResult Compiler::runStages(Stage stage, const isa::DeviceInfo &device) {
  for (Stage next : allStages()) {
    if (next <= stage_ || next > stage || next == Stage::Encoded)
      continue;
    if (next == Stage::Grouped) {
      if (allOptLevels()[options_.optLevel].search && !searched_)
        searchPlan();
      beforeLayout_ = module_->clone();
    }
    bool passed = runPasses(next);
    // A diagnostic of a pass is about the model; a module that breaks a contract is a defect of ours.
    if (!passed || problems_.hasErrors()) {
      if (!problems_.hasErrors())
        error("stage '" + stageName(next).str() + "' failed without a reason; this is a defect of the compiler");
      return fail(Failure::Unsupported);
    }
    stage_ = next;
    if (next == Stage::Scheduled)
      beforeLayout_ = {};
    if (llvm::failed(checkBorder()))
      return llvm::failure();
    if (next == Stage::Graph)
      if (std::optional<std::string> memory = exceedsDeviceMemory(ir::partsOf(*module_), device)) {
        error(*memory, "use smaller sizes, or another --target");
        return fail(Failure::Unsupported);
      }
    for (ModuleOp part : next == Stage::Graph ? ir::partsOf(*module_) : SmallVector<ModuleOp>()) {
      std::optional<std::string> format = exceedsExecutableFormat(part);
      if (format)
        error(*format, "reshape it in the model");
      if (format)
        return fail(Failure::Unsupported);
    }
    if (next == Stage::Tensor)
      for (ModuleOp part : ir::partsOf(*module_)) {
        setModelMacs(part);
        if (llvm::failed(checkProgramSize(part, device)))
          return fail(Failure::Unsupported);
      }
    for (ModuleOp part : next == Stage::Buffered ? ir::partsOf(*module_) : SmallVector<ModuleOp>())
      if (llvm::failed(verifyBuffersOnChip(part, device)))
        return fail(handWritten_ ? Failure::BadInput : Failure::Unsupported);
    if (next == Stage::Buffered && llvm::failed(verifyBuffersInDeviceMemory(ir::partsOf(*module_), device)))
      return fail(handWritten_ ? Failure::BadInput : Failure::Unsupported);
    if (next == Stage::Tensor && options_.embedIr) {
      llvm::raw_string_ostream text(tensorIr_);
      OpPrintingFlags flags;
      flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
      module_->print(text, flags);
    }
    if (observer)
      observer(next, *module_);
  }
  return success();
}

FailureOr<exe::Executable> Compiler::encode() {
  EncodeOptions encode;
  encode.target = options_.target;
  encode.build["compiler"] = "trn-mlir " TRN_VERSION;
  encode.build["opt_level"] = std::to_string(options_.optLevel);
  encode.build["auto_cast"] = autoCastName(options_.autoCast);
  if (options_.autoCast != AutoCast::None)
    encode.build["auto_cast_type"] = autoCastTypeName(options_.autoCastType);
  bool isRefused = false;
  FailureOr<exe::Executable> executable = linkModule(*module_, encode, &isRefused);
  if (llvm::failed(executable)) {
    (void)fail(isRefused ? Failure::Unsupported : handWritten_ ? Failure::BadInput : Failure::Internal);
    return llvm::failure();
  }
  executable->ir = std::move(tensorIr_);
  stage_ = Stage::Encoded;
  return executable;
}

} // namespace trn
