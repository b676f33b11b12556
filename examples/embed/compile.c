/* Compiles a model and runs it in one process: a program with compiler and runtime in it. No file is written.
 * Options are those of `trnc compile`, without dashes: target=trn1 auto-cast=matmult shape=x=1x3x48x320 */
#include "execute.h"
#include <stdio.h>
#include <string.h>
#include <trn/compiler.h>

/* Sets each `name=value`. */
static trn_compile_status set_options(trn_compilation *compilation, int count, char **options) {
  for (int i = 0; i < count; ++i) {
    char *value = strchr(options[i], '=');
    if (value)
      *value++ = 0;
    trn_compile_status status = trn_compilation_set_option(compilation, options[i], value ? value : "");
    if (status != TRN_COMPILE_OK)
      return status;
  }
  return TRN_COMPILE_OK;
}

/* What is wrong with the model: every problem by itself, as a framework would hand it on. */
static void print_problems(const trn_compilation *compilation) {
  for (size_t i = 0; i < trn_compilation_num_problems(compilation); ++i) {
    trn_problem problem;
    if (trn_compilation_problem(compilation, i, &problem) == TRN_COMPILE_OK)
      fprintf(stderr, "%s: %s %s: %s\n", problem.severity == TRN_PROBLEM_ERROR ? "error" : "warning", problem.op,
              problem.node, problem.reason);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s model.onnx [option=value ...]\n", argv[0]);
    return TRN_COMPILE_USAGE;
  }
  trn_compilation *compilation = trn_compilation_create();
  trn_compile_status status = set_options(compilation, argc - 2, argv + 2);
  if (status == TRN_COMPILE_OK) {
    status = trn_compilation_compile_file(compilation, argv[1]);
    print_problems(compilation);
  } else {
    fprintf(stderr, "error: %s\n", trn_compilation_message(compilation));
  }

  const void *bytes = NULL;
  size_t size = 0;
  trn_executable *executable = NULL;
  trn_error *error = NULL;
  if (status == TRN_COMPILE_OK)
    status = trn_compilation_executable(compilation, &bytes, &size);
  if (status == TRN_COMPILE_OK && trn_executable_load_bytes(bytes, size, &executable, &error) != TRN_OK) {
    fprintf(stderr, "error: %s\n", trn_error_message(error));
    trn_error_free(error);
    status = TRN_COMPILE_INTERNAL;
  }
  trn_compilation_free(compilation); /* the executable has its own copy of the bytes */
  if (status != TRN_COMPILE_OK)
    return (int)status;
  execute_on_zeros(executable);
  trn_executable_free(executable);
  return 0;
}
