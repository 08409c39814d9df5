// A unit of your own, in your own program: a first-order lag  T y' = u - y  that the system file can use like a built-in.
//
// What it takes: a struct for everything that changes, a table that says which of its members are variables, a step,
// and a refresh. No other file of Yoke is touched.
//
// Build against an installed library:  cc own_unit.c $(pkg-config --cflags --libs yoke) -lm
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <yoke/yoke.h>

// [unit]
typedef struct lag {
  double u;  // input
  double y;  // output and state
  double T;  // parameter
} lag;

static const yoke_variable lag_variables[] = {
    {.name = "u", .type = YOKE_REAL, .causality = YOKE_INPUT, .offset = offsetof(lag, u)},
    {.name = "y",
     .type = YOKE_REAL,
     .causality = YOKE_OUTPUT,
     .offset = offsetof(lag, y),
     .flags = YOKE_VARIABLE_HAS_START},
    {.name = "T",
     .dim = "s",
     .type = YOKE_REAL,
     .causality = YOKE_PARAMETER,
     .start = 1,
     .offset = offsetof(lag, T)},
};

static const yoke_unit_info lag_info = {
    .variables = lag_variables,
    .n_variables = sizeof lag_variables / sizeof lag_variables[0],
    .flags =
        YOKE_UNIT_FLAT,  // no pointers inside: may be saved by copying, so iterative schemes work
    .self_size = sizeof(lag),
};

// exact for an input that is held over the step
static yoke_status lag_step(void* self, double t, double h, yoke_step_result* result) {
  (void)t;
  (void)result;
  lag* l = self;
  l->y = l->u + (l->y - l->u) * exp(-h / l->T);
  return YOKE_OK;
}

// the output is a state: nothing to recompute when inputs change
static yoke_status lag_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static const yoke_unit_ops lag_ops = {
    YOKE_UNIT_HEAD,    .name = "my.lag", .text = "first-order lag",
    .info = &lag_info, .step = lag_step, .refresh = lag_refresh,
};
// [unit]

static const char system_text[] = "yoke: 1\n"
                                  "time: {stop: 5, step: 0.01}\n"
                                  "units:\n"
                                  "  source: {model: step, with: {before: 0, after: 1, time: 1}}\n"
                                  "  lag: {model: my.lag, with: {T: 0.5}}\n"
                                  "connections: [source.y -> lag.u]\n";

static void print_message(void* to, const yoke_message* message) {
  char line[1024];
  (void)to;
  yoke_message_format(message, line, sizeof line);
  fprintf(stderr, "%s\n", line);
}

int main(void) {
  // a system file like any other
  const char* path = "own_unit.yaml";
  FILE* file = fopen(path, "w");
  if (file == NULL || fputs(system_text, file) < 0 || fclose(file) != 0) {
    fprintf(stderr, "cannot write %s\n", path);
    return 1;
  }

  // [run]
  yoke_registry* models = NULL;
  yoke_simulation* sim = NULL;
  const yoke_sink sink = {.receive = print_message};
  if (yoke_registry_create(&models) < 0 || yoke_registry_add_unit(models, &lag_ops, NULL) < 0) {
    return 1;
  }
  const yoke_load_settings settings = {.registry = models, .sink = &sink};
  if (yoke_simulation_load(path, &settings, &sim) < 0) {
    return 2;
  }
  yoke_handle y;
  double got = 0;
  yoke_simulation_find(sim, "lag.y", &y);
  if (yoke_simulation_run(sim, NULL, NULL) < 0 || yoke_simulation_read(sim, y, &got) < 0) {
    return 1;
  }
  // [run]

  // the source is constant between exchange points, so holding its value is exact
  const double want = 1 - exp(-(5 - 1) / 0.5);
  printf("lag.y(%g s) = %.9f, exact %.9f\n", yoke_simulation_time(sim), got, want);
  yoke_simulation_destroy(&sim);
  yoke_registry_destroy(&models);
  remove(path);
  return fabs(got - want) < 1e-9 ? 0 : 1;
}
