// The tables of `yoke bench circuits`.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_bench.h"
#include "base/base_check.h"

#define MICRO 1e-3  // us per ns

static const char* startup_name(const yoke_circuit_options* options) {
  const bool has_history = options->method == YOKE_CIRCUIT_BDF2 ||
                           options->method == YOKE_CIRCUIT_BDF3 ||
                           options->method == YOKE_CIRCUIT_BDF1;
  return has_history ? yoke__circuit_startup_names[options->startup] : "-";
}

static void print_iterations(int iterations) {
  if (iterations > 0) {
    printf(" %5d", iterations);
  } else {
    printf(" %5s", "conv");
  }
}

// One limit for both levels: the user's own.
static bool has_one_limit(const yoke_assess_problem* problem) {
  for (size_t i = 0; i < problem->n_monitors; i++) {
    const double* limit = problem->monitors[i].limit;
    if (yoke__is_finite(limit[YOKE_LEVEL_LOW]) && limit[YOKE_LEVEL_LOW] != limit[YOKE_LEVEL_HIGH]) {
      return false;
    }
  }
  return true;
}

static void print_limits(const yoke_assess_problem* problem) {
  const bool is_one = has_one_limit(problem);
  if (!yoke__assess_is_judged(problem)) {
    printf(" no error limit, so no level\n");
    return;
  }
  printf(" error allowed%s:", is_one ? "" : " at level low / high");
  for (size_t i = 0; i < problem->n_monitors; i++) {
    const yoke_assess_monitor* m = &problem->monitors[i];
    if (!yoke__is_finite(m->limit[YOKE_LEVEL_LOW])) {
      printf(" %s not judged;", m->name);
    } else if (is_one) {
      printf(" %s %.3g;", m->name, m->limit[YOKE_LEVEL_LOW]);
    } else {
      printf(" %s %.3g / %.3g;", m->name, m->limit[YOKE_LEVEL_LOW], m->limit[YOKE_LEVEL_HIGH]);
    }
  }
  putchar('\n');
}

static const char* level_name(const yoke_assess_problem* problem, yoke_assess_level level) {
  if (!yoke__assess_is_judged(problem)) {
    return "-";
  }
  return has_one_limit(problem) && level != YOKE_LEVEL_NONE ? "kept"
                                                            : yoke__assess_level_names[level];
}

void yoke__bench_print_problem(const yoke_assess_problem* problem) {
  printf("\n%s: %s\n%.6g s, %zu sample%s;", problem->name, problem->title, problem->stop,
         problem->n_samples, yoke__plural(problem->n_samples));
  print_limits(problem);
  if (problem->network != NULL) {
    printf("%-5s %-7s %-7s %9s %5s", "form", "method", "start", "step [s]", "iter");
  } else {
    printf("%-27s %9s", "", "step [s]");
  }
  for (size_t i = 0; i < problem->n_monitors; i++) {
    printf(" %11.11s", problem->monitors[i].name);
  }
  printf(" %-5s %9s %10s", "level", "us/step", "x realtime");
  if (problem->network != NULL) {
    printf(" %7s %5s %5s  %s", "kB", "mean", "worst", "published: errors, time per step");
  }
  putchar('\n');
}

static void print_published(const yoke_assess_problem* problem, const yoke_assess_result* r) {
  const yoke_assess_published* p = yoke__assess_find_published(problem->name, &r->options);
  if (p == NULL || !problem->is_builtin) {
    return;
  }
  const double n_steps = problem->stop / p->step;
  printf("  %.3g, %.3g, %.3g us", p->error[0], p->error[1], p->pc_s / n_steps * 1e6);
}

static void print_configuration(const yoke_assess_problem* problem, const yoke_assess_result* r) {
  const yoke_circuit_options* options = &r->options;
  if (problem->network == NULL) {
    printf("%-27s %9.3g", "", options->step);
    return;
  }
  printf("%-5s %-7s %-7.7s %9.3g", yoke__circuit_formulation_names[options->formulation],
         yoke__circuit_method_names[options->method], startup_name(options), options->step);
  print_iterations(options->iterations);
}

