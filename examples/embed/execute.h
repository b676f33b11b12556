#ifndef EXECUTE_H
#define EXECUTE_H
#include <trn/runtime.h>

/* Ends the program with a message when something fails. */
void execute_on_zeros(const trn_executable *executable);

#endif
