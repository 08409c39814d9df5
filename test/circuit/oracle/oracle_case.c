#include "circuit/oracle/oracle_case.h"
#include "base/base_message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_temp.h"
#include "circuit/netlist/circuit_netlist.h"
#include "circuit/oracle/oracle_ngspice.h"
#include "circuit/oracle/oracle_random.h"
#include "circuit/oracle/oracle_reference_ida.h"
#include "support/check.h"

enum { MAX_TEXT = 1 << 16 };
// what the update test of Newton's method and rounding leave, relative to the largest signal of the kind
#define FLOOR 2e-9
enum { MAX_EXTRA = 3 };  // halvings

// one simulator at three steps, the finest last; oracles use the last two
typedef struct run_series {
  oracle_trace traces[3];
  double order;  // p
  bool is_done;
} run_series;

typedef struct work {
  char text[MAX_TEXT];
  oracle_signals signals;
  run_series own, ngspice, ida;
} work;

// what all networks add up to
typedef struct oracle_score {
  size_t n_cases, n_comparisons;          // networks; networks x methods
  size_t n_ngspice_failed, n_ida_failed;  // networks on which an oracle gave up
  size_t n_own_failed;                    // own runs that gave up
  size_t n_apart;                         // comparisons with ngspice beyond the error of both
  size_t n_apart_ida;                     // of those, the ones that IDA decides for us
  size_t n_own_wrong;                     // comparisons with IDA beyond the error of both
  size_t n_refined;                       // comparisons that took more halvings
  double worst_ngspice, worst_ida;        // largest difference over what is allowed
  char worst_name[128];
  // observed orders of each method, and errors allowed relative to the signals
  double orders[ORACLE_MAX_METHODS][ORACLE_MAX_NETWORKS];
  size_t n_orders[ORACLE_MAX_METHODS];
  double allowed[ORACLE_MAX_METHODS][ORACLE_MAX_NETWORKS];
  size_t n_allowed[ORACLE_MAX_METHODS];
} oracle_score;

// ---------------------------------------------------------------------------------------------------------
// own solver

static yoke_network* read_network(const char* text) {
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  const yoke_netlist_settings settings = {.path = "random.cir"};
  const yoke_status status =
      yoke__netlist_read_text(text, strlen(text), &settings, &messages, &network);
  if (status < 0) {
    char said[2000];
    yoke__messages_format(&messages, said, sizeof said);
    yoke__messages_free(&messages);
    fail_msg("own reader: %s\n%s", said, text);
  }
  yoke__messages_free(&messages);
  return network;
}

// The junctions with ngspice's value of k/q, so that only numerical methods are compared.
static void use_constants_of_ngspice(yoke_network* network) {
  for (uint32_t e = 0; e < network->n_elements; e++) {
    yoke_element* element = &network->elements[e];
    if (element->kind == YOKE_JUNCTION) {
      yoke_junction_model* model = yoke__arena_take(&network->arena, sizeof *model);
      assert_non_null(model);
      *model = *element->junction;
      model->vt = ORACLE_NGSPICE_K_Q * network->run.temperature;
      element->junction = model;
    }
  }
}

static void take_sample(const yoke_circuit* circuit, const oracle_signals* signals, size_t k,
                        oracle_trace* trace) {
  for (size_t s = 0; s < signals->n; s++) {
    const oracle_signal* signal = &signals->list[s];
    trace->values[s][k] = signal->is_current ? yoke__circuit_current(circuit, signal->index)
                                             : yoke__circuit_voltage(circuit, signal->index);
  }
}

