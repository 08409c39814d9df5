// A unit of your own as a shared library: a first-order lag  T y' = u - y  that the command uses like a built-in model.
//
// Build it with the installed headers; nothing is linked:
//   cc -shared -fPIC -o own_library.so own_library.c $(pkg-config --cflags yoke) -lm
// List what it holds, and run a system that names it:
//   yoke info ./own_library.so
//   yoke run own_library.yaml
// with own_library.yaml beside it:
//   yoke: 1
//   time: {stop: 5, step: 0.01}
//   units:
//     source: {model: step, with: {before: 0, after: 1, time: 1}}
//     lag: {library: ./own_library.so, model: my.lag, with: {T: 0.5}}
//   connections: [source.y -> lag.u]
#include <math.h>
#include <stddef.h>

#include <yoke/registry.h>

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
     .text = "time constant",
     .type = YOKE_REAL,
     .causality = YOKE_PARAMETER,
     .start = 1,
     .offset = offsetof(lag, T)},
};

static const yoke_unit_info lag_info = {
    .variables = lag_variables,
    .n_variables = sizeof lag_variables / sizeof lag_variables[0],
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(lag),
    .solver = {.method = YOKE_SOLVER_EXACT},
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

// [table]
static const yoke_unit_ops* const units[] = {&lag_ops};

// the one symbol that Yoke looks for
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .text = "the lag of the examples",
                                         .units = units, .n_units = 1};
// [table]
