//===- SplitControl.cpp - the parts between loops and branches ------------===//
//
// Owns `onnx-split-control`: a model whose loops and branches the device runs falls into parts, which are modules that go through the
// stages by themselves, and a `trn.program` that says their order. Values that cross the border of a part have a buffer
// in device memory, known by a name; constants do not cross, each part has its own.
//
//===----------------------------------------------------------------------===//
#include "passes/Graph/Passes.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Elementwise.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/Trn/Program.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

#include <limits>

namespace trn {
#define GEN_PASS_DEF_SPLITCONTROLPASS
#include "passes/Graph/Passes.h.inc"
} // namespace trn

using namespace mlir;
using namespace trn;

namespace {

/// The attribute that says, on both sides of the border of a part, which integers of 64 bits a buffer can have.
constexpr StringLiteral kRange = "onnx.range";

/// A value that a part leaves in the buffer of a name; of an output of which the run decides how much is valid, the output
/// that counts dimension `countDim`.
struct Ending {
  std::string name;
  Value value;
  std::string count = "";
  int64_t countDim = 0;
};

class Splitter {
public:
  Splitter(ModuleOp module, func::FuncOp main)
      : module(module), main(main), builder(module.getContext()), place(main.getLoc()) {}

  void run() {
    SmallVector<std::string> inputs, outputs;
    for (BlockArgument argument : main.getArguments()) {
      inputs.push_back(name(main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name"), "input"));
      names[argument] = inputs.back();
      if (auto range = main.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kRange))
        ranges[inputs.back()] = range;
      pendingInputs.insert(argument);
    }
    SmallVector<Ending> results;
    for (auto [i, value] : llvm::enumerate(main.front().getTerminator()->getOperands())) {
      outputs.push_back(name(main.getResultAttrOfType<StringAttr>(i, "onnx.name"), "output"));
      results.push_back({outputs.back(), value});
    }
    for (auto [i, ending] : llvm::enumerate(results))
      if (auto count = main.getResultAttrOfType<IntegerAttr>(i, "onnx.count")) {
        ending.count = outputs[count.getInt()];
        ending.countDim = main.getResultAttrOfType<IntegerAttr>(i, "onnx.count_dim").getInt();
      }
    auto texts = [&](ArrayRef<std::string> list) {
      return builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(list));
    };
    builder.setInsertionPointToEnd(module.getBody());
    auto program = ir::ProgramOp::create(builder, main.getLoc(), texts(inputs), texts(outputs));
    OpBuilder order = OpBuilder::atBlockEnd(&program.getBody().emplaceBlock());
    splitBlock(main.front(), results, order);
    main.erase();
  }

private:
  /// The name of an input or output, which is taken from then on.
  std::string name(StringAttr given, StringRef kind) {
    std::string text = given ? given.str() : fresh(kind);
    taken.insert(text);
    return text;
  }
  std::string fresh(const Twine &wanted) {
    std::string text = wanted.str();
    for (unsigned i = 0; taken.contains(text); ++i)
      text = (wanted + "_" + Twine(i)).str();
    taken.insert(text);
    return text;
  }

  /// What the names of the buffers of a loop or branch begin with, before a point; no other name begins so. Inputs and
  /// outputs have their names by now.
  std::string freshPrefix(StringRef kind, unsigned &number) {
    for (;;) {
      std::string prefix = (kind + Twine(number++)).str();
      if (llvm::none_of(taken.keys(), [&](StringRef text) { return text.starts_with(prefix + "."); }))
        return prefix;
    }
  }

  /// Writes the parts of a block, the last of which leaves `endings`.
  void splitBlock(Block &block, ArrayRef<Ending> endings, OpBuilder &order) {
    SmallVector<Operation *> part;
    for (Operation &op : block.without_terminator()) {
      if (!isControl(&op)) {
        part.push_back(&op);
        continue;
      }
      if (auto repeat = dyn_cast<onnx::RepeatOp>(op))
        splitRepeat(repeat, part, order);
      else
        splitBranch(cast<onnx::BranchOp>(op), part, order);
      part.clear();
    }
    writePart(part, endings, order);
  }