static bool run_own(const yoke_network* network, const oracle_method* method, int n_halvings,
                    const oracle_signals* signals, oracle_trace* trace) {
  const int n_steps = 1 << n_halvings;
  const yoke_circuit_options options = {
      .formulation = method->formulation, .method = method->method, .step = ORACLE_GRID / n_steps};
  yoke_messages messages = {0};
  yoke_circuit* circuit = NULL;
  memset(trace, 0, sizeof *trace);
  yoke_status status = yoke__circuit_create(network, &options, &messages, &circuit);
  status = status < 0 ? status : yoke__circuit_start(circuit, 0.0, &messages);
  for (size_t k = 0; k < signals->n_times && status >= 0; k++) {
    for (int i = 0; i < n_steps && status >= 0; i++) {
      status = yoke__circuit_step(circuit);
    }
    take_sample(circuit, signals, k, trace);
  }
  if (status < 0) {
    char said[80] = "";
    yoke__messages_format(&messages, said, sizeof said);
    snprintf(trace->failure, sizeof trace->failure, "%s: %s%.100s", yoke_status_text(status), said,
             circuit != NULL ? yoke__circuit_reason(circuit)->text : "");
  }
  yoke__messages_free(&messages);
  yoke__circuit_destroy(&circuit);
  return status >= 0;
}

// ---------------------------------------------------------------------------------------------------------
// comparison

// Error of the finest run in signal s.
static double error_of(const oracle_signals* signals, const run_series* runs, size_t s) {
  const double d = oracle_distance(signals, &runs->traces[1], &runs->traces[2], s);
  return d / (pow(2.0, runs->order - 0.5) - 1.0);
}

// Largest difference over the errors of both, of all signals. sharpness: those errors relative to the signals.
static double compare(const oracle_signals* signals, const run_series* a, const run_series* b,
                      double* sharpness) {
  double worst = 0.0;
  *sharpness = 0.0;
  for (size_t s = 0; s < signals->n; s++) {
    const double scale = oracle_scale(signals, &b->traces[2], s);
    const double allowed = error_of(signals, a, s) + error_of(signals, b, s) + FLOOR * scale;
    const double d = oracle_distance(signals, &a->traces[2], &b->traces[2], s);
    if (isnan(d)) {
      return (double)INFINITY;
    }
    if (allowed > 0.0) {
      worst = fmax(worst, d / allowed);
      *sharpness = fmax(*sharpness, allowed / scale);
    }
  }
  return worst;
}

// The order that the three runs show in the worst signal; NaN near the floor.
static double order_of(const oracle_signals* signals, const run_series* runs) {
  double d1 = 0.0, d2 = 0.0;
  for (size_t s = 0; s < signals->n; s++) {
    const double scale = oracle_scale(signals, &runs->traces[2], s);
    if (scale > 0.0) {
      d1 = fmax(d1, oracle_distance(signals, &runs->traces[0], &runs->traces[1], s) / scale);
      d2 = fmax(d2, oracle_distance(signals, &runs->traces[1], &runs->traces[2], s) / scale);
    }
  }
  return d2 > 100.0 * FLOOR ? log2(d1 / d2) : (double)NAN;
}

typedef struct method_name {
  char text[64];
} method_name;

static method_name name_of(const oracle_method* method) {
  method_name name;
  snprintf(name.text, sizeof name.text, "%s %s",
           yoke__circuit_formulation_names[method->formulation],
           yoke__circuit_method_names[method->method]);
  return name;
}

// how far the own runs are from each oracle, in errors; 0 where it is silent
typedef struct verdict {
  double ida, ngspice, sharpness;
} verdict;

static verdict judge(const work* w) {
  verdict v = {0};
  double sharpness = 0.0;
  if (w->ngspice.is_done) {
    v.ngspice = compare(&w->signals, &w->own, &w->ngspice, &v.sharpness);
  }
  if (w->ida.is_done) {
    v.ida = compare(&w->signals, &w->own, &w->ida, &sharpness);
    v.sharpness = sharpness;
  }
  return v;
}

// IDA decides, ngspice where it is silent
static bool is_apart(const work* w, const verdict* v) {
  return w->ida.is_done ? v->ida > 1.0 : v->ngspice > 1.0;
}

