// ngspice as an independent simulator: a netlist is run in batch mode and its raw file read.
#ifndef YOKE_TEST_ORACLE_NGSPICE_H
#define YOKE_TEST_ORACLE_NGSPICE_H

#include "circuit/oracle/oracle_trace.h"

// Its constants of nature differ from the exact ones of today: k/q of CODATA 2014 [V/K].
#define ORACLE_NGSPICE_K_Q (1.38064852e-23 / 1.6021766208e-19)

bool oracle_ngspice_is_there(void);

// Runs text, which has no .tran and .end, from the start values with steps of at most max_step and the given
// tolerance. folder: for its files. Returns false with a text in trace->failure if ngspice gave up.
bool oracle_ngspice_run(const char* text, double max_step, double reltol, const char* folder,
                        const oracle_signals* signals, oracle_trace* trace);

#endif
