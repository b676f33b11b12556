//===- Interpreter.h - the state of one evaluation ------------------------===//
// Values by SSA name, and the walk over blocks. A tensor dies at the last use of its name, so that the operation that
// uses it last may overwrite it; memory peaks at what is live. Internal to compiler/Reference.
#pragma once
#include "compiler/Reference/Evaluator.h"
#include "compiler/Reference/Machine.h"
#include "compiler/Reference/StructuredOp.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace trn {

class Interpreter {
public:
  explicit Interpreter(const EvaluateOptions &options) : machine(*options.device), options(options) {}

  mlir::LogicalResult callFunction(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> tensors,
                                   llvm::ArrayRef<ScalarValue> scalars, mlir::Operation *caller,
                                   llvm::SmallVectorImpl<mlir::Value> &returned);
  /// Runs the operations of a block up to its terminator, which it returns; null after an error.
  mlir::Operation *runBlock(mlir::Block &block);

  /// The tensor or memref of a value.
  const Tensor &tensor(mlir::Value value) {
    assert(tensors.count(value) && "used before it was computed");
    return tensors[value];
  }
  /// The same, given away if `op` is the last to use it, so that it can be overwritten.
  Tensor take(mlir::Operation *op, mlir::Value value);
  ScalarValue scalar(mlir::Value value) { return scalars[value]; }
  int64_t integer(mlir::Value value) { return scalars[value].integer; }
  /// A static size or the value of a dynamic one.
  int64_t integer(mlir::OpFoldResult value);
  llvm::SmallVector<int64_t> integers(llvm::ArrayRef<mlir::OpFoldResult> values);

  void set(mlir::Value value, Tensor tensor) { tensors[value] = std::move(tensor); }
  void set(mlir::Value value, ScalarValue scalar) { scalars[value] = scalar; }
  void setInteger(mlir::Value value, int64_t integer) { scalars[value] = {false, integer, 0}; }
  /// Copies the value, tensor or scalar, of one name to another.
  void forward(mlir::Value from, mlir::Value to);
  /// Forgets the tensors of names that nothing will read before they are set again.
  void drop(mlir::ValueRange values) {
    for (mlir::Value value : values)
      tensors.erase(value);
  }

  /// Fresh memory for the buffer that `op` makes, or the place at its address.
  void allocate(mlir::Operation *op, mlir::MemRefType type);
  /// Tells that `op` has written through the memref `target`.
  void wrote(mlir::Operation *op, mlir::Value target);

  /// The values that a scalar program captures.
  void bindCaptures(llvm::ArrayRef<mlir::Value> captures, ScalarProgram::Frame &frame);

  /// Runs a scalar operation (arith, math, affine) outside of structured operations.
  mlir::LogicalResult runScalar(mlir::Operation *op);
  mlir::LogicalResult runStructured(mlir::linalg::LinalgOp op);

  /// Executes instructions; knows all buffers, and so outlives the tensors.
  Machine machine;
  /// Memory of the module's globals, by name.
  llvm::StringMap<Tensor> globals;
  /// The compiled form of a structured operation, kept for loops and calls.
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<StructuredOp>> structuredOps;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<ScalarProgram>> scalarOps;

  /// The lowered form of an ONNX operation: a function from its operands to those of its results that are used.
  struct Scratch {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    mlir::func::FuncOp function;
    llvm::SmallVector<mlir::Value> results;
  };
  llvm::DenseMap<mlir::Operation *, Scratch> scratches;
  /// Off inside of a lowered ONNX operation: its operations are not the program's own.
  bool observing = true;

private:
  mlir::LogicalResult run(mlir::Operation *op);
  /// Runs a block whose instructions wait for semaphores: each queue in its order, as far as its waits let it.
  mlir::LogicalResult runQueues(mlir::Block &block);
  mlir::Location locationOf(mlir::Operation *op) const;
  /// The values that no operation after the key uses.
  const llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>> &lastUses(mlir::Block &block);

  const EvaluateOptions &options;
  struct LastWrite {
    mlir::Location location;
    uint64_t time;
  };
  /// By the base of the buffer; before `tensors`, whose death reads it.
  llvm::DenseMap<const char *, LastWrite> lastWrites;
  uint64_t writes = 0;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  llvm::DenseMap<mlir::Value, ScalarValue> scalars;
  llvm::DenseMap<mlir::Block *, std::unique_ptr<llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 2>>>>
      lastUsesOfBlock;
  unsigned callDepth = 0;
  /// Calls of functions that are called from several places: which one it is says the node.
  llvm::SmallVector<mlir::Location> sharedCalls;
  /// How often the module calls each function; filled at the first call.
  llvm::StringMap<unsigned> callCounts;
};

/// `evaluateOp` of an ONNX operation: its lowering, evaluated.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateLowered(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

/// A scalar as a tensor of rank 0.
Tensor scalarTensor(mlir::Type type, const ScalarValue &value);

/// Families of operations: nullopt if `op` is not of the family, else whether it could be evaluated.
std::optional<mlir::LogicalResult> evaluateTensorOp(Interpreter &interpreter, mlir::Operation *op);
std::optional<mlir::LogicalResult> evaluateMemRefOp(Interpreter &interpreter, mlir::Operation *op);
std::optional<mlir::LogicalResult> evaluateControlFlowOp(Interpreter &interpreter, mlir::Operation *op);
std::optional<mlir::LogicalResult> evaluateModelOp(Interpreter &interpreter, mlir::Operation *op);
std::optional<mlir::LogicalResult> evaluateInstruction(Interpreter &interpreter, mlir::Operation *op);

/// Makes memory for the module's globals: inputs hold `arguments`, and `outputs` receives the names of the outputs.
mlir::LogicalResult bindGlobals(Interpreter &interpreter, mlir::ModuleOp module, llvm::ArrayRef<Tensor> arguments,
                                llvm::SmallVectorImpl<llvm::StringRef> &outputs);

} // namespace trn
