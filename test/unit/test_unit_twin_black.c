// Twins of units that are black boxes, driven by hand: two thermal masses whose equations only the test knows. They begin at rest with
// their heat and resistance, or with given temperatures. What the twin says of them is as sure as it claims, from the first readings on.
#include "estimate/estimate_innovation.h"
#include "support/counting_heap.h"
#include "support/heard.h"
#include "support/normal_noise.h"
#include "unit/twin/twin_instances.h"
#include "unit/twin/unit_twin.h"
#include "unit/unit.h"

#define H     0.01
#define SIGMA 0.5

// ---- the unit
//
//   C1 T1' = Q - (T1 - T2) / R12        C2 T2' = (T1 - T2) / R12 - (T2 - Ta) / R2

typedef struct box {
  double Q, Ta, T1, T2, R2, C2;
  int64_t begins_at_rest, is_running;
  double n_steps;
} box;

enum { BOX_Q, BOX_TA, BOX_T1, BOX_T2, BOX_R2, BOX_C2, BOX_REST, BOX_STEPS };

#define AT(member) .offset = offsetof(box, member)
static const yoke_variable box_variables[] = {
    [BOX_Q] = {.name = "Q", .dim = "W", .causality = YOKE_INPUT, .start = 10, AT(Q)},
    [BOX_TA] = {.name = "Ta", .dim = "K", .causality = YOKE_INPUT, .start = 300, AT(Ta)},
    [BOX_T1] = {.name = "T1",
                .dim = "K",
                .causality = YOKE_OUTPUT,
                .flags = YOKE_VARIABLE_HAS_START,
                .start = 300,
                AT(T1)},
    [BOX_T2] = {.name = "T2",
                .dim = "K",
                .causality = YOKE_OUTPUT,
                .flags = YOKE_VARIABLE_HAS_START,
                .start = 300,
                AT(T2)},
    [BOX_R2] = {.name = "R2", .dim = "K/W", .causality = YOKE_TUNABLE, .start = 3, AT(R2)},
    [BOX_C2] = {.name = "C2", .dim = "J/K", .causality = YOKE_PARAMETER, .start = 2, AT(C2)},
    [BOX_REST] = {.name = "rest",
                  .type = YOKE_BOOLEAN,
                  .causality = YOKE_PARAMETER,
                  .start = 1,
                  AT(begins_at_rest)},
    [BOX_STEPS] = {.name = "steps", .causality = YOKE_STATE, AT(n_steps)},
};
static const yoke_unit_info box_info = {.variables = box_variables,
                                        .n_variables = 8,
                                        .flags = YOKE_UNIT_FLAT,
                                        .self_size = sizeof(box)};

static const double R12 = 2, C1 = 1;

static void rest(box* b) {
  if (b->begins_at_rest != 0 && b->is_running == 0) {
    b->T2 = b->Ta + b->Q * b->R2;
    b->T1 = b->T2 + b->Q * R12;
  }
}

static yoke_status enter_box(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  box* b = self;
  (void)t_start;
  (void)t_stop;
  rest(b);
  return b->C2 > 0 ? YOKE_OK : yoke_fail(sink, YOKE_BAD_INPUT, "C2 must be above 0");
}

static yoke_status exit_box(void* self) {
  ((box*)self)->is_running = 1;
  return YOKE_OK;
}

static yoke_status refresh_box(void* self, double t) {
  (void)t;
  rest(self);
  return YOKE_OK;
}

static void rates(const box* b, double T1, double T2, double to[2]) {
  const double q = (T1 - T2) / R12;
  to[0] = (b->Q - q) / C1;
  to[1] = (q - (T2 - b->Ta) / b->R2) / b->C2;
}

static yoke_status step_box(void* self, double t, double h, yoke_step_result* result) {
  box* b = self;
  (void)t;
  if (b->R2 < 0) {
    result->message = "R2 is negative";
    return YOKE_UNIT_FAILED;
  }
  double a[2], c[2];
  rates(b, b->T1, b->T2, a);
  rates(b, b->T1 + h * a[0], b->T2 + h * a[1], c);
  b->T1 += h / 2 * (a[0] + c[0]);
  b->T2 += h / 2 * (a[1] + c[1]);
  b->n_steps++;
  return YOKE_OK;
}

static const yoke_unit_ops box_ops = {
    YOKE_UNIT_HEAD,        .name = "box",    .info = &box_info,     .enter_init = enter_box,
    .exit_init = exit_box, .step = step_box, .refresh = refresh_box};

// ---- instances on threads

