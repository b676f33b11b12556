//===- Upgrades.cpp - older meanings in terms of today's ------------------===//
//
// Owns the steps that records name in `upgrades`: nodes of versions whose meaning differs from the canonical form.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/NodeImporter.h"

#include "compiler/Import/ModelFile.h"
#include "dialects/ONNX/Ops/Control.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace trn;
using Kind = Problem::Kind;

/// Before version 13, Softmax, LogSoftmax and Hardmax see a matrix: the dimensions before `axis` (1 by default) are its
/// rows, the others its columns, and a row adds up to one.
LogicalResult upgrade::softmaxFlattens(NodeImporter &node) {
  OpBuilder &b = node.builder;
  Value x = node.operands[0][0];
  auto given = dyn_cast_or_null<IntegerAttr>(node.attributes.get("axis"));
  int64_t axis = given ? given.getInt() : 1;
  auto type = dyn_cast<RankedTensorType>(x.getType());
  int64_t rank = type ? type.getRank() : -1;
  if (rank >= 1 && (axis == rank - 1 || axis == -1)) {
    node.attributes.set("axis", b.getI64IntegerAttr(rank - 1));
    return node.buildDefault();
  }
  NamedAttribute flattenAxis(b.getStringAttr("axis"), b.getI64IntegerAttr(axis));
  NamedAttribute rows(b.getStringAttr("axis"), b.getI64IntegerAttr(1));
  Value shape = node.createSimple("Shape", {x}, {});
  Value matrix = shape ? node.createSimple("Flatten", {x}, {flattenAxis}) : Value();
  Value result = matrix ? node.createSimple(node.record().name, {matrix}, {rows}) : Value();
  return result ? node.define(node.createSimple("Reshape", {result, shape}, {})) : failure();
}

/// An attribute that only the old form has, `fallback` when the node does not give it.
static int64_t legacyInteger(NodeImporter &node, StringRef name, int64_t fallback) {
  auto given = node.legacy.find(name.str());
  return given == node.legacy.end() ? fallback : cast<IntegerAttr>(given->second).getInt();
}

/// The value with dimensions of size 1 behind its own, until it has `rank` of them; null after a problem.
static Value appendUnitDims(NodeImporter &node, Value value, int64_t rank) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() >= rank)
    return value;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(type.getRank(), rank));
  NamedAttribute attribute(node.builder.getStringAttr("axes"), node.builder.getDenseI64ArrayAttr(axes));
  return node.createSimple("Unsqueeze", {value}, attribute);
}

/// Before version 7, the second operand's dimensions match those of the first from `axis` on, by default its last ones.
/// Without `broadcast` the shapes are equal, and numpy's broadcasting does nothing.
LogicalResult upgrade::broadcastByAttribute(NodeImporter &node) {
  auto given = node.legacy.find("axis");
  if (legacyInteger(node, "broadcast", 0) == 0 || given == node.legacy.end())
    return node.buildDefault();
  auto a = dyn_cast<RankedTensorType>(node.operands[0][0].getType());
  auto b = dyn_cast<RankedTensorType>(node.operands[1][0].getType());
  if (!a || !b)
    return node.problem(Kind::Unsupported, "'axis' needs operands whose ranks are known",
                        "convert the model to opset 7 or newer");
  int64_t axis = cast<IntegerAttr>(given->second).getInt(), rank = a.getRank();
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis + b.getRank() > rank)
    return node.problem(Kind::Broken, "expected 'axis' in [0, " + std::to_string(rank - b.getRank()) + "] but got " +
                                          std::to_string(axis));
  node.operands[1][0] = appendUnitDims(node, node.operands[1][0], rank - axis);
  return node.operands[1][0] ? node.buildDefault() : failure();
}

/// Before version 7 the slope is one value, or one for each channel (dimension 1).
LogicalResult upgrade::preluPerChannel(NodeImporter &node) {
  auto x = dyn_cast<RankedTensorType>(node.operands[0][0].getType());
  auto slope = dyn_cast<RankedTensorType>(node.operands[1][0].getType());
  if (!x || !slope)
    return node.problem(Kind::Unsupported, "the slope needs operands whose ranks are known",
                        "convert the model to opset 7 or newer");
  bool shared = slope.hasStaticShape() && slope.getNumElements() == 1;
  if (!shared && slope.getRank() == 1 && x.getRank() > 2)
    node.operands[1][0] = appendUnitDims(node, node.operands[1][0], x.getRank() - 1);
  return node.operands[1][0] ? node.buildDefault() : failure();
}

