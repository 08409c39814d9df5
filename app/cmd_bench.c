// yoke bench circuits: methods x problems x steps, with error, time and reach; and a user's own
// netlist, system or FMU. The measuring is done in study/study_assess*.c; this file reads the
// command line and decides what is run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/app_bench.h"
#include "app/app_sink.h"
#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_status.h"

#define COMMAND        "bench"
#define MAX_VALUES     64
#define MAX_CANDIDATES 16     // steps of a search or of a default grid
#define LARGEST_LADDER 20000  // loops; beyond it nothing is tried
#define MAX_PATH_SIZE  4096

static const char* const groups[] = {"circuits"};

// What is asked for, beside what is found.
typedef struct plan {
  const yoke_options* options;
  yoke_bench* bench;
  uint32_t methods;  // bits; 0: the default
  bool has_formulation, has_startup;
  yoke_circuit_formulation formulation;
  yoke_circuit_startup startup;
  double steps[MAX_VALUES];
  size_t n_steps;
  int iterations[MAX_VALUES];
  size_t n_iterations;
  double limit;  // --level as a number; 0: none
  bool is_find, is_refactored;
  yoke_assess_effort effort;
} plan;

#define BIT(method) (1u << YOKE_CIRCUIT_##method)
#define DEFAULT_METHODS                                                                            \
  (BIT(TRBDF2) | BIT(TR) | BIT(BDF2) | BIT(BDF3) | BIT(ESDIRK3) | BIT(ESDIRK4))
#define EXPLICIT_METHODS  (BIT(EULER) | BIT(RK4))
#define PUBLISHED_METHODS (BIT(TR) | BIT(BDF2) | BIT(BDF3))

// ---- the command line

static bool read_numbers(plan* p) {
  size_t n = 0;
  const char* const* texts = yoke__options_values(p->options, "step", &n);
  for (size_t i = 0; i < n; i++) {
    if (i >= MAX_VALUES || !yoke__number_parse_suffix(texts[i], &p->steps[i]) ||
        !(p->steps[i] > 0) || !yoke__is_finite(p->steps[i])) {
      return yoke__app_error(COMMAND, "--step '%.80s': expected a number of seconds above 0",
                             texts[i]);
    }
    p->n_steps++;
  }
  texts = yoke__options_values(p->options, "iterations", &n);
  for (size_t i = 0; i < n; i++) {
    int64_t number = 0;
    if (i >= MAX_VALUES || !yoke__number_parse_integer(texts[i], &number) || number < 0 ||
        number > 1000) {
      return yoke__app_error(
          COMMAND, "--iterations '%.80s': expected a number from 0 (until converged) to 1000",
          texts[i]);
    }
    p->iterations[p->n_iterations++] = (int)number;
  }
  return true;
}

static bool read_level(plan* p) {
  const char* text = yoke__options_value(p->options, "level");
  if (text == NULL) {
    return true;
  }
  p->bench->level = YOKE_LEVEL_HIGH;
  if (strcmp(text, "low") == 0) {
    p->bench->level = YOKE_LEVEL_LOW;
  } else if (strcmp(text, "high") != 0 &&
             (!yoke__number_parse_suffix(text, &p->limit) || !(p->limit > 0))) {
    return yoke__app_error(COMMAND, "--level '%.80s': expected low, high or an error above 0",
                           text);
  }
  return true;
}

static unsigned lowest(uint32_t bits) {
  unsigned i = 0;
  while (bits != 0 && (bits >> i & 1u) == 0) {
    i++;
  }
  return i;
}

static bool read_choices(plan* p) {
  uint32_t formulation = 0, startup = 0;
  if (!yoke__options_choices(p->options, "method", &p->methods) ||
      !yoke__options_choices(p->options, "formulation", &formulation) ||
      !yoke__options_choices(p->options, "startup", &startup)) {
    return false;
  }
  p->has_formulation = formulation != 0;
  p->has_startup = startup != 0;
  p->formulation = (yoke_circuit_formulation)lowest(formulation);
  p->startup = (yoke_circuit_startup)lowest(startup);
  if (p->formulation == YOKE_FORMULATION_ODE && p->methods == 0) {
    p->methods = EXPLICIT_METHODS;
  }
  if (!p->has_formulation && p->methods != 0 && (p->methods & ~EXPLICIT_METHODS) == 0) {
    p->formulation = YOKE_FORMULATION_ODE;
  }
  return true;
}