static void run_instances(int n_threads, double y[8], yoke_status* failed) {
  enum { N = 4 };
  static const size_t parameters[] = {BOX_R2};
  static const bool none[N] = {false}, second[N] = {false, true};
  const yoke_unit_ops* ops[N] = {&box_ops, &box_ops, &box_ops, &box_ops};
  const yoke_unit_args args = {.name = "box", .directory = "."};
  const yoke_instances_setup setup = {
      .ops = ops, .args = &args, .n = N, .n_threads = n_threads, .h = H, .has_work = n_threads > 1};
  yoke_arena arena = {0};
  yoke_instances* s = NULL;
  const double u[2 * N] = {10, 300, 11, 300, 12, 301, 13, 300};
  double R2[N] = {3, 3.5, 4, 2.5}, start[2 * N];
  check_ok(yoke__instances_create(&setup, &arena, &s, NULL));
  assert_int_equal(yoke__instances_threads(s), n_threads);
  check_ok(yoke__instances_choose(s, parameters, 1, &arena));
  check_ok(yoke__instances_enter_init(s, 0, 1, N, u, R2, start, NULL));
  check_ok(yoke__instances_exit_init(s));
  for (size_t i = 0; i < N; i++) {  // each at rest with what is its own
    check_near(start[2 * i + 1], u[2 * i + 1] + u[2 * i] * R2[i], 1e-12);
  }
  size_t which = 99;
  const char* why = NULL;
  for (int k = 0; k < 100; k++) {
    check_ok(yoke__instances_step(s, 0, N, none, H * k, u, R2, y, &which, &why));
    R2[0] = 3 + 0.01 * k;
  }
  // one that is idle stays where it is, and so does what it said
  const double before = y[2];
  check_ok(yoke__instances_step(s, 0, N, second, 1, u, R2, y, &which, &why));
  check_near(y[2], before, 0);
  double steps = 0;
  check_ok(yoke__instances_get_one(s, 1, BOX_STEPS, &steps));
  check_near(steps, 100, 0);
  check_ok(yoke__instances_get_one(s, 2, BOX_STEPS, &steps));
  check_near(steps, 101, 0);
  // a failure is that of the first in order, and has its name
  double bad[N] = {3, 3, -1, -1}, out[2 * N];
  *failed = yoke__instances_step(s, 0, N, none, 1, u, bad, out, &which, &why);
  assert_int_equal(which, 2);
  assert_string_equal(why, "R2 is negative");
  // back to the start, part of them
  check_ok(yoke__instances_restart(s, 2, 2));
  check_ok(yoke__instances_get_one(s, 2, BOX_T1, &steps));
  check_near(steps, start[4], 0);
  check_ok(yoke__instances_get_one(s, 1, BOX_STEPS, &steps));
  check_near(steps, 101, 0);
  yoke__instances_terminate(s);
  yoke__instances_destroy(&s);
  assert_null(s);
  yoke__arena_free(&arena);
}

// The bits do not depend on the number of threads.
static void test_instances_on_threads(void** state) {
  (void)state;
  double one[8];
  yoke_status failed = YOKE_OK;
  run_instances(1, one, &failed);
  assert_int_equal(failed, YOKE_UNIT_FAILED);
  for (int n = 2; n <= 4; n++) {
    double y[8];
    run_instances(n, y, &failed);
    assert_int_equal(failed, YOKE_UNIT_FAILED);
    assert_memory_equal(y, one, sizeof one);
  }
}

// ---- a twin

typedef struct subject {
  yoke_arena arena;
  yoke_unit_file* file;
  yoke_unit unit;
} subject;

static void open_twin(subject* s, const yoke_twin_settings* twin) {
  const yoke_unit_file_settings settings = {
      .kind = YOKE_KIND_TWIN, .path = "box", .name = "twin", .call_step = H, .twin = twin};
  const yoke_unit_ops* ops[64];
  const size_t n = yoke__twin_black_instances(twin, &box_ops);
  assert_true(n <= YOKE_COUNT(ops));
  for (size_t i = 0; i < n; i++) {
    ops[i] = &box_ops;
  }
  *s = (subject){0};
  check_ok(yoke__twin_black_open(&settings, ops, n, &s->file));
  const yoke_unit_args args = {.name = "twin", .directory = ".", .context = s->file->ops->context};
  HEAR(told);
  if (yoke__unit_create(s->file->ops, &args, &s->arena, &s->unit, &told.sink) < 0) {
    fail_msg("%s", told.text);
  }
}