/// Version 1 of Cast names the type by a string.
LogicalResult upgrade::castToNamedType(NodeImporter &node) {
  auto given = node.legacy.find("to");
  if (given == node.legacy.end())
    return node.problem(Kind::Broken, "expected attribute 'to' but got none");
  std::string name = cast<StringAttr>(given->second).getValue().upper();
  int type = 0;
  ::onnx::TensorProto::DataType parsed;
  if (::onnx::TensorProto::DataType_Parse(name, &parsed))
    type = parsed;
  Type element = elementType(*node.builder.getContext(), type);
  if (!element)
    return node.problem(Kind::Unsupported, "element type '" + name + "' is not supported");
  node.attributes.set("to", TypeAttr::get(element));
  return node.buildDefault();
}

/// CastLike reads the type of its second operand only.
LogicalResult upgrade::castLikeToCast(NodeImporter &node) {
  NamedAttrList attributes = node.attributes;
  attributes.set("to", TypeAttr::get(getElementTypeOrSelf(node.operands[1][0].getType())));
  return node.define(node.createSimple("Cast", {node.operands[0][0]}, attributes));
}

/// What is no tensor has no operation of its own: it is passed on.
LogicalResult upgrade::identityOfTensors(NodeImporter &node) {
  Value x = node.operands[0][0];
  return llvm::isa<TensorType>(x.getType()) ? node.buildDefault() : node.define(x);
}

/// Version 1 of Selu rounds its constants to four decimals.
LogicalResult upgrade::seluRoundedDefaults(NodeImporter &node) {
  for (auto [name, value] : {std::pair("alpha", 1.6732f), std::pair("gamma", 1.0507f)})
    if (!node.attributes.get(name))
      node.attributes.set(name, node.builder.getF32FloatAttr(value));
  return node.buildDefault();
}

/// Version 1 of Concat joins channels unless told otherwise.
LogicalResult upgrade::concatOnChannels(NodeImporter &node) {
  node.attributes.set("axis", node.builder.getI64IntegerAttr(legacyInteger(node, "axis", 1)));
  return node.buildDefault();
}

/// Version 1 of Pad calls the pads `paddings`.
LogicalResult upgrade::padWithPaddings(NodeImporter &node) {
  auto given = node.legacy.find("paddings");
  if (given == node.legacy.end())
    return node.problem(Kind::Broken, "expected attribute 'paddings' but got none");
  node.attributes.set("pads", given->second);
  return node.buildDefault();
}

/// Before version 14 the mode follows from `is_test` (until 7) or from how many outputs are named. `spatial = 0`
/// (before 9) has statistics for each position, not for each channel.
LogicalResult upgrade::batchNormalizationModes(NodeImporter &node) {
  if (legacyInteger(node, "spatial", 1) == 0)
    return node.problem(Kind::Unsupported, "'spatial' = 0 is not supported", "convert the model to opset 9 or newer");
  bool training = node.version() < 7 ? legacyInteger(node, "is_test", 0) == 0 : node.hasOutput(1);
  node.attributes.set("training_mode", node.builder.getBoolAttr(training));
  return node.buildDefault();
}

/// A seed for a node that has none: equal nodes draw different numbers, each of them the same ones in every compilation.
static int64_t seedOf(NodeImporter &node) {
  std::string name;
  llvm::raw_string_ostream(name) << node.location();
  return int64_t(llvm::xxh3_64bits(name) & 0xFFFFFF); // what a float holds
}
static void addSeed(NodeImporter &node, Attribute seed) {
  if (!node.attributes.get("seed"))
    node.attributes.set("seed", seed);
}

LogicalResult upgrade::randomSeed(NodeImporter &node) {
  addSeed(node, node.builder.getF32FloatAttr(float(seedOf(node))));
  return node.buildDefault();
}

LogicalResult upgrade::dropoutSeed(NodeImporter &node) {
  addSeed(node, node.builder.getI64IntegerAttr(seedOf(node)));
  return node.buildDefault();
}

/// Before version 7 Dropout works unless `is_test` is set; before version 10 its mask has the operand's type.
LogicalResult upgrade::dropoutModes(NodeImporter &node) {
  addSeed(node, node.builder.getI64IntegerAttr(seedOf(node)));
  bool training = node.version() < 7 && legacyInteger(node, "is_test", 0) == 0;
  node.attributes.set("training_mode", node.builder.getBoolAttr(training));
  if (failed(node.buildDefault()) || !node.hasOutput(1))
    return success();
  Type element = getElementTypeOrSelf(node.operands[0][0].getType());
  NamedAttribute to(node.builder.getStringAttr("to"), TypeAttr::get(element));
  return node.define(node.createSimple("Cast", {node.output(1)}, to), 1);
}

