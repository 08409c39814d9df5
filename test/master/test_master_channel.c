// The energy correction against a physical unit (CS-31): its rate comes with 1 % noise, and 1 % of its samples are lost. Two emulators: a mass
// with a sensor of its own, and the model `channel` on both ways, which adds a step each way. The correction must stay within its
// limit, nothing may become infinite, and the alarms must go on working.
#include "base/base_map.h"
#include "models/models_random.h"
#include "support/check.h"
#include "support/sim.h"
#include "unit/unit_models.h"
#include "yoke/yoke.h"

// ---------------------------------------------------------------------------------------------------------
// a mass on a spring behind a sensor: semi-implicit Euler; when a sample is lost the last good one stands in

typedef struct rig {
  double f;
  double x_seen, v_seen;
  double x, v;
  double k, noise, loss;
  int64_t seed, n;
  int64_t is_lost, n_lost;
} rig;

#define REAL(name_, member_, dim_, causality_, start_)                                             \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .type = YOKE_REAL, .causality = (causality_),                  \
    .start = (start_), .offset = offsetof(rig, member_)                                            \
  }

static const yoke_variable rig_variables[] = {
    REAL("f", f, "N", YOKE_INPUT, 0),
    REAL("x", x_seen, "m", YOKE_OUTPUT, 0),
    REAL("v", v_seen, "m/s", YOKE_OUTPUT, 0),
    REAL("v0", v, "m/s", YOKE_PARAMETER, -100),
    REAL("k", k, "N/m", YOKE_PARAMETER, 1000),
    REAL("noise", noise, "m/s", YOKE_PARAMETER, 0),
    REAL("loss", loss, "1", YOKE_PARAMETER, 0),
    {.name = "seed",
     .dim = "1",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 1,
     .offset = offsetof(rig, seed)},
    {.name = "n_lost",
     .dim = "1",
     .type = YOKE_INTEGER,
     .causality = YOKE_OUTPUT,
     .offset = offsetof(rig, n_lost)},
};

static const yoke_unit_info rig_info = {
    .variables = rig_variables,
    .n_variables = sizeof rig_variables / sizeof rig_variables[0],
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(rig),
};

static void measure(rig* r) {
  r->is_lost = r->n > 0 && yoke__random_uniform(r->seed, 0, (uint64_t)r->n) < r->loss;
  r->n_lost += r->is_lost;
  if (r->is_lost == 0) {
    r->x_seen = r->x;
    r->v_seen = r->v + r->noise * yoke__random_normal(r->seed, 1, (uint64_t)r->n);
  }
}

static yoke_status rig_enter_init(void* self, double t_start, double t_stop,
                                  const yoke_sink* sink) {
  const rig* r = self;
  (void)t_start;
  (void)t_stop;
  if (!(r->loss >= 0 && r->loss <= 1)) {
    return yoke_fail(sink, YOKE_BAD_ARG, "loss must be from 0 to 1");
  }
  measure(self);
  return YOKE_OK;
}

static yoke_status rig_step(void* self, double t, double h, yoke_step_result* result) {
  rig* r = self;
  (void)t;
  (void)result;
  r->v += h * (r->f - r->k * r->x);
  r->x += h * r->v;
  r->n++;
  measure(r);
  return YOKE_OK;
}

static yoke_status rig_sample_info(const void* self, size_t output, yoke_sample_info* info) {
  const rig* r = self;
  (void)output;
  *info = (yoke_sample_info){.sequence = (uint64_t)r->n, .is_valid = r->is_lost == 0};
  return YOKE_OK;
}

static const yoke_unit_ops rig_ops = {
    YOKE_UNIT_HEAD,
    .name = "rig",
    .text = "a mass behind a noisy sensor that loses samples",
    .info = &rig_info,
    .enter_init = rig_enter_init,
    .step = rig_step,
    .sample_info = rig_sample_info,
};

// ---------------------------------------------------------------------------------------------------------
// systems

typedef struct setting {
  double noise, loss;  // noise: share of the 120 m/s that the rate reaches
  int seed;
  const char* coupling;
} setting;

