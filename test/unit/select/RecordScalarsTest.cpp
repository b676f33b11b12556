//===- RecordScalarsTest.cpp - scalars of the operators' records ----------===//
// A record may name any scalar operation of MLIR. Each one must be known at both ends: the reference evaluator computes
// it, and selection has a row for it or a composition of operations that have rows.
#include "compiler/Reference/Evaluator.h"
#include "dialects/ONNX/OpRecords.h"
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
  std::string spec, type;
  unsigned operands;
  std::string operators; ///< that name it
};

std::vector<RecordScalar> recordScalars() {
  std::vector<RecordScalar> scalars;
  auto add = [&](const trn::onnx::OpRecord &record, StringRef spec, StringRef type) {
    if (spec.empty())
      return;
    unsigned operands = record.operands[0].arity == trn::onnx::Arity::Variadic ? 2 : record.operands.size();
    for (RecordScalar &known : scalars)
      if (known.spec == spec && known.type == type) {
        known.operators += ", " + record.name.str();
        return;
      }
    scalars.push_back({spec.str(), type.str(), operands, record.name.str()});
  };
  for (const trn::onnx::OpRecord &record : trn::onnx::records()) {
    add(record, record.floatScalar, "f32");
    add(record, record.intScalar, "i32");
    add(record, record.uintScalar, "i32");
  }
  return scalars;
}

/// A function `main` that applies the scalar to tensors of four elements.
std::string program(const RecordScalar &scalar) {
  auto [operation, enumCase] = StringRef(scalar.spec).split(' ');
  bool compares = operation.starts_with("arith.cmp"), two = scalar.operands == 2;
  std::string type = scalar.type, result = compares ? "i1" : type, body;
  if (compares)
    body = operation.str() + " " + enumCase.str() + ", %x, %y : " + type;
  else if (operation == "trn.scalar")
    body = operation.str() + " " + enumCase.str() + " %x : " + type;
  else
    body = "\"" + operation.str() + "\"(%x" + (two ? ", %y" : "") + ") : (" + type + (two ? ", " + type : "") + ") -> " + type;
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
  for (const RecordScalar &scalar : recordScalars()) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program(scalar), &context);
    ASSERT_TRUE(module) << scalar.spec << " of " << scalar.operators << ":\n" << program(scalar);
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
        << scalar.spec << " of " << scalar.operators << " has no row in dialects/Trn/ISA/ScalarFunctions.def";
  }
}

TEST_F(RecordScalars, HaveInstructionsOrCompositions) {
  std::vector<RecordScalar> scalars = recordScalars();
  EXPECT_GT(scalars.size(), 20u);
  for (const RecordScalar &scalar : scalars) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program(scalar), &context);
    ASSERT_TRUE(module);
    PassManager manager(&context);
    manager.addNestedPass<func::FuncOp>(trn::createExpandScalarsPass());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    module->walk([&](linalg::GenericOp op) {
      for (Operation &inner : op.getBody()->without_terminator()) {
        EXPECT_TRUE(isCoveredByShape(inner) || trn::ir::scalarOpInfo(&inner))
            << scalar.spec << " of " << scalar.operators << " needs a row in dialects/Trn/ISA/ScalarOps.td for "
            << inner.getName().getStringRef().str() << ", or a composition in passes/Select/ExpandScalars.cpp";
      }
    });
  }
}
} // namespace
