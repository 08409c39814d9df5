// yoke check: the resolved system, without stepping it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_system.h"
#include "app/app_view.h"
#include "base/base_check.h"
#include "yoke/simulation.h"
#include "yoke/system.h"

#define MAX_SETTINGS 30  // of one unit that are shown

// ---- units

static void print_variables(const json_t* unit, const char* causality, const char* word) {
  const json_t* v = NULL;
  const char* before = word;
  size_t i = 0;
  json_array_foreach(json_object_get(unit, "variables"), i, v) {
    if (strcmp(yoke__view_text(v, "causality"), causality) == 0) {
      const bool is_array = yoke__view_count(v, "size") > 1;
      const bool is_real = strcmp(yoke__view_text(v, "type"), "real") == 0;
      printf("%s", before);
      yoke__view_print(v, is_array ? "{name}[{size}]" : "{name}");
      yoke__view_print(v, is_real ? "" : " ({type})");
      yoke__view_print(v, "{dimension? [{dimension}]}{feedthrough? *}");
      before = ", ";
    }
  }
  printf("%s", before == word ? "" : "\n");
}

static void print_settings(const json_t* unit) {
  const json_t* settings = json_object_get(unit, "settings");
  const size_t n =
      json_array_size(settings) + (size_t)yoke__view_count(unit, "settings_not_listed");
  for (size_t i = 0; i < n && i < MAX_SETTINGS; i++) {
    printf("%s", i == 0 ? "    set  " : ", ");
    yoke__view_print(json_array_get(settings, i), "{name} = {value}");
  }
  if (n > MAX_SETTINGS) {
    printf(", and %zu more", n - MAX_SETTINGS);
  }
  printf("%s", n == 0 ? "" : "\n");
}

static void print_units(const json_t* system, bool are_laws) {
  const bool has_threads = !are_laws && yoke__view_count(system, "threads") > 1;
  const char* head = are_laws ? "\nlaws (evaluated at every exchange)\n"
                              : "\nunits (* output with direct feedthrough)\n";
  const json_t* unit = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(system, "units"), i, unit) {
    if (yoke__view_is(unit, "law") != are_laws) {
      continue;
    }
    printf("%s", head);
    head = "";
    yoke__view_print(unit, "  {name:12} {model}{library? of {library}}{law!, step {step} s}");
    if (yoke__view_count(unit, "calls") > 1) {
      yoke__view_print(unit, " ({calls} calls{calls_because?: {calls_because}})");
    }
    yoke__view_print(unit, "{law!{fresh?, fresh}{trial_step?, outputs by trial steps}"
                           "{isolated?, isolated}{peer?, at {peer}}}");
    yoke__view_print(unit, has_threads ? ", thread {thread}{own_thread? of its own}\n" : "\n");
    print_variables(unit, "input", "    in   ");
    print_variables(unit, "output", "    out  ");
    print_settings(unit);
  }
}

// ---- twins

// Temperatures of capacities: those that the sensors tell something of, and the others.
static void print_states(const json_t* twin, bool are_seen) {
  const char* before = are_seen ? "    states   " : "    unseen   ";
  const char* first = before;
  const json_t* state = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(twin, "states"), i, state) {
    if ((strcmp(yoke__view_text(state, "seen"), "no") != 0) == are_seen) {
      printf("%s%s", before, yoke__view_text(state, "name"));
      before = ", ";
    }
  }
  printf("%s", before == first ? "" : are_seen ? "\n" : " (no sensor shows their temperature)\n");
}

static void print_unknowns(const json_t* twin) {
  const json_t* u = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(twin, "unknowns"), i, u) {
    const char* seen = yoke__view_text(u, "seen");
    const double walk = yoke__json_find_number(u, "walk", 0);
    yoke__view_print(u, "    unknown  {name:12} {what}, from {start} {dimension}");
    printf(", sd %.4g", yoke__json_find_number(u, "sd", 0));
    yoke__view_print(u, "{sd_default? by default}");
    if (walk > 0) {
      printf(", walk %.4g", walk);
      yoke__view_print(u, "{walk_default? by default}");
    }
    yoke__view_print(u, "{lower@, within {lower} to {upper}}");
    printf("%s\n", strcmp(seen, "no") == 0                        ? "; no sensor shows it"
                   : strcmp(seen, "while temperatures move") == 0 ? "; seen while temperatures move"
                                                                  : "");
  }
}

