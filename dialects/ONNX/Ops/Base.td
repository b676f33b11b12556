//===- Base.td - the shape of an ONNX operator's record -------------------===//
//
// Owns the classes that every record of an ONNX operator derives from. One record is three things at once: the MLIR
// operation (read by mlir-tblgen), the importer's knowledge of the operator over all its versions, and the names of
// the shape rule and of the scalar operation that it lowers to (both read by onnx-tblgen). Refuses nothing itself: a
// record without a shape rule, or with an attribute that no version has, is an error of onnx-tblgen; one that differs from
// the standard in a version, operand, attribute or default without an upgrade step is an error of
// scripts/check_versions.py. Both stop the build.
//
//===----------------------------------------------------------------------===//
#ifndef TRN_DIALECTS_ONNX_OPS_BASE
#define TRN_DIALECTS_ONNX_OPS_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Trn/ISA/Accuracy.td"
include "dialects/Trn/ISA/Formula.td"

def ONNX_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::trn::onnx";
  let summary = "ONNX operators in one canonical form";
  let description = [{
    The meaning of ONNX, exactly, with the differences between its versions resolved by the importer. Values are
    tensors; attributes are normalised by the shape rules (axes ≥ 0, explicit pads, full shapes); an operand that only
    carries constants (`axes`, `shape`, `pads`, …) becomes the attribute of the same name as soon as it is constant.
    The node's name is the location.
  }];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerWeightOps();
    void registerElementwiseOps();
    void registerActivationOps();
    void registerReductionOps();
    void registerContractionOps();
    void registerConvolutionOps();
    void registerNormalizationOps();
    void registerMovementOps();
    void registerIndexingOps();
    void registerQuantizationOps();
    void registerRecurrentOps();
    void registerCompositeOps();
    void registerControlOps();
    void registerSequenceOps();
    void registerMicrosoftOps();
    void registerSignalOps();
    void registerLearningOps();
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// What users read of an operand's element types.
class ONNX_TensorOf<string types_, list<Type> allowed> : TensorOf<allowed> { string types = types_; }
def ONNX_Tensor : ONNX_TensorOf<"any", [AnyType]>;
/// A list of tensors of one element type, which exists while compiling only.
def ONNX_Sequence : TypeDef<ONNX_Dialect, "Sequence"> {
  let mnemonic = "seq";
  let summary = "a list of tensors, known while compiling";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}
def ONNX_Float : AnyTypeOf<[F16, BF16, F32, F64], "float16, bfloat16, float32 or float64">;
def ONNX_FloatTensor : ONNX_TensorOf<"float", [ONNX_Float]>;
/// Signed integers are signless in MLIR, unsigned ones are `ui8` … `ui64`.
def ONNX_Int : AnyTypeOf<[I8, I16, I32, I64, UI<8>, UI<16>, UI<32>, UI<64>], "integer">;
def ONNX_IntTensor : ONNX_TensorOf<"int", [ONNX_Int]>;
def ONNX_NumTensor : ONNX_TensorOf<"float int", [ONNX_Float, ONNX_Int]>;
def ONNX_BoolTensor : ONNX_TensorOf<"bool", [I1]>;
def ONNX_IndexTensor : ONNX_TensorOf<"int32 int64", [I32, I64]>;
def ONNX_I64Tensor : ONNX_TensorOf<"int64", [I64]>;

/// A TYPE_PROTO: the type of a tensor or a sequence.
def ONNX_ValueTypeAttr : TypeAttrBase<"::mlir::Type", "the type of a value">;

/// Checks declared result types against the record's shape rule.
def ONNX_InferredTypes : NativeOpTrait<"InferredTypes"> { let cppNamespace = "::trn::onnx"; }

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