static void note_verdict(const work* w, const verdict* v, const char* name, oracle_score* score) {
  score->n_comparisons++;
  score->worst_ida = fmax(score->worst_ida, v->ida);
  if (v->ida > 1.0) {
    score->n_own_wrong++;
    printf("%s: %.2f times the error allowed against IDA\n", name, v->ida);
  }
  if (v->ngspice > score->worst_ngspice) {
    score->worst_ngspice = v->ngspice;
    snprintf(score->worst_name, sizeof score->worst_name, "%s", name);
  }
  if (v->ngspice > 1.0) {
    score->n_apart++;
    score->n_apart_ida += w->ida.is_done && v->ida <= 1.0;
    printf("%s: %.2f times the error allowed against ngspice, IDA is %s\n", name, v->ngspice,
           !w->ida.is_done ? "silent"
           : v->ida <= 1.0 ? "with us"
                           : "against us");
  }
}

// ---------------------------------------------------------------------------------------------------------
// one network

static const char* failure_of(const run_series* runs) {
  for (int i = 0; i < 3; i++) {
    if (runs->traces[i].failure[0] != '\0') {
      return runs->traces[i].failure;
    }
  }
  return "";
}

static void run_ngspice(work* w, uint64_t seed, const oracle_settings* settings, const char* folder,
                        oracle_score* score) {
  double step = ORACLE_GRID / (double)(1 << settings->n_ngspice_halvings);
  double reltol = 1e-4 * pow(2.0, -settings->n_ngspice_halvings);
  // it begins with order 1 behind every corner
  w->ngspice.order = 1.0;
  w->ngspice.is_done = true;
  for (int i = 1; i < 3 && w->ngspice.is_done; i++) {
    w->ngspice.is_done =
        oracle_ngspice_run(w->text, step, reltol, folder, &w->signals, &w->ngspice.traces[i]);
    // the local error is of order 3 in the step: an eighth of the tolerance halves it
    step /= 2.0;
    reltol /= 8.0;
  }
  if (!w->ngspice.is_done) {
    score->n_ngspice_failed++;
    printf("seed %llu: %s\n", (unsigned long long)seed, failure_of(&w->ngspice));
  }
}

static void run_ida(work* w, uint64_t seed, const yoke_network* network, oracle_score* score) {
  static const double tolerances[3] = {0.0, 1e-6, 1e-8};
  w->ida.order = 1.0;  // and more: the tolerance falls by 100
  w->ida.is_done = true;
  for (int i = 1; i < 3 && w->ida.is_done; i++) {
    w->ida.is_done =
        oracle_reference_ida_run(network, tolerances[i], &w->signals, &w->ida.traces[i]);
  }
  if (!w->ida.is_done) {
    score->n_ida_failed++;
    printf("seed %llu: %s\n", (unsigned long long)seed, failure_of(&w->ida));
  }
}

// One more halving while the own runs are apart from the oracle.
static verdict refine(work* w, const yoke_network* network, const oracle_method* method,
                      int n_halvings, oracle_score* score) {
  verdict v = judge(w);
  for (int n = n_halvings; is_apart(w, &v) && n < n_halvings + MAX_EXTRA && w->own.is_done; n++) {
    score->n_refined += n == n_halvings;
    w->own.traces[0] = w->own.traces[1];
    w->own.traces[1] = w->own.traces[2];
    w->own.is_done = run_own(network, method, n, &w->signals, &w->own.traces[2]);
    v = judge(w);
  }
  return v;
}

static void run_method(work* w, uint64_t seed, const yoke_network* network,
                       const oracle_settings* settings, size_t m, oracle_score* score) {
  const oracle_method* method = &settings->methods[m];
  char name[100];
  snprintf(name, sizeof name, "seed %llu, %s", (unsigned long long)seed, name_of(method).text);
  w->own.order = method->order;
  w->own.is_done = true;
  for (int i = 0; i < 3 && w->own.is_done; i++) {
    w->own.is_done =
        run_own(network, method, settings->n_halvings + i, &w->signals, &w->own.traces[i]);
  }
  verdict v = {0};
  if (w->own.is_done) {
    const double order = order_of(&w->signals, &w->own);
    if (!isnan(order)) {
      score->orders[m][score->n_orders[m]++] = order;
    }
    v = refine(w, network, method, settings->n_halvings + 3, score);
    score->allowed[m][score->n_allowed[m]++] = v.sharpness;
  }
  if (w->own.is_done) {
    note_verdict(w, &v, name, score);
  } else {
    score->n_own_failed++;
    printf("%s: %s\n", name, failure_of(&w->own));
  }
}

