//===- LayoutEmitter.h - laid-out tensors while a plan is carried out ------===//
// Owns the physical side of tile-apply-layout: storage of tensor forms with their halos, reading and writing parts of
// them, moving tensors between layouts, laying out constants as globals. It knows nothing of the operations that
// compute; those are EmitStructured.cpp and ApplyLayout.cpp.
#pragma once
#include "mlir/IR/Builders.h"
#include "passes/Tile/LayoutPlan.h"
#include <map>
#include <memory>

namespace trn {

/// A region of a physical tensor and what its dimensions mean.
struct Laid {
  mlir::Value tensor;
  /// Extents of the region, per dimension of `tensor`.
  llvm::SmallVector<PhysicalDim> dims;
  /// Where the region begins, per dimension of `tensor`.
  llvm::SmallVector<int64_t> offsets;
};

/// Part of a region: per dimension of it an offset, a size, a stride and whether the dimension (of size 1) is dropped.
struct Window {
  int64_t offset = 0;
  int64_t size = 0;
  bool drop = false;
  int64_t stride = 1;
};

/// The memory of one tensor form. `version` is the newest SSA value of it: each write makes the next one.
struct FormStorage {
  llvm::SmallVector<PhysicalDim> dims;
  llvm::SmallVector<int64_t> offsets;
  /// The storage that this is a region of, if it is: the two have their versions in common.
  FormStorage *whole = nullptr;
  mlir::Value &version() { return whole ? whole->version() : current; }
  Laid region() { return {version(), dims, offsets}; }

private:
  mlir::Value current;
};

/// The memory a tensor on chip or off is in.
enum class Residence : uint8_t { Hbm, Sbuf };

class LayoutEmitter {
public:
  LayoutEmitter(mlir::ModuleOp module, mlir::OpBuilder &builder, const LayoutPlan &plan);

  mlir::OpBuilder &builder;
  const LayoutPlan &plan;

  /// `value` in `layout`, moved there if nobody did yet.
  Laid read(mlir::Value value, const Layout &layout);
  /// Whether HBM keeps `value`, which has no room in SBUF, in row-major order alone: DMA takes what readers want in
  /// `layout` from there, and puts there what is made in it.
  bool isRowMajorIn(mlir::Value value, const Layout &layout);
  /// `value`, for which that holds, as its row-major tensor, the dimension on the partitions of `layout` split in place.
  Laid splitRowMajor(mlir::Value value, const Layout &layout);
  /// The next version of the row-major tensor of `value`, of which `split` is the view that `splitRowMajor` makes.
  void writeRowMajor(mlir::Value value, mlir::Value split);
  /// The storage into which the operation that makes `value` writes, border filled.
  FormStorage &define(mlir::Value value, const Layout &layout);
  /// Declares that `value` in `layout` is `region`.
  void bind(mlir::Value value, const Layout &layout, Laid region);
  /// Makes `value` in HBM lie in `destination`, an output of the program.
  void bindOutput(mlir::Value value, mlir::Value destination) { outputs[value] = destination; }
  /// The newest version of the storage in which `value` lies in HBM, if it has storage.
  FormStorage *storageOf(mlir::Value value, const Layout &layout);

  /// Part of a region as a tensor.
  mlir::Value extract(mlir::Location loc, const Laid &region, llvm::ArrayRef<Window> windows);
  mlir::Value extract(mlir::Location loc, const Laid &region) { return extract(loc, region, whole(region)); }
  /// Puts `part` where `windows` say; the storage's next version.
  void insert(mlir::Location loc, mlir::Value part, FormStorage &storage, llvm::ArrayRef<Window> windows);
  /// Puts `part` where `windows` of `region` say; the whole tensor after that.
  mlir::Value insert(mlir::Location loc, mlir::Value part, const Laid &region, llvm::ArrayRef<Window> windows);
  llvm::SmallVector<Window> whole(const Laid &region) const;

  /// `constant` as HBM data with physical dimensions `dims` (chunk and lane of one logical dimension split it; what an
  /// uneven split adds is zero).
  mlir::Value layOutConstant(mlir::Value constant, llvm::ArrayRef<PhysicalDim> dims);
  mlir::Value declareInput(mlir::Location loc, mlir::RankedTensorType type, llvm::StringRef ioName,
                           mlir::TypeAttr hostType);
  /// A buffer for result `index`; returns it as a memref.
  mlir::Value declareOutput(mlir::Location loc, mlir::RankedTensorType type, llvm::StringRef ioName,
                            mlir::TypeAttr hostType);
  mlir::Value asTensor(mlir::Location loc, mlir::Value buffer, bool writable);

  mlir::RankedTensorType typeIn(llvm::ArrayRef<int64_t> shape, mlir::Type element, Residence residence) const;
  mlir::Value makeEmpty(mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type element, Residence residence);

private:
  using Key = std::pair<void *, int64_t>;
  static Key key(mlir::Value value, const Layout &layout);
  FormStorage &allocate(mlir::Value value, const Layout &layout);
  FormStorage &allocatePiece(mlir::Value value, const LayoutPlan::Piece &piece, const Layout &layout);
  void fillBorder(mlir::Location loc, FormStorage &storage, const Halo &halo, const Layout &layout);
  void convert(mlir::Value value, const Layout &from, const Layout &to);
  /// One chunk of a split dimension, its lanes, and where they begin.
  struct ChunkOf {
    int64_t index;
    PartitionSplit split;
    int64_t begin() const { return index * split.lanes; }
    int64_t lanes() const { return index + 1 == split.chunks ? split.lastLanes() : split.lanes; }
  };
  FormStorage temporary(mlir::Location loc, llvm::ArrayRef<int64_t> shape, mlir::Type element, const Layout &layout);
  /// Moves `value` from HBM to `to` on the way of `middle`, block by block (LayoutPlan::turnsByBlocks).
  void convertByBlocks(mlir::Value value, const Layout &middle, const Layout &to);
  void convertBlock(mlir::Value value, const Laid &source, FormStorage &target, const Layout &middle, const Layout &to,
                    const ChunkOf &row, const ChunkOf &column);
  struct GlobalContents {
    bool isInput;
    llvm::StringRef ioName;
    mlir::TypeAttr hostType; ///< null: the device's own
    mlir::ElementsAttr value;
    mlir::ArrayAttr transforms;
  };
  mlir::Value declareGlobal(mlir::Location loc, llvm::StringRef name, mlir::RankedTensorType type,
                            GlobalContents contents);
  mlir::Value declareWeight(mlir::Location loc, mlir::ElementsAttr value, mlir::ArrayAttr transforms,
                            mlir::RankedTensorType type);
  void storeLane(mlir::Value value, const Laid &source);
  /// Moves a tensor between two of its layouts: as many chunks at once as one operation can say and the way allows.
  void moveBlocks(mlir::Location loc, const Laid &source, FormStorage &target);
  /// Copies a region into another one of the same layout, whose partitions are split like `split`.
  void copyChunks(mlir::Location loc, const Laid &source, FormStorage &target, const PartitionSplit &split);

  mlir::ModuleOp module;
  std::map<Key, Laid> bound;
  std::map<Key, std::unique_ptr<FormStorage>> storages;
  llvm::DenseMap<mlir::Value, mlir::Value> outputs;
  std::map<std::pair<const void *, const void *>, mlir::Value> constants;
  unsigned numWeights = 0;
  mlir::Operation *lastGlobal = nullptr;
};

} // namespace trn