static void setOldCoordinates(NodeImporter &node) {
  OpBuilder &b = node.builder;
  node.attributes.set("coordinate_transformation_mode", b.getStringAttr("asymmetric"));
  node.attributes.set("nearest_mode", b.getStringAttr("floor"));
}

/// Version 10 of Resize samples at `x / scale`, rounded down.
LogicalResult upgrade::resizeAsymmetric(NodeImporter &node) {
  setOldCoordinates(node);
  return node.buildDefault();
}

/// Upsample is Resize of version 10 with other limits; its version 1 has one attribute for each scale of an image.
LogicalResult upgrade::upsampleToResize(NodeImporter &node) {
  OpBuilder &b = node.builder;
  setOldCoordinates(node);
  if (node.version() < 7) {
    SmallVector<float> scales = {1, 1};
    for (const char *name : {"height_scale", "width_scale"}) {
      auto given = node.legacy.find(name);
      if (given == node.legacy.end())
        return node.problem(Kind::Broken, std::string("expected attribute '") + name + "' but got none");
      scales.push_back(cast<FloatAttr>(given->second).getValueAsDouble());
    }
    node.attributes.set("scales", b.getDenseF32ArrayAttr(scales));
  }
  if (auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode")); mode && mode.getValue() == "bilinear")
    node.attributes.set("mode", b.getStringAttr("linear"));
  Value scales = node.operands[1].empty() ? Value() : node.operands[1][0];
  return node.define(node.createSimple("Resize", {node.operands[0][0], Value(), scales}, node.attributes));
}

/// Before version 20 GridSample names its modes after pictures.
LogicalResult upgrade::gridSampleModes(NodeImporter &node) {
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  StringRef name = mode ? mode.getValue() : "bilinear";
  if (name.consume_front("bi"))
    node.attributes.set("mode", node.builder.getStringAttr(name));
  return node.buildDefault();
}

/// Before version 20 the axis of DFT is an attribute, 1 by default.
LogicalResult upgrade::dftAxis(NodeImporter &node) {
  if (!node.attributes.get("axis"))
    node.attributes.set("axis", node.builder.getI64IntegerAttr(1));
  return node.buildDefault();
}

/// Before version 16 the regions of RoiAlign are not shifted by half a pixel.
LogicalResult upgrade::roiWithoutHalfPixel(NodeImporter &node) {
  node.attributes.set("coordinate_transformation_mode", node.builder.getStringAttr("output_half_pixel"));
  return node.buildDefault();
}

/// Before version 9 Scan does each sample of a batch by itself, along dimension 1: a scan over the samples of scans.
LogicalResult upgrade::scanOfSamples(NodeImporter &node) {
  if (node.legacyOperands.count("sequence_lens"))
    return node.problem(Kind::Unsupported, "sequences of different lengths ('sequence_lens') are not supported",
                        "convert the model to opset 9 or newer");
  if (auto directions = node.legacy.find("directions"); directions != node.legacy.end())
    node.attributes.set("scan_input_directions", directions->second);
  OpBuilder &b = node.builder;
  const NodeImporter::Groups batched = node.operands;
  const size_t results = node.outputCount();
  OperationState state(node.location(), node.record().operation);
  state.addOperands(batched.front());
  state.addAttribute("num_scan_inputs", b.getI64IntegerAttr(batched.front().size()));
  state.addTypes(SmallVector<Type>(results, UnrankedTensorType::get(b.getF32Type())));
  Block &body = state.addRegion()->emplaceBlock();
  for (Value &operand : node.operands.front())
    operand = body.addArgument(UnrankedTensorType::get(getElementTypeOrSelf(operand.getType())), node.location());
  Operation *samples = b.create(state);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&samples->getRegion(0).front());
    Operation *sample = node.create(node.record(), node.operands, node.attributes, SmallVector<bool>(results, true));
    if (!sample) {
      samples->erase();
      return failure();
    }
    trn::onnx::YieldOp::create(b, node.location(), sample->getResults());
  }
  if (!node.finish(samples, node.record(), batched))
    return failure();
  for (auto [i, result] : llvm::enumerate(samples->getResults()))
    if (node.hasOutput(i))
      (void)node.define(result, i);
  return success();
}

/// Scatter was renamed.
LogicalResult upgrade::scatterToElements(NodeImporter &node) {
  SmallVector<Value> operands;
  for (const auto &group : node.operands)
    operands.push_back(group.front());
  return node.define(node.createSimple("ScatterElements", operands, node.attributes));
}
