//===- NodeImporter.cpp - from one ONNX node to operations ----------------===//
//
// Owns the record-driven translation of nodes, and Constant nodes in all their forms.
//
//===----------------------------------------------------------------------===//
#include "compiler/Import/NodeImporter.h"
#include "dialects/ONNX/TypeNames.h"

#include "compiler/Weights/Constant.h"
#include "dialects/ONNX/Ops/Weight.h"
#include "dialects/ONNX/Shape/Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace trn;
using trn::onnx::Arity;
using trn::onnx::AttributeKind;
using trn::onnx::AttributeRecord;
using trn::onnx::OpRecord;
using Kind = Problem::Kind;
using Proto = ::onnx::AttributeProto;

Location trn::nodeLocation(MLIRContext &context, StringRef name, StringRef op, int64_t index, int64_t opset) {
  return NameLoc::get(StringAttr::get(&context, name), FileLineColLoc::get(&context, op, index, opset));
}

NodeImporter::NodeImporter(OpBuilder &builder, ModelFile &file, const FlatNode &node, ValueMap &values,
                           Diagnostics &problems, ImportBody importBody)
    : builder(builder), file(file), node(node), values(values), problems(problems), importBody(importBody),
      loc(nodeLocation(*builder.getContext(), node.name, node.op(), node.index, node.opset())) {}

Value NodeImporter::operand(unsigned group) const {
  return group < operands.size() && !operands[group].empty() ? operands[group][0] : Value();
}

NamedAttribute NodeImporter::named(StringRef name, Attribute value) const {
  return NamedAttribute(builder.getStringAttr(name), value);
}

LogicalResult NodeImporter::problem(Kind kind, std::string reason, std::string hint) {
  problems.add(nodeProblem(node, kind, std::move(reason), std::move(hint)));
  return failure();
}

void NodeImporter::defineAll(Value value) {
  for (const std::string &output : node.outputs)
    if (!output.empty())
      values[output] = value;
}

LogicalResult NodeImporter::define(Value value, size_t output) {
  if (!value)
    return failure();
  if (hasOutput(output))
    values[node.outputs[output]] = value;
  return success();
}

bool NodeImporter::hasOutput(size_t output) const {
  return output < node.outputs.size() && !node.outputs[output].empty();
}

Value NodeImporter::output(size_t output) const { return hasOutput(output) ? values[node.outputs[output]] : Value(); }

void NodeImporter::run() {
  defineAll(Value());
  if (node.domain().empty() && node.node->op_type() == "Constant") {
    importConstant();
    return;
  }
  if (!checkRecord())
    return;
  // Attributes and operands are both checked, so that one run reports all.
  bool good = readAttributes();
  if (!readOperands() || !good || poisoned)
    return;
  StringRef step;
  for (const trn::onnx::UpgradeRecord &entry : recordOf->upgrades)
    if (nodeVersion < entry.before)
      step = entry.step;
#define ONNX_UPGRADE(name)                                                                                             \
  if (step == #name) {                                                                                                 \
    (void)upgrade::name(*this);                                                                                        \
    return;                                                                                                            \
  }
#include "dialects/ONNX/Upgrades.inc"
#undef ONNX_UPGRADE
  assert(step.empty() && "every step of a record is in the generated list");
  (void)buildDefault();
}

/// Finds the record and the version that the model's opset selects.
bool NodeImporter::checkRecord() {
  std::string domain = node.domain();
  int64_t opset = node.opset();
  if (opset == 0)
    return succeeded(problem(Kind::Broken, "the model does not declare a version of domain '" +
                                               (domain.empty() ? std::string("ai.onnx") : domain) + "'"));
  recordOf = trn::onnx::findRecord(domain, node.node->op_type());
  if (!recordOf)
    return succeeded(problem(Kind::Unsupported,
                             domain.empty() ? "this operator is not supported"
                                            : "operators of domain '" + domain + "' are not supported",
                             domain == "com.microsoft" ? "export the model without ONNX Runtime's graph optimisations"
                                                       : "`trnc ops` lists the operators that are"));
  nodeVersion = recordOf->versionFor(opset);
  if (nodeVersion == 0)
    return succeeded(problem(Kind::Unsupported,
                             "the oldest supported version of this operator is " +
                                 std::to_string(recordOf->since.front()) + " but the model's opset is " +
                                 std::to_string(opset),
                             "convert the model to a newer opset"));
  if (recordOf->refused())
    return succeeded(problem(Kind::Unsupported, recordOf->reason.str(), recordOf->hint.str()));
  return true;
}