/// An operand or attribute that exists from a version on.
class From<string n, int v> { string name = n; int version = v; }
/// An operand or attribute that exists in the versions before `v`.
class Until<string n, int v> { string name = n; int version = v; }
/// An attribute of the versions before `v` that the canonical form does not have; `kind` is ONNX's attribute type.
/// The upgrade step of that version consumes it.
class Legacy<string n, string k, int v> { string name = n; string kind = k; int version = v; }
/// A first input of the versions before `v`, which may be absent; the upgrade step of that version consumes it.
class LegacyOperand<string n, int v> { string name = n; int version = v; }
/// An operand that becomes an attribute once it is constant. With `mayStay` it may also be a value that only the run
/// knows; without, such a model is refused.
class Move<string o, string a, bit stays = 0> { string operand = o; string attribute = a; bit mayStay = stays; }
/// Nodes of a version before `v` mean something else: the importer's C++ step `s` builds them.
class Upgrade<int v, string s> { int version = v; string step = s; }

/// Version 1 of many operators could name inputs whose memory the result may take: it means nothing here.
defvar ONNX_ConsumedInputs = Legacy<"consumed_inputs", "INTS", 6>;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// One ONNX operator. `since` lists every version of the standard that this record covers: the oldest is the first
/// that the importer accepts, and a version that is not listed is reported to the user.
class ONNX_Op<string onnxName, list<int> sinceVersions, string rule, list<Trait> traits = []>
    : Op<ONNX_Dialect, onnxName, !listconcat([Pure, ONNX_InferredTypes], traits)> {
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";

  string domain = "";
  /// The operator's name in its domain.
  string standardName = onnxName;
  list<int> since = sinceVersions;
  /// Those of `since` that the pinned onnx package does not have: newer ones, or an operator outside of the standard.
  /// Nobody checks their signatures.
  list<int> unpinned = [];
  /// C++ function `trn::onnx::shape::<rule>` in dialects/ONNX/Shape: normalises attributes, gives result types.
  string shape = rule;
  list<From> operandsFrom = [];
  list<From> attributesFrom = [];
  list<Until> attributesUntil = [];
  /// Attributes and results that no version of the standard has: an operand's constant value, a count.
  list<string> canonical = [];
  list<Legacy> legacy = [];
  list<LegacyOperand> legacyOperands = [];
  list<Move> moves = [];
  list<Upgrade> upgrades = [];
  /// Operands whose values decide the result's shape, or how much is unrolled, without becoming attributes.
  list<string> shapeOperands = [];
  /// Operands that are positions in a dimension of the first operand, where a number beyond its sizes is an error.
  list<string> indexOperands = [];
  /// The scalar operation of an elementwise operator, by element type, by its key in ScalarOps.td: `math.exp`,
  /// `arith.cmpf.oeq`, `trn.scalar.sigmoid`. Empty: not a single operation (or not elementwise).
  string floatScalar = "";
  string intScalar = "";
  string uintScalar = intScalar;
  /// The same for what takes several scalar operations: a formula (Formula.td) of the operands and the float attributes.
  dag floatFormula = ?;
  dag intFormula = ?;
  dag uintFormula = ?;
  /// How exact `floatFormula` is on the instructions, with the attributes' defaults.
  Accuracy accuracy = Accuracy<"2">;
  /// Whether the run decides how many elements of its results are valid: they have their largest size, and a count, which
  /// is the result `count` unless the operator is decomposed into another one that has it.
  bit makesCounts = 0;
  /// How such a tensor is taken as an operand: a rule of passes/Graph/CountedRules.cpp. Empty: not at all.
  string counted = "";
  /// The library kernel that computes it, whatever its types; others call one for floats of 64 bits only.
  string library = "";
  /// What of the operator is not supported, for the support table. Empty: nothing.
  string limits = "";
}

/// An operator of another domain than ai.onnx; `prefix` keeps its operation apart from one of the same name.
class ONNX_DomainOp<string dom, string prefix, string onnxName, list<int> sinceVersions, string rule,
                    list<Trait> traits = []> : ONNX_Op<prefix # "." # onnxName, sinceVersions, rule, traits> {
  let domain = dom;
  let standardName = onnxName;
}

/// An operator that is known and turned down, with a reason and what the user can do.
class ONNX_Refused<string onnxName, list<int> sinceVersions, string why, string help, string dom = ""> {
  string name = onnxName;
  string domain = dom;
  list<int> since = sinceVersions;
  string reason = why;
  string hint = help;
}

#endif