// How well the sensors show what is estimated, as parts of what shows best.
static void print_sight(const json_t* twin) {
  const json_t *singular = json_object_get(twin, "singular"), *value = NULL;
  size_t i = 0;
  if (singular == NULL) {
    return;
  }
  printf("    shown    %.0f of %zu combinations, singular values",
         yoke__json_find_number(twin, "rank", 0), json_array_size(singular));
  json_array_foreach(singular, i, value) {
    printf(" %.2g", json_number_value(value));
  }
  putchar('\n');
  json_array_foreach(json_object_get(twin, "weak"), i, value) {
    printf("    weak     %s (%.2g)\n", yoke__view_text(value, "names"),
           yoke__json_find_number(value, "singular", 0));
  }
}

static void print_twins(const json_t* system) {
  const char* head = "\ntwins\n";
  const json_t* unit = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(system, "units"), i, unit) {
    const json_t* twin = json_object_get(unit, "twin");
    if (twin == NULL) {
      continue;
    }
    printf("%s", head);
    head = "";
    yoke__view_print(unit, "  {name:12} ");
    yoke__view_print(twin, "{filter} filter, ");
    if (json_object_get(twin, "instances") != NULL) {
      yoke__view_print(
          twin, "{instances} instance{instances#} of the unit, {members} of them in each step, "
                "{threads} thread{threads#}\n");
    } else {
      printf("time constants %.3g to %.3g s\n", yoke__json_find_number(twin, "fastest", 0),
             yoke__json_find_number(twin, "slowest", 0));
    }
    yoke__view_print_all(json_object_get(twin, "sensors"),
                         "    sensor   {name:12} sigma {sigma} {dimension}"
                         "{sigma_assumed?, estimated from there on}\n");
    print_unknowns(twin);
    print_states(twin, true);
    print_states(twin, false);
    print_sight(twin);
  }
}

// ---- connections and couplings

static void print_connections(const json_t* system) {
  const json_t* c = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(system, "connections"), i, c) {
    const bool has_gain = yoke__json_find_number(c, "gain", 1) != 1;
    printf("%s", i == 0 ? "\nconnections\n" : "");
    yoke__view_print(c, "  {from} -> {to}, every {exchange} s{acting_order@, order {acting_order}}"
                        "{order_because? ({order_because}; order {order} does not act)}");
    yoke__view_print(c, has_gain ? ", gain {gain}" : "");
    yoke__view_print(c, "{offset?, offset {offset}}{delay?, delay {delay} s}"
                        "{method?, method {method}}");
    printf("%s%s", json_is_true(json_object_get(c, "mean")) ? ", mean" : "",
           json_is_true(json_object_get(c, "up_to_date")) ? ", feedthrough up to date" : "");
    printf("%s%s\n", json_is_true(json_object_get(c, "averaged")) ? ", averaged" : "",
           json_is_true(json_object_get(c, "samples_only")) ? ", samples of a fast signal" : "");
  }
}

// What an output follows at once, and how that is known: where it counts, or where the file says it. One line per output.
static void print_feedthrough(const json_t* system) {
  json_t* seen = json_object();
  const json_t* c = NULL;
  size_t i = 0;
  const char* head = "\nfeedthrough (what an output follows at once)\n";
  const bool has_means = strcmp(yoke__view_text(system, "inputs"), "mean") == 0;
  json_array_foreach(json_object_get(system, "connections"), i, c) {
    const char* from = yoke__view_text(c, "from");
    const bool is_given = strstr(yoke__view_text(c, "feedthrough_how"), "file") != NULL;
    if (json_object_get(c, "feedthrough") == NULL || json_object_get(seen, from) != NULL ||
        (!has_means && !is_given)) {
      continue;
    }
    json_object_set_new(seen, from, json_true());
    printf("%s", head);
    head = "";
    yoke__view_print(c, "  {from:12} {feedthrough}: {feedthrough_how}\n");
  }
  json_decref(seen);
}

static void print_couplings(const json_t* system) {
  const json_t* c = NULL;
  json_t* value = NULL;
  const char* name = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(system, "couplings"), i, c) {
    printf("%s", i == 0 ? "\ncouplings\n" : "");
    yoke__view_print(c, "  {name:12} {method} every {exchange} s");
    json_object_foreach(json_object_get(c, "settings"), name, value) {
      char room[YOKE_NUMBER_SIZE];
      printf(", %s %s", name, yoke__view_value(value, room));
    }
    printf("\n");
    yoke__view_print_all(
        json_object_get(c, "members"),
        "    {name:10} {inputs} in, {outputs} out{inputs_from_outside?, {inputs_from_outside} in "
        "from outside}{linear_states@, has a linear model with {linear_states} states}\n");
  }
}

// ---- bonds

static void print_pairs(const json_t* bond, const char* key, const char* to_key, const char* word) {
  const json_t *from = json_object_get(bond, key), *to = json_object_get(bond, to_key);
  for (size_t i = 0; i < json_array_size(from); i++) {
    const char* target = json_string_value(json_array_get(to, i));
    printf("%s%s%s%s", i == 0 ? word : ", ", json_string_value(json_array_get(from, i)),
           target[0] == '\0' ? "" : " -> ", target);
  }
}