static sim open_text(const char* text) {
  yoke_registry* models = NULL;
  sim s;
  char messages[4096];
  check_ok(yoke_registry_create(&models));
  check_ok(yoke_registry_add_unit(models, &rig_ops, NULL));
  const yoke_status status = sim_try(models, text, &s, messages, sizeof messages);
  yoke_registry_destroy(&models);
  if (status < 0) {
    fail_msg("%s\n%s", messages, text);
  }
  return s;
}

static sim open_rig(const setting* c) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 10, step: 1e-3}\n"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
      "  right: {model: rig, with: {noise: %g, loss: %g, seed: %d}}\n"
      "connections: [right.x -> left.x_other]\n"
      "bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: "
      "{%s}}}\n"
      "quality: {stop: {rho: 0.5}, period: 0.1}\n",
      120 * c->noise, c->loss, c->seed, c->coupling);
  return open_text(text);
}

// The channel stands between the two masses, both ways. mu: age of the rate inside the action, 3 steps, over 2 steps.
static sim open_channel(const setting* c, const char* exchange) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "yoke: 1\ninputs: start\ncalls: 1\n"
      "time: {stop: 10, step: 1e-3}\n"
      "units:\n"
      "  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
      "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
      "  link: {model: channel, exchange: %s, with: {n: 3, noise: [0, %g, 0], loss: %g, seed: "
      "%d}}\n"
      "connections: ['right.x -> link.u[0]', 'right.v -> link.u[1]', 'link.y[0] -> "
      "left.x_other', 'link.y[2] -> right.f']\n"
      "bonds: {spring: {action: 'left.f -> link.u[2]', rate: 'link.y[1] -> left.v_other', mu: "
      "1.5, coupling: {%s}}}\n"
      "quality: {stop: {rho: 0.5}, period: 0.1}\n",
      exchange, 120 * c->noise, c->loss, c->seed, c->coupling);
  return open_text(text);
}

static double health(const sim* s, const char* name) {
  for (size_t g = 0; g < s->system->n_groups; g++) {
    const yoke_group* group = &s->system->groups[g];
    for (size_t i = 0; i < group->ops->n_health; i++) {
      double values[16];
      if (strcmp(group->ops->health_names[i], name) == 0) {
        assert_true(group->ops->n_health <= 16);
        group->ops->health(s->state->group_memory + group->self, values);
        return values[i];
      }
    }
  }
  fail_msg("no method reports '%s'", name);
  return (double)NAN;
}

static double read_variable(const sim* s, const char* unit, const char* variable) {
  const yoke_unit* instance = &s->system->units[yoke__map_find(&s->system->unit_index, unit)].unit;
  int64_t value = 0;
  check_ok(yoke__unit_get(instance, yoke__unit_find(instance, variable), &value, sizeof value));
  return (double)value;
}

typedef struct outcome {
  double largest, share;  // correction [N]; largest of |corr| over gamma times the peak change
  int64_t n_acting;
  double t_alarm;
  double energy;  // at the end over 10 kJ
} outcome;

// What the method adds to the action that it holds now.
static double correction_of(const sim* s, double action) {
  const yoke_group* group = &s->system->groups[0];
  double u = (double)NAN;
  assert_int_equal(s->system->n_groups, 1);
  group->ops->input(s->state->group_memory + group->self, 0, 0, &u);
  return fabs(u - action);
}

// The peak of the changes of the action, as 10.3 keeps it (1 s). A lost sample is left out: the next change spans both steps, and behind a
// longer gap there is none.
typedef struct peak {
  double last, value;
  double n_lost;
  int n_missed;
} peak;

static void update_peak(peak* p, double action, double n_lost) {
  p->value *= exp(-1e-3);
  if (n_lost > p->n_lost) {
    p->n_lost = n_lost;
    p->n_missed++;
    return;
  }
  if (p->n_missed <= 1) {
    p->value = fmax(p->value, fabs(action - p->last));
  }
  p->last = action;
  p->n_missed = 0;
}

