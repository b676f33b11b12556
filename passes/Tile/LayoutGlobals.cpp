//===- LayoutGlobals.cpp - the program's buffers in HBM --------------------===//
// Owns the making of `trn.global`s for inputs, outputs and weights (declared in LayoutEmitter.h).
#include "dialects/Trn/TrnDialect.h"
#include "dialects/Trn/TrnOps.h"
#include "passes/Tile/LayoutEmitter.h"

using namespace mlir;

namespace trn {

/// A symbol that no other of the module has.
static std::string freeSymbol(ModuleOp module, StringRef wanted) {
  std::string name = wanted.str();
  for (unsigned suffix = 0; module.lookupSymbol(name); ++suffix)
    name = (wanted + "_" + Twine(suffix)).str();
  return name;
}

Value LayoutEmitter::declareGlobal(Location loc, StringRef name, RankedTensorType type, GlobalContents contents) {
  OpBuilder atModule = OpBuilder::atBlockBegin(module.getBody());
  if (lastGlobal)
    atModule.setInsertionPointAfter(lastGlobal);
  auto buffer = MemRefType::get(type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
                                ir::spaceAttr(builder.getContext(), isa::Space::HBM));
  std::string symbol = freeSymbol(module, name);
  ir::GlobalKind kind = contents.value     ? ir::GlobalKind::Weight
                        : contents.isInput ? ir::GlobalKind::Input
                                           : ir::GlobalKind::Output;
  StringAttr ioName = contents.value ? nullptr : builder.getStringAttr(contents.ioName);
  lastGlobal = ir::GlobalOp::create(atModule, loc, builder.getStringAttr(symbol),
                                    ir::GlobalKindAttr::get(builder.getContext(), kind), ioName, contents.hostType,
                                    contents.value, contents.transforms && !contents.transforms.empty() ? contents.transforms : nullptr,
                                    FlatSymbolRefAttr(), IntegerAttr(),
                                    TypeAttr::get(buffer));
  return ir::GetGlobalOp::create(builder, loc, buffer, FlatSymbolRefAttr::get(builder.getContext(), symbol));
}

Value LayoutEmitter::declareInput(Location loc, RankedTensorType type, StringRef ioName, TypeAttr hostType) {
  return asTensor(loc, declareGlobal(loc, ioName, type, {true, ioName, hostType, nullptr, nullptr}), /*writable=*/false);
}

Value LayoutEmitter::declareOutput(Location loc, RankedTensorType type, StringRef ioName, TypeAttr hostType) {
  return declareGlobal(loc, ioName, type, {false, ioName, hostType, nullptr, nullptr});
}

Value LayoutEmitter::declareWeight(Location loc, ElementsAttr value, ArrayAttr transforms, RankedTensorType type) {
  std::string name = ("w" + Twine(numWeights++)).str();
  return asTensor(loc, declareGlobal(loc, name, type, {false, "", nullptr, value, transforms}), /*writable=*/false);
}

} // namespace trn
