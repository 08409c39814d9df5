// What an analysis says, for people and for programs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_analyse.h"
#include "base/base_check.h"
#include "base/base_json.h"

#define ROOM 1.5  // how far a limit should be beyond the present step

// ---- advice

static const yoke_app_analyse_row* find_row(const yoke_app_analysis* a, yoke_linear_method method) {
  for (size_t i = 0; i < a->n_rows; i++) {
    if (a->rows[i].method == method && a->rows[i].is_known) {
      return &a->rows[i];
    }
  }
  return NULL;
}

// What a file can name and gets with one call per exchange, the simplest first, and what to write. Other rows are given more
// than that: solvers that follow lines, outputs between the exchanges.
static const struct {
  yoke_linear_method method;
  const char* write;
} advised[] = {
    {YOKE_LINEAR_AUTO, "`inputs: mean` without a method or an order"},
    {YOKE_LINEAR_MEAN,
     "`inputs: mean` and, in connections and in the `coupling` of bonds, `method: hold`"},
    {YOKE_LINEAR_HOLD,
     "`inputs: start` and, in connections and in the `coupling` of bonds, `method: hold`"},
    {YOKE_LINEAR_HINF, "`method: hinf` in connections and in the `coupling` of bonds"},
    {YOKE_LINEAR_MPSM, "`inputs: start` and, under `couplings`, an entry with `method: mpsm` and "
                       "its members (the table assumes exact models)"},
};

// One that is stable here with room to spare; else the one with the largest limit.
static const yoke_app_analyse_row* find_best(const yoke_app_analysis* a) {
  const yoke_app_analyse_row* best = NULL;
  for (size_t i = 0; i < YOKE_COUNT(advised); i++) {
    const yoke_app_analyse_row* row = find_row(a, advised[i].method);
    const bool has_means =
        advised[i].method == YOKE_LINEAR_AUTO || advised[i].method == YOKE_LINEAR_MEAN;
    if (row == NULL || !row->is_stable || (has_means && a->loops->general != NULL)) {
      continue;
    }
    if (row->first > ROOM * a->step) {
      return row;
    }
    best = best == NULL || row->first > best->first ? row : best;
  }
  return best;
}

static const char* what_to_write(yoke_linear_method method) {
  for (size_t i = 0; i < YOKE_COUNT(advised); i++) {
    if (advised[i].method == method) {
      return advised[i].write;
    }
  }
  return "";
}

static void step_text(double first, char* to, size_t size) {
  if (isnan(first)) {
    snprintf(to, size, "-");
  } else if (isinf(first)) {
    snprintf(to, size, "none");
  } else if (first == 0) {
    snprintf(to, size, "every step");
  } else {
    snprintf(to, size, "%.6g s", first);
  }
}

// "first unstable step 0.002 s"
static void limit_text(const yoke_app_analysis* a, double first, char* to, size_t size) {
  if (isinf(first)) {
    snprintf(to, size, "stable at every step up to %.6g s", a->grid.largest);
  } else if (first == 0) {
    snprintf(to, size, "unstable at every step");
  } else {
    snprintf(to, size, "first unstable step %.6g s", first);
  }
}

// A loop of feedthrough that held, stale signals go around for ever.
static bool is_closed(const yoke_linear_loops* loops) {
  return loops->direct >= 1 && loops->general == NULL;
}

static void advise_of_system(yoke_app_analysis* a) {
  const yoke_linear_loops* loops = a->loops;
  if (loops->n_members == 0) {
    snprintf(a->advice, sizeof a->advice,
             "There is no closed loop of connections: the coupling cannot become unstable.");
  } else if (loops->is_singular) {
    snprintf(a->advice, sizeof a->advice,
             "The loops contain an algebraic loop without a solution (I - D L is singular): "
             "exchange other inputs and outputs.");
  } else if (is_closed(loops)) {
    snprintf(a->advice, sizeof a->advice,
             "Feedthrough closes a loop with gain %.3g: zero-order hold is unstable at every step. "
             "Exchange other inputs and outputs, or iterate.",
             loops->direct);
  } else {
    snprintf(a->advice, sizeof a->advice,
             "The coupled system itself is unstable (growth rate %.3g 1/s): no coupling method "
             "makes it stable.",
             loops->growth);
  }
}

