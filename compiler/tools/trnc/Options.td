//===- Options.td - the command line of trnc ------------------------------===//
//
// Every command and option of `trnc`, once: the parser, `--help` and docs/trnc.md are made from these records.
// Options that neuronx-cc has carry its name and its values.
//
//===----------------------------------------------------------------------===//
include "llvm/Option/OptParser.td"

def compile : SubCommand<"compile", "Compile an ONNX model, a kernel or a stage dump to a .trnx executable",
                         "trnc compile model.onnx -o model.trnx [options]">;
def run : SubCommand<"run", "Run a model, kernel or executable on the emulated device",
                     "trnc run model.trnx --input x=@x.npy --save y=@y.npy [options]">;
def verify : SubCommand<"verify", "Run a model and compare its outputs with expected ones",
                        "trnc verify model.onnx --data test_data_set_0 [options]">;
def check : SubCommand<"check", "List every problem of a model in one run",
                       "trnc check model.onnx [options]">;
def inspect : SubCommand<"inspect", "Show inputs, outputs, operators, memory and facts of a model or executable",
                         "trnc inspect model.onnx|model.trnx [options]">;
def explain : SubCommand<"explain", "Show what the compiler decided and why: plans and remarks",
                         "trnc explain model.onnx [options]">;
def profile : SubCommand<"profile", "Model the time of an executable and write reports",
                         "trnc profile model.trnx [--json] [--perfetto trace.json] [--html report.html]">;
def bisect : SubCommand<"bisect", "Find the first stage and node whose values leave tolerance",
                        "trnc bisect model.onnx --reference refs.npz [options]">;
def ops : SubCommand<"ops", "Show the supported operators with versions, types and limits", "trnc ops [Operator...]">;
def targets : SubCommand<"targets", "Show the devices and their limits", "trnc targets [--json]">;

class Commands<list<SubCommand> names> { list<SubCommand> Names = names; }
def All : Commands<[compile, run, verify, check, inspect, explain, profile, bisect, ops, targets]>;
def Compiling : Commands<[compile, run, verify, explain, profile, bisect]>;
def Importing : Commands<[compile, run, verify, check, inspect, explain, profile, bisect]>;
def Executing : Commands<[run, verify, bisect]>;
def Reporting : Commands<[compile, run, verify, check, inspect, profile, bisect, ops, targets]>;

// `--name=value` and `--name value`.
multiclass Value<string name, Commands on, string meta, string help> {
  def NAME : Separate<["--"], name, on.Names>, MetaVarName<meta>, HelpText<help>;
  def NAME#_eq : Joined<["--"], name#"=", on.Names>, Alias<!cast<Separate>(NAME)>;
}
class Switch<string name, Commands on, string help> : Flag<["--"], name, on.Names>, HelpText<help>;

def help : Switch<"help", All, "Show the commands, or the options of one command">;
def help_short : Flag<["-"], "h", All.Names>, Alias<help>;
def version : Switch<"version", All, "Show the version and the targets">;
def json : Switch<"json", Commands<Reporting.Names>, "Print the report as JSON on standard output">;
def quiet : Switch<"quiet", All, "Print errors only">;

// Importing.
defm shape : Value<"shape", Importing, "NAME=AxBxC",
                   "Shape of an input, by name; repeatable; x=scalar for one without dimensions. A sequence x has the elements x.0, x.1, ..: as many as have a "
                   "shape, or x=N; an optional without an element is x=none. An input with a default value is a constant unless it has a shape here">;
defm dim : Value<"dim", Importing, "NAME=N", "Value of a symbolic dimension, by name; repeatable">;
defm const_input : Value<"const-input", Importing, "NAME=@FILE", "Bind a run-time input while compiling; repeatable">;
defm weights_links : Value<"weights-links", Importing, "allow|deny",
                           "Follow symbolic links out of the model's folder to external data (default: deny)">;

// Compiling.
defm target : Value<"target", Commands<[compile, run, verify, check, explain, profile, bisect, inspect]>, "DEVICE",
                    "inf2, trn1, trn2 (default) or trn3">;