  /// The part before a loop, which puts what the loop starts with into its buffers, and the loop.
  void splitRepeat(onnx::RepeatOp repeat, ArrayRef<Operation *> before, OpBuilder &order) {
    const std::string loop = freshPrefix("loop", loops);
    SmallVector<Ending> start;
    SmallVector<std::string> homes;
    for (auto [i, value] : llvm::enumerate(repeat.getCarried())) {
      homes.push_back((loop + "." + Twine(i)).str());
      start.push_back({homes.back(), value});
    }
    StringAttr count, condition;
    Block &body = repeat.getBody().front();
    const auto yielded = body.getTerminator()->getOperands().drop_front(repeat.getCondition() ? 1 : 0);
    for (auto [i, home] : llvm::enumerate(homes))
      if (DenseI64ArrayAttr range = rangeOfCarried(repeat, i, yielded[i]))
        ranges[home] = ranges[home + ".next"] = range;
    if (repeat.getTripCount()) {
      count = builder.getStringAttr(loop + ".count");
      ranges[count] = rangeOf(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()); // a register
      start.push_back({count.str(), repeat.getTripCount()});
    }
    if (repeat.getCondition()) {
      condition = builder.getStringAttr(loop + ".condition");
      start.push_back({condition.str(), repeat.getCondition()});
    }
    writePart(before, start, order);

    SmallVector<Ending> endings;
    SmallVector<StringRef> changed;
    if (condition)
      endings.push_back({condition.str(), body.getTerminator()->getOperand(0)});
    for (auto [home, argument, value] : llvm::zip_equal(homes, body.getArguments(), yielded)) {
      names[argument] = home;
      if (value == argument)
        continue;
      changed.push_back(home);
      endings.push_back({home + ".next", value});
    }
    auto op = ir::RepeatOp::create(order, repeat.getLoc(), count, builder.getI64IntegerAttr(repeat.getLimit()),
                                   condition, builder.getStrArrayAttr(changed));
    OpBuilder inner = OpBuilder::atBlockEnd(&op.getBody().emplaceBlock());
    llvm::SaveAndRestore<Location> around(place, repeat.getLoc());
    splitBlock(body, endings, inner);
    for (auto [home, result] : llvm::zip_equal(homes, repeat.getResults()))
      names[result] = home;
  }

  DenseI64ArrayAttr rangeOf(int64_t low, int64_t high) { return builder.getDenseI64ArrayAttr({low, high}); }

  /// The integers that a carried value can be, also behind the last round, when they start as constants and each round adds
  /// one to them; null otherwise.
  DenseI64ArrayAttr rangeOfCarried(onnx::RepeatOp repeat, size_t index, Value yielded) {
    BlockArgument argument = repeat.getBody().front().getArgument(index);
    std::optional<Constant> start = Constant::get(repeat.getCarried()[index]);
    if (!start || start->size() == 0 || !start->elementType().isInteger(64))
      return {};
    int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min(), step = 0;
    for (int64_t i = 0, e = start->isSplat() ? 1 : start->size(); i < e; ++i) {
      low = std::min(low, start->integer(i));
      high = std::max(high, start->integer(i));
    }
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
    if (yielded != argument) {
      auto sum = yielded.getDefiningOp<onnx::AddOp>();
      auto difference = yielded.getDefiningOp<onnx::SubOp>();
      if ((!sum && !difference) || yielded.getDefiningOp()->getOperand(0) != argument)
        return {};
      std::optional<Constant> by = Constant::get(yielded.getDefiningOp()->getOperand(1));
      if (!by || (by->size() != 1 && !by->isSplat()))
        return {};
      step = by->integer(0);
      if (step < kLeast || step > kMost || low < kLeast || high > kMost)
        return {};
      step = sum ? step : -step;
      // No loop does more rounds than a register counts.
      const int64_t way = step * std::min<int64_t>(repeat.getLimit(), kMost);
      low += std::min<int64_t>(way, 0);
      high += std::max<int64_t>(way, 0);
    }
    return low >= kLeast && high <= kMost ? rangeOf(low, high) : DenseI64ArrayAttr();
  }

  /// The part before a branch, which leaves the condition, and both bodies, which leave the results in the same buffers.
  void splitBranch(onnx::BranchOp branch, ArrayRef<Operation *> before, OpBuilder &order) {
    const std::string prefix = freshPrefix("branch", branches), condition = prefix + ".condition";
    writePart(before, {{condition, branch.getCondition()}}, order);
    auto op = ir::EitherOp::create(order, branch.getLoc(), condition);
    llvm::SaveAndRestore<Location> around(place, branch.getLoc());
    for (auto [from, to] : llvm::zip_equal(branch->getRegions(), op->getRegions())) {
      SmallVector<Ending> endings;
      for (auto [i, value] : llvm::enumerate(from.front().getTerminator()->getOperands()))
        endings.push_back({(prefix + "." + Twine(i)).str(), value});
      OpBuilder inner = OpBuilder::atBlockEnd(&to.emplaceBlock());
      splitBlock(from.front(), endings, inner);
    }
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      names[result] = (prefix + "." + Twine(i)).str();
  }

  /// Writes one part: `operations` and the constants that they read. It takes what others computed, and leaves `endings`
  /// and what others read.
  void writePart(ArrayRef<Operation *> operations, ArrayRef<Ending> endings, OpBuilder &order) {
    llvm::SmallDenseSet<Operation *> inside;
    for (Operation *op : operations)
      if (!llvm::isa<onnx::WeightOp>(op))
        inside.insert(op);
    llvm::SetVector<Value> inputs(pendingInputs.begin(), pendingInputs.end());
    pendingInputs.clear();
    auto read = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      if (!definition || (!inside.contains(definition) && !llvm::isa<onnx::WeightOp>(definition)))
        inputs.insert(value);
    };
    SmallVector<Ending> outputs;
    for (Operation *op : operations) {
      if (!inside.contains(op))
        continue;
      for (Value operand : op->getOperands())
        read(operand);
      for (Value result : op->getResults())
        if (isReadOutside(result, inside)) {
          names[result] = fresh("value" + Twine(values++));
          outputs.push_back({names[result], result});
        }
    }
    for (const Ending &ending : endings) {
      read(ending.value);
      outputs.push_back(ending);
    }
    if (!outputs.empty())
      writeModule(operations, inputs.getArrayRef(), outputs, order);
  }