bool NodeImporter::readOperands() {
  SmallVector<const trn::onnx::OperandRecord *> present;
  operands.resize(recordOf->operands.size());
  size_t next = 0;
  bool good = true;
  auto take = [&](const trn::onnx::OperandRecord &operand, SmallVector<Value, 1> &group) {
    const std::string &name = node.inputs[next++];
    if (name.empty())
      return false;
    Value value = values[name];
    poisoned |= !value;
    group.push_back(value);
    // What has element types is a tensor: steps and shape rules read it as one, before operations are verified.
    if (value && !operand.types.empty() && !isa<TensorType>(value.getType()))
      good = succeeded(
          problem(Kind::Broken, "expected a tensor for '" + operand.name.str() + "' but got a sequence"));
    return true;
  };
  for (const trn::onnx::LegacyOperandRecord &operand : recordOf->legacyOperands) {
    if (nodeVersion >= operand.until || next == node.inputs.size())
      continue;
    const std::string &name = node.inputs[next++];
    if (name.empty())
      continue;
    Value value = values[name];
    poisoned |= !value;
    legacyOperands[operand.name.str()] = value;
  }
  for (auto [i, operand] : llvm::enumerate(recordOf->operands)) {
    if (operand.from > nodeVersion)
      continue;
    if (operand.arity == Arity::Variadic) {
      while (next < node.inputs.size())
        if (!take(operand, operands[i]))
          good = succeeded(problem(Kind::Broken, "expected no absent input among '" + operand.name.str() + "'"));
      continue;
    }
    bool given = next < node.inputs.size() && take(operand, operands[i]);
    if (!given && operand.arity == Arity::Single)
      good = succeeded(problem(Kind::Broken, "expected an input '" + operand.name.str() + "' but got none"));
  }
  // Trailing absent inputs are no inputs.
  while (next < node.inputs.size() && node.inputs[next].empty())
    ++next;
  if (next < node.inputs.size())
    good = succeeded(problem(Kind::Broken, "expected at most " + std::to_string(next) + " inputs but got " +
                                               std::to_string(node.inputs.size())));
  return good;
}

/// The attribute's type. Files of the first format versions leave it out.
static Proto::AttributeType typeOf(const Proto &attribute) {
  if (attribute.type() != Proto::UNDEFINED)
    return attribute.type();
  if (attribute.has_f())
    return Proto::FLOAT;
  if (attribute.has_i())
    return Proto::INT;
  if (attribute.has_s())
    return Proto::STRING;
  if (attribute.has_t())
    return Proto::TENSOR;
  if (attribute.has_g())
    return Proto::GRAPH;
  if (attribute.has_tp())
    return Proto::TYPE_PROTO;
  return attribute.floats_size()    ? Proto::FLOATS
         : attribute.ints_size()    ? Proto::INTS
         : attribute.strings_size() ? Proto::STRINGS
                                    : Proto::UNDEFINED;
}

static Proto::AttributeType protoType(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Int:
  case AttributeKind::Flag:
  case AttributeKind::DataType:
    return Proto::INT;
  case AttributeKind::Float:
  case AttributeKind::Scalar:
    return Proto::FLOAT;
  case AttributeKind::String:
    return Proto::STRING;
  case AttributeKind::Ints:
    return Proto::INTS;
  case AttributeKind::Floats:
    return Proto::FLOATS;
  case AttributeKind::Strings:
    return Proto::STRINGS;
  case AttributeKind::Tensor:
    return Proto::TENSOR;
  case AttributeKind::ValueType:
    return Proto::TYPE_PROTO;
  case AttributeKind::Graph:
    return Proto::GRAPH;
  }
  llvm_unreachable("covered switch");
}

