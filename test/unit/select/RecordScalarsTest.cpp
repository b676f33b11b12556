//===- RecordScalarsTest.cpp - scalars of the operators' records ----------===//
// A record may name any scalar operation of MLIR. Each one must be known at both ends: the reference evaluator computes
// it, and selection has a row for it or a composition of operations that have rows.
#include "compiler/Reference/Evaluator.h"
#include "dialects/ONNX/OpRecords.h"
#include "dialects/Trn/ISA/Compositions.h"
#include "dialects/Trn/TrnDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Select/Passes.h"
#include <gtest/gtest.h>
#include <set>

using namespace mlir;

namespace {
/// One scalar operation as a record writes it, on elements of `type`.
struct RecordScalar {
  std::string key, type;
  unsigned operands;
  std::string records; ///< that name it
};

/// The scalar operations of all records: of operators, of their formulas and of compositions.
class RecordScalarList {
public:
  RecordScalarList() {
    for (const trn::onnx::OpRecord &record : trn::onnx::records()) {
      unsigned operands = record.operands.empty()                                          ? 0
                          : record.operands[0].arity == trn::onnx::Arity::Variadic ? 2
                                                                                   : record.operands.size();
      add(record.name, record.floatScalar, "f32", operands);
      add(record.name, record.intScalar, "i32", operands);
      add(record.name, record.uintScalar, "i32", operands);
      add(record.name, record.floatFormula);
      add(record.name, record.intFormula);
      add(record.name, record.uintFormula);
    }
    for (const trn::isa::Composition &composition : trn::isa::allCompositions()) {
      add(composition.key, composition.formula);
      formulas += !composition.formula.empty();
    }
  }
  std::vector<RecordScalar> scalars;
  unsigned formulas = 0;

private:
  void add(StringRef record, const trn::Formula &formula) {
    formulas += !formula.empty();
    for (const trn::FormulaStep &step : formula)
      if (step.kind == trn::FormulaStep::Kind::Operation && step.text != StringRef("arith.select"))
        add(record, step.text, isOfIntegers(step.text) ? "i32" : "f32", step.index);
  }
  static bool isOfIntegers(StringRef key) {
    return key.starts_with("arith.cmpi") || (key.starts_with("arith.") && (key.ends_with("i") || key.ends_with("ui")));
  }
  void add(StringRef record, StringRef key, StringRef type, unsigned operands) {
    if (key.empty())
      return;
    for (RecordScalar &known : scalars)
      if (known.key == key && known.type == type) {
        known.records += ", " + record.str();
        return;
      }
    scalars.push_back({key.str(), type.str(), operands, record.str()});
  }
};

/// A function `main` that applies the scalar to tensors of four elements.
std::string program(const RecordScalar &scalar) {
  auto [operation, enumCase] = StringRef(scalar.key).rsplit('.');
  bool compares = operation.starts_with("arith.cmp"), two = scalar.operands == 2;
  std::string type = scalar.type, result = compares ? "i1" : type, body;
  if (compares)
    body = operation.str() + " " + enumCase.str() + ", %x, %y : " + type;
  else if (operation == "trn.scalar")
    body = operation.str() + " " + enumCase.str() + " %x : " + type;
  else
    body = "\"" + scalar.key + "\"(%x" + (two ? ", %y" : "") + ") : (" + type + (two ? ", " + type : "") + ") -> " + type;
  std::string tensor = "tensor<4x" + type + ">", results = "tensor<4x" + result + ">";
  return "#id = affine_map<(d0) -> (d0)>\n"
         "func.func @main(%a: " + tensor + (two ? ", %b: " + tensor : "") + ") -> " + results + " {\n"
         "  %e = tensor.empty() : " + results + "\n"
         "  %r = linalg.generic {indexing_maps = [#id, #id" + (two ? ", #id" : "") + "], iterator_types = [\"parallel\"]}\n"
         "    ins(%a" + (two ? ", %b : " + tensor : " : ") + (two ? ", " : "") + tensor + ") outs(%e : " + results + ") {\n"
         "  ^bb0(%x: " + type + (two ? ", %y: " + type : "") + ", %o: " + result + "):\n"
         "    %s = " + body + "\n    linalg.yield %s : " + result + "\n  } -> " + results + "\n"
         "  return %r : " + results + "\n}\n";
}

/// What BodySelector computes without a row: constants, conversions, choices, roundings and remainders.
bool isCoveredByShape(Operation &op) {
  return op.hasTrait<OpTrait::ConstantLike>() || isa<CastOpInterface>(op) ||
         isa<arith::SelectOp, arith::RemFOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::RoundOp, math::TruncOp>(op);
}

class RecordScalars : public testing::Test {
protected:
  RecordScalars() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
    trn::ir::registerTrnDialect(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context;
};

TEST_F(RecordScalars, AreComputedByTheEvaluator) {
  for (const RecordScalar &scalar : RecordScalarList().scalars) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program(scalar), &context);
    ASSERT_TRUE(module) << scalar.key << " of " << scalar.records << ":\n" << program(scalar);
    auto main = module->lookupSymbol<func::FuncOp>("main");
    SmallVector<trn::Tensor> arguments;
    for (Type type : main.getArgumentTypes()) {
      trn::Tensor tensor = trn::Tensor::allocate(cast<RankedTensorType>(type).getElementType(), {4});
      for (int i = 0; i < 4; ++i)
        if (scalar.type == "f32")
          tensor.data<float>()[i] = 0.25f * (i + 1);
        else
          tensor.data<int32_t>()[i] = i + 1;
      arguments.push_back(tensor);
    }
    EXPECT_TRUE(succeeded(trn::evaluate(main, arguments)))
        << scalar.key << " of " << scalar.records << " has no row in dialects/Trn/ISA/ScalarFunctions.def";
  }
}

TEST_F(RecordScalars, HaveInstructionsOrCompositions) {
  RecordScalarList list;
  EXPECT_GT(list.scalars.size(), 20u);
  EXPECT_GT(list.formulas, 20u);
  for (const RecordScalar &scalar : list.scalars) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program(scalar), &context);
    ASSERT_TRUE(module);
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(trn::createExpandScalarsPass());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    module->walk([&](linalg::GenericOp op) {
      for (Operation &inner : op.getBody()->without_terminator()) {
        EXPECT_TRUE(isCoveredByShape(inner) || trn::ir::scalarOpInfo(&inner))
            << scalar.key << " of " << scalar.records << " needs a row in dialects/Trn/ISA/ScalarOps.td for "
            << inner.getName().getStringRef().str() << ", or a record in dialects/Trn/ISA/Compositions.td";
      }
    });
  }
}
} // namespace
