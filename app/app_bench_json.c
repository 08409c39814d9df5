// Everything `yoke bench circuits` found, as JSON.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_bench.h"
#include "yoke/version.h"

static const char* const stage_names[YOKE_COST_N] = {"update", "assemble", "factor",
                                                     "solve",  "project",  "rest"};

static void put_configuration(const yoke_circuit_options* options, yoke_json* json) {
  yoke__json_string(json, "formulation", yoke__circuit_formulation_names[options->formulation]);
  yoke__json_string(json, "method", yoke__circuit_method_names[options->method]);
  yoke__json_string(json, "startup", yoke__circuit_startup_names[options->startup]);
  yoke__json_number(json, "step", options->step);
  yoke__json_integer(json, "iterations", options->iterations);
  yoke__json_boolean(json, "refactored", options->is_refactored);
}

static void put_counts(const yoke_assess_result* r, yoke_json* json) {
  const yoke_circuit_counts* c = &r->counts;
  yoke__json_begin_object(json, "counts");
  yoke__json_integer(json, "stages", (int64_t)c->n_stages);
  yoke__json_integer(json, "iterations", (int64_t)c->n_iterations);
  yoke__json_integer(json, "worst_iterations", (int64_t)c->max_iterations);
  yoke__json_integer(json, "unconverged", (int64_t)c->n_unconverged);
  yoke__json_integer(json, "refactors", (int64_t)c->n_refactors);
  yoke__json_integer(json, "repivots", (int64_t)c->n_repivots);
  yoke__json_integer(json, "switchings", (int64_t)c->n_switchings);
  yoke__json_end_object(json);
}

static void put_sizes(const yoke_circuit_sizes* s, yoke_json* json) {
  yoke__json_begin_object(json, "sizes");
  yoke__json_integer(json, "n", (int64_t)s->n);
  yoke__json_integer(json, "m", (int64_t)s->m);
  yoke__json_integer(json, "p", (int64_t)s->p);
  yoke__json_integer(json, "nonzeros", (int64_t)s->n_nonzeros);
  yoke__json_integer(json, "structural_rank", (int64_t)s->structural_rank);
  yoke__json_integer(json, "solved", (int64_t)s->n_solved);
  yoke__json_integer(json, "bytes", (int64_t)s->n_bytes);
  yoke__json_end_object(json);
}

static void put_published(const yoke_assess_problem* problem, const yoke_assess_result* r,
                          yoke_json* json) {
  const yoke_assess_published* p =
      problem->is_builtin ? yoke__assess_find_published(problem->name, &r->options) : NULL;
  if (p == NULL) {
    return;
  }
  yoke__json_begin_object(json, "published");
  yoke__json_string(json, "level", yoke__assess_level_names[p->level]);
  yoke__json_integer(json, "iterations", p->iterations);
  yoke__json_begin_array(json, "errors");
  yoke__json_number(json, NULL, p->error[0]);
  yoke__json_number(json, NULL, p->error[1]);
  yoke__json_end_array(json);
  yoke__json_number(json, "seconds", p->pc_s);
  yoke__json_end_object(json);
}

static void put_measured(const yoke_assess_problem* problem, const yoke_assess_result* r,
                         yoke_json* json) {
  yoke__json_begin_object(json, "errors");
  for (size_t i = 0; i < problem->n_monitors; i++) {
    yoke__json_number(json, problem->monitors[i].name, r->error[i]);
  }
  yoke__json_end_object(json);
  if (yoke__assess_is_judged(problem)) {
    yoke__json_string(json, "level", yoke__assess_level_names[r->level]);
  } else {
    yoke__json_null(json, "level");
  }
  yoke__json_integer(json, "steps", (int64_t)r->n_steps);
  yoke__json_number(json, "time_per_step", r->ns_per_step * 1e-9);
  yoke__json_number(json, "real_time_factor", r->real_time_factor);
  if (problem->network == NULL) {
    return;
  }
  yoke__json_number(json, "worst_over_median_step", r->worst_ratio);
  put_sizes(&r->sizes, json);
  put_counts(r, json);
  yoke__json_begin_object(json, "stages");
  for (size_t i = 0; i < YOKE_COST_N; i++) {
    yoke__json_number(json, stage_names[i], r->share[i]);
  }
  yoke__json_end_object(json);
  put_published(problem, r, json);
}