Attribute NodeImporter::convert(const Proto &attribute, AttributeKind kind) {
  auto text = [](const std::string &bytes) { return StringRef(bytes); };
  switch (kind) {
  case AttributeKind::Int:
    return builder.getI64IntegerAttr(attribute.i());
  case AttributeKind::Flag:
    return builder.getBoolAttr(attribute.i() != 0);
  case AttributeKind::Float:
  case AttributeKind::Scalar:
    return builder.getF32FloatAttr(attribute.f());
  case AttributeKind::String:
    return builder.getStringAttr(text(attribute.s()));
  case AttributeKind::Ints:
    return builder.getDenseI64ArrayAttr(SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  case AttributeKind::Floats:
    return builder.getDenseF32ArrayAttr(SmallVector<float>(attribute.floats().begin(), attribute.floats().end()));
  case AttributeKind::Strings: {
    SmallVector<Attribute> strings;
    for (const std::string &string : attribute.strings())
      strings.push_back(builder.getStringAttr(text(string)));
    return builder.getArrayAttr(strings);
  }
  case AttributeKind::Tensor: {
    std::string error;
    Attribute value = file.constant(*builder.getContext(), attribute.t(), attribute.name(), error);
    if (!value)
      (void)problem(Kind::Broken, "attribute '" + attribute.name() + "': " + error);
    return value;
  }
  case AttributeKind::Graph:
    break; // A region, not an attribute.
  case AttributeKind::ValueType: {
    const ::onnx::TypeProto *type = &attribute.tp();
    if (type->has_optional_type())
      type = &type->optional_type().elem_type();
    const bool isSequence = type->has_sequence_type();
    if (isSequence)
      type = &type->sequence_type().elem_type();
    Type element = type->has_tensor_type() ? elementType(*builder.getContext(), type->tensor_type().elem_type()) : Type();
    if (!element) {
      (void)problem(Kind::Unsupported, "attribute '" + attribute.name() + "' is not the type of a tensor, or of a sequence " +
                                           "of tensors, with elements that are supported");
      return {};
    }
    return TypeAttr::get(isSequence ? Type(trn::onnx::SequenceType::get(builder.getContext(), element))
                                    : Type(UnrankedTensorType::get(element)));
  }
  case AttributeKind::DataType: {
    Type type =
        attribute.i() == int32_t(attribute.i()) ? elementType(*builder.getContext(), int32_t(attribute.i())) : Type();
    if (!type) {
      (void)problem(Kind::Unsupported, "attribute '" + attribute.name() + "': element type " +
                                           dataTypeName(int32_t(attribute.i())) + " is not supported");
      return {};
    }
    return TypeAttr::get(type);
  }
  }
  llvm_unreachable("covered switch");
}

bool NodeImporter::readAttributes() {
  bool good = true;
  for (const auto &given : node.attributes) {
    const std::string &name = given.first;
    const Proto *attribute = given.second;
    // A name may have changed its type between versions: each range has its own entry.
    const AttributeRecord *entry = llvm::find_if(recordOf->attributes, [&](const AttributeRecord &candidate) {
      return candidate.name == name && nodeVersion >= candidate.from && nodeVersion < candidate.until;
    });
    if (entry == recordOf->attributes.end()) {
      good = succeeded(problem(Kind::Unsupported, "attribute '" + name + "' does not exist in version " +
                                                      std::to_string(nodeVersion) + " of this operator"));
      continue;
    }
    // `output_dtype = 0` and the like mean "not given".
    if (entry->kind == AttributeKind::DataType && attribute->i() == 0 && !entry->required)
      continue;
    Proto::AttributeType type = typeOf(*attribute);
    bool emptyList = type == Proto::UNDEFINED && protoType(entry->kind) >= Proto::FLOATS;
    if (type != protoType(entry->kind) && !emptyList) {
      good = succeeded(problem(Kind::Broken, "expected attribute '" + name + "' of type " +
                                                 std::to_string(protoType(entry->kind)) + " but got " +
                                                 std::to_string(type) + " (AttributeProto.AttributeType)"));
      continue;
    }
    if (entry->kind == AttributeKind::Graph) {
      bodies[name] = &attribute->g();
      continue;
    }
    Attribute value = convert(*attribute, entry->kind);
    if (!value)
      good = false;
    else if (entry->legacy)
      legacy[name] = value;
    else
      attributes.set(name, value);
  }
  for (const AttributeRecord &entry : recordOf->attributes)
    if (entry.required && nodeVersion >= entry.from && nodeVersion < entry.until &&
        !node.attributes.count(entry.name.str()))
      good = succeeded(problem(Kind::Broken, "expected attribute '" + entry.name.str() + "' but got none"));
  return good;
}

/// Attributes that take the operand's element type were read as fp32.
static void retypeScalars(const OpRecord &record, NamedAttrList &attributes, Type element) {
  for (const AttributeRecord &entry : record.attributes) {
    auto value = dyn_cast_or_null<FloatAttr>(attributes.get(entry.name));
    if (entry.kind != AttributeKind::Scalar || !value || value.getType() == element)
      continue;
    double number = value.getValueAsDouble();
    if (isa<FloatType>(element))
      attributes.set(entry.name, FloatAttr::get(element, number));
    else if (isa<IntegerType>(element))
      attributes.set(entry.name, IntegerAttr::get(element, llvm::APInt(element.getIntOrFloatBitWidth(), number, true,
                                                                       /*implicitTrunc=*/true)));
  }
}

/// A record may have fewer element types than the standard, which is no fault of the model's: the reason then, or nothing.
static std::string typeProblem(const OpRecord &record, const NodeImporter::Groups &groups, StringRef message) {
  unsigned number;
  StringRef rest = message.substr(message.find("operand #")); // empty without one
  if (!rest.consume_front("operand #") || rest.consumeInteger(10, number) || !rest.consume_front(" must be tensor of "))
    return "";
  for (const auto &[entry, group] : llvm::zip(record.operands, groups)) {
    if (number < group.size())
      return ("operand '" + entry.name + "' is of " + trn::onnx::typeName(getElementTypeOrSelf(group[number].getType())) +
              ", which is not supported: expected " + rest.take_front(rest.find(", but got")))
          .str();
    number -= group.size();
  }
  return "";
}

Operation *NodeImporter::create(const OpRecord &record, const Groups &groups, ArrayRef<NamedAttribute> given,
                                ArrayRef<bool> results) {
  OperationState state(loc, record.operation);
  SmallVector<int32_t> operandSizes, resultSizes;
  for (const auto &group : groups) {
    state.addOperands(group);
    operandSizes.push_back(group.size());
  }
  NamedAttrList list(given);
  if (!state.operands.empty())
    retypeScalars(record, list, getElementTypeOrSelf(state.operands.front().getType()));
  state.attributes = std::move(list);
  if (record.operandSegments)
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(operandSizes));
  // Inference replaces these types.
  Type unknown = UnrankedTensorType::get(builder.getF32Type());
  for (bool present : results) {
    resultSizes.push_back(present);
    if (present)
      state.addTypes(unknown);
  }
  if (record.resultSegments)
    state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr(resultSizes));
  for (const AttributeRecord &entry : record.attributes)
    if (entry.kind == AttributeKind::Graph)
      state.addRegion();
  Operation *op = builder.create(state);
  // Bodies take what is not optional, as a condition or a number of steps is; the condition of a branch stands alone.
  SmallVector<Type> bodyOperands;
  if (!groups.empty() && record.operands.back().arity == Arity::Variadic)
    for (const auto &[entry, group] : llvm::zip(record.operands, groups))
      if (entry.arity != Arity::Optional)
        llvm::append_range(bodyOperands, ValueRange(group).getTypes());
  unsigned nextBody = 0;
  for (const AttributeRecord &entry : record.attributes)
    if (entry.kind == AttributeKind::Graph) {
      Region &region = op->getRegion(nextBody++);
      auto body = bodies.find(entry.name.str());
      if (body != bodies.end() && failed(importBody(*body->second, node, bodyOperands, region))) {
        op->erase();
        return nullptr;
      }
    }
  return finish(op, record, groups);
}

