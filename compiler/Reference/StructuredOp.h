//===- StructuredOp.h - running linalg structured operations --------------===//
// A structured operation compiled for evaluation: its iteration space, the strides with which each operand walks it,
// and its scalar body. It owns the choice of the loop to vectorise and the detection of contractions; it refuses
// indexing maps that are not affine sums (floordiv, mod) and dynamic shapes.
#pragma once
#include "compiler/Reference/ScalarProgram.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace trn {

/// One loop with the step (elements) of each operand along it.
struct Loop {
  int64_t count;
  llvm::SmallVector<int64_t, 4> steps;
  bool reduction;
  int dim; ///< Of the operation; -1 if several were merged.
};

class StructuredOp {
public:
  /// Fails with an error at `op` when it is not understood.
  static mlir::FailureOr<StructuredOp> compile(mlir::linalg::LinalgOp op);

  llvm::ArrayRef<mlir::Value> captures() const { return program.captures(); }
  /// True if destination `i` is read (accumulated into), so that its initial values matter.
  bool readsInit(unsigned i) const { return program.readsArgument(numInputs + i); }

  /// Runs on views: inputs, then destinations, which are written in place. `frame` holds the captured values.
  mlir::LogicalResult run(llvm::ArrayRef<Tensor> operands, ScalarProgram::Frame &frame, mlir::Operation *op) const;

  /// Runs the body once on the first elements: all that a result of equal elements needs.
  void runOnce(llvm::ArrayRef<Tensor> operands, ScalarProgram::Frame &frame) const;

private:
  enum class Combine : uint8_t { None, Add, Mul, Max, Min, MaxNum, MinNum };

  void matchReduction(mlir::Block &body);
  void matchContraction(mlir::Block &body);
  llvm::SmallVector<Loop> loopsFor(llvm::ArrayRef<Tensor> operands, llvm::SmallVectorImpl<int64_t> &offsets) const;
  int chooseBlockLoop(llvm::ArrayRef<Loop> loops) const;
  void runLoops(llvm::ArrayRef<Loop> loops, int blockLoop, llvm::MutableArrayRef<Lane> lanes,
                llvm::ArrayRef<unsigned> elementBytes, ScalarProgram::Frame &frame) const;
  void runBlocks(const Loop &loop, llvm::ArrayRef<Lane> lanes, llvm::ArrayRef<unsigned> elementBytes,
                 ScalarProgram::Frame &frame) const;
  void reduceBlocks(const Loop &loop, llvm::ArrayRef<Lane> lanes, llvm::ArrayRef<unsigned> elementBytes,
                    ScalarProgram::Frame &frame) const;

  unsigned numInputs = 0;
  llvm::SmallVector<int64_t> counts;
  llvm::SmallVector<bool> reductions;
  llvm::SmallVector<mlir::AffineMap> maps;
  ScalarProgram program;
  /// The body of a reduction without its last combination with the destination.
  std::optional<ScalarProgram> partialProgram;
  Combine combine = Combine::None;
  Storage outStorage = Storage::F32;
  bool isContraction = false;
};

} // namespace trn
