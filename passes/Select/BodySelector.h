//===- BodySelector.h - instructions for the body of an elementwise operation ===//
// Owns the covering of a scalar body (a DAG of arith, math and trn.scalar operations) by instructions. What a scalar
// operation is computed by comes from the table isa::scalarOp alone; here are only the shapes of instructions: activation
// with scale and bias, tensor_scalar with two operators, scalar_tensor_tensor, tensor_tensor, select. Refuses operations
// without a row in the table, unless a composition of others is written here. Integers that may pass 2^24, where fp32
// stops being exact, are computed by POOL's native words and bitwise operators (BodyWords.cpp).
#pragma once
#include "passes/Select/Access.h"
#include "passes/Select/Emitter.h"
#include "llvm/ADT/DenseMap.h"

namespace trn {

class BodySelector {
public:
  /// `tile` holds one access per operand of `op`, as tileOf makes them; instructions go where `builder` is.
  BodySelector(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op, Tile &tile, int coreVersion);

  /// Emits instructions that compute body value `value` into `dst`, a view of the tile's shape.
  mlir::LogicalResult computeInto(mlir::Value value, mlir::Value dst);

  /// A buffer of the tile's shape that holds `value`: a view of an operand where possible, else a temporary.
  mlir::FailureOr<mlir::Value> compute(mlir::Value value);

  /// True when fp32 would round what reducing `value` over `count` elements meets.
  bool reductionNeedsWords(mlir::Value value, isa::AluOp op, int64_t count);
  /// Reduces `value` over the last `reduced` free loops, exactly, into a new buffer of words.
  mlir::FailureOr<mlir::Value> reduceWords(mlir::Value value, isa::AluOp op, unsigned reduced);
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
    mlir::Value lhs, rhs; // rhs null: `immediate`
    float immediate = 0.0f;
    bool reverse = false; // only with an immediate
  };

  mlir::LogicalResult fail(llvm::Twine why);
  bool isVarying(mlir::Value value);
  bool isScalar(mlir::Value value);
  llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
  bool isFusable(mlir::Value value) const;
  mlir::Value skipConversions(mlir::Value value) const;

  mlir::FailureOr<Source> source(mlir::Value value);
  mlir::FailureOr<Source> storedSource(mlir::Value value);
  mlir::FailureOr<mlir::Value> tensorOperand(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// A scalar operand; `mayRound` when an integer constant that fp32 rounds does as well.
  mlir::FailureOr<ScalarOperand> scalarOperand(mlir::Value value, bool mayRound = false);
  mlir::FailureOr<mlir::Value> asTensor(const Source &source, llvm::ArrayRef<int64_t> shape);
  mlir::FailureOr<mlir::Value> outOfPsum(mlir::Value buffer, mlir::Value value);
  /// The type of a buffer that holds a value: whether its integers have signs is in the type.
  mlir::Type storedType(mlir::Value value) const;
  mlir::Value temporary(mlir::Value like);
  mlir::Value temporary(llvm::ArrayRef<int64_t> shape, mlir::Type element);

  std::optional<AluMatch> matchAlu(mlir::Value value);
  /// The data and the step when `value` is one varying operand with one scalar operand.
  mlir::FailureOr<std::pair<mlir::Value, ScalarStep>> matchStep(mlir::Value value, bool &matched);

  mlir::LogicalResult emitCopy(mlir::Value value, mlir::Value dst);
  mlir::LogicalResult emitConversion(mlir::Operation *conversion, mlir::Value dst);
  mlir::LogicalResult emitActivation(mlir::Value value, isa::ActivationFunc func, mlir::Value dst);
  mlir::LogicalResult emitAlu(mlir::Value value, const AluMatch &match, mlir::Value dst);
  mlir::LogicalResult emitBitwise(mlir::Value value, const AluMatch &match, mlir::Value dst);
  mlir::LogicalResult emitSelect(mlir::arith::SelectOp op, mlir::Value dst);
  mlir::LogicalResult emitRounding(mlir::Operation *op, mlir::Value dst);
  /// Rounded elements are replaced by the input where it is integral already: |x| >= 2^23, infinite or NaN.
  void keepWhole(mlir::Value rounded, mlir::Value input, llvm::ArrayRef<int64_t> shape);

  /// The largest magnitude that an integer value can have.
  uint64_t magnitude(mlir::Value value, unsigned depth = 0);
  /// True when fp32 would round an integer operand or result of the operation.
  bool needsWords(mlir::Operation *op);
  /// An SBUF buffer of 32-bit elements of type `word` that holds `value`.
  mlir::FailureOr<mlir::Value> wordOperand(mlir::Value value, llvm::ArrayRef<int64_t> shape, mlir::Type word);
  /// dst = lhs `compare` rhs, 0 or 1, of words of one type.
  void compareWords(mlir::Value dst, mlir::Value lhs, mlir::Value rhs, llvm::ArrayRef<int64_t> shape,
                    isa::AluOp compare);
  mlir::LogicalResult emitWords(mlir::Operation *op, mlir::Value dst);
  /// The products of the last elements of each of the `kept` positions.
  mlir::Value multiplyWords(mlir::Value words, llvm::ArrayRef<int64_t> kept);
  mlir::LogicalResult emitTruncation(mlir::arith::TruncIOp op, mlir::Value dst);
  bool isUnsigned(mlir::Value value) const;
  /// True for words of which numbers beyond int32 are read.
  bool isUnsignedWord(mlir::Value value) const { return value.getType().isInteger(32) && isUnsigned(value); }
  mlir::Type unsignedWord() const {
    return mlir::IntegerType::get(emitter.builder.getContext(), 32, mlir::IntegerType::Unsigned);
  }

  mlir::LogicalResult emitBits(mlir::arith::BitcastOp op, mlir::Value dst);
  mlir::LogicalResult emitRemainder(mlir::arith::RemFOp op, mlir::Value dst);

  Emitter emitter;
  mlir::linalg::LinalgOp op;
  Tile &tile;
  int coreVersion;
  std::string reason;
  llvm::DenseMap<mlir::Value, Source> sources;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> scalars; // columns in fp32, by how they are read
  llvm::DenseMap<mlir::Value, bool> varying;
};

} // namespace trn