void yoke__app_analyse_advise(yoke_app_analysis* a) {
  const yoke_linear_loops* loops = a->loops;
  const bool grows = loops->motion == YOKE_LINEAR_GROWS;
  if (loops->n_members == 0 || loops->is_singular || is_closed(loops) || grows) {
    advise_of_system(a);
    return;
  }
  if (loops->silent != NULL) {
    snprintf(a->advice, sizeof a->advice,
             "Stability is unknown: unit '%.64s' does not react to its inputs at t = %.6g s, so "
             "its loops count as open. Choose another time with --at.",
             loops->silent, a->at);
    return;
  }
  const yoke_app_analyse_row *file = find_row(a, YOKE_LINEAR_FILE), *best = find_best(a);
  const char* text = loops->file.text;
  char limit[96], other[320] = "";
  limit_text(a, file == NULL ? 0 : file->first, limit, sizeof limit);
  if (best != NULL) {
    char better[64], calls[48] = "";
    const double n = loops->macro / a->step;
    limit_text(a, best->first, better, sizeof better);
    if (n > 1.5) {
      snprintf(calls, sizeof calls, ", with `calls: %.6g` as now", n);
    }
    snprintf(other, sizeof other, "%s is stable at this step (%s): write %s%s",
             yoke__linear_method_names[best->method], better, what_to_write(best->method), calls);
  }
  if (file != NULL && file->is_stable && file->first <= a->step) {
    snprintf(a->advice, sizeof a->advice,
             "The file's coupling (%s) is stable at %.6g s, but unstable at smaller steps: an "
             "oscillation between the exchanges may stay hidden. Use a step below %.6g s.",
             text, a->step, file->first);
  } else if (file != NULL && file->is_stable) {
    snprintf(a->advice, sizeof a->advice, "The file's coupling (%s) is stable at %.6g s; %s.", text,
             a->step, limit);
  } else if (file != NULL) {
    snprintf(a->advice, sizeof a->advice,
             "The file's coupling (%s) is unstable at %.6g s (%s). %s%s a smaller step.", text,
             a->step, limit, other,
             best == NULL ? "No other method is stable at this step: use" : "; or use");
  } else {
    snprintf(a->advice, sizeof a->advice, "%s%s%s%s.",
             a->is_file_wanted ? "The file's coupling (" : "", a->is_file_wanted ? text : "",
             a->is_file_wanted ? ") cannot be analysed. " : "",
             best == NULL ? "No analysed method is stable at this step" : other);
  }
}

// ---- for people

static void print_units(const yoke_app_analysis* a) {
  const yoke_linear_loops* loops = a->loops;
  printf("%-14s %-16s %6s %6s %7s  %-19s %-11s %-5s %s\n", "unit", "model", "states", "inputs",
         "outputs", "poles [1/s]", "feedthrough", "loop", "solver");
  for (size_t i = 0; i < loops->n_units; i++) {
    const yoke_linear_unit* unit = &loops->units[i];
    char poles[40] = "-";
    if (!isnan(unit->fastest)) {
      snprintf(poles, sizeof poles, "%.4g to %.4g", unit->slowest, unit->fastest);
    }
    printf("%-14.40s %-16.40s ", unit->name, unit->model);
    if (unit->has_model) {
      printf("%6zu %6zu %7zu  %-19s %-11s %-5s %s\n", unit->n_states, unit->n_inputs,
             unit->n_outputs, poles, unit->n_feedthrough > 0 ? "yes" : "no",
             unit->is_in_loop ? "yes" : "no", unit->solver_text);
    } else {
      printf("%6s %6zu %7zu  no linear model: %s\n", "?", unit->n_inputs, unit->n_outputs,
             unit->why);
    }
  }
}

static void print_coupled(const yoke_app_analysis* a) {
  static const char* const motions[] = {"stable", "neither growing nor decaying", "unstable"};
  const yoke_linear_loops* loops = a->loops;
  if (loops->is_singular) {
    printf("coupled exactly: no solution, an algebraic loop\n");
    return;
  }
  if (loops->is_of_calls) {
    printf("coupled exactly: unknown, because a unit can only be observed by its calls\n");
  } else if (loops->n_x == 0) {
    printf("coupled exactly: no states\n");
  } else if (loops->n_x == loops->n_free) {
    printf("coupled exactly: %zu states, all of them free integrators\n", loops->n_x);
  } else {
    printf("coupled exactly: %zu states, %s; eigenvalues %.4g to %.4g 1/s, largest real part %.4g "
           "1/s\n",
           loops->n_x, motions[loops->motion], loops->slowest, loops->fastest, loops->growth);
  }
  if (loops->direct > 0) {
    printf("feedthrough around the loops: gain %.4g\n", loops->direct);
  } else {
    printf("feedthrough around the loops: none\n");
  }
}

