//===- BodySelector.h - instructions for the body of an elementwise operation ===//
// Owns the covering of a scalar body (a DAG of arith, math and trn.scalar operations) by instructions. What a scalar
// operation is computed by comes from the table isa::scalarOp alone; here are only the shapes of instructions: activation
// with scale and bias, tensor_scalar with two operators, scalar_tensor_tensor, tensor_tensor, select. Refuses operations
// without a row in the table, unless a composition of others is written here. Integers that may pass 2^24, where fp32
// stops being exact, are computed by POOL's native words and bitwise operators (BodyWords.cpp).
//
// Integers of a body are bits, as arith has them; in memory, too, the signed and the unsigned type of a width are two
// views of one buffer. Engines, though, read and write numbers. So every reader takes a value as a `Reading`, with the sign
// that its own operation gives it; and where instructions make a number of the other sign than is asked for, the number
// is written with the sign that it has and read with the other.
#pragma once
#include "passes/Select/Access.h"
#include "passes/Select/Emitter.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace trn {

/// A value of a body as one of its readers takes it. Floats and booleans are read in one way only.
struct Reading {
  mlir::Value value;
  bool isUnsigned; ///< the bits of an integer are a number without a sign

  Reading(mlir::Value value, bool isUnsigned = false) : value(value), isUnsigned(isUnsigned) {}
};

class BodySelector {
public:
  /// `tile` holds one access per operand of `op`, as tileOf makes them; instructions go where `builder` is.
  BodySelector(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op, Tile &tile, int coreVersion);

  /// Emits instructions that compute a value of the body into `dst`, a view of the tile's shape: the bits of an integer
  /// where `dst` has integers of its width, otherwise the number that it is read as.
  mlir::LogicalResult computeInto(Reading read, mlir::Value dst);

  /// A buffer of the tile's shape that holds the number: a view of an operand where possible, else a temporary.
  mlir::FailureOr<mlir::Value> compute(Reading read);

  /// True when fp32 would round what reducing a value over `count` elements meets.
  bool reductionNeedsWords(Reading read, isa::AluOp op, int64_t count);
  /// Reduces a value over the last `reduced` free loops, exactly, into a new buffer of words.
  mlir::FailureOr<mlir::Value> reduceWords(Reading read, isa::AluOp op, unsigned reduced);
  /// The same bits as integers of another sign; `buffer` itself when its elements have another width.
  mlir::Value asWord(mlir::Value buffer, mlir::Type word);
  /// dst = dst op other, words of one type in SBUF.
  void combineWords(mlir::Value dst, mlir::Value other, isa::AluOp op);

  /// Why the last failure happened.
  llvm::StringRef failureReason() const { return reason; }

private:
  /// A value that instructions can read.
  struct Source {
    enum Kind { Immediate, Column, Tensor } kind = Immediate;
    double immediate = 0.0;
    mlir::Value buffer; // Column: [partitions, 1]; Tensor: the tile's shape
  };
  /// `data op other`, sides swapped by `reverse`: one ALU operator of the body.
  struct AluMatch {
    isa::AluOp op;
    Reading lhs, rhs; // rhs null: `immediate`
    float immediate = 0.0f;
    bool reverse = false; // only with an immediate
  };

  mlir::LogicalResult fail(llvm::Twine why);
  bool isVarying(mlir::Value value);
  bool isScalar(mlir::Value value);
  llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
  bool isFusable(Reading read);
  Reading skipConversions(Reading read);