// "mu 0.5" or why there is none
static void print_mu(const json_t* bond) {
  static const char* const words[][2] = {
      {"given", "mu {mu} (given)"},
      {"feedthrough on both sides", "mu unknown: direct feedthrough on both sides"},
      {"implicit", "mu unknown: implicit solver"},
      {"gauss-seidel", "mu unknown under Gauss-Seidel"},
      {"iterative", "mu unknown under iteration"},
      {"models", "mu unknown: inputs by models of the units"},
      {"means", "mu unknown: inputs are means"},
      {"no power", "heat balance only, the product is no power"},
      {"automatic", "mu {mu}"},
  };
  size_t i = 0;
  while (i + 1 < YOKE_COUNT(words) && strcmp(yoke__view_text(bond, "mu_from"), words[i][0]) != 0) {
    i++;
  }
  yoke__view_print(bond, words[i][1]);
}

static void print_bonds(const json_t* system) {
  const json_t* bonds = json_object_get(system, "bonds");
  const json_t* hints = json_object_get(system, "bond_hints");
  const json_t* bond = NULL;
  bool has_found = false;
  size_t i = 0;
  if (json_array_size(json_object_get(system, "connections")) == 0) {
    return;
  }
  printf("\nbonds (energy ledger; a step creates mu * residual power * interval)\n");
  if (json_array_size(bonds) + json_array_size(hints) == 0) {
    printf("  none: the energy of the coupling is not checked\n");
  }
  json_array_foreach(bonds, i, bond) {
    yoke__view_print(bond, "  {name:12}");
    print_pairs(bond, "action", "action_to", " action ");
    print_pairs(bond, "rate", "rate_to", "; rate ");
    printf("%s", yoke__json_find_number(bond, "sign", 1) < 0 ? "; sign -1" : "");
    yoke__view_print(bond, "{found?; found from dimensions}\n    every {exchange} s, ");
    print_mu(bond);
    yoke__view_print(bond, "{ter!, no TER ({no_ter_because})}{method?, method {method}}\n");
    has_found = has_found || yoke__view_is(bond, "found");
  }
  for (i = 0; i < json_array_size(hints); i++) {
    printf("  ?            %s\n", json_string_value(json_array_get(hints, i)));
  }
  if (has_found) {
    printf("  to name a found bond or fix its sign, write it under `bonds`; `NAME: false` removes "
           "it\n");
  }
}

// ---- orders

static void print_names(const char* word, const json_t* names, const char* end) {
  printf("  %-8s", word);
  for (size_t i = 0; i < json_array_size(names); i++) {
    printf(" %s", json_string_value(json_array_get(names, i)));
  }
  printf("%s\n", end);
}

static void print_orders(const json_t* system) {
  const json_t* loop = NULL;
  size_t i = 0;
  printf("\norder\n");
  print_names("start", json_object_get(system, "start_order"), "");
  if (strstr(yoke__view_text(system, "scheme"), "gauss-seidel") != NULL) {
    print_names("steps", json_object_get(system, "step_order"),
                yoke__view_is(system, "step_order_given") ? "" : " (proposed from feedthrough)");
  }
  json_array_foreach(json_object_get(system, "loops"), i, loop) {
    print_names("loop", loop, " (iterated at the start)");
  }
}

// ---- trust

// What the verdict of a run will come from; a unit on its own exchanges nothing that could be judged.
static void print_trust(const json_t* system) {
  const json_t* trust = json_object_get(system, "trust");
  const json_t* signals = json_object_get(trust, "signals");
  if (!yoke__view_is(trust, "given") &&
      json_array_size(json_object_get(system, "connections")) == 0) {
    return;
  }
  printf("\ntrust\n");
  yoke__view_print(trust, "  companions {companions}{status!, exit status 0 also if wrong}"
                          "{bands?, bands over time are written}\n");
  printf("  trustworthy up to an error of %g %% of the movement, wrong above %g %%\n",
         100 * yoke__json_find_number(trust, "limit", 0),
         100 * yoke__json_find_number(trust, "wrong", 0));
  if (json_array_size(signals) > 0) {
    print_names("decided by", signals, "");
  }
  yoke__view_print_all(json_object_get(trust, "limits"), "  limit of {signal}: {limit}\n");
}

static void print_limits(const json_t* system) {
  const json_t* limits = json_object_get(system, "limits");
  printf("%s", json_array_size(limits) > 0 ? "\nlimits\n" : "");
  yoke__view_print_all(limits, "  {level} {side} {limit}{dimension? {dimension}}: {signal}\n");
  yoke__view_print(system, "{limits_not_listed?  and {limits_not_listed} more\n}");
}

