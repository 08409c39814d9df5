// SUNDIALS IDA on the equations of a network in full coordinates: the second oracle, variable order and step.
#ifndef YOKE_TEST_ORACLE_REFERENCE_IDA_H
#define YOKE_TEST_ORACLE_REFERENCE_IDA_H

#include "circuit/oracle/oracle_trace.h"

// From the start values of the elements (0 where none is given); starts anew at every time of the grid, where sources
// may have corners. rtol; the absolute tolerance is a hundredth of it. False with a text in trace->failure if IDA or
// the initial configuration gave up.
bool oracle_reference_ida_run(const yoke_network* network, double rtol,
                              const oracle_signals* signals, oracle_trace* trace);

#endif