static void run_case(uint64_t seed, bool has_diodes, const oracle_settings* settings,
                     const char* folder, oracle_score* score) {
  work* w = calloc(1, sizeof *w);
  assert_non_null(w);
  const size_t n = oracle_random_netlist(seed, has_diodes, w->text, sizeof w->text);
  assert_true(n < sizeof w->text);
  yoke_network* network = read_network(w->text);
  use_constants_of_ngspice(network);
  oracle_signals_of(network, &w->signals);
  score->n_cases++;
  if (folder != NULL) {
    run_ngspice(w, seed, settings, folder, score);
  }
  run_ida(w, seed, network, score);
  for (size_t m = 0; m < settings->n_methods; m++) {
    run_method(w, seed, network, settings, m, score);
  }
  yoke__network_destroy(&network);
  free(w);
}

// ---------------------------------------------------------------------------------------------------------
// all of them

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double values[], size_t n) {
  qsort(values, n, sizeof values[0], by_size);
  return n > 0 ? values[n / 2] : (double)NAN;
}

// and the number of methods that do not reach their order
static size_t print_score(const char* title, const oracle_settings* settings, oracle_score* score) {
  size_t n_low = 0;
  printf("%s: %zu networks, %zu comparisons, %zu of them with finer steps\n", title, score->n_cases,
         score->n_comparisons, score->n_refined);
  printf("  worst difference over the error of both: %.3f against ngspice (%s), %.3f against IDA\n",
         score->worst_ngspice, score->worst_name, score->worst_ida);
  printf("  gave up: ngspice %zu, IDA %zu, own solver %zu\n", score->n_ngspice_failed,
         score->n_ida_failed, score->n_own_failed);
  printf("  apart from ngspice: %zu, of which IDA agrees with us in %zu; apart from IDA: %zu\n",
         score->n_apart, score->n_apart_ida, score->n_own_wrong);
  for (size_t m = 0; m < settings->n_methods; m++) {
    const double order = median(score->orders[m], score->n_orders[m]);
    const bool is_low = score->n_orders[m] > 0 && order < settings->methods[m].order - 0.25;
    printf("  %-15s in the median: order %.2f%s, allowed difference %.1e of the signals\n",
           name_of(&settings->methods[m]).text, order, is_low ? " (too low)" : "",
           median(score->allowed[m], score->n_allowed[m]));
    n_low += is_low;
  }
  return n_low;
}

void oracle_check(uint64_t first_seed, bool has_diodes, const char* title,
                  const oracle_settings* settings) {
  yoke_temp* temp = NULL;
  YOKE_CATCH(err);
  check_ok(yoke__temp_create(&temp, &err.sink));
  const bool has_ngspice = oracle_ngspice_is_there();
  if (!has_ngspice) {
    printf("skipped: %s against ngspice: it is not installed\n", title);
  }
  oracle_score* score = calloc(1, sizeof *score);
  assert_non_null(score);
  assert_true(settings->n_networks <= ORACLE_MAX_NETWORKS);
  assert_true(settings->n_methods <= ORACLE_MAX_METHODS);
  for (uint64_t i = 0; i < settings->n_networks; i++) {
    run_case(first_seed + i, has_diodes, settings, has_ngspice ? yoke__temp_path(temp) : NULL,
             score);
  }
  const size_t n_low = print_score(title, settings, score);
  const oracle_score all = *score;
  free(score);
  yoke__temp_remove(&temp);
  assert_int_equal(all.n_own_failed, 0);
  assert_int_equal(all.n_own_wrong, 0);
  assert_int_equal(all.n_apart, all.n_apart_ida);
  assert_int_equal(n_low, 0);
  // oracles that give up everywhere would show nothing
  assert_true(all.n_ida_failed <= settings->n_networks / 4);
  assert_true(all.n_ngspice_failed <= settings->n_networks / 4);
}