// The user's own netlist, system or FMU in place of the problems of the program.
static int count_own(const plan* p) {
  return yoke__options_has(p->options, "netlist") + yoke__options_has(p->options, "system") +
         yoke__options_has(p->options, "fmu");
}

static bool is_own(const plan* p) {
  return count_own(p) > 0;
}

static bool check_own(const plan* p) {
  const bool has_netlist = yoke__options_has(p->options, "netlist"), is_any = is_own(p);
  const bool has_reference = yoke__options_has(p->options, "reference");
  const bool has_limits = yoke__options_has(p->options, "limit");
  const bool wants_level = p->is_find || yoke__options_has(p->options, "level");
  const struct rule {
    bool is_broken;
    const char* text;
  } rules[] = {
      {count_own(p) > 1, "expected one of --netlist, --system and --fmu"},
      {is_any && !has_reference, "expected --reference FILE: errors are measured against it"},
      {is_any && yoke__options_has(p->options, "problem"),
       "--problem selects a built-in problem: leave it out with --netlist, --system and --fmu"},
      {is_any && p->is_find && !has_netlist,
       "--find searches steps and iterations of circuits only; for a system or FMU give the steps "
       "with --step"},
      {is_any && wants_level && !has_limits && !(p->limit > 0),
       "expected --limit SIGNAL=ERROR or --level ERROR: levels low and high are for built-in "
       "problems"},
      {!is_any && (has_reference || has_limits),
       "--reference and --limit need --netlist, --system or --fmu; built-in problems have a "
       "reference and --level"},
  };
  for (size_t i = 0; i < YOKE_COUNT(rules); i++) {
    if (rules[i].is_broken) {
      return yoke__app_error(COMMAND, "%s", rules[i].text);
    }
  }
  return true;
}

static bool check_group(const yoke_options* options) {
  const char* group = options->n_operands > 0 ? options->operands[0] : groups[0];
  if (strcmp(group, groups[0]) != 0) {
    char hint[YOKE_HINT_SIZE];
    return yoke__app_error(COMMAND, "unknown group '%.80s'%s; expected circuits", group,
                           yoke__app_hint(group, groups, YOKE_COUNT(groups), "", hint));
  }
  return true;
}

static bool read_plan(plan* p) {
  p->bench->is_json = yoke__options_has(p->options, "json");
  p->bench->is_quick = yoke__options_has(p->options, "quick");
  p->is_find = yoke__options_has(p->options, "find");
  p->is_refactored = yoke__options_has(p->options, "refactor");
  p->effort = p->bench->is_quick ? (yoke_assess_effort){.n_repetitions = 2,
                                                        .seconds = 0.05,
                                                        .max_steps = 40000,
                                                        .has_stages = true}
                                 : (yoke_assess_effort){.n_repetitions = 5,
                                                        .seconds = 0.2,
                                                        .max_steps = 1000000,
                                                        .has_stages = true,
                                                        .has_worst = true};
  return check_group(p->options) && read_numbers(p) && read_level(p) && read_choices(p) &&
         check_own(p);
}

// ---- problems

static yoke_status load_own(plan* p, yoke_messages* messages) {
  size_t n_limits = 0;
  const char* const* limits = yoke__options_values(p->options, "limit", &n_limits);
  const char* reference = yoke__options_value(p->options, "reference");
  const char* netlist = yoke__options_value(p->options, "netlist");
  const char* system = yoke__options_value(p->options, "system");
  yoke_assess_problem** to = &p->bench->problems[0];
  if (n_limits > 0 && p->bench->level == YOKE_LEVEL_NONE) {
    p->bench->level = YOKE_LEVEL_HIGH;
  }
  if (netlist != NULL) {
    YOKE_TRY(yoke__assess_read(netlist, reference, limits, n_limits, messages, to));
  } else {
    YOKE_TRY(
        yoke__assess_read_system(system != NULL ? system : yoke__options_value(p->options, "fmu"),
                                 reference, limits, n_limits, messages, to));
  }
  p->bench->n_problems = 1;
  return YOKE_OK;
}

static yoke_status load_named(plan* p, yoke_messages* messages) {
  yoke_status worst = YOKE_OK;
  size_t n = 0;
  const char* const* names = yoke__options_values(p->options, "problem", &n);
  if (n == 0) {
    names = yoke__assess_names;
    n = YOKE_ASSESS_N_PROBLEMS;
  }
  for (size_t i = 0; i < n && i < YOKE_BENCH_MAX_PROBLEMS; i++) {
    const yoke_status status =
        yoke__assess_load(names[i], messages, &p->bench->problems[p->bench->n_problems]);
    p->bench->n_problems += status >= 0;
    worst = status < 0 ? status : worst;
  }
  return worst;
}