  static bool isControl(Operation *op) { return llvm::isa<onnx::RepeatOp, onnx::BranchOp>(op); }

  /// Whether an operation that is no part of `inside` reads the value; what a terminator, loop or branch
  /// takes is an ending.
  static bool isReadOutside(Value value, const llvm::SmallDenseSet<Operation *> &inside) {
    Block *home = value.getParentBlock();
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *here = home->findAncestorOpInBlock(*user);
      if (inside.contains(here))
        return false;
      const bool isEnding = user == here && (isControl(user) || llvm::isa<onnx::YieldOp, func::ReturnOp>(user));
      return !isEnding || !isNext(here, inside);
    });
  }
  /// Whether the part `inside` ends before `op`, so that what `op` takes is one of its endings.
  static bool isNext(Operation *op, const llvm::SmallDenseSet<Operation *> &inside) {
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
      if (inside.contains(before))
        return true;
      if (isControl(before))
        return false;
    }
    return false;
  }

  void writeModule(ArrayRef<Operation *> operations, ArrayRef<Value> inputs, ArrayRef<Ending> outputs, OpBuilder &order) {
    const Location loc = place;
    OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
    top.setInsertionPoint(main);
    std::string symbol = "part" + std::to_string(parts++);
    auto part = ModuleOp::create(top, loc, symbol);
    OpBuilder inner = OpBuilder::atBlockEnd(part.getBody());
    SmallVector<Type> taken, given;
    for (Value value : inputs)
      taken.push_back(value.getType());
    for (const Ending &ending : outputs)
      given.push_back(ending.value.getType());
    auto function = func::FuncOp::create(inner, loc, "main", inner.getFunctionType(taken, given));
    if (Attribute opset = main->getAttr("onnx.opset"))
      function->setAttr("onnx.opset", opset);
    Block *body = function.addEntryBlock();
    inner.setInsertionPointToEnd(body);
    IRMapping mapping;
    for (auto [value, argument] : llvm::zip_equal(inputs, body->getArguments())) {
      mapping.map(value, argument);
      function.setArgAttr(argument.getArgNumber(), "onnx.name", builder.getStringAttr(names.lookup(value)));
      if (DenseI64ArrayAttr range = ranges.lookup(names.lookup(value)))
        function.setArgAttr(argument.getArgNumber(), kRange, range);
    }
    auto constants = [&](Value value) {
      if (auto weight = value.getDefiningOp<onnx::WeightOp>(); weight && !mapping.contains(value))
        inner.clone(*weight, mapping);
    };
    for (Operation *op : operations) {
      if (llvm::isa<onnx::WeightOp>(op))
        continue;
      llvm::for_each(op->getOperands(), constants);
      inner.clone(*op, mapping);
    }
    SmallVector<Value> results;
    for (auto [i, ending] : llvm::enumerate(outputs)) {
      constants(ending.value);
      results.push_back(mapping.lookup(ending.value));
      function.setResultAttr(i, "onnx.name", builder.getStringAttr(ending.name));
      if (DenseI64ArrayAttr range = ranges.lookup(ending.name))
        function.setResultAttr(i, kRange, range);
      if (ending.count.empty())
        continue;
      auto count = llvm::find_if(outputs, [&, &ending = ending](const Ending &other) { return other.name == ending.count; });
      function.setResultAttr(i, "onnx.count", builder.getI64IntegerAttr(count - outputs.begin()));
      function.setResultAttr(i, "onnx.count_dim", builder.getI64IntegerAttr(ending.countDim));
    }
    func::ReturnOp::create(inner, loc, results);
    ir::RunOp::create(order, loc, symbol);
  }

  ModuleOp module;
  func::FuncOp main;
  OpBuilder builder;
  Location place; ///< what parts belong to: the model, or the loop or branch around them
  DenseMap<Value, std::string> names;
  llvm::StringMap<DenseI64ArrayAttr> ranges; ///< of the integers of 64 bits in a buffer, where they are known
  llvm::StringSet<> taken;
  llvm::SetVector<Value> pendingInputs; ///< the model's inputs belong to its first part, whoever reads them
  unsigned parts = 0, loops = 0, branches = 0, values = 0;
};

struct SplitControlPass : trn::impl::SplitControlPassBase<SplitControlPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (main && !main.isExternal() && llvm::any_of(main.front(), [](Operation &op) {
          return llvm::isa<onnx::RepeatOp, onnx::BranchOp>(op);
        }))
      Splitter(getOperation(), main).run();
  }
};

} // namespace