static void close_twin(subject* s) {
  yoke__unit_terminate(&s->unit);
  yoke__unit_close(&s->unit);
  s->file->close(s->file);
  yoke__arena_free(&s->arena);
}

static double get(const subject* s, const char* name) {
  double value = 0;
  const size_t i = yoke__unit_find(&s->unit, name);
  assert_true(i != YOKE_NOT_FOUND);
  check_ok(yoke__unit_get(&s->unit, i, &value, sizeof value));
  return value;
}

static int64_t get_whole(const subject* s, const char* name) {
  int64_t value = 0;
  check_ok(yoke__unit_get(&s->unit, yoke__unit_find(&s->unit, name), &value, sizeof value));
  return value;
}

static void set(const subject* s, const char* name, const void* value) {
  check_ok(yoke__unit_set(&s->unit, yoke__unit_find(&s->unit, name), value, sizeof(double)));
}

typedef struct study {
  const char* name;
  size_t n_unknowns, n_sensors;
  yoke_twin_unknown unknowns[3];
  double* places[3];  // in the truth
  bool begins_as_given;
  double wrong_C2;  // factor in the truth; 0: 1
  size_t n_steps;
} study;

static box truth;

#define NONE     ((double)NAN)
#define NO_BOUND .lower = NONE, .upper = NONE
#define UNKNOWN_Q                                                                                  \
  { .name = "Q", .start = 10, .sd = 3, .walk = 1, NO_BOUND }
#define UNKNOWN_R2                                                                                 \
  { .name = "R2", .start = 3, .sd = 0.7, .walk = NONE, .lower = 0.1, .upper = 20 }

static const study studies[] = {
    {"heat, at rest", 1, 1, {UNKNOWN_Q}, {&truth.Q}, .n_steps = 2000},
    {"resistance, at rest", 1, 1, {UNKNOWN_R2}, {&truth.R2}, .n_steps = 4000},
    {"heat and resistance, at rest",
     2,
     2,
     {UNKNOWN_Q, UNKNOWN_R2},
     {&truth.Q, &truth.R2},
     .n_steps = 4000},
    {"temperatures at the start",
     2,
     1,
     {{.name = "start(T1)", .start = 320, .sd = 10, .walk = NONE, NO_BOUND},
      {.name = "start(T2)", .start = 310, .sd = 10, .walk = NONE, NO_BOUND}},
     {&truth.T1, &truth.T2},
     .begins_as_given = true,
     .n_steps = 4000},
    {"a capacity, fixed",
     1,
     1,
     {{.name = "C2", .start = 2, .sd = 0.1, .walk = NONE, .lower = 0.1, .upper = 20}},
     {&truth.C2},
     .n_steps = 4000},
};
static const study wrong = {
    "a capacity that is wrong", 1, 1, {UNKNOWN_R2}, {&truth.R2}, .wrong_C2 = 1.5, .n_steps = 6000};

typedef struct tally {
  size_t n, n_verdicts[4];
  double early, late;  // NEES of T1, mean over steps 2 .. 30 and the second half
  double nees[3];      // of the unknowns at the end
} tally;

static void draw_truth(const study* of, normal_noise* noise, double drawn[]) {
  truth = (box){.Q = 10, .Ta = 300, .T1 = 300, .T2 = 300, .R2 = 3, .C2 = 2};
  truth.begins_at_rest = !of->begins_as_given;
  for (size_t j = 0; j < of->n_unknowns; j++) {
    const yoke_twin_unknown* u = &of->unknowns[j];
    drawn[j] = *of->places[j] = u->start + u->sd * fmax(-3, fmin(3, noise_next(noise)));
  }
  rest(&truth);
  truth.C2 *= of->wrong_C2 > 0 ? of->wrong_C2 : 1;
  truth.is_running = 1;
}