static void put_result(const yoke_assess_problem* problem, const yoke_assess_result* r,
                       yoke_json* json) {
  if (problem->network != NULL) {
    put_configuration(&r->options, json);
  } else {
    yoke__json_number(json, "step", r->options.step);
  }
  yoke__json_string(json, "status", r->status < 0 ? "failed" : "done");
  if (r->status < 0) {
    yoke__json_string(json, "reason", r->reason);
  } else {
    put_measured(problem, r, json);
  }
}

static void put_monitors(const yoke_assess_problem* problem, yoke_json* json) {
  yoke__json_begin_array(json, "signals");
  for (size_t i = 0; i < problem->n_monitors; i++) {
    const yoke_assess_monitor* m = &problem->monitors[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", m->name);
    yoke__json_number(json, "low", m->limit[YOKE_LEVEL_LOW]);
    yoke__json_number(json, "high", m->limit[YOKE_LEVEL_HIGH]);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void put_problem(const yoke_bench* bench, size_t number, yoke_json* json) {
  const yoke_assess_problem* problem = bench->problems[number];
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "name", problem->name);
  yoke__json_string(json, "title", problem->title);
  yoke__json_number(json, "stop", problem->stop);
  yoke__json_integer(json, "samples", (int64_t)problem->n_samples);
  put_monitors(problem, json);
  yoke__json_begin_array(json, "runs");
  for (size_t i = 0; i < bench->n_results; i++) {
    if (bench->results[i].problem == problem->name) {
      yoke__json_begin_object(json, NULL);
      put_result(problem, &bench->results[i], json);
      yoke__json_end_object(json);
    }
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "cheapest");
  for (size_t i = 0; i < bench->n_found; i++) {
    if (bench->found[i].problem == number) {
      yoke__json_begin_object(json, NULL);
      yoke__json_string(json, "wanted", yoke__assess_level_names[bench->found[i].level]);
      yoke__json_boolean(json, "found", bench->found[i].is_found);
      put_result(problem, &bench->found[i].result, json);
      yoke__json_end_object(json);
    }
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static void put_reach(const yoke_bench_reach* r, yoke_json* json) {
  yoke__json_begin_object(json, NULL);
  put_configuration(&r->options, json);
  yoke__json_string(json, "level", yoke__assess_level_names[r->level]);
  yoke__json_integer(json, "loops", (int64_t)r->reach.n_loops);
  yoke__json_boolean(json, "bounded", r->reach.is_bounded);
  yoke__json_integer(json, "unknowns", (int64_t)r->reach.n);
  yoke__json_number(json, "time_per_step", r->reach.ns_per_step * 1e-9);
  yoke__json_number(json, "time_per_unknown_and_iteration", r->reach.ns_per_unknown * 1e-9);
  if (r->published > 0) {
    yoke__json_integer(json, "published_loops", (int64_t)r->published);
  }
  yoke__json_end_object(json);
}

void yoke__bench_json(const yoke_bench* bench, yoke_json* json) {
  yoke__json_begin_document(json, "bench");
  yoke__json_string(json, "yoke", YOKE_VERSION);
  yoke__json_string(json, "group", "circuits");
  yoke__json_begin_array(json, "problems");
  for (size_t i = 0; i < bench->n_problems; i++) {
    put_problem(bench, i, json);
  }
  yoke__json_end_array(json);
  yoke__json_begin_array(json, "largest_ladders");
  for (size_t i = 0; i < bench->n_reaches; i++) {
    put_reach(&bench->reaches[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}
