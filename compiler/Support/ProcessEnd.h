//===- ProcessEnd.h - how a tool ends -------------------------------------===//
//
// Owns what every tool does when the world around it fails: standard output that cannot be written, a file that shrinks
// while it is mapped, an error that LLVM calls fatal. Each ends with one line on standard error and the code that the
// tool documents, never with a stack trace.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace trn {

/// Installs the handlers: `fatalCode` ends the process when LLVM gives up, `badFileCode` when a mapped file is cut off.
void endProcessCleanly(int fatalCode, int badFileCode);

/// Flushes standard output. Returns `exitCode`, or `failedCode` with the reason printed when it could not be written.
int finishOutput(int exitCode, int failedCode);

} // namespace trn
