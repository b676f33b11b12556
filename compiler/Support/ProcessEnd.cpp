//===- ProcessEnd.cpp - how a tool ends -----------------------------------===//
#include "compiler/Support/ProcessEnd.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace trn {

namespace {

int gFatalCode = 1, gBadFileCode = 1;

/// Called by LLVM in place of abort().
void onFatalError(void *, const char *reason, bool) {
  llvm::sys::RunInterruptHandlers(); // removes the files that are half-written
  llvm::errs() << "error: " << reason << "\n";
  _exit(gFatalCode);
}

/// The kernel's answer to reading a mapped page that the file no longer has. Only calls that are safe in a handler.
void onBusError(int) {
  static const char kText[] = "error: an input file became shorter while it was read\n";
  ssize_t ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  (void)ignored;
  _exit(gBadFileCode);
}

} // namespace

void endProcessCleanly(int fatalCode, int badFileCode) {
  gFatalCode = fatalCode;
  gBadFileCode = badFileCode;
  llvm::install_fatal_error_handler(onFatalError);
  struct sigaction action = {};
  action.sa_handler = onBusError;
  sigaction(SIGBUS, &action, nullptr);
  // A file beyond the process's limit is an error of the write, like a full disk.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

int finishOutput(int exitCode, int failedCode) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (!out.has_error())
    return exitCode;
  llvm::errs() << "error: standard output: " << out.error().message() << "\n";
  out.clear_error();
  return failedCode;
}

} // namespace trn