static bool is_run(const yoke_app_analysis* a, const yoke_app_analyse_row* row) {
  return a->loops->judges[row->method].engine != NULL;
}

// What happens to the calls of the units while the step is varied.
static void print_calls(const yoke_app_analysis* a) {
  bool has_run = false;
  for (size_t i = 0; i < a->n_rows; i++) {
    has_run = has_run || is_run(a, &a->rows[i]);
  }
  if (!has_run) {
    return;
  }
  printf("%s: the loops were simulated with the linear models. Units that are called several times "
         "per exchange keep their `step`; all other intervals and delays are scaled\n",
         a->loops->general != NULL ? a->loops->general : "(run)");
}

// Whether a row is stable at this step, though it is unstable at a smaller one.
static bool is_stable_again(const yoke_app_analysis* a) {
  bool is_again = false;
  for (size_t i = 0; i < a->n_rows; i++) {
    const yoke_app_analyse_row* row = &a->rows[i];
    is_again = is_again || (row->is_known && row->is_stable && row->first <= a->step);
  }
  return is_again;
}

static void print_rows(const yoke_app_analysis* a) {
  char parts[96] = "";
  const double n = a->loops->macro / a->step;
  if (n > 1.5) {
    snprintf(parts, sizeof parts, " (%.6g in a step of %.6g s)", n, a->loops->macro);
  }
  printf("exchange step %.6g s%s, coupling in the file: %s%s\n\n", a->step, parts,
         a->loops->file.text,
         a->loops->file.is_known && a->loops->file.is_identified
             ? " (with exact models here; with identified ones: --run)"
             : "");
  printf("%-14s %12s  %-9s %-18s %s\n", "method", "radius", "", "first unstable", "");
  for (size_t i = 0; i < a->n_rows; i++) {
    const yoke_app_analyse_row* row = &a->rows[i];
    const char* why = a->loops->judges[row->method].why;
    char first[64];
    step_text(row->first, first, sizeof first);
    if (row->is_known) {
      printf("%-14s %12.9g  %-9s %-18s %s%s\n", yoke__linear_method_names[row->method], row->radius,
             row->is_stable ? "stable" : "unstable", first, yoke__linear_method_texts[row->method],
             a->loops->general == NULL && is_run(a, row) ? " (run)" : "");
    } else {
      printf("%-14s %12s  %-9s %-18s %s\n", yoke__linear_method_names[row->method], "-", "unknown",
             "-", why == NULL ? "the models form an algebraic loop" : why);
    }
  }
  if (is_stable_again(a)) {
    printf("\na step above the first unstable one may be stable again\n");
  }
  printf("\nsteps from %.6g to %.6g s were analysed, %.6g s apart", a->grid.resolution,
         a->grid.largest, a->grid.resolution);
  if (a->grid.within > 0) {
    printf(", and %.6g s apart at the first unstable one (a large system; --resolution analyses "
           "all steps)",
           a->grid.within);
  }
  putchar('\n');
  print_calls(a);
}

// Whether a method stands at 1 for what its models keep for ever.
static bool has_kept(const yoke_app_analysis* a) {
  bool is_one = false;
  for (size_t i = 0; i < a->n_rows; i++) {
    is_one = is_one || (a->rows[i].is_stable && fabs(a->rows[i].radius - 1) <= 1e-9);
  }
  return is_one && a->loops->n_kept > 0;
}

void yoke__app_analyse_print(const yoke_app_analysis* a) {
  printf("%s, linearised at %s%.6g s\n\n", a->system.name,
         a->at > a->system.t_start ? "" : "its start, ", a->at);
  print_units(a);
  putchar('\n');
  if (a->loops->n_members > 0) {
    print_coupled(a);
    print_rows(a);
  }
  yoke__app_loops_print(a->cuts);
  if (a->loops->n_free > 0) {
    printf("note: %zu free integrator%s (as velocity coupling has) %s the multiplier 1 at every "
           "step and %s left out of all figures\n",
           a->loops->n_free, a->loops->n_free == 1 ? "" : "s",
           a->loops->n_free == 1 ? "has" : "have", a->loops->n_free == 1 ? "is" : "are");
  }
  if (a->loops->n_x > 0 && !a->loops->is_of_calls && a->loops->motion == YOKE_LINEAR_KEEPS) {
    printf("note: the coupled system conserves energy; a radius counts as unstable only if it "
           "exceeds 1 by more than rounding\n");
  }
  if (has_kept(a)) {
    printf("note: a radius of exactly 1 is a constant offset that neither grows nor decays (a unit "
           "without state, or with fewer outputs than states); it counts as stable\n");
  }
  for (size_t i = 0; i < a->messages->n; i++) {
    printf("note: %s\n", a->messages->all[i].text);
  }
  printf("%s\n", a->advice);
  if (a->loops->n_members > 0) {
    printf("This is about stability. For accuracy: yoke advise FILE\n");
  }
}

