//===- Inst.td - what an instruction record holds --------------*- tablegen -*-===//
//
// Owns the classes of instruction records. One record is the only place that states an instruction's operands, limits,
// costs and engines; mlir-tblgen makes the dialect operation of it, trn-tblgen everything else (structs, codec, checks,
// cost functions, documentation, tests). How to add one: docs/add-an-instruction.md.
//
// Expressions in records (rules, costs) are C++ over these names:
//   the operands       AP (AccessPattern.h); a scalar operand is a Scalar; optional ones are std::optional
//   the attributes     bool, int32_t, float, enumerations
//   device             const DeviceInfo &   (a field of Devices.td by its name)
//   phase              Phase::Shape or Phase::Address
//   engine             costs only: the queue that issues the instruction
// and over the vocabulary of Terms.h (all16BitFloat, unitStride, passes, ...).
//
//===--------------------------------------------------------------------------===//
#ifndef TRN_ISA_INST_TD
#define TRN_ISA_INST_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Trn/TrnAttrs.td"
include "dialects/Trn/TrnInterfaces.td"

//===--------------------------------------------------------------------------===//
// Operands
//===--------------------------------------------------------------------------===//

/// Sets of element types, by the enumerators of isa::DType.
defvar kFp8 = ["F8E3", "F8E4", "F8E5", "F8E4FN"];
defvar kFloats = !listconcat(["BF16", "F16", "F32", "TF32"], kFp8);
defvar kInts = ["I8", "U8", "I16", "U16", "I32", "U32", "BOOL"];
defvar kCompute = !listconcat(kFloats, kInts);            // what DVE, ACT and POOL convert to and from fp32
defvar kAllTypes = !listconcat(kCompute, ["F32R", "F8E8", "I64", "U64", "F64"]); // bit copies and DMA
defvar kFp32 = ["F32"];

