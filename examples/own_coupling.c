// A coupling method of your own: linear extrapolation whose slope is limited, so that a jump is not thrown far ahead.
//
//   u(t_k + tau) = y_k + clip((y_k - y_{k-1}) / h, -limit, limit) tau
//
// The linear oscillator runs with it, with the built-in zero-order hold and with a step a hundred times smaller; the method
// must be closer to the small step than the hold.
//
// Build against an installed library:  cc own_coupling.c $(pkg-config --cflags --libs yoke) -lm
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <yoke/yoke.h>

// [method]
// Memory of the method: everything lies in the block that the caller gives it.
typedef struct ramp {
  size_t n;
  const yoke_coupling_sink* sinks;
  double limit;   // of the slope, per second
  double last[];  // n samples, then n slopes
} ramp;

static const yoke_coupling_parameter ramp_parameters[] = {
    {.name = "limit", .text = "largest slope per second", .start = 1e6, .min = 0, .max = 1e300},
};

static size_t ramp_size(const yoke_coupling_setup* setup) {
  return sizeof(ramp) + 2 * setup->n_signals * sizeof(double);
}

static yoke_status ramp_prepare(void* self, const yoke_coupling_setup* setup,
                                const yoke_sink* sink) {
  ramp* r = self;
  (void)sink;
  r->n = setup->n_signals;
  r->sinks = setup->sinks;
  r->limit = setup->parameters[0];
  return YOKE_OK;
}

// a new sample of every signal
static void ramp_observe(void* self, const yoke_coupling_moment* now, const double y[],
                         const double u_applied[]) {
  ramp* r = self;
  (void)u_applied;
  for (size_t i = 0; i < r->n; i++) {
    const double slope = now->k == 0 ? 0 : (y[i] - r->last[i]) / now->h_last;
    r->last[r->n + i] = fmax(-r->limit, fmin(r->limit, slope));
    r->last[i] = y[i];
  }
}

// the inputs of one receiving unit at the time tau behind the samples
static void ramp_input(void* self, size_t sink, double tau, double u[]) {
  const ramp* r = self;
  const yoke_coupling_sink* s = &r->sinks[sink];
  for (size_t i = 0; i < s->n; i++) {
    u[i] = r->last[s->first + i] + r->last[r->n + s->first + i] * tau;
  }
}

// what was before a jump says nothing about what comes behind it
static void ramp_reset(void* self, yoke_coupling_reset reason, const bool is_affected[]) {
  ramp* r = self;
  (void)reason;
  for (size_t i = 0; i < r->n; i++) {
    if (is_affected == NULL || is_affected[i]) {
      r->last[r->n + i] = 0;
    }
  }
}

static const yoke_coupling_ops ramp_ops = {
    YOKE_COUPLING_HEAD,
    .name = "my.ramp",
    .text = "linear extrapolation with a limited slope",
    .parameters = ramp_parameters,
    .n_parameters = 1,
    .size = ramp_size,
    .prepare = ramp_prepare,
    .observe = ramp_observe,
    .input = ramp_input,
    .reset = ramp_reset,
};
// [method]

static void print_message(void* to, const yoke_message* message) {
  char line[1024];
  (void)to;
  yoke_message_format(message, line, sizeof line);
  fprintf(stderr, "%s\n", line);
}

// Displacement of the left mass after a second; units take steps of 0.1 ms and exchange every `step`.
static yoke_status run(const yoke_registry* registry, const char* step, const char* method,
                       double* x) {
  char text[1024];
  snprintf(text, sizeof text,
           "yoke: 1\ninputs: start\ncalls: 1\n"
           "time: {stop: 1, step: %s}\n"
           "units:\n"
           "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, cc: 0.1}, start: {v: 1},"
           " step: 1e-4}\n"
           "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -1}, step: 1e-4}\n"
           "connections: [{from: right.x, to: left.x_other, order: 1}]\n"
           "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other%s}}\n",
           step, method);
  const yoke_sink sink = {.receive = print_message};
  const yoke_load_settings settings = {.registry = registry, .sink = &sink};
  yoke_system* system = NULL;
  yoke_simulation* sim = NULL;
  yoke_handle handle;
  yoke_status status =
      yoke_system_parse(text, strlen(text), "own_coupling.yaml", &settings, &system);
  status = status < 0 ? status : yoke_simulation_create(system, &sink, &sim);
  status = status < 0 ? status : yoke_simulation_find(sim, "left.x", &handle);
  status = status < 0 ? status : yoke_simulation_run(sim, NULL, NULL);
  status = status < 0 ? status : yoke_simulation_read(sim, handle, x);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
  return status;
}

int main(void) {
  yoke_registry* registry = NULL;
  const yoke_sink sink = {.receive = print_message};
  double exact = 0, held = 0, own = 0;
  if (yoke_registry_create(&registry) < 0 ||
      yoke_registry_add_coupling(registry, &ramp_ops, &sink) < 0 ||
      run(registry, "1e-4", "", &exact) < 0 || run(registry, "5e-3", "", &held) < 0 ||
      run(registry, "5e-3", ", coupling: {method: my.ramp, limit: 1e4}", &own) < 0) {
    yoke_registry_destroy(&registry);
    return 1;
  }
  yoke_registry_destroy(&registry);
  printf("left.x(1 s), exchange every 0.1 ms   %.9f m\n", exact);
  printf("every 5 ms, zero-order hold          %.9f m, off by %.2e\n", held, held - exact);
  printf("every 5 ms, my.ramp                  %.9f m, off by %.2e\n", own, own - exact);
  return fabs(own - exact) < 0.5 * fabs(held - exact) ? 0 : 1;
}
