//===- GroupPlan.h - which operations of @main form a group ----------------===//
// Owns the assignment of the structured operations of a laid-out @main to groups. It reads, and changes nothing;
// tile-form-groups outlines what it says. Groups are numbered so that each reads only from groups before it.
//
// A contraction starts a group and takes with it the maps that read its result element by element (its drain). Maps
// and reductions gather around a value while their lanes are the same. Movement stays by itself: one group per tensor.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace llvm {
class raw_ostream;
}

namespace trn {

struct Group {
  enum class Kind : uint8_t { Contraction, Lanewise, Movement };
  Kind kind;
  /// Structured operations and insertions of their results, in order.
  llvm::SmallVector<mlir::Operation *> operations;
  /// Structured operations other than fills.
  unsigned size = 0;
};

llvm::StringRef name(Group::Kind kind);

/// What a group may grow to.
struct GroupOptions {
  unsigned maxOperations = 32;
};

class GroupPlan {
public:
  GroupPlan(mlir::func::FuncOp main, const GroupOptions &options = GroupOptions());
  llvm::ArrayRef<Group> groups() const { return list; }
  /// The group of a structured operation or insertion; -1 for others.
  int64_t groupOf(mlir::Operation *op) const;
  void print(llvm::raw_ostream &os) const;

private:
  int64_t join(mlir::linalg::LinalgOp op);
  int64_t latestProducer(mlir::Value value) const;
  void add(mlir::Operation *op, int64_t group);

  llvm::SmallVector<Group> list;
  llvm::DenseMap<mlir::Operation *, int64_t> assignment;
  GroupOptions options;
};

/// Whether `op` only shows another view of its operand, so that every group that needs it has its own.
bool isSunkIntoGroups(mlir::Operation *op);

} // namespace trn
