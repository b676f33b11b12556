/* Runs a loaded executable once on zeros, and prints the outputs' names and first values. */
#include "execute.h"
#include <stdio.h>
#include <stdlib.h>

static trn_error *error = NULL;

static void check(trn_status status, const char *what) {
  if (status == TRN_OK)
    return;
  fprintf(stderr, "error: %s: %s\n", what, trn_error_message(error));
  trn_error_free(error);
  exit((int)status);
}

void execute_on_zeros(const trn_executable *executable) {
  trn_instance *instance = NULL;
  check(trn_instance_create(executable, NULL, &instance, &error), "create");
  for (size_t i = 0; i < trn_executable_num_inputs(executable); ++i) {
    trn_tensor_info info;
    check(trn_executable_input(executable, i, &info, &error), "input");
    void *zeros = calloc(1, info.bytes);
    check(trn_instance_write_input(instance, i, zeros, info.bytes, &error), info.name);
    free(zeros);
  }
  check(trn_instance_execute(instance, &error), "execute");
  for (size_t i = 0; i < trn_executable_num_outputs(executable); ++i) {
    trn_tensor_info info;
    check(trn_executable_output(executable, i, &info, &error), "output");
    /* The run may have decided how much of an output is valid; `info` has the largest sizes. */
    int64_t *shape = calloc(info.rank + 1, sizeof *shape);
    check(trn_instance_output_shape(instance, i, shape, info.rank, &error), info.name);
    size_t bytes = info.bytes;
    for (size_t dim = 0; dim < info.rank; ++dim)
      bytes = info.shape[dim] ? bytes / (size_t)info.shape[dim] * (size_t)shape[dim] : 0;
    float *values = malloc(bytes + 1);
    check(trn_instance_read_output(instance, i, values, bytes, &error), info.name);
    printf("%s: %zu bytes", info.name, bytes);
    if (info.dtype == 1 && bytes >= sizeof(float))
      printf(", first value %g", values[0]);
    printf("\n");
    free(values);
    free(shape);
  }
  trn_instance_free(instance);
}