static int load_problems(plan* p) {
  yoke_messages messages = {0};
  const yoke_status status = is_own(p) ? load_own(p, &messages) : load_named(p, &messages);
  // what there is to say about our own netlists is on their page
  if (is_own(p) || status < 0) {
    yoke__messages_print(&messages, stderr);
  }
  if (status < 0 && messages.n_errors == 0) {
    yoke__app_error(COMMAND, "%s", yoke_status_text(status));
  }
  yoke__messages_free(&messages);
  for (size_t i = 0; status >= 0 && p->limit > 0 && i < p->bench->n_problems; i++) {
    yoke__assess_set_limit(p->bench->problems[i], p->limit);
  }
  return status >= 0                        ? YOKE_EXIT_OK
         : yoke__status_is_shortage(status) ? YOKE_EXIT_FAILED
                                            : YOKE_EXIT_USAGE;
}

// What the command line leaves open and the netlist's `.yoke` says. Methods that are named decide about the
// formulation, as everywhere.
static void obey_netlist(plan* p) {
  int formulation = -1, startup = -1;
  if (is_own(p)) {
    yoke__assess_said(p->bench->problems[0], &formulation, &startup);
  }
  const bool is_explicit = p->methods != 0 && (p->methods & ~EXPLICIT_METHODS) == 0;
  if (startup >= 0 && !p->has_startup) {
    p->has_startup = true;
    p->startup = (yoke_circuit_startup)startup;
  }
  if (formulation < 0 || p->has_formulation ||
      (p->methods != 0 && is_explicit != (formulation == YOKE_FORMULATION_ODE))) {
    return;
  }
  p->formulation = (yoke_circuit_formulation)formulation;
  if (p->methods == 0 && p->formulation == YOKE_FORMULATION_ODE) {
    p->methods = EXPLICIT_METHODS;
  }
}

// ---- runs

static yoke_status run_one(plan* p, const yoke_assess_problem* problem,
                           const yoke_circuit_options* options) {
  yoke_bench* b = p->bench;
  if (yoke__os_is_interrupted()) {
    return YOKE_INTERRUPTED;
  }
  if (b->n_results == b->room_results) {
    const size_t room = b->room_results == 0 ? 64 : 2 * b->room_results;
    yoke_assess_result* grown = realloc(b->results, room * sizeof *grown);
    YOKE_TRY_MEMORY(grown);
    b->results = grown;
    b->room_results = room;
  }
  yoke_assess_result* r = &b->results[b->n_results];
  YOKE_TRY(problem->network != NULL
               ? yoke__assess_run(problem, options, &p->effort, r)
               : yoke__assess_run_system(problem, options->step, &p->effort, r));
  b->n_results++;
  if (!b->is_json) {
    yoke__bench_print_result(problem, r);
  }
  return YOKE_OK;
}

static bool is_run_already(const yoke_bench* b, const yoke_assess_problem* problem,
                           const yoke_circuit_options* options) {
  for (size_t i = 0; i < b->n_results; i++) {
    const yoke_circuit_options* o = &b->results[i].options;
    if (b->results[i].problem == problem->name && o->method == options->method &&
        o->formulation == options->formulation && o->step == options->step &&
        o->iterations == options->iterations) {
      return true;
    }
  }
  return false;
}

// The configurations of the paper.
static yoke_status run_published(plan* p, const yoke_assess_problem* problem) {
  for (size_t i = 0; i < yoke__assess_n_published; i++) {
    const yoke_assess_published* row = &yoke__assess_published[i];
    yoke_circuit_options options;
    if (strcmp(row->problem, problem->name) != 0) {
      continue;
    }
    yoke__assess_published_options(problem, row, &options);
    options.is_refactored = p->is_refactored;
    if (!is_run_already(p->bench, problem, &options)) {
      YOKE_TRY(run_one(p, problem, &options));
    }
  }
  return YOKE_OK;
}