// ---- the whole

static int print_system(char** document) {
  json_t* system = yoke__view_open("check", document);
  if (system == NULL) {
    return YOKE_EXIT_FAILED;
  }
  const json_t* adaptive = json_object_get(system, "adaptive");
  const json_t* iteration = json_object_get(system, "iteration");
  yoke__view_print(system,
                   "{name}\n{text?{text}\n}\n"
                   "time        {start} to {stop} s, macro step {step} s ({steps} steps)\n");
  yoke__view_print(adaptive, adaptive == NULL ? ""
                                              : "step        chosen by the residual: {least} to "
                                                "{most} s, rho about {rho}\n");
  const json_t* pace = json_object_get(system, "pace");
  yoke__view_print(pace, pace == NULL ? ""
                                      : "pace        {factor} s per second of the clock, overrun: "
                                        "{overrun}, limit {limit}\n");
  size_t i = 0;
  json_t* action = NULL;
  json_array_foreach(json_object_get(system, "safe"), i, action) {
    yoke__view_print(action, "safe        {set} to {to} in {over} s\n");
  }
  yoke__view_print(system, "grid        tick {tick} s, exchange slot {slot} s\n"
                           "scheme      {scheme}, {exchange} exchange, {threads} "
                           "thread{threads#}\n");
  yoke__view_print(iteration, iteration == NULL
                                  ? ""
                                  : "iteration   mode {mode}, update {update}, tolerance "
                                    "{tolerance}, at most {max}{idle?; no input changes: every "
                                    "unit is called once per exchange with inputs at the start of "
                                    "the call, as in scheme: jacobi}\n");
  print_units(system, false);
  print_units(system, true);
  print_twins(system);
  print_connections(system);
  print_feedthrough(system);
  print_couplings(system);
  print_bonds(system);
  print_orders(system);
  print_limits(system);
  print_trust(system);
  yoke__view_print(json_object_get(system, "recorded"),
                   "\nrecorded    {signals} signals every {interval} s\n");
  json_decref(system);
  return YOKE_EXIT_OK;
}

// A machine is not called just because somebody reads its file.
static bool leaves_machine_alone(const yoke_system* system) {
  yoke_unit_view unit;
  if (!yoke__app_find_machine(system, &unit)) {
    return false;
  }
  char text[256];
  snprintf(text, sizeof text, "%s%s is not called: values at the start were not computed",
           unit.peer == NULL ? "a real machine" : "the other end of its port at ",
           unit.peer == NULL ? "" : unit.peer);
  yoke_send(&yoke__app_sink, &(yoke_message){.severity = YOKE_NOTE,
                                             .file = unit.file,
                                             .line = unit.line,
                                             .column = unit.column,
                                             .unit = unit.name,
                                             .time = (double)NAN,
                                             .text = text});
  return true;
}

// Initial values are part of what can go wrong before the first step.
static int check_start(yoke_system* system, const char* path) {
  const yoke_app_words words = yoke__app_words(path);
  yoke_app_voice voice = {.words = &words};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  yoke_simulation* simulation = NULL;
  yoke_status started = yoke_simulation_create(system, &sink, &simulation);
  started = started < 0 ? started : yoke_simulation_start(simulation);
  voice.is_quiet = true;
  if (started < 0) {
    (void)yoke_simulation_report(simulation);
  }
  yoke_simulation_destroy(&simulation);
  return yoke__app_start_status(started);
}

int yoke_cmd_check(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_check, argc, argv, &options, &status)) {
    return status;
  }
  yoke_messages messages = {0};
  yoke_system* system =
      yoke__app_load(&options, NULL, 0, yoke__options_has(&options, "strict"), &messages);
  char* document = NULL;
  const yoke_status described = system == NULL ? YOKE_OK : yoke_system_describe(system, &document);
  if (system == NULL) {
    status = YOKE_EXIT_USAGE;
    if (yoke__options_has(&options, "json")) {
      yoke__app_print_failed("failure", &options, &messages);
    }
  } else if (described < 0) {
    yoke__app_error("check", "%s", yoke_status_text(described));
    status = YOKE_EXIT_FAILED;
  } else if (yoke__options_has(&options, "json")) {
    fputs(document, stdout);
  } else {
    status = print_system(&document);
  }
  if (status == YOKE_EXIT_OK && !leaves_machine_alone(system)) {
    status = check_start(system, options.operands[0]);
  }
  yoke_text_free(&document);
  yoke__messages_free(&messages);
  yoke_system_destroy(&system);
  yoke__options_free(&options);
  return status;
}