// To the stop time, every correction held against gamma times the peak. physical: the unit that loses samples.
static outcome run(sim* s, const char* physical, double gamma) {
  outcome o = {.t_alarm = (double)NAN};
  const size_t f = sim_index(s, "left.f");
  peak changes = {.last = s->state->y[f]};
  while (s->state->n_slots < s->system->n_slots) {
    sim_steps(s, 1);
    for (size_t i = 0; i < s->system->n_y; i++) {
      assert_true(isfinite(s->state->y[i]));
    }
    o.t_alarm = s->state->is_stopped && isnan(o.t_alarm) ? s->state->t : o.t_alarm;
    if (s->system->n_groups == 0) {
      continue;
    }
    const double action = s->state->y[f];
    update_peak(&changes, action, read_variable(s, physical, "n_lost"));
    const double corr = correction_of(s, action), limit = gamma * changes.value;
    // u - action is exact to the action's last digits, the decay of the peak to those of its ten thousand factors
    const double rounding = 1e-15 * fabs(action) + 1e-11 * limit;
    if (!(corr <= limit + rounding)) {
      fail_msg("t = %g s: correction %g N, limit %g N", s->state->t, corr, limit);
    }
    o.n_acting += corr > rounding;
    o.largest = fmax(o.largest, corr);
    o.share = limit > 0 ? fmax(o.share, corr / limit) : o.share;
  }
  const double x1 = sim_read(s, "left.x"), x2 = sim_read(s, "right.x");
  const double v2 = sim_read(s, "right.v");
  o.energy =
      (sim_read(s, "left.E") + 0.5 * (v2 * v2 + 1000 * x2 * x2) + 50 * (x1 - x2) * (x1 - x2)) / 1e4;
  return o;
}

// ---------------------------------------------------------------------------------------------------------

// without noise and losses the rig is the right mass: the golden run of the specification
static void test_quiet_rig_is_the_mass_CS_17(void** state) {
  (void)state;
  const setting quiet = {0, 0, 1, "method: energy"};
  sim s = open_rig(&quiet);
  const outcome o = run(&s, "right", 1);
  check_relative(sim_read(&s, "right.v"), -96.2458069, 1e-5);
  check_near(health(&s, "clips"), 5791, 0);
  check_near(health(&s, "lost"), 0, 0);
  check_near(o.share, 1, 1e-9);  // clips: the limit is reached, so the bound is sharp
  sim_close(&s);
}

static void test_rig_CS_31(void** state) {
  (void)state;
  for (int seed = 1; seed <= 5; seed++) {
    const setting c = {0.01, 0.01, seed, "method: energy"};
    sim s = open_rig(&c);
    const outcome o = run(&s, "right", 1);
    const double n_lost = read_variable(&s, "right", "n_lost");
    yoke_ledger_result books;
    yoke__ledger_result(s.state->ledger, 0, &books);
    print_message("rig, seed %d: %g lost, correction up to %.3g N in %lld steps, rho up to %.2f, E "
                  "= %.3f E0, %s\n",
                  seed, n_lost, o.largest, (long long)o.n_acting, books.rho_worst, o.energy,
                  yoke__verdict_names[books.verdict]);
    // 1 % of 10000, five standard deviations
    check_between(n_lost, 50, 150);
    check_near(health(&s, "lost"), n_lost, 0);
    assert_true(isfinite(health(&s, "accumulated")) && isfinite(health(&s, "peak")));
    assert_true(o.n_acting > 5000);
    // the ledger goes on watching, and this much noise is no alarm
    assert_true(isfinite(books.rho_worst) && books.rho_worst > 0.01);
    assert_true(books.n_samples == 10000);
    assert_true(isnan(o.t_alarm));
    sim_close(&s);
  }
}

// the alarm still comes when the sensor breaks: noise as large as a third of the signal
static void test_alarm_works_CS_31(void** state) {
  (void)state;
  const setting c = {0.5, 0.01, 1, "method: energy"};
  sim s = open_rig(&c);
  const outcome o = run(&s, "right", 1);
  print_message("rig with 50 %% noise: alarm at %.3f s, %g switch-offs\n", o.t_alarm,
                health(&s, "switch_offs"));
  check_between(o.t_alarm, 0.5, 2);
  assert_true(health(&s, "switch_offs") > 0);
  sim_close(&s);
}