static yoke_status run_steps(plan* p, const yoke_assess_problem* problem,
                             yoke_circuit_options options) {
  const size_t n = p->n_steps > 0 ? p->n_steps : MAX_CANDIDATES;
  const double most = p->bench->is_quick ? 1e4 : 1e5;
  for (size_t i = 0; i < n; i++) {
    options.step = p->n_steps > 0 ? p->steps[i] : yoke__assess_step(problem, i);
    // larger ones are on the way to an answer, not an answer
    const bool is_left_out =
        options.step == 0 || (i > 2 && problem->stop / options.step > 1.0001 * most);
    if (p->n_steps == 0 && is_left_out) {
      break;
    }
    for (size_t k = 0; k < (p->n_iterations > 0 ? p->n_iterations : 1); k++) {
      if (p->n_iterations > 0) {
        options.iterations = p->iterations[k];
      }
      YOKE_TRY(run_one(p, problem, &options));
    }
  }
  return YOKE_OK;
}

static void set_options(const plan* p, const yoke_assess_problem* problem, unsigned method,
                        yoke_circuit_options* options) {
  *options = (yoke_circuit_options){.formulation = p->formulation};
  yoke__assess_defaults(problem, options);
  options->method = (yoke_circuit_method)method;
  options->is_refactored = p->is_refactored;
  if (p->has_startup) {
    options->startup = p->startup;
  } else if (p->formulation == YOKE_FORMULATION_NODAL) {
    options->startup = YOKE_STARTUP_TR_XI;  // the better one; the paper's is for its own runs
  }
}

static bool is_wanted(const plan* p, unsigned method) {
  return ((p->methods != 0 ? p->methods : DEFAULT_METHODS) >> method & 1u) != 0;
}

static yoke_status run_grid(plan* p, const yoke_assess_problem* problem) {
  for (unsigned m = 0; m < YOKE_CIRCUIT_N_METHODS; m++) {
    yoke_circuit_options options;
    set_options(p, problem, m, &options);
    YOKE_TRY(is_wanted(p, m) ? run_steps(p, problem, options) : YOKE_OK);
  }
  return YOKE_OK;
}

static yoke_status run_problem(plan* p, const yoke_assess_problem* problem) {
  const bool is_default =
      p->methods == 0 && p->n_steps == 0 && p->n_iterations == 0 && !p->has_formulation;
  const size_t first = p->bench->n_results;
  yoke_status status = YOKE_OK;
  if (!p->bench->is_json) {
    yoke__bench_print_problem(problem);
  }
  if (is_default && problem->is_builtin) {
    status = run_published(p, problem);
  }
  if (status >= 0) {
    status = problem->network == NULL ? run_steps(p, problem, (yoke_circuit_options){0})
                                      : run_grid(p, problem);
  }
  if (!p->bench->is_json && problem->network != NULL) {
    yoke__bench_print_stages(p->bench->results + first, p->bench->n_results - first);
  }
  return status;
}

// ---- searches

static yoke_status find_one(plan* p, size_t number, unsigned method, yoke_assess_level level) {
  static const int counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30};
  yoke_bench* b = p->bench;
  const yoke_assess_problem* problem = b->problems[number];
  yoke_circuit_options options;
  if (yoke__os_is_interrupted()) {
    return YOKE_INTERRUPTED;
  }
  yoke_bench_found* found = &b->found[b->n_found];
  *found = (yoke_bench_found){.problem = number, .level = level};
  set_options(p, problem, method, &options);
  const yoke_assess_search search = {.level = level,
                                     .iterations = p->n_iterations > 0 ? p->iterations : counts,
                                     .n_iterations =
                                         p->n_iterations > 0 ? p->n_iterations : YOKE_COUNT(counts),
                                     .max_candidates = b->is_quick ? 9 : MAX_CANDIDATES};
  yoke_assess_effort effort = p->effort;
  effort.has_stages = effort.has_worst = false;
  YOKE_TRY(
      yoke__assess_find(problem, &options, &search, &effort, &found->result, &found->is_found));
  b->n_found++;
  if (!b->is_json) {
    yoke__bench_print_found(problem, found);
  }
  return YOKE_OK;
}

static yoke_status find_cheapest(plan* p, size_t number) {
  for (yoke_assess_level level = YOKE_LEVEL_LOW; level < YOKE_N_LEVELS; level++) {
    const bool is_asked = p->bench->level == YOKE_LEVEL_NONE || p->bench->level == level;
    for (unsigned m = 0; is_asked && m < YOKE_CIRCUIT_N_METHODS; m++) {
      YOKE_TRY(is_wanted(p, m) ? find_one(p, number, m, level) : YOKE_OK);
    }
  }
  return YOKE_OK;
}

