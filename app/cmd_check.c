// yoke check: the resolved system, without stepping it.
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
    if (strcmp(yoke__view_text(v, "causality"), causality) != 0) {
      continue;
    }
    printf("%s%s", before, yoke__view_text(v, "name"));
    before = ", ";
    if (yoke__view_count(v, "size") > 1) {
      printf("[%lld]", yoke__view_count(v, "size"));
    }
    if (yoke__view_text(v, "dimension")[0] != '\0') {
      printf(" [%s]", yoke__view_text(v, "dimension"));
    }
    if (json_array_size(json_object_get(v, "feedthrough")) > 0) {
      printf(" *");
    }
  }
  printf("%s", before == word ? "" : "\n");
}

static void print_settings(const json_t* unit) {
  const json_t* settings = json_object_get(unit, "settings");
  const size_t n =
      json_array_size(settings) + (size_t)yoke__view_count(unit, "settings_not_listed");
  for (size_t i = 0; i < n && i < MAX_SETTINGS; i++) {
    const json_t* s = json_array_get(settings, i);
    printf("%s%s = %s", i == 0 ? "    set  " : ", ", yoke__view_text(s, "name"),
           yoke__view_text(s, "value"));
  }
  if (n > MAX_SETTINGS) {
    printf(", and %zu more", n - MAX_SETTINGS);
  }
  printf("%s", n == 0 ? "" : "\n");
}

static void print_units(const json_t* system, bool are_laws) {
  const bool has_threads = yoke__view_count(system, "threads") > 1;
  const char* head = are_laws ? "\nlaws (evaluated at every exchange)\n"
                              : "\nunits (* output with direct feedthrough)\n";
  const json_t* unit = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(system, "units"), i, unit) {
    if (yoke__view_is(unit, "law") != are_laws) {
      continue;
    }
    printf("%s  %-12s %s", head, yoke__view_text(unit, "name"), yoke__view_text(unit, "model"));
    head = "";
    if (json_object_get(unit, "library") != NULL) {
      printf(" of %s", yoke__view_text(unit, "library"));
    }
    if (!are_laws) {
      printf(", step %s s%s%s", yoke__view_number(unit, "step").chars,
             yoke__view_is(unit, "fresh") ? ", fresh" : "",
             yoke__view_is(unit, "isolated") ? ", isolated" : "");
      printf(has_threads ? ", thread %lld" : "", yoke__view_count(unit, "thread"));
    }
    printf("\n");
    print_variables(unit, "input", "    in   ");
    print_variables(unit, "output", "    out  ");
    print_settings(unit);
  }
}

// ---- connections

static void print_connections(const json_t* system) {
  const json_t* c = NULL;
  size_t i = 0;
  json_array_foreach(json_object_get(system, "connections"), i, c) {
    printf("%s  %s -> %s, every %s s", i == 0 ? "\nconnections\n" : "", yoke__view_text(c, "from"),
           yoke__view_text(c, "to"), yoke__view_number(c, "exchange").chars);
    if (yoke__view_count(c, "order") > 0) {
      printf(", order %lld", yoke__view_count(c, "order"));
    }
    if (yoke__json_find_number(c, "gain", 1) != 1) {
      printf(", gain %s", yoke__view_number(c, "gain").chars);
    }
    if (yoke__json_find_number(c, "offset", 0) != 0) {
      printf(", offset %s", yoke__view_number(c, "offset").chars);
    }
    if (yoke__json_find_number(c, "delay", 0) > 0) {
      printf(", delay %s s", yoke__view_number(c, "delay").chars);
    }
    if (yoke__view_text(c, "method")[0] != '\0') {
      printf(", method %s", yoke__view_text(c, "method"));
    }
    printf("\n");
  }
}

// ---- couplings

