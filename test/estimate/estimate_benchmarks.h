// The two networks of the literature that estimation is tested with, and random numbers for their sensors: the circuit of three
// resistors and two capacities, and the three-phase inverter on a cooled heatsink.
//
//   Q0 -> (1) --R1-- (2) --R2-- (3) --R3-- (4) air       C1 at 2, C2 at 3
//
//   Q1..Q6 -> (1..6) --R_die-- (7 7 8 8 9 9) --R_dbc-- (10) --R_sp-- (11) --R_hs-- (12) --R_w-- (13) refrigerant, (14) air
//   C_dbc at 7, 8, 9; C_hs at 11; C_w at 12
//
// Source: specification of estimation, sections 8 and 9. Nodes count from 0 here: node 1 of the pictures is index 0.
#ifndef YOKE_TEST_ESTIMATE_BENCHMARKS_H
#define YOKE_TEST_ESTIMATE_BENCHMARKS_H

#include <math.h>

#include "base/base_check.h"
#include "estimate/estimate_network.h"

#define FREE_NODE YOKE_HEAT_FREE

// ---- the circuit; inputs [Q0, T_AIR], z = [T2 T3]
static const yoke_heat_node rc_nodes[] = {
    {"1", FREE_NODE}, {"2", FREE_NODE}, {"3", FREE_NODE}, {"air", 1}};
static const yoke_heat_resistor rc_resistors[] = {{"R1", 0, 1}, {"R2", 1, 2}, {"R3", 2, 3}};
static const yoke_heat_capacity rc_capacities[] = {{"C1", 1}, {"C2", 2}};
static const yoke_heat_source rc_sources[] = {{"Q0", 0, 0, 1.0}};
static const char* const rc_inputs[] = {"Q0", "T_AIR"};
static const yoke_heat_network rc_network = {
    rc_nodes, rc_resistors, rc_capacities, rc_sources, rc_inputs, 4, 3, 2, 1, 2};
static const double rc_g[] = {1.0, 1.0 / 2.0, 1.0 / 3.0};
static const double rc_c[] = {0.1, 0.2};
static const double rc_z0[] = {299.0, 301.0};
static const double rc_v[] = {10.0, 300.0};

// ---- the inverter; inputs [Q1 .. Q6, T_refrigerant, T_air], z = [T7 T8 T9 T11 T12]
static const yoke_heat_node inverter_nodes[] = {
    {"junction 1", FREE_NODE}, {"junction 2", FREE_NODE},
    {"junction 3", FREE_NODE}, {"junction 4", FREE_NODE},
    {"junction 5", FREE_NODE}, {"junction 6", FREE_NODE},
    {"S1", FREE_NODE},         {"S2", FREE_NODE},
    {"S3", FREE_NODE},         {"silver", FREE_NODE},
    {"heatsink", FREE_NODE},   {"fins", FREE_NODE},
    {"refrigerant", 6},        {"air", 7}};
static const yoke_heat_resistor inverter_resistors[] = {
    {"R_die1", 0, 6}, {"R_die2", 1, 6}, {"R_die3", 2, 7}, {"R_die4", 3, 7},
    {"R_die5", 4, 8}, {"R_die6", 5, 8}, {"R_dbc1", 6, 9}, {"R_dbc2", 7, 9},
    {"R_dbc3", 8, 9}, {"R_sp", 9, 10},  {"R_hs", 10, 11}, {"R_w", 11, 12}};
static const yoke_heat_capacity inverter_capacities[] = {
    {"C_dbc1", 6}, {"C_dbc2", 7}, {"C_dbc3", 8}, {"C_hs", 10}, {"C_w", 11}};
static const yoke_heat_source inverter_sources[] = {{"Q1", 0, 0, 1.0}, {"Q2", 1, 1, 1.0},
                                                    {"Q3", 2, 2, 1.0}, {"Q4", 3, 3, 1.0},
                                                    {"Q5", 4, 4, 1.0}, {"Q6", 5, 5, 1.0}};
static const char* const inverter_inputs[] = {"Q1",   "Q2", "Q3", "Q4", "Q5", "Q6", "T_refrigerant",
                                              "T_air"};
static const yoke_heat_network inverter_network = {inverter_nodes,
                                                   inverter_resistors,
                                                   inverter_capacities,
                                                   inverter_sources,
                                                   inverter_inputs,
                                                   14,
                                                   12,
                                                   5,
                                                   6,
                                                   8};
static const double inverter_v[] = {208.0, 208.0, 208.0, 208.0, 208.0, 208.0, 343.15, 300.0};

// Resistances [K/W] and capacities [J/K] by kind.
typedef struct inverter_parameters {
  double die, dbc, sp, hs, w, c_dbc, c_hs, c_w;
} inverter_parameters;
static const inverter_parameters inverter_guess = {7.516e-3, 11.68e-3, 3.771e-3, 5.457e-3,
                                                   10.91e-3, 1.32,     14.97,    29.94};
// the substitute plant: resistances of the reference, estimated capacities
static const inverter_parameters inverter_plant = {5.163e-3, 33.74e-3, 2.579e-3, 12.75e-3,
                                                   1.713e-3, 1.27,     30.79,    114.42};
// what tuning finds on the plant: the error of R_sp lies in R_dbc; R_die is not observable
static const inverter_parameters inverter_tuned = {7.516e-3, 30.16e-3, 3.771e-3, 12.75e-3,
                                                   1.713e-3, 1.27,     30.79,    114.42};

static inline void inverter_elements(const inverter_parameters* from, double g[12], double c[5]) {
  for (int e = 0; e < 12; e++) {
    g[e] = 1.0 / (e < 6    ? from->die
                  : e < 9  ? from->dbc
                  : e == 9 ? from->sp
                  : e < 11 ? from->hs
                           : from->w);
  }
  c[0] = c[1] = c[2] = from->c_dbc;
  c[3] = from->c_hs;
  c[4] = from->c_w;
}

// ---- random numbers

// SplitMix64 of S. Vigna: uniform in [0, 1).
static inline double random_uniform(uint64_t* seed) {
  uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

// Standard normal, by Box and Muller.
static inline double random_normal(uint64_t* seed) {
  const double u = 1.0 - random_uniform(seed), angle = 6.283185307179586 * random_uniform(seed);
  return sqrt(-2.0 * log(u)) * cos(angle);
}

static inline double random_between(uint64_t* seed, double low, double high) {
  return low + (high - low) * random_uniform(seed);
}

#endif