// Without noise the channel is a delay of one step each way: the right mass gets its own motion 3 ms late, each gets the other's 1 ms late.
// To first order that feeds in kc H (3 v2^2 - 2 v1 v2), in the modes (10, 1) and (-1, 10) with 40.1 and 59.9 % of the energy.
// The limit of one change per step is a third of what this needs; `clip: needed` knows by mu.
static void test_quiet_channel(void** state) {
  (void)state;
  const setting settings[3] = {{0, 0, 1, "method: hold"},
                               {0, 0, 1, "method: energy"},
                               {0, 0, 1, "method: energy, clip: needed"}};
  double energy[3];
  for (int i = 0; i < 3; i++) {
    sim s = open_channel(&settings[i], "stale");
    energy[i] = run(&s, "link", i == 2 ? 3 : 1).energy;
    sim_close(&s);
  }
  print_message("channel: E = %.3f E0, corrected %.3f E0, with clip: needed %.3f E0\n", energy[0],
                energy[1], energy[2]);
  const double theory = 0.401 * exp((3 - 20) / 101.0) + 0.599 * exp((300 + 20) / 101.0);
  check_relative(energy[0], theory, 0.02);  // the ripple of the integrator is 1.2 %
  assert_true(energy[1] < 0.25 * energy[0]);
  check_between(energy[2], 0.9, 1.1);
}

static void test_channel_CS_31(void** state) {
  (void)state;
  for (int seed = 1; seed <= 3; seed++) {
    const setting c = {0.01, 0.01, seed, "method: energy"};
    sim s = open_channel(&c, "stale");
    const outcome o = run(&s, "link", 1);
    const double n_lost = read_variable(&s, "link", "n_lost");
    print_message("channel, seed %d: %g lost, correction up to %.3g N, E = %.3f E0\n", seed, n_lost,
                  o.largest, o.energy);
    check_between(n_lost, 50, 150);
    check_near(health(&s, "lost"), n_lost, 1);  // the last one may not have been shown yet
    assert_true(isfinite(health(&s, "accumulated")));
    assert_true(o.n_acting > 5000 && isnan(o.t_alarm));
    sim_close(&s);
  }
}

// A fresh channel hands the action on at the exchange, before the correction is added to it: refused, not silently without effect.
static void test_fresh_channel_is_refused(void** state) {
  (void)state;
  char messages[4096];
  sim s;
  check_ok(sim_try(NULL,
                   "yoke: 1\ninputs: start\ncalls: 1\n"
                   "time: {stop: 1, step: 1e-3}\n"
                   "units:\n"
                   "  left: {model: oscillator.force}\n"
                   "  right: {model: oscillator.mass, exchange: fresh}\n"
                   "connections: [right.x -> left.x_other]\n"
                   "bonds: {b: {action: left.f -> right.f, rate: right.v -> left.v_other, "
                   "coupling: {method: energy}}}\n",
                   &s, messages, sizeof messages));
  sim_close(&s);
  const yoke_status status =
      sim_try(NULL,
              "yoke: 1\ninputs: start\ncalls: 1\n"
              "time: {stop: 1, step: 1e-3}\n"
              "units:\n"
              "  left: {model: oscillator.force}\n"
              "  right: {model: oscillator.mass}\n"
              "  link: {model: channel, exchange: fresh, with: {n: 2}}\n"
              "connections: [right.x -> left.x_other, 'right.v -> link.u[0]', 'link.y[1] -> "
              "right.f']\n"
              "bonds: {b: {action: 'left.f -> link.u[1]', rate: 'link.y[0] -> left.v_other', mu: "
              "0.5, coupling: {method: energy}}}\n",
              &s, messages, sizeof messages);
  assert_int_equal(status, YOKE_BAD_INPUT);
  check_contains(messages,
                 "test.yaml:10:107: error: bond 'b': method 'energy' changes what 'link' gets for "
                 "its next step, but with exchange: fresh 'link' passes u[1] on before that: give "
                 "the unit exchange: stale, or the method to the connection behind it");
}