static yoke_status reach_one(plan* p, const yoke_circuit_options* options,
                             yoke_assess_level level) {
  yoke_bench* b = p->bench;
  size_t published[2];
  if (yoke__os_is_interrupted()) {
    return YOKE_INTERRUPTED;
  }
  yoke_bench_reach* r = &b->reaches[b->n_reaches];
  yoke__assess_published_reach(options->method, published);
  *r = (yoke_bench_reach){
      .options = *options, .level = level, .published = published[level - YOKE_LEVEL_LOW]};
  const yoke_status status = yoke__assess_find_reach(options, LARGEST_LADDER, &r->reach);
  if (status < 0) {
    yoke__app_error(COMMAND, "%s %s on the ladder: %s",
                    yoke__circuit_formulation_names[options->formulation],
                    yoke__circuit_method_names[options->method], yoke_status_text(status));
    return YOKE_UNIT_FAILED;  // said
  }
  b->n_reaches++;
  if (!b->is_json) {
    yoke__bench_print_reach(r);
  }
  return YOKE_OK;
}

// The largest ladder for the configurations of the paper, and for the same with one iteration and
// kept factors.
static yoke_status find_reach(plan* p, yoke_circuit_formulation formulation) {
  const uint32_t methods = p->methods != 0      ? p->methods
                           : p->bench->is_quick ? BIT(BDF3)
                                                : PUBLISHED_METHODS;
  for (size_t i = 0; i < yoke__assess_n_published; i++) {
    const yoke_assess_published* row = &yoke__assess_published[i];
    if (strcmp(row->problem, "ladder-2") != 0 || (methods >> row->method & 1u) == 0 ||
        (p->bench->level != YOKE_LEVEL_NONE && p->bench->level != row->level)) {
      continue;
    }
    for (int always = 1; always >= 0; always--) {
      const yoke_circuit_options options = {.formulation = formulation,
                                            .method = row->method,
                                            .step = row->step,
                                            .iterations = always ? row->iterations : 1,
                                            .startup = YOKE_STARTUP_CONST,
                                            .is_refactored = always};
      YOKE_TRY(reach_one(p, &options, row->level));
    }
  }
  return YOKE_OK;
}

static yoke_status run_searches(plan* p) {
  yoke_bench* b = p->bench;
  bool has_ladder = false;
  // both levels of every method; of the paper's ladders with two formulations and twice
  b->found = calloc(b->n_problems * YOKE_N_LEVELS * YOKE_CIRCUIT_N_METHODS, sizeof *b->found);
  b->reaches = calloc(4 * yoke__assess_n_published, sizeof *b->reaches);
  YOKE_TRY_MEMORY(b->found && b->reaches);
  for (size_t i = 0; i < b->n_problems; i++) {
    const yoke_assess_problem* problem = b->problems[i];
    has_ladder = has_ladder || problem->n_loops > 0;
    if (problem->network != NULL) {
      if (!b->is_json) {
        printf("\n%s: %s\n", problem->name, problem->title);
      }
      YOKE_TRY(find_cheapest(p, i));
    }
  }
  if (!has_ladder) {
    return YOKE_OK;
  }
  if (!b->is_json) {
    yoke__bench_print_reach_head();
  }
  YOKE_TRY(p->has_formulation ? YOKE_OK : find_reach(p, YOKE_FORMULATION_DAE));
  return find_reach(p, p->formulation);
}

// ---- what is left behind

static bool write_figure(const plan* p, const char* path) {
  const yoke_bench* b = p->bench;
  const size_t n = strlen(path);
  const bool is_page = n > 5 && strcmp(path + n - 5, ".html") == 0;
  const char* slash = strrchr(path, '/');
  char folder[MAX_PATH_SIZE] = ".";
  yoke_text text = {0};
  if (slash != NULL) {
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + (slash == path), path);
  }
  if (is_page) {
    yoke__text_add(&text, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                          "<title>yoke bench circuits</title>\n");
  }
  yoke__assess_draw_begin(b->n_problems, &text);
  for (size_t i = 0; i < b->n_problems; i++) {
    yoke__assess_draw(b->problems[i], b->results, b->n_results, i, &text);
  }
  yoke__assess_draw_end(&text);
  if (is_page) {
    yoke__text_add(&text, "</html>\n");
  }
  yoke_status status = text.status;
  if (status >= 0) {
    status = yoke__os_write_into(folder, slash == NULL ? path : slash + 1, text.bytes, text.n,
                                 &yoke__app_sink);
  }
  yoke__text_free(&text);
  if (status < 0) {
    yoke__app_fail(COMMAND, status);
  }
  return status >= 0;
}