static void print_couplings(const json_t* system) {
  const json_t *c = NULL, *unit = NULL;
  json_t* value = NULL;
  const char* name = NULL;
  size_t i = 0, k = 0;
  json_array_foreach(json_object_get(system, "couplings"), i, c) {
    printf("%s  %-12s %s every %s s", i == 0 ? "\ncouplings\n" : "", yoke__view_text(c, "name"),
           yoke__view_text(c, "method"), yoke__view_number(c, "exchange").chars);
    json_object_foreach(json_object_get(c, "settings"), name, value) {
      yoke_view_number room;
      printf(", %s %s", name, yoke__view_value(value, &room));
    }
    printf("\n");
    json_array_foreach(json_object_get(c, "members"), k, unit) {
      printf("    %-10s %lld in, %lld out", yoke__view_text(unit, "name"),
             yoke__view_count(unit, "inputs"), yoke__view_count(unit, "outputs"));
      if (yoke__view_count(unit, "inputs_from_outside") > 0) {
        printf(", %lld in from outside", yoke__view_count(unit, "inputs_from_outside"));
      }
      if (json_object_get(unit, "linear_states") != NULL) {
        printf(", tells a linear model with %lld states", yoke__view_count(unit, "linear_states"));
      }
      printf("\n");
    }
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
  static const char* const reasons[][2] = {
      {"feedthrough on both sides", "mu unknown: direct feedthrough on both sides"},
      {"implicit", "mu unknown: implicit solver"},
      {"gauss-seidel", "mu unknown under Gauss-Seidel"},
      {"iterative", "mu unknown under iteration"},
      {"models", "mu unknown: inputs by models of the units"},
      {"no power", "heat balance only, the product is no power"},
  };
  const char* origin = yoke__view_text(bond, "mu_from");
  for (size_t i = 0; i < YOKE_COUNT(reasons); i++) {
    if (strcmp(origin, reasons[i][0]) == 0) {
      printf("%s", reasons[i][1]);
      return;
    }
  }
  printf("mu %s%s", yoke__view_number(bond, "mu").chars,
         strcmp(origin, "given") == 0 ? " (given)" : "");
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
    printf("  none: nothing will say how far the result can be believed\n");
  }
  json_array_foreach(bonds, i, bond) {
    const bool is_found = yoke__view_is(bond, "found");
    const char* method = yoke__view_text(bond, "method");
    printf("  %-12s", yoke__view_text(bond, "name"));
    print_pairs(bond, "action", "action_to", " action ");
    print_pairs(bond, "rate", "rate_to", "; rate ");
    printf("%s%s\n    every %s s, ", yoke__json_find_number(bond, "sign", 1) < 0 ? "; sign -1" : "",
           is_found ? "; found from dimensions" : "", yoke__view_number(bond, "exchange").chars);
    print_mu(bond);
    if (!yoke__view_is(bond, "ter")) {
      printf(", no TER (%s)", yoke__view_text(bond, "no_ter_because"));
    }
    printf("%s%s\n", method[0] == '\0' ? "" : ", method ", method);
    has_found = has_found || is_found;
  }
  for (i = 0; i < json_array_size(hints); i++) {
    printf("  ?            %s\n", json_string_value(json_array_get(hints, i)));
  }
  if (has_found) {
    printf("  to name a found bond or fix its sign, write it under `bonds`; `NAME: false` refuses "
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

// ---- the whole

static void print_head(const json_t* system) {
  const json_t* adaptive = json_object_get(system, "adaptive");
  const long long n_threads = yoke__view_count(system, "threads");
  const char* text = yoke__view_text(system, "text");
  printf("%s\n%s%s", yoke__view_text(system, "name"), text, text[0] == '\0' ? "" : "\n");
  printf("\ntime        %s to %s s, macro step %s s (%lld steps)\n",
         yoke__view_number(system, "start").chars, yoke__view_number(system, "stop").chars,
         yoke__view_number(system, "step").chars, yoke__view_count(system, "steps"));
  if (adaptive != NULL) {
    printf("step        chosen by the residual: %s to %s s, rho about %s\n",
           yoke__view_number(adaptive, "least").chars, yoke__view_number(adaptive, "most").chars,
           yoke__view_number(adaptive, "rho").chars);
  }
  printf("grid        tick %s s, exchange slot %s s\n", yoke__view_number(system, "tick").chars,
         yoke__view_number(system, "slot").chars);
  printf("scheme      %s, %s exchange, %lld thread%s\n", yoke__view_text(system, "scheme"),
         yoke__view_text(system, "exchange"), n_threads, yoke__plural((uint64_t)n_threads));
}

static int print_system(char** document) {
  json_t* system = yoke__view_open("check", document);
  if (system == NULL) {
    return YOKE_EXIT_FAILED;
  }
  const json_t* recorded = json_object_get(system, "recorded");
  print_head(system);
  print_units(system, false);
  print_units(system, true);
  print_connections(system);
  print_couplings(system);
  print_bonds(system);
  print_orders(system);
  printf("\nrecorded    %lld signals every %s s\n", yoke__view_count(recorded, "signals"),
         yoke__view_number(recorded, "interval").chars);
  json_decref(system);
  return YOKE_EXIT_OK;
}

// Initial values are part of what can go wrong before the first step.
static int check_start(yoke_system* system, const char* path) {
  const yoke_app_words words = yoke__app_words(path);
  yoke_app_voice voice = {.words = &words};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  yoke_simulation* simulation = NULL;
  yoke_status started = yoke_simulation_create(system, &sink, &simulation);
  started = started < 0 ? started : yoke_simulation_start(simulation);
  yoke_simulation_destroy(&simulation);
  return yoke__app_start_status(started);
}

int yoke_cmd_check(int argc, char** argv) {
  yoke_options options;
  int status = YOKE_EXIT_OK;
  if (!yoke__options_parse(&yoke__command_check, argc, argv, &options, &status)) {
    return status;
  }
  yoke_system* system =
      yoke__app_load(&options, NULL, 0, yoke__options_has(&options, "strict"), NULL);
  char* document = NULL;
  const yoke_status described = system == NULL ? YOKE_OK : yoke_system_describe(system, &document);
  if (system == NULL) {
    status = YOKE_EXIT_USAGE;
  } else if (described < 0) {
    yoke__app_error("check", "%s", yoke_status_text(described));
    status = YOKE_EXIT_FAILED;
  } else if (yoke__options_has(&options, "json")) {
    fputs(document, stdout);
  } else {
    status = print_system(&document);
  }
  if (status == YOKE_EXIT_OK) {
    status = check_start(system, options.operands[0]);
  }
  yoke_text_free(&document);
  yoke_system_destroy(&system);
  yoke__options_free(&options);
  return status;
}