// ---------------------------------------------------------------------------------------------------------
// lost samples of a signal that is extrapolated

static void run_losses(double loss, int seed, int order, const char* on_loss, double x[],
                       size_t n) {
  char text[1024];
  snprintf(text, sizeof text,
           "yoke: 1\ntime: {stop: 10, step: 5e-3}\n"
           "units:\n"
           "  a: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, c: 0.2}, start: {v: 1}, "
           "calls: 10}\n"
           "  b: {model: oscillator.mass, with: {m: 1, k: 100}, start: {x: 0.1}, calls: 10}\n"
           "  link: {model: channel, exchange: fresh, on_loss: %s, with: {n: 2, loss: %g, seed: "
           "%d}}\n"
           "connections: ['b.x -> link.u[0]', 'b.v -> link.u[1]', a.f -> b.f, {from: 'link.y[0]', "
           "to: a.x_other, order: %d}, {from: 'link.y[1]', to: a.v_other, order: %d}]\n",
           on_loss, loss, seed, order, order);
  sim s = open_text(text);
  for (size_t i = 0; i < n; i++) {
    sim_steps(&s, 1);
    x[i] = sim_read(&s, "a.x");
  }
  sim_close(&s);
}

static double rms_between(const double a[], const double b[], size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return sqrt(sum / (double)n);
}

// Holding a lost sample is off by H x'; a line that goes on by H^2 x''. With the loop's 14 rad/s and H = 5 ms the second is
// about 14 times less. Of a parabola only single losses are foretold. Seeds 11 to 15 took no part in choosing the default.
static void test_lost_samples_are_foretold(void** state) {
  enum { N = 2000 };
  (void)state;
  static double whole[N], held[N], foretold[N];
  for (int order = 1; order <= 2; order++) {
    run_losses(0, 1, order, "hold", whole, N);
    for (int seed = 11; seed <= 15; seed++) {
      run_losses(0.05, seed, order, "hold", held, N);
      run_losses(0.05, seed, order, "extrapolate", foretold, N);
      const double by_holding = rms_between(held, whole, N);
      const double by_foretelling = rms_between(foretold, whole, N);
      print_message("order %d, seed %d: held %.2e, foretold %.2e m\n", order, seed, by_holding,
                    by_foretelling);
      assert_true(by_foretelling < 0.2 * by_holding);
    }
  }
}

static double largest(const double x[], size_t n) {
  double most = 0;
  for (size_t i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

// A polynomial leads nowhere when nothing comes for long, so that the value is held then: a link that loses half or more of what it
// carries does not much more harm than by holding (no more with lines; parabolas were seen at 1.7 times that).
static void test_long_losses_are_held(void** state) {
  enum { N = 2000 };
  (void)state;
  static double held[N], foretold[N];
  for (int i = 0; i < 12; i++) {
    const double loss = i % 2 == 0 ? 0.5 : 0.7;
    const int order = 1 + i / 2 % 2, seed = 11 + i / 4;
    run_losses(loss, seed, order, "hold", held, N);
    run_losses(loss, seed, order, "extrapolate", foretold, N);
    print_message("loss %g, order %d, seed %d: up to %.3g m held, %.3g m foretold\n", loss, order,
                  seed, largest(held, N), largest(foretold, N));
    assert_true(largest(foretold, N) < (order == 1 ? 1.0 : 3.0) * largest(held, N));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quiet_rig_is_the_mass_CS_17),
      cmocka_unit_test(test_rig_CS_31),
      cmocka_unit_test(test_alarm_works_CS_31),
      cmocka_unit_test(test_quiet_channel),
      cmocka_unit_test(test_channel_CS_31),
      cmocka_unit_test(test_fresh_channel_is_refused),
      cmocka_unit_test(test_lost_samples_are_foretold),
      cmocka_unit_test(test_long_losses_are_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