  mlir::FailureOr<Source> source(Reading read);
  /// The same for what reads through no conversion, with the sign that is in memory.
  mlir::FailureOr<Source> storedSource(mlir::Value value);
  mlir::FailureOr<mlir::Value> tensorOperand(Reading read, llvm::ArrayRef<int64_t> shape);
  /// A scalar operand; `mayRound` when an integer constant that fp32 rounds does as well.
  mlir::FailureOr<ScalarOperand> scalarOperand(Reading read, bool mayRound = false);
  mlir::FailureOr<mlir::Value> asTensor(const Source &source, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<mlir::Value> outOfPsum(mlir::Value buffer, Reading read);
  /// The type of a buffer that holds a value, with the sign of the number that its instructions make.
  mlir::Type storedType(mlir::Value value);
  mlir::Value temporary(mlir::Value like);
  mlir::Value temporary(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  std::optional<AluMatch> matchAlu(mlir::Value value);
  /// The data and the step when `value` is one varying operand with one scalar operand.
  mlir::FailureOr<std::pair<Reading, ScalarStep>> matchStep(mlir::Value value, bool &matched);

  mlir::LogicalResult emitCopy(Reading read, mlir::Value dst);
  mlir::LogicalResult emitConversion(mlir::Operation *conversion, mlir::Value dst);
  mlir::LogicalResult emitActivation(mlir::Value value, isa::ActivationFunc func, mlir::Value dst);
  mlir::LogicalResult emitAlu(Reading read, const AluMatch &match, mlir::Value dst);
  mlir::LogicalResult emitBitwise(Reading read, const AluMatch &match, mlir::Value dst);
  mlir::LogicalResult emitSelect(mlir::arith::SelectOp op, mlir::Value dst);
  mlir::LogicalResult emitRounding(mlir::Operation *op, mlir::Value dst);
  /// Rounded elements are replaced by the input where it is integral already: |x| >= 2^23, infinite or NaN.
  void keepWhole(mlir::Value rounded, mlir::Value input, llvm::ArrayRef<int64_t> shape);

  /// The numbers that the bits of an integer can be.
  mlir::ConstantIntRanges rangeOf(mlir::Value value);
  /// True when fp32 has every number that the value can be, and no other integer rounds to one.
  bool isExactInFp32(Reading read);
  /// The sign with which an operation reads its integers. Of the same bits, which select and equality ask for, either sign
  /// tells: theirs is one that fp32 holds, if there is one.
  bool readsUnsigned(mlir::Operation *op);
  /// Whether the instructions that compute an integer make a number without a sign; nothing when they make either.
  std::optional<bool> makesUnsigned(mlir::Value value);
  /// True when the instructions that compute the value make the number that is read.
  bool makesNumber(Reading read);
  /// True when fp32 would round an integer operand or result of the operation.
  bool needsWords(mlir::Operation *op);
  /// An SBUF buffer of elements of integer type `word` that holds the bits of `value`.
  mlir::FailureOr<mlir::Value> wordOperand(mlir::Value value, llvm::ArrayRef<int64_t> shape, mlir::Type word);
  /// dst = lhs `compare` rhs, 0 or 1, of words of one type.
  void compareWords(mlir::Value dst, mlir::Value lhs, mlir::Value rhs, llvm::ArrayRef<int64_t> shape,
                    isa::AluOp compare);
  mlir::LogicalResult emitWords(mlir::Operation *op, mlir::Value dst);
  /// The products of the last elements of each of the `kept` positions.
  mlir::Value multiplyWords(mlir::Value words, llvm::ArrayRef<int64_t> kept);
  mlir::LogicalResult emitTruncation(mlir::arith::TruncIOp op, bool isUnsigned, mlir::Value dst);
  /// An integer type of this width: signless, as buffers of signed numbers have it, or unsigned.
  mlir::Type integerType(unsigned width, bool isUnsigned) const {
    return mlir::IntegerType::get(emitter.builder.getContext(), width,
                                  isUnsigned ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
  }
  /// The bits of a buffer of integers with another sign.
  mlir::Value withSign(mlir::Value buffer, bool isUnsigned);

  mlir::LogicalResult emitBits(mlir::arith::BitcastOp op, bool isUnsigned, mlir::Value dst);
  mlir::LogicalResult emitRemainder(mlir::arith::RemFOp op, mlir::Value dst);

  Emitter emitter;
  mlir::linalg::LinalgOp op;
  Tile &tile;
  int coreVersion;
  std::string reason;
  llvm::DenseMap<mlir::Value, Source> sources;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> scalars; // columns in fp32, by how they are read
  llvm::DenseMap<mlir::Value, bool> varying;
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> ranges;
  llvm::DenseMap<mlir::Operation *, bool> chosenSigns; // of selects and equalities
};

} // namespace trn