void yoke__bench_print_result(const yoke_assess_problem* problem, const yoke_assess_result* r) {
  print_configuration(problem, r);
  if (r->status < 0) {
    printf(" %s\n", r->reason);
    fflush(stdout);
    return;
  }
  for (size_t i = 0; i < problem->n_monitors; i++) {
    printf(" %11.4g", r->error[i]);
  }
  printf(" %-5s", level_name(problem, r->level));
  if (isnan(r->ns_per_step)) {
    printf(" %9s %10s", "-", "-");
  } else {
    printf(" %9.4g %10.4g", r->ns_per_step * MICRO, r->real_time_factor);
  }
  if (problem->network != NULL) {
    const double stages = r->counts.n_stages > 0 ? (double)r->counts.n_stages : 1;
    printf(" %7.1f %5.2f %5u", (double)r->sizes.n_bytes / 1024,
           (double)r->counts.n_iterations / stages, r->counts.max_iterations);
    print_published(problem, r);
  }
  putchar('\n');
  fflush(stdout);
}

// ---- stages

static bool is_same_method(const yoke_assess_result* a, const yoke_assess_result* b) {
  return a->options.method == b->options.method && a->options.formulation == b->options.formulation;
}

void yoke__bench_print_stages(const yoke_assess_result results[], size_t n) {
  bool has_head = false;
  for (size_t i = 0; i < n; i++) {
    bool is_first = results[i].status >= 0 && !isnan(results[i].share[0]);
    for (size_t j = 0; is_first && j < i; j++) {
      is_first = results[j].status < 0 || !is_same_method(&results[j], &results[i]);
    }
    if (!is_first) {
      continue;
    }
    if (!has_head) {
      printf("share of a step [%%]\n%-5s %-7s %9s %5s %8s %8s %8s %8s %8s %8s\n", "form", "method",
             "step [s]", "iter", "update", "assemble", "factor", "solve", "project", "rest");
      has_head = true;
    }
    const yoke_circuit_options* options = &results[i].options;
    printf("%-5s %-7s %9.3g", yoke__circuit_formulation_names[options->formulation],
           yoke__circuit_method_names[options->method], options->step);
    print_iterations(options->iterations);
    for (size_t k = 0; k < YOKE_COST_N; k++) {
      printf(" %8.1f", 100 * results[i].share[k]);
    }
    putchar('\n');
  }
}

// ---- searches

void yoke__bench_print_found(const yoke_assess_problem* problem, const yoke_bench_found* found) {
  const yoke_circuit_options* options = &found->result.options;
  printf("cheapest, level %-4s: %s %-7s ", level_name(problem, found->level),
         yoke__circuit_formulation_names[options->formulation],
         yoke__circuit_method_names[options->method]);
  if (!found->is_found) {
    printf("none of the steps tried%s%s\n", found->result.status < 0 ? ": " : "",
           found->result.status < 0 ? found->result.reason : "");
    return;
  }
  printf("step %.3g s, ", options->step);
  if (options->iterations > 0) {
    printf("%d iteration%s", options->iterations, options->iterations == 1 ? "" : "s");
  } else {
    printf("iterated until converged");
  }
  printf(": errors");
  for (size_t i = 0; i < problem->n_monitors; i++) {
    printf(" %.3g", found->result.error[i]);
  }
  printf("; %.4g us per step, %.4g ms for %.6g s\n", found->result.ns_per_step * MICRO,
         found->result.ns_per_step * (double)found->result.n_steps * 1e-6, problem->stop);
  fflush(stdout);
}

void yoke__bench_print_reach_head(void) {
  printf("\nlargest ladder in real time\n%-5s %-7s %9s %5s %9s %7s %8s %9s %22s %s\n", "form",
         "method", "step [s]", "iter", "refactor", "loops", "unknowns", "us/step",
         "ns/(unknown iteration)", "published loops");
}

void yoke__bench_print_reach(const yoke_bench_reach* r) {
  const yoke_circuit_options* options = &r->options;
  printf("%-5s %-7s %9.3g", yoke__circuit_formulation_names[options->formulation],
         yoke__circuit_method_names[options->method], options->step);
  print_iterations(options->iterations);
  printf(" %9s %s%6zu %8u %9.4g %22.3g", options->is_refactored ? "always" : "once",
         r->reach.is_bounded ? " " : ">", r->reach.n_loops, r->reach.n,
         r->reach.ns_per_step * MICRO, r->reach.ns_per_unknown);
  if (r->published > 0 && options->is_refactored) {
    printf(" %zu", r->published);
  }
  putchar('\n');
  fflush(stdout);
}
