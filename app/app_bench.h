// What the files of `yoke bench` share: an assessment with all it found, its table, and the same as
// JSON.
#ifndef YOKE_APP_BENCH_H
#define YOKE_APP_BENCH_H

#include "app/app.h"
#include "base/base_json.h"
#include "study/study_assess.h"

#define YOKE_BENCH_MAX_PROBLEMS 64

// The largest ladder of one method.
typedef struct yoke_bench_reach {
  yoke_circuit_options options;
  yoke_assess_level level;  // whose published step it has
  size_t published;         // loops; 0: not given
  yoke_assess_reach reach;
} yoke_bench_reach;

// The cheapest configuration of one method.
typedef struct yoke_bench_found {
  size_t problem;
  yoke_assess_level level;
  bool is_found;
  yoke_assess_result result;
} yoke_bench_found;

typedef struct yoke_bench {
  yoke_assess_problem* problems[YOKE_BENCH_MAX_PROBLEMS];
  size_t n_problems;
  yoke_assess_result* results;  // of all problems, in order
  size_t n_results, room_results;
  yoke_bench_found* found;
  size_t n_found;
  yoke_bench_reach* reaches;
  size_t n_reaches;
  yoke_assess_level level;  // asked for; none: nothing was
  bool is_json, is_quick;
} yoke_bench;

// app_bench_print.c: a line as soon as it is known.
void yoke__bench_print_problem(const yoke_assess_problem* problem);
void yoke__bench_print_result(const yoke_assess_problem* problem, const yoke_assess_result* r);
// How the cost of a step is made up, one line per method.
void yoke__bench_print_stages(const yoke_assess_result results[], size_t n);
void yoke__bench_print_found(const yoke_assess_problem* problem, const yoke_bench_found* found);
void yoke__bench_print_reach_head(void);
void yoke__bench_print_reach(const yoke_bench_reach* r);

// app_bench_json.c
void yoke__bench_json(const yoke_bench* bench, yoke_json* json);

#endif