static bool is_met(const yoke_bench* b, size_t number) {
  for (size_t i = 0; i < b->n_results; i++) {
    if (b->results[i].problem == b->problems[number]->name && b->results[i].status >= 0 &&
        b->results[i].level >= b->level) {
      return true;
    }
  }
  for (size_t i = 0; i < b->n_found; i++) {
    if (b->found[i].problem == number && b->found[i].is_found) {
      return true;
    }
  }
  return false;
}

// What was asked for, problem by problem.
static int judge(const yoke_bench* b) {
  int status = YOKE_EXIT_OK;
  for (size_t i = 0; b->level != YOKE_LEVEL_NONE && i < b->n_problems; i++) {
    if (!is_met(b, i)) {
      yoke__app_error(COMMAND, "%s: no configuration keeps the errors below the limit",
                      b->problems[i]->name);
      status = YOKE_EXIT_QUALITY;
    }
  }
  return status;
}

// The first run or search of a problem that failed, if no other got to its end; else NULL.
static const yoke_assess_result* only_failures(const yoke_bench* b, size_t number) {
  const yoke_assess_result* first = NULL;
  for (size_t i = 0; i < b->n_results + b->n_found; i++) {
    const bool is_run = i < b->n_results;
    const yoke_bench_found* found = is_run ? NULL : &b->found[i - b->n_results];
    const yoke_assess_result* r = is_run ? &b->results[i] : &found->result;
    if (is_run ? r->problem != b->problems[number]->name : found->problem != number) {
      continue;
    }
    if (r->status >= 0) {
      return NULL;
    }
    first = first == NULL ? r : first;
  }
  return first;
}

// Why a problem could not be run at all, and whether any could. A user's own file that cannot even
// be read or built is bad input.
static int judge_runs(const plan* p) {
  const yoke_bench* b = p->bench;
  int status = YOKE_EXIT_OK;
  bool is_any_run = b->n_problems == 0;
  for (size_t i = 0; i < b->n_problems; i++) {
    const yoke_assess_result* r = only_failures(b, i);
    if (r == NULL) {
      is_any_run = true;
      continue;
    }
    yoke__app_error(COMMAND, "%s: no configuration could be run: %s", b->problems[i]->name,
                    r->reason);
    const bool is_input = is_own(p) && (r->status == YOKE_BAD_INPUT || r->status == YOKE_IO);
    status = is_input ? YOKE_EXIT_USAGE : YOKE_EXIT_FAILED;
  }
  return is_any_run ? YOKE_EXIT_OK : status;
}

// ---- the command

static int assess(plan* p) {
  if (!read_plan(p)) {
    return YOKE_EXIT_USAGE;
  }
  int status = load_problems(p);
  if (status != YOKE_EXIT_OK) {
    return status;
  }
  obey_netlist(p);
  yoke__os_catch_interrupt();
  yoke_status run = p->is_find ? run_searches(p) : YOKE_OK;
  for (size_t i = 0; !p->is_find && run >= 0 && i < p->bench->n_problems; i++) {
    run = run_problem(p, p->bench->problems[i]);
  }
  if (run < 0 && run != YOKE_INTERRUPTED) {
    return yoke__status_is_shortage(run) ? yoke__app_fail(COMMAND, run) : YOKE_EXIT_FAILED;
  }
  const char* figure = yoke__options_value(p->options, "figure");
  bool is_written = figure == NULL || write_figure(p, figure);
  if (is_written && p->bench->is_json) {
    yoke_json json = {0};
    yoke__bench_json(p->bench, &json);
    is_written = yoke__app_print_json(COMMAND, &json);
  }
  if (!is_written || run < 0) {
    return is_written ? YOKE_EXIT_INTERRUPTED : YOKE_EXIT_FAILED;
  }
  status = judge_runs(p);
  return status != YOKE_EXIT_OK ? status : judge(p->bench);
}

static int bench(const yoke_options* options) {
  yoke_bench* b = calloc(1, sizeof *b);
  if (b == NULL) {
    return yoke__app_fail(COMMAND, YOKE_NO_MEMORY);
  }
  plan p = {.options = options, .bench = b};
  const int status = assess(&p);
  for (size_t i = 0; i < b->n_problems; i++) {
    yoke__assess_destroy(&b->problems[i]);
  }
  free(b->results);
  free(b->found);
  free(b->reaches);
  free(b);
  return status;
}

int yoke_cmd_bench(int argc, char** argv) {
  return yoke__options_run(&yoke__command_bench, argc, argv, bench);
}