defm lnc : Value<"lnc", Compiling, "N", "Logical cores: physical cores per program (only 1)">;
defm logical_nc_config : Value<"logical-nc-config", Compiling, "N", "The same, as neuronx-cc spells it">;
def lnc_short : Separate<["-"], "lnc", Compiling.Names>, Alias<lnc>;
def O : Joined<["-"], "O", Compiling.Names>, MetaVarName<"LEVEL">, HelpText<"Optimisation level, 0 to 3 (default: 2); 'trnc --help' says what each does">;
defm optlevel : Value<"optlevel", Compiling, "LEVEL", "The same, as neuronx-cc spells it">;
defm auto_cast : Value<"auto-cast", Compiling, "none|matmult|all",
                       "Which fp32 operations may run in a narrower type (default: none, fp32-exact)">;
defm auto_cast_type : Value<"auto-cast-type", Compiling, "bf16|fp16", "The narrower type (default: bf16)">;
defm start_from : Value<"start-from", Compiling, "STAGE",
                        "The stage of a .mlir input (default: selected, a kernel)">;
defm stop_after : Value<"stop-after", Commands<[compile]>, "STAGE", "Stop after this stage and write its IR">;
def embed_ir : Switch<"embed-ir", Commands<[compile]>, "Keep the IR of stage `tensor` in the executable (for people; the runtime never reads it)">;
def timing : Switch<"timing", Commands<[compile]>, "Print the time of every pass">;
def o : JoinedOrSeparate<["-"], "o", [compile]>, MetaVarName<"FILE">, HelpText<"Output file (default: the input's name, .trnx)">;
defm output : Value<"output", Commands<[compile]>, "FILE", "The same, as neuronx-cc spells it">;

// Executing.
defm input : Value<"input", Executing, "NAME=@FILE",
                   "Value of an input (.npy, .npz, .pb); NAME=@FILE.npz:member takes one member; repeatable">;
defm save : Value<"save", Commands<[run]>, "NAME=@FILE", "Where to write an output (.npy, .npz, .pb); repeatable">;
defm random_inputs : Value<"random-inputs", Commands<[run, verify]>, "SEED", "Fill the inputs that have no value with seeded noise">;
defm threads : Value<"threads", Executing, "N", "Worker threads of the emulated device (default: 1)">;
defm repeat : Value<"repeat", Commands<[run]>, "N", "Run N times; the report carries the best time (default: 1)">;
defm timeout : Value<"timeout", Executing, "SECONDS", "Wall-clock limit of one run (default: none)">;
defm check_level : Value<"check", Executing, "on|off",
                         "Look for races, unset reads and deadlocks before the run (default: on)">;
def stats : Switch<"stats", Commands<[run]>, "Print the modelled profile after the run">;

// Comparing.
defm data : Value<"data", Commands<[verify]>, "FOLDER", "Folder with input_N.pb and output_N.pb">;
defm expect : Value<"expect", Commands<[verify]>, "NAME=@FILE", "Expected value of an output; repeatable">;
def layers : Switch<"layers", Commands<[verify]>, "Show the error of every node against fp32, the largest growth first">;
defm stage : Value<"stage", Commands<[verify]>, "STAGE", "The stage whose values --layers compares, from tensor to synced "
                   "(default: tensor, where precision is decided)">;
defm reference : Value<"reference", Commands<[verify, bisect]>, "FILE.npz",
                       "Every node's value (scripts/node_values.py); verify --layers: default is the compiler's own in fp32">;
defm reduce : Value<"reduce", Commands<[verify]>, "FILE.onnx",
                    "Write the smallest part of the model that fails like it: to compile, or against --reference "
                    "(default: the compiler's own values in fp32)">;
defm replace : Value<"replace", Commands<[bisect]>, "STAGE=@FILE.mlir",
                     "Go on from this dump instead of what the compiler makes at the stage; repeatable">;
defm rtol : Value<"rtol", Commands<[verify, bisect]>, "X", "Relative tolerance (default: 1e-3, of integers none; bisect: 1e-4 of the largest value; verify --layers: the same, "
                     "but no limit with --auto-cast)">;
defm atol : Value<"atol", Commands<[verify]>, "X", "Absolute tolerance (default: 1e-7, of integers none)">;

// Reporting.
def no_data : Switch<"no-data", Commands<[profile]>, "Model the time alone; needs no inputs (the default)">;
defm perfetto : Value<"perfetto", Commands<[profile, run]>, "FILE", "Write a Perfetto trace">;
defm html : Value<"html", Commands<[profile, run]>, "FILE", "Write the one-page report">;
def asm : Switch<"asm", Commands<[inspect]>, "Print the programs of all engines">;
def sections : Switch<"buffers", Commands<[inspect]>, "List every buffer in device memory">;
def markdown : Switch<"markdown", Commands<[ops, targets]>, "Print a Markdown table">;
