// Random networks as netlist text, made so that every solver can run them: leak resistors at every node, states that
// agree with each other at the start, corners of all sources on one grid of times.
#ifndef YOKE_TEST_ORACLE_RANDOM_H
#define YOKE_TEST_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORACLE_N_GRID = 50, ORACLE_MAX_NODES = 60 };
#define ORACLE_STOP 1e-2                           // [s]
#define ORACLE_GRID (ORACLE_STOP / ORACLE_N_GRID)  // corners lie on its multiples only [s]

// Elements R L C K V I E G F H, and diodes if asked for; sources DC SIN PULSE PWL EXP. No .tran, .options and .end. The
// source `vtick` drives nothing: its corners make a simulator with variable steps stop at every point of the grid.
// Cuts the text off at size and returns its whole length.
size_t oracle_random_netlist(uint64_t seed, bool has_diodes, char* text, size_t size);

#endif
