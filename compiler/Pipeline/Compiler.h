//===- Compiler.h - from a file to an executable, stage by stage ----------===//
//
// Owns the order of the stages of one compilation: how a file becomes a module, which passes lead from a stage to the
// next, and that each stage's contract holds at its border. Everything that compiles (trnc, the C API, tests) goes
// through this class. Problems are collected, never printed; all of them carry the ONNX node when there is one.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Pipeline/CompileOptions.h"
#include "compiler/Pipeline/Stages.h"
#include "compiler/Support/Problems.h"
#include "passes/Tile/LayoutPasses.h"
#include "runtime/executable/Executable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include <functional>
#include <optional>

namespace mlir {
class OpPassManager;
}

namespace trn {

/// What the layout is planned with: the alternatives of a search.
struct PlanVariant {
  bool foldTaps = true;
  Residency residency;
};

class Compiler {
public:
  explicit Compiler(CompileOptions options);
  ~Compiler();

  mlir::MLIRContext &context() { return *context_; }
  const CompileOptions &options() const { return options_; }

  /// Reads a .onnx model (then at stage `imported`) or a .mlir module. A .mlir module is at `startFrom`, or at
  /// `selected` when nothing is said: a kernel. Fails with problems.
  mlir::LogicalResult open(const std::string &path, std::optional<Stage> startFrom);
  /// Reads an ONNX model in memory, which must outlive the compiler; its external data lies in `folder`.
  mlir::LogicalResult open(llvm::ArrayRef<char> model, const std::string &folder);
  /// Goes on with the .mlir dump of `stage` instead of the current module. Its contract is not checked: who looks for
  /// what is wrong with it does that. Fails with problems when it cannot be read.
  mlir::LogicalResult replace(const std::string &path, Stage stage);
  /// Checks the verifiers and the contract of the current stage. Fails with problems.
  mlir::LogicalResult checkContract();
  /// Records that the input cannot be used.
  void refuse(const std::string &reason);
  /// Takes over a module that is at `stage`.
  void adopt(mlir::OwningOpRef<mlir::ModuleOp> module, Stage stage);

  /// Runs the stages behind the current one up to and including `stage` (at most `synced`; `encoded` is `encode`).
  /// After each stage its contract is checked and `observer`, when set, is called. Stops at the first stage with errors,
  /// but for a program that exceeds SBUF: the stages from `grouped` on are then run again with less room for whole
  /// tensors, which stay in HBM instead: at the nodes at which it was exceeded, a bounded number of times, then anywhere.
  mlir::LogicalResult advance(Stage stage);
  /// Called after each stage that `advance` reaches, the current one excluded; again for each that is run again.
  std::function<void(Stage, mlir::ModuleOp)> observer;

  /// The executable of a module at stage `synced`. Its weights read from the module's resources, so the compiler must
  /// outlive it.
  mlir::FailureOr<exe::Executable> encode();

  mlir::ModuleOp module() { return *module_; }
  Stage stage() const { return stage_; }
  const Diagnostics &problems() const { return problems_; }

  /// What kind of failure the problems are: the driver's exit code follows from it.
  enum class Failure { None, Unsupported, BadInput, Internal };
  Failure failure() const { return failure_; }

private:
  mlir::LogicalResult fail(Failure failure);
  mlir::LogicalResult runStages(Stage stage, const isa::DeviceInfo &device);
  /// The passes that lead to `stage`, on the module or on each part of a program; false when one has failed.
  bool runPasses(Stage stage);
  /// Goes back to stage `tensor` after a program has exceeded SBUF; false when that was not the problem, or no more room
  /// can be made.
  bool keepLessInSbuf();
  mlir::LogicalResult checkBorder();
  /// Appends the passes that lead from the stage before `stage` to `stage`.
  void addPasses(Stage stage, mlir::OpPassManager &manager, const CompileOptions &options) const;
  /// Takes over what was imported, or fails with the importer's problems.
  mlir::LogicalResult finishImport(mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> imported);
  /// The modelled time, in ticks, of each part of the module with that plan; none when it does not compile.
  std::optional<llvm::SmallVector<int64_t>> tryPlan(const PlanVariant &plan);
  /// Tries plans for the module at stage `tensor` and keeps the fastest: no part is slower than with the level's own.
  void searchPlan();
  /// Reads a .mlir file; null with problems.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &path, llvm::SourceMgr &sources);
  void error(const std::string &reason, const std::string &hint = "");

  CompileOptions options_;
  PlanVariant plan_;
  std::unique_ptr<mlir::MLIRContext> context_;
  Diagnostics problems_;
  std::unique_ptr<DiagnosticCollector> collector_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  Stage stage_ = Stage::Imported;
  Failure failure_ = Failure::None;
  /// The module at stage `tensor`, from when its layouts are chosen until its program is known to fit.
  mlir::OwningOpRef<mlir::ModuleOp> beforeLayout_;
  unsigned attempts_ = 0; ///< layouts whose program has exceeded SBUF
  bool searched_ = false; ///< whether plan_ is the one that a search has chosen
  std::string tensorIr_;     ///< the text of stage `tensor`, with options().embedIr
  bool handWritten_ = false; ///< the module came from a .mlir file: what is wrong with it is its author's
};

} // namespace trn