Operation *NodeImporter::finish(Operation *op, const OpRecord &record, const Groups &groups) {
  trn::onnx::Inference inference(op);
  std::string message;
  if (failed(inference.run())) {
    message = inference.message();
  } else {
    inference.commit();
    ScopedDiagnosticHandler collect(builder.getContext(), [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    if (succeeded(verify(op, /*verifyRecursively=*/false)))
      return op;
  }
  op->erase();
  std::string reason = typeProblem(record, groups, message);
  (void)problem(reason.empty() ? Kind::Broken : Kind::Unsupported, reason.empty() ? message : reason);
  return nullptr;
}

Value NodeImporter::createSimple(StringRef name, ArrayRef<Value> values, ArrayRef<NamedAttribute> given) {
  const OpRecord *target = trn::onnx::findRecord("", name);
  assert(target && "upgrade steps name operators that have a record");
  Groups groups(target->operands.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    if (value)
      groups[i].push_back(value);
    else if (target->operands[i].arity == Arity::Single)
      return {}; // what makes it has failed, and has said why
  }
  // Optional results are absent.
  SmallVector<bool> results(target->resultSegments ? target->results.size() : 1, false);
  results.front() = true;
  Operation *op = create(*target, groups, given, results);
  return op ? op->getResult(0) : Value();
}

Value NodeImporter::constant(ElementsAttr value) { return trn::onnx::WeightOp::create(builder, loc, value); }

LogicalResult NodeImporter::buildDefault() {
  SmallVector<bool> results;
  SmallVector<size_t> outputOf; // the node's output behind each result
  size_t next = 0;
  for (const trn::onnx::ResultRecord &result : recordOf->results) {
    if (result.arity == Arity::Own) {
      results.push_back(false);
      continue;
    }
    size_t count = result.arity == Arity::Variadic ? node.outputs.size() - std::min(next, node.outputs.size()) : 1;
    for (size_t i = 0; i < count; ++i, ++next) {
      bool present = result.arity != Arity::Optional || hasOutput(next);
      // Without segments an absent optional result is simply not there.
      if (present || recordOf->resultSegments)
        results.push_back(present);
      if (present)
        outputOf.push_back(next);
    }
  }
  for (size_t i = next; i < node.outputs.size(); ++i)
    if (hasOutput(i))
      return problem(Kind::Unsupported, "output '" + node.outputs[i] + "' is not supported",
                     "export the model for inference");
  Operation *op = create(*recordOf, operands, attributes, results);
  if (!op)
    return failure();
  for (auto [result, output] : llvm::zip(op->getResults(), outputOf))
    if (hasOutput(output))
      values[node.outputs[output]] = result;
  return success();
}

bool NodeImporter::importConstant() {
  MLIRContext *context = builder.getContext();
  if (node.attributes.size() != 1)
    return succeeded(
        problem(Kind::Broken, "expected one attribute with a value but got " + std::to_string(node.attributes.size())));
  const auto &[name, attribute] = *node.attributes.begin();
  ElementsAttr value;
  std::string error = "values of this kind ('" + name + "') are not supported";
  auto vectorOf = [&](Type element, int64_t size) { return RankedTensorType::get({size}, element); };
  if (name == "value") {
    value = file.constant(*context, attribute->t(), node.name, error);
  } else if (name == "value_int") {
    value = makeIntegers(RankedTensorType::get({}, builder.getI64Type()), {attribute->i()});
  } else if (name == "value_ints") {
    value = makeIntegers(vectorOf(builder.getI64Type(), attribute->ints_size()),
                         SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end()));
  } else if (name == "value_float") {
    value = DenseElementsAttr::get(RankedTensorType::get({}, builder.getF32Type()), attribute->f());
  } else if (name == "value_floats") {
    SmallVector<float> floats(attribute->floats().begin(), attribute->floats().end());
    value = DenseElementsAttr::get(vectorOf(builder.getF32Type(), floats.size()), ArrayRef<float>(floats));
  }
  if (!value)
    return succeeded(problem(Kind::Unsupported, error));
  return succeeded(define(trn::onnx::WeightOp::create(builder, loc, value)));
}