/// An operand that lies in memory. role: In, Out or InOut. spaces, dtypes: what is legal (rules 1 and 2 of Rules.cpp);
/// maxRank: free dimensions (rule 3).
class Operand<string name_, string role_, list<string> spaces_, list<string> dtypes_, int maxRank_ = 4,
              bit optional_ = 0, bit scalar_ = 0, string default_ = ""> {
  string name = name_;
  string role = role_;
  list<string> spaces = spaces_;
  list<string> dtypes = dtypes_;
  int maxRank = maxRank_;
  bit optional = optional_;
  bit scalar = scalar_;
  string default = default_; // scalar: the immediate when the dialect gives neither memref nor immediate
  // A scalar operand is, in the dialect, a memref or an immediate.
  dag ods = !if(scalar_, !dag(ins, [Optional<AnyMemRef>, OptionalAttr<F32Attr>], [name_, name_ # "_imm"]),
                !if(optional_, !dag(ins, [Optional<AnyMemRef>], [name_]), !dag(ins, [AnyMemRef], [name_])));
  bit named = !or(optional_, scalar_); // printed as name(%x : type)
  // In the builder: one argument, and what it passes on for `ods`.
  CArg builderArg = CArg<!if(scalar_, "::trn::ir::ScalarArg", "::mlir::Value")>;
  string builderExpr = !if(scalar_, name_ # ".value, " # name_ # ".attr($_builder)", name_);
}
class In<string name, list<string> spaces, list<string> dtypes, int maxRank = 4>
    : Operand<name, "In", spaces, dtypes, maxRank>;
class Out<string name, list<string> spaces, list<string> dtypes, int maxRank = 4>
    : Operand<name, "Out", spaces, dtypes, maxRank>;
class InOut<string name, list<string> spaces, list<string> dtypes, int maxRank = 4>
    : Operand<name, "InOut", spaces, dtypes, maxRank>;
class OptionalOut<string name, list<string> spaces, list<string> dtypes, int maxRank = 4>
    : Operand<name, "Out", spaces, dtypes, maxRank, 1>;
/// An immediate or a [P, 1] column of values, one per partition.
class ScalarIn<string name, list<string> dtypes = kFp32, string default = "">
    : Operand<name, "In", ["SBUF", "PSUM"], dtypes, 4, 0, 1, default>;
class OptionalScalarIn<string name, list<string> dtypes = kFp32>
    : Operand<name, "In", ["SBUF", "PSUM"], dtypes, 4, 1, 1>;

//===--------------------------------------------------------------------------===//
// Attributes
//===--------------------------------------------------------------------------===//

/// kind: enum, bool, int, float, ints, list or pattern.
class InstAttr<string name_, string kind_, dag ods_, CArg builderArg_, string builderExpr_> {
  string name = name_;
  string kind = kind_;
  dag ods = ods_;
  CArg builderArg = builderArg_; // as for Operand
  string builderExpr = builderExpr_;
  string enum = "";        // enum: the class
  string initializer = ""; // C++ value when the attribute is absent
  int low = 0;             // int, ints: legal range
  int high = 0;
  int length = 0;          // ints: number of entries
}
class EnumInstAttr<string name, string enumClass, Attr odsAttr, string storage, string default>
    : InstAttr<name, "enum", !dag(ins, [odsAttr], [name]),
               CArg<"::trn::isa::" # enumClass, !if(!empty(default), "", "::trn::isa::" # default)>,
               "::trn::ir::" # storage # "::get($_builder.getContext(), " # name # ")"> {
  let enum = enumClass;
}
class AluAttr<string name> : EnumInstAttr<name, "AluOp", Trn_AluAttr, "AluOpAttr", ""> {
  let initializer = "AluOp::Add";
}
class DefaultAluAttr<string name, AluOp op>
    : EnumInstAttr<name, "AluOp", DefaultValuedAttr<Trn_AluAttr, "::trn::isa::AluOp::" # op.symbol>, "AluOpAttr",
                   "AluOp::" # op.symbol> {
  let initializer = "AluOp::" # op.symbol;
}
class ActAttr<string name> : EnumInstAttr<name, "ActivationFunc", Trn_ActAttr, "ActivationFuncAttr", ""> {
  let initializer = "ActivationFunc::Copy";
}
/// False when absent.
class FlagAttr<string name>
    : InstAttr<name, "bool", !dag(ins, [UnitAttr], [name]), CArg<"bool", "false">,
               name # " ? $_builder.getUnitAttr() : ::mlir::UnitAttr()"> {
  let initializer = "false";
}
/// True when absent.
class TrueByDefaultAttr<string name>
    : InstAttr<name, "bool", !dag(ins, [DefaultValuedAttr<BoolAttr, "true">], [name]), CArg<"bool", "true">,
               "$_builder.getBoolAttr(" # name # ")"> {
  let initializer = "true";
}
class IntAttr<string name, int low_, int high_, int default = low_>
    : InstAttr<name, "int", !dag(ins, [DefaultValuedAttr<I32Attr, !cast<string>(default)>], [name]),
               CArg<"int32_t", !cast<string>(default)>, "$_builder.getI32IntegerAttr(" # name # ")"> {
  let initializer = !cast<string>(default);
  let low = low_;
  let high = high_;
}
class FloatAttr<string name>
    : InstAttr<name, "float", !dag(ins, [F32Attr], [name]), CArg<"float">, "$_builder.getF32FloatAttr(" # name # ")"> {
  let initializer = "0.0f";
}
class IntsAttr<string name, int length_, int low_, int high_>
    : InstAttr<name, "ints", !dag(ins, [DenseI32ArrayAttr], [name]), CArg<"::llvm::ArrayRef<int32_t>">,
               "$_builder.getDenseI32ArrayAttr(" # name # ")"> {
  let length = length_;
  let low = low_;
  let high = high_;
}
/// Numbers of 32 bits, as many as there are; empty when absent.
class ListAttr<string name>
    : InstAttr<name, "list", !dag(ins, [DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>()">], [name]),
               CArg<"::llvm::ArrayRef<int32_t>", "{}">, "$_builder.getDenseI32ArrayAttr(" # name # ")">;
/// Up to four pairs [step, count], slowest first, flattened in the dialect.
class PatternAttr<string name>
    : InstAttr<name, "pattern", !dag(ins, [DenseI64ArrayAttr], [name]), CArg<"::llvm::ArrayRef<int64_t>">,
               "$_builder.getDenseI64ArrayAttr(" # name # ")">;

//===--------------------------------------------------------------------------===//
// Numbers
//===--------------------------------------------------------------------------===//

/// A number in the meaning of an instruction: for C++ `trn::isa::<mnemonic>::<name>` (dialects/Trn/ISA/Constants.h).
class InstConstant<string name_, int value_, string doc_> {
  string name = name_;
  int value = value_;
  string doc = doc_;
}

//===--------------------------------------------------------------------------===//
// Rules and costs
//===--------------------------------------------------------------------------===//

/// A numbered rule: `expr` must hold. Numbers from 20 on; 1 to 19 are the general rules of Rules.cpp. `message` says
/// "expected ..., but got ..."; text in braces is a C++ expression whose value is printed. phase: Shape rules hold from
/// the dialect's verifier on, Address rules need addresses, Engine rules also see `engine`.
class Rule<int number_, string expr_, string message_, string source_, string phase_ = "Shape"> {
  int number = number_;
  string expr = expr_;
  string message = message_;
  string source = source_;
  string phase = phase_;
}

/// Cost on one engine, in its cycles. occupancy: until the next instruction of the queue can start; latency: until the
/// results are visible. `fixed(engine)` is the measured fixed part. source: grade and place.
class Cost<string engine_, string occupancy_, string latency_, string source_> {
  string engine = engine_;
  string occupancy = occupancy_;
  string latency = latency_;
  string source = source_;
}
/// The common case: an interval of max(MIN_II, work), a latency of the fixed part plus the work.
class WorkCost<string engine, string work, string source>
    : Cost<engine, "interval(device, engine, " # work # ")", "fixed(device, engine) + (" # work # ")", source>;

//===--------------------------------------------------------------------------===//
// The record
//===--------------------------------------------------------------------------===//

/// Traits of all instructions. The interval between two optional operand groups must be stored.
class InstTraits<list<Operand> operands, list<string> extra> {
  int groups = !add(!size(!filter(o, operands, o.named)), !size(extra));
  list<Trait> ret = !listconcat([DeclareOpInterfaceMethods<InstructionOpInterface>,
                                 DeclareOpInterfaceMethods<MemoryEffectsOpInterface>],
                                !if(!gt(groups, 1), [AttrSizedOperandSegments], []<Trait>));
}

/// The one assembly form: outs(...) ins(...) then optional and scalar operands by name, then attributes.
class InstFormat<list<Operand> operands, string extra> {
  list<Operand> outs = !filter(o, operands, !and(!not(o.named), !ne(o.role, "In")));
  list<Operand> inputs = !filter(o, operands, !and(!not(o.named), !eq(o.role, "In")));
  list<Operand> optionals = !filter(o, operands, o.named);
  string outsText = !if(!empty(outs), "", "`outs` `(` " #
      !interleave(!foreach(o, outs, "$" # o.name), " `,` ") # " `:` " #
      !interleave(!foreach(o, outs, "type($" # o.name # ")"), " `,` ") # " `)` ");
  string insText = !if(!empty(inputs), "", "`ins` `(` " #
      !interleave(!foreach(o, inputs, "$" # o.name), " `,` ") # " `:` " #
      !interleave(!foreach(o, inputs, "type($" # o.name # ")"), " `,` ") # " `)` ");
  string optionalText = !interleave(!foreach(o, optionals,
      "(`" # o.name # "` `(` $" # o.name # "^ `:` type($" # o.name # ") `)`)?"), " ");
  string ret = outsText # insText # optionalText # " " # extra # " attr-dict";
}

/// The one builder: operands, then attributes; what later stages decide stays absent. Scalars take a value or a float.
class InstBuilder<list<Operand> operands, list<InstAttr> attrs, string extra> {
  list<CArg> types = !listconcat(!foreach(o, operands, o.builderArg), !foreach(a, attrs, a.builderArg),
                                 !if(!empty(extra), []<CArg>, [CArg<"::mlir::Value", "{}">]));
  list<string> names = !listconcat(!foreach(o, operands, o.name), !foreach(a, attrs, a.name),
                                   !if(!empty(extra), []<string>, [extra]));
  list<string> exprs = !listconcat(!foreach(o, operands, o.builderExpr), !if(!empty(extra), []<string>, [extra]),
                                   !foreach(a, attrs, a.builderExpr));
  OpBuilder ret = OpBuilder<!dag(ins, types, names),
      "    build($_builder, $_state" # !interleave(!foreach(e, exprs, ", " # e), "") # ", ::mlir::ArrayAttr(), " #
      "::trn::ir::EngineAttr(), ::mlir::IntegerAttr(), ::mlir::IntegerAttr(), ::mlir::IntegerAttr(), " #
      "::trn::ir::WaitAttr(), ::trn::ir::UpdateAttr());">;
}

/// An instruction. `opcode` is its number in executables: never reused, never changed.
class Inst<string mnemonic_, int opcode_, list<Operand> operandRecords, list<InstAttr> attrRecords, list<string> engines_,
           string predicate = "">
    : Op<Trn_Dialect, mnemonic_, InstTraits<operandRecords, !if(!empty(predicate), []<string>, [predicate])>.ret> {
  int opcode = opcode_;
  list<Operand> operands = operandRecords;
  list<InstAttr> instAttrs = attrRecords;
  list<string> engines = engines_;
  list<InstConstant> constants = [];
  list<Rule> rules = [];
  list<Cost> costs = [];
  int since = 2;  // first core version that has it
  bit isDma = 0;
  bit isLibrary = 0; // a program of the GpSimd cores: Library.td
  string source = ""; // where the semantics come from
  // The destination is also read when this holds (accumulation); a C++ expression over the operation `op`.
  string readsDestination = "";

  // Declared attributes that later stages fill in; see InstructionOpInterface.
  let arguments = !con(!foldl((ins), operandRecords, acc, o, !con(acc, o.ods)),
                       // `predicate` names an i1 operand that no instruction has: it is gone before `scheduled`.
                       !if(!empty(predicate), (ins), !dag(ins, [Optional<I1>], [predicate])),
                       !foldl((ins), attrRecords, acc, a, !con(acc, a.ods)),
                       (ins OptionalAttr<ArrayAttr>:$aps, OptionalAttr<Trn_EngineAttr>:$engine,
                            OptionalAttr<I32Attr>:$ring, OptionalAttr<I64Attr>:$issue, OptionalAttr<I64Attr>:$completion,
                            OptionalAttr<Trn_WaitAttr>:$wait, OptionalAttr<Trn_UpdateAttr>:$update));
  let results = (outs);
  let assemblyFormat = InstFormat<operandRecords, !if(!empty(predicate), "",
                                  "(`" # predicate # "` `(` $" # predicate # "^ `)`)?")>.ret;
  let builders = [InstBuilder<operandRecords, attrRecords, predicate>.ret];
  let hasVerifier = 1;
}

#endif // TRN_ISA_INST_TD