// ---- for programs

static void json_units(const yoke_app_analysis* a, yoke_json* json) {
  yoke__json_begin_array(json, "units");
  for (size_t i = 0; i < a->loops->n_units; i++) {
    const yoke_linear_unit* unit = &a->loops->units[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", unit->name);
    yoke__json_string(json, "model", unit->model);
    yoke__json_boolean(json, "has_linear_model", unit->has_model);
    yoke__json_string(json, "why_not", unit->why);
    yoke__json_boolean(json, "is_in_loop", unit->is_in_loop);
    yoke__json_integer(json, "states", (int64_t)unit->n_states);
    yoke__json_integer(json, "inputs", (int64_t)unit->n_inputs);
    yoke__json_integer(json, "outputs", (int64_t)unit->n_outputs);
    yoke__json_number(json, "slowest", unit->slowest);
    yoke__json_number(json, "fastest", unit->fastest);
    yoke__json_number(json, "growth", unit->growth);
    yoke__json_integer(json, "feedthrough", (int64_t)unit->n_feedthrough);
    yoke__json_string(json, "solver", unit->solver_text);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_coupled(const yoke_linear_loops* loops, yoke_json* json) {
  yoke__json_begin_object(json, "coupled");
  yoke__json_integer(json, "states", (int64_t)loops->n_x);
  yoke__json_boolean(json, "has_solution", !loops->is_singular);
  yoke__json_integer(json, "free_motions", (int64_t)loops->n_free);
  yoke__json_number(json, "growth", loops->growth);
  yoke__json_number(json, "slowest", loops->slowest);
  yoke__json_number(json, "fastest", loops->fastest);
  yoke__json_number(json, "feedthrough_gain", loops->direct);
  yoke__json_begin_array(json, "eigenvalues");
  for (size_t i = 0; i < loops->n_x && !loops->is_singular && !loops->is_of_calls; i++) {
    yoke__json_begin_array(json, NULL);
    yoke__json_number(json, NULL, loops->re[i]);
    yoke__json_number(json, NULL, loops->im[i]);
    yoke__json_end_array(json);
  }
  yoke__json_end_array(json);
  yoke__json_end_object(json);
}

static void json_rows(const yoke_app_analysis* a, yoke_json* json) {
  yoke__json_begin_array(json, "methods");
  for (size_t i = 0; i < a->n_rows; i++) {
    const yoke_app_analyse_row* row = &a->rows[i];
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "name", yoke__linear_method_names[row->method]);
    yoke__json_boolean(json, "is_known", row->is_known);
    yoke__json_string(json, "why_not", a->loops->judges[row->method].why);
    yoke__json_boolean(json, "is_run", is_run(a, row));
    yoke__json_number(json, "radius", row->radius);
    yoke__json_boolean(json, "is_stable", row->is_known && row->is_stable);
    // no limit: stable up to the largest step; 0: unstable at every one
    yoke__json_boolean(json, "has_limit", yoke__is_finite(row->first));
    yoke__json_number(json, "first_unstable_step", row->first);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

bool yoke__app_analyse_json(const yoke_app_analysis* a) {
  yoke_json json = {0};
  yoke__json_begin_document(&json, "stability");
  yoke__json_string(&json, "name", a->system.name);
  yoke__json_string(&json, "file", a->system.path);
  json_units(a, &json);
  if (a->loops->n_members > 0) {
    json_coupled(a->loops, &json);
    yoke__json_number(&json, "step", a->step);
    yoke__json_number(&json, "largest", a->grid.largest);
    yoke__json_number(&json, "resolution", a->grid.resolution);
    yoke__json_string(&json, "coupling", a->loops->file.text);
    yoke__json_string(&json, "general", a->loops->general);
    json_rows(a, &json);
    yoke__app_loops_json(a->cuts, &json);
  }
  yoke__json_begin_array(&json, "notes");
  for (size_t i = 0; i < a->messages->n; i++) {
    yoke__json_string(&json, NULL, a->messages->all[i].text);
  }
  yoke__json_end_array(&json);
  yoke__json_string(&json, "advice", a->advice);
  yoke__json_end_object(&json);
  return yoke__app_print_json(YOKE_ANALYSE, &json);
}
