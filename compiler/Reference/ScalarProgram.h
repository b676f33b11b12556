//===- ScalarProgram.h - scalar bodies over blocks of elements ------------===//
// Compiles straight-line scalar code (the body of a structured op, or one arith/math op) into a program whose every
// instruction works on a block of elements. It owns the meaning of arith, math and trn.scalar; it refuses control flow.
#pragma once
#include "compiler/Reference/Tensor.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace trn {

/// One value outside of tensors: an index, an integer (sign-extended; i1 as 0 or 1) or a float.
struct ScalarValue {
  bool isFloat = false;
  int64_t integer = 0;
  double real = 0;
};

/// A run of elements in memory: where the first lies, and how many elements further the next.
struct Lane {
  char *address = nullptr;
  int64_t step = 0;
};

class ScalarProgram {
public:
  static constexpr int kBlock = 256;

  /// Compiles `operations` (without the terminator). `arguments` are the block arguments with their element storage:
  /// they are read from lanes when used. Results are `yielded`. Fails with an error at the operation that is not
  /// understood.
  static mlir::FailureOr<ScalarProgram> compile(llvm::ArrayRef<mlir::Operation *> operations,
                                                mlir::ValueRange arguments, mlir::ValueRange yielded);

  /// Values from outside of the program, in the order in which `run` wants them: scalars and shaped values.
  llvm::ArrayRef<mlir::Value> captures() const { return captured; }
  /// True if argument `i` is read.
  bool readsArgument(unsigned i) const { return argumentRegister[i] >= 0; }
  bool usesIndex() const { return hasIndex; }

  struct Frame {
    llvm::SmallVector<ScalarValue> scalars; ///< By capture; unused entries for shaped captures.
    llvm::SmallVector<Tensor> tensors;      ///< By capture.
    llvm::SmallVector<int64_t> indices;     ///< Loop position of the block's first element, by iteration dimension.
    int blockDim = -1;                      ///< Which dimension the block runs along.
    bool outOfBounds = false;               ///< Set when a gather left its tensor; the element then reads as unset.
    std::unique_ptr<double[]> lanes;        ///< kBlock lanes of 8 bytes per register.
    std::vector<char *> registers; ///< Where each register is: in `lanes`, or where its element lies in memory.
  };
  /// Space for a run, with the constants and scalar captures already in their registers.
  void prepare(Frame &frame) const;
  /// Runs `n` ≤ kBlock elements. `arguments` has a lane per argument (unread ones ignored), `results` one per yield.
  void run(Frame &frame, int n, llvm::ArrayRef<Lane> arguments, llvm::ArrayRef<Lane> results) const;
  /// The same, but yielded value 0 stays in a register, which is returned (lanes of float, double or int64_t).
  char *runToRegister(Frame &frame, int n, llvm::ArrayRef<Lane> arguments) const;
  /// One element of a program without arguments.
  llvm::SmallVector<ScalarValue, 2> runScalar(Frame &frame) const;

  /// The lane class of a yielded value: 'f' float, 'd' double, 'i' int64.
  char resultClass(unsigned i) const { return resultClasses[i]; }

private:
  struct Instruction {
    uint16_t opcode = 0;
    char laneClass = 'f'; ///< Of the operands.
    uint8_t width = 64;   ///< Bits of an integer operation; Storage of a load or rounding.
    uint16_t target = 0;
    uint16_t a = 0, b = 0, c = 0;
    uint16_t number = 0; ///< Compare predicate; dimension, argument, or gather number.
  };

  friend class ScalarCompiler;
  void execute(Frame &frame, int n, llvm::ArrayRef<Lane> arguments) const;

  std::vector<Instruction> code;
  struct Immediate {
    uint16_t target;
    char laneClass;
    ScalarValue value;
    int capture; ///< -1: a constant.
  };
  std::vector<Immediate> immediates;
  struct Gather {
    int capture;
    llvm::SmallVector<uint16_t, 4> indices; ///< Registers.
  };
  std::vector<Gather> gathers;
  llvm::SmallVector<mlir::Value> captured;
  llvm::SmallVector<int> argumentRegister;
  llvm::SmallVector<uint16_t> resultRegisters;
  llvm::SmallVector<char> resultClasses;
  llvm::SmallVector<Storage> resultStorages;
  unsigned registerCount = 0;
  bool hasIndex = false;
};

} // namespace trn
