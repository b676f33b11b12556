/*===- compiler.h - compile ONNX models (C API) ---------------------------===*\
 *
 * Compiles ONNX models, in files or in memory, to `.trnx` executables, in memory or in files. What `trnc compile` does,
 * for a program that has the compiler in it: a framework's back end, a build system, a service.
 *
 * Handle based: a compilation has options, then one model, then its problems and its executable. Compilations share
 * nothing: each may be used by one thread at a time, several by several threads. Pointers into a handle live until its
 * next compilation or its end. Nothing here throws, prints, or touches the network or any file that it was not given
 * (a model's external data lies in the model's folder).
 *
\*===----------------------------------------------------------------------===*/
#ifndef TRN_COMPILER_H
#define TRN_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TRN_COMPILER_API __attribute__((visibility("default")))
#else
#define TRN_COMPILER_API
#endif

/** How a call went. The values are the exit codes of `trnc`. */
typedef enum trn_compile_status {
  TRN_COMPILE_OK = 0,
  TRN_COMPILE_UNSUPPORTED = 1, /**< the model is valid but needs what the compiler does not have */
  TRN_COMPILE_BAD_INPUT = 2,   /**< a file is missing, damaged, does not fit the model, or cannot be written */
  TRN_COMPILE_USAGE = 3,       /**< a wrong option, or nothing compiled that could be written */
  TRN_COMPILE_INTERNAL = 4     /**< a defect of the compiler */
} trn_compile_status;

typedef struct trn_compilation trn_compilation;

/** The compiler's version, "major.minor.patch". */
TRN_COMPILER_API const char *trn_compiler_version(void);

/** A compilation with the options that `trnc compile` has by default. */
TRN_COMPILER_API trn_compilation *trn_compilation_create(void);
/** Gives the handle up; NULL is fine. */
TRN_COMPILER_API void trn_compilation_free(trn_compilation *compilation);

/** Sets an option of compiling by the name and the value that `trnc compile` has for it, without dashes: "target" to
 *  "trn1", "auto-cast" to "matmult", "O" to "3", "dim" to "batch=1", "shape" to "x=1x3x48x320". An option of several
 *  names ("dim", "shape", "const-input") is set for one of them by each call; a later value replaces an earlier one. The
 *  options stay for all compilations of the handle. TRN_COMPILE_USAGE, and nothing changed, when the name or value is wrong: see
 *  `trn_compilation_message`. */
TRN_COMPILER_API trn_compile_status trn_compilation_set_option(trn_compilation *compilation, const char *name,
                                                               const char *value);

/** Compiles the model in a file: `.onnx`, or `.mlir` for a kernel in the `trn` dialect. */
TRN_COMPILER_API trn_compile_status trn_compilation_compile_file(trn_compilation *compilation, const char *path);
/** Compiles a serialised ONNX model of `size` bytes, which are only read during the call. External data of the model is looked for in
 *  `folder`; NULL: the current one. */
TRN_COMPILER_API trn_compile_status trn_compilation_compile_bytes(trn_compilation *compilation, const void *model,
                                                                  size_t size, const char *folder);

/** Lends the bytes of the executable, as `trn_executable_load_bytes` takes them. TRN_COMPILE_USAGE, and NULL and 0, when
 *  the last compilation made none. */
TRN_COMPILER_API trn_compile_status trn_compilation_executable(trn_compilation *compilation, const void **bytes,
                                                               size_t *size);
/** Writes the executable to a file, which appears whole or not at all. */
TRN_COMPILER_API trn_compile_status trn_compilation_write(trn_compilation *compilation, const char *path);

/** How much a problem matters. Only errors keep a model from being compiled. */
typedef enum trn_problem_severity { TRN_PROBLEM_ERROR = 0, TRN_PROBLEM_WARNING = 1 } trn_problem_severity;

/** One problem of a model. No pointer is NULL. This struct never grows: new facts will get functions. */
typedef struct trn_problem {
  trn_problem_severity severity;
  const char *node;   /**< the node's name, or its first output when it has none; "" for the model itself */
  const char *op;     /**< its operator, with the domain unless that is ai.onnx */
  int64_t index;      /**< the node's position in the model; -1 when unknown */
  int64_t opset;      /**< the model's version of the operator's domain; 0 when it does not matter */
  const char *reason; /**< what was expected and what came */
  const char *hint;   /**< what can be done about it; may be "" */
} trn_problem;

/** The problems of the last compilation: all that were found, as `trnc check` lists them for the stages that were reached. */
TRN_COMPILER_API size_t trn_compilation_num_problems(const trn_compilation *compilation);
/** TRN_COMPILE_USAGE when there is no such problem. */
TRN_COMPILER_API trn_compile_status trn_compilation_problem(const trn_compilation *compilation, size_t index,
                                                            trn_problem *problem);
/** What the last call that sets, compiles, lends or writes has to say when it failed, problems one below the other; "" when it did
 *  not. */
TRN_COMPILER_API const char *trn_compilation_message(const trn_compilation *compilation);

#ifdef __cplusplus
}
#endif
#endif