static void run_one(const study* of, uint64_t seed, tally* t) {
  static const yoke_twin_sensor sensors[] = {{"T2", {"f", 1, 1}, SIGMA},
                                             {"T1", {"f", 2, 1}, SIGMA}};
  normal_noise noise = {.seed = seed};
  double drawn[3], early = 0, late = 0;
  yoke_twin_settings settings = yoke__twin_settings_default();
  settings.sensors = sensors;
  settings.n_sensors = of->n_sensors;
  settings.unknowns = of->unknowns;
  settings.n_unknowns = of->n_unknowns;
  settings.box = YOKE_KIND_MODEL;
  draw_truth(of, &noise, drawn);
  subject s;
  open_twin(&s, &settings);
  const int64_t begins_at_rest = !of->begins_as_given;
  set(&s, "rest", &begins_at_rest);
  const bool is_heat_known = of->places[0] != &truth.Q;
  double u[8];
  size_t n_late = 0;
  for (size_t k = 0; k <= of->n_steps; k++) {
    const double T1 = truth.T1;
    // known inputs, then readings
    size_t n = 0;
    if (is_heat_known) {
      u[n++] = truth.Q = (k / 500) % 2 == 1 ? 2 : 10;
    }
    u[n++] = 300;
    u[n++] = truth.T2 + SIGMA * noise_next(&noise);
    u[n++] = truth.T1 + SIGMA * noise_next(&noise);
    check_ok(yoke__unit_set_inputs(&s.unit, u));
    if (k == 0) {
      check_ok(yoke__unit_enter_init(&s.unit, 0, H * (double)of->n_steps, NULL));
      check_ok(yoke__unit_exit_init(&s.unit));
      check_ok(yoke__unit_set_inputs(&s.unit, u));
    } else {
      const double e = get(&s, "T1") - T1, sd = get(&s, "sd.T1");
      const double floor =
          0.01 * SIGMA;  // deviations below a hundredth of the noise are not claimed to be right
      const double square = e * e / (sd * sd + floor * floor);
      early += k >= 2 && k <= 30 ? square / 29 : 0;
      n_late += 2 * k > of->n_steps;
      late += 2 * k > of->n_steps ? square : 0;
    }
    yoke_step_result result = {.t_reached = H * (double)(k + 1)};
    const long n_before = atomic_load(&n_heap_calls);
    check_ok(s.unit.ops->step(s.unit.self, H * (double)k, H, &result));
    assert_int_equal(atomic_load(&n_heap_calls), n_before);
    check_ok(step_box(&truth, 0, H, &result));
    if (!is_heat_known) {
      truth.Q += 1 * sqrt(H) * noise_next(&noise);
      drawn[0] = truth.Q;
    }
  }
  t->n++;
  t->n_verdicts[get_whole(&s, "verdict")]++;
  t->early += early;
  t->late += late / (double)n_late;
  for (size_t j = 0; j < of->n_unknowns; j++) {
    char name[64];
    snprintf(name, sizeof name, "sd.%s", of->unknowns[j].name);
    const double e = get(&s, of->unknowns[j].name) - drawn[j], sd = get(&s, name);
    t->nees[j] += e * e / (sd * sd);
  }
  close_twin(&s);
}

static tally run_many(const study* of) {
  const size_t n = getenv("YOKE_FULL") != NULL ? 200 : 20;
  tally t = {0};
  for (size_t i = 0; i < n; i++) {
    run_one(of, 500 + 104729 * i, &t);
  }
  t.early /= (double)n;
  t.late /= (double)n;
  print_message("%-30s consistent %3zu of %zu, inconsistent %zu, diverged %zu; NEES of T1: early "
                "%.2f, late %.2f; of unknowns",
                of->name, t.n_verdicts[YOKE_TWIN_CONSISTENT], n,
                t.n_verdicts[YOKE_TWIN_INCONSISTENT], t.n_verdicts[YOKE_TWIN_DIVERGED], t.early,
                t.late);
  for (size_t j = 0; j < of->n_unknowns; j++) {
    t.nees[j] /= (double)n;
    print_message(" %.2f", t.nees[j]);
  }
  print_message("\n");
  return t;
}

// The mean of n squares of normal numbers is 1 with a standard deviation of sqrt(2 / n); five of them.
static void test_as_sure_as_it_says(void** state) {
  (void)state;
  check_heap_is_counted();
  for (size_t i = 0; i < YOKE_COUNT(studies); i++) {
    const tally t = run_many(&studies[i]);
    const double most = 1 + 5 * sqrt(2 / (double)t.n);
    assert_true((double)t.n_verdicts[YOKE_TWIN_CONSISTENT] >= 0.95 * (double)t.n);
    // a product of two unknowns at the start makes it less sure than need be
    assert_true(t.early <= most);
    check_between(t.late, 0.1, most);
    for (size_t j = 0; j < studies[i].n_unknowns; j++) {
      check_between(t.nees[j], 0.1, most);
    }
  }
}

static void test_wrong_unit(void** state) {
  (void)state;
  const tally t = run_many(&wrong);
  assert_true((double)(t.n_verdicts[YOKE_TWIN_INCONSISTENT] + t.n_verdicts[YOKE_TWIN_DIVERGED]) >=
              0.95 * (double)t.n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_instances_on_threads),
      cmocka_unit_test(test_as_sure_as_it_says),
      cmocka_unit_test(test_wrong_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
