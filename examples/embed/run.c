/* Loads an executable and runs it: a program with the runtime in it, which holds neither LLVM nor protobuf.
 * It is built outside the source tree against the installed package: see CMakeLists.txt beside this file. */
#include "execute.h"
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s model.trnx\n", argv[0]);
    return 2;
  }
  trn_executable *executable = NULL;
  trn_error *error = NULL;
  trn_status status = trn_executable_load(argv[1], &executable, &error);
  if (status != TRN_OK) {
    fprintf(stderr, "error: %s\n", trn_error_message(error));
    trn_error_free(error);
    return (int)status;
  }
  execute_on_zeros(executable);
  trn_executable_free(executable);
  return 0;
}
