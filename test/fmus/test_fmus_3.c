// The test FMUs of FMI 3.0, driven by hand: types, arrays, events, clocks and early return are what the files promise.
#include <math.h>

#include "fmus/drive.h"

// ---- FMI 3.0 equals FMI 2.0
static void both_versions_give_the_same_numbers(void** state) {
  static const struct {
    const char* name;
    fmi3ValueReference input;  // 0: none
    fmi3ValueReference outputs[4];
    size_t n_outputs;
  } cases[] = {
      {"oscillator_force", 1, {3, 4, 5, 6}, 4},
      {"oscillator_mass", 1, {2, 3, 4}, 3},
      {"ball", 0, {1, 2, 3, 4}, 4},
      {"vanderpol", 0, {1, 2, 3, 4}, 4},
      {"trivial", 1, {2}, 1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    drive two;
    drive three;
    drive_step result;
    drive_make2(&two, cases[i].name, "a", NULL, fmi2CoSimulation);
    drive_make3(&three, cases[i].name, "a", NULL, DRIVE_PLAIN);
    assert_non_null(three.c);
    drive_init2(&two, 0.0);
    drive_init3(&three, 0.0);
    for (int k = 0; k < 100; k++) {
      if (cases[i].input > 0) {
        drive_set2(&two, cases[i].input, cos(0.1 * k));
        drive_set3(&three, cases[i].input, cos(0.1 * k));
      }
      assert_int_equal(two.f2->DoStep(two.c, 0.01 * k, 0.01, fmi2True), fmi2OK);
      assert_int_equal(drive_step3(&three, 0.01 * k, 0.01, &result), fmi3OK);
      check_near(result.t, 0.01 * k + 0.01, 0.0);
      for (size_t j = 0; j < cases[i].n_outputs; j++) {
        check_near(drive_real3(&three, cases[i].outputs[j]), drive_real2(&two, cases[i].outputs[j]),
                   0.0);
      }
    }
    drive_end(&two, true);
    drive_end(&three, true);
  }
}

static void adjoint_is_the_transposed_derivative(void** state) {
  const fmi3ValueReference outputs[] = {3, 4, 6};
  const fmi3ValueReference inputs[] = {1, 2};
  const double seed_in[] = {0.7, -1.3};
  const double seed_out[] = {2.0, 3.0, 5.0};
  double along[3];
  double back[2];
  drive d;
  (void)state;
  drive_make3(&d, "oscillator_force", "a", NULL, DRIVE_PLAIN);
  drive_set3(&d, 11, 3.0);
  drive_init3(&d, 0.0);
  assert_int_equal(d.f3->GetDirectionalDerivative(d.c, outputs, 3, inputs, 2, seed_in, 2, along, 3),
                   fmi3OK);
  assert_int_equal(d.f3->GetAdjointDerivative(d.c, outputs, 3, inputs, 2, seed_out, 3, back, 2),
                   fmi3OK);
  check_near(along[0], -70.0 + 3.9, 1e-13);
  const double left = seed_out[0] * along[0] + seed_out[1] * along[1] + seed_out[2] * along[2];
  check_near(back[0] * seed_in[0] + back[1] * seed_in[1], left, 1e-12);
  drive_end(&d, true);
}

static void states_travel_as_bytes(void** state) {
  drive d;
  drive_step result;
  fmi3FMUState saved = NULL;
  fmi3FMUState copy = NULL;
  size_t size = 0;
  (void)state;
  drive_make3(&d, "vanderpol", "a", NULL, DRIVE_PLAIN);
  drive_init3(&d, 0.0);
  assert_int_equal(d.f3->GetFMUState(d.c, &saved), fmi3OK);
  assert_int_equal(d.f3->SerializedFMUStateSize(d.c, saved, &size), fmi3OK);
  fmi3Byte* bytes = malloc(size);
  assert_non_null(bytes);
  assert_int_equal(d.f3->SerializeFMUState(d.c, saved, bytes, size), fmi3OK);
  assert_int_equal(drive_step3(&d, 0.0, 0.5, &result), fmi3OK);
  const double x = drive_real3(&d, 1);
  assert_int_equal(d.f3->DeserializeFMUState(d.c, bytes, size, &copy), fmi3OK);
  assert_int_equal(d.f3->SetFMUState(d.c, copy), fmi3OK);
  check_near(drive_real3(&d, 1), 2.0, 0.0);
  assert_int_equal(drive_step3(&d, 0.0, 0.5, &result), fmi3OK);
  check_near(drive_real3(&d, 1), x, 0.0);
  assert_int_equal(d.f3->FreeFMUState(d.c, &saved), fmi3OK);
  assert_int_equal(d.f3->FreeFMUState(d.c, &copy), fmi3OK);
  free(bytes);
  drive_end(&d, true);
}

// ---- types
static void numbers_of_every_width_are_copied(void** state) {
  drive d;
  drive_step result;
  (void)state;
  drive_make3(&d, "feedthrough", "a", NULL, DRIVE_PLAIN);
  drive_init3(&d, 0.0);
  // the extreme value of each type goes in and comes out
#define COPY(type, first, value)                                                                   \
  do {                                                                                             \
    const fmi3ValueReference in = (first), out = (first) + 100;                                    \
    const fmi3##type sent = (value);                                                               \
    fmi3##type got = 0;                                                                            \
    assert_int_equal(d.f3->Set##type(d.c, &in, 1, &sent, 1), fmi3OK);                              \
    assert_int_equal(d.f3->Get##type(d.c, &out, 1, &got, 1), fmi3OK);                              \
    assert_true(got == sent);                                                                      \
  } while (0)
  COPY(Float64, 1, 1.0 / 3.0);
  COPY(Float32, 2, 1.0f / 3.0f);
  COPY(Int8, 3, INT8_MIN);
  COPY(UInt8, 4, UINT8_MAX);
  COPY(Int16, 5, INT16_MIN);
  COPY(UInt16, 6, UINT16_MAX);
  COPY(Int32, 7, INT32_MIN);
  COPY(UInt32, 8, UINT32_MAX);
  COPY(Int64, 9, INT64_MIN);
  COPY(UInt64, 10, UINT64_MAX);
  COPY(Boolean, 11, true);
  COPY(Int64, 14, 10);  // an enumeration
  assert_int_equal(drive_step3(&d, 0.0, 1.0, &result), fmi3OK);
  check_near(drive_real3(&d, 101), 1.0 / 3.0, 0.0);

  // a number of another width is no number of this one
  const fmi3ValueReference int16 = 5;
  int32_t wrong = 0;
  assert_int_equal(d.f3->GetInt32(d.c, &int16, 1, &wrong, 1), fmi3Error);
  check_contains(d.log, "no variable of this type has the reference 5");
  drive_end(&d, true);
}

static void texts_binaries_and_arrays_are_copied(void** state) {
  const fmi3ValueReference text[] = {12, 18};
  const fmi3ValueReference text_out[] = {112, 118};
  const fmi3ValueReference binary[] = {13, 19};
  const fmi3ValueReference binary_out[] = {113, 119};
  const fmi3ValueReference reals[] = {1, 15};
  const fmi3ValueReference reals_out[] = {101, 115};
  const fmi3ValueReference parameter = 213;
  const fmi3String texts[] = {"one", "", "three"};
  const fmi3Byte bytes[] = {0, 1, 255};
  const fmi3Binary binaries[] = {bytes, bytes, bytes + 1};
  const size_t sizes[] = {3, 0, 2};
  const double numbers[] = {0.5, 1, 2, 3, 4, 5, 6};
  fmi3String got_texts[3];
  fmi3Binary got[3];
  size_t got_sizes[3];
  double got_numbers[7];
  drive d;
  (void)state;
  drive_make3(&d, "feedthrough", "a", NULL, DRIVE_PLAIN);
  drive_init3(&d, 0.0);
  assert_int_equal(d.f3->SetString(d.c, text, 2, texts, 3), fmi3OK);
  assert_int_equal(d.f3->GetString(d.c, text_out, 2, got_texts, 3), fmi3OK);
  for (int i = 0; i < 3; i++) {
    assert_string_equal(got_texts[i], texts[i]);
  }
  assert_int_equal(d.f3->SetBinary(d.c, binary, 2, sizes, binaries, 3), fmi3OK);
  assert_int_equal(d.f3->GetBinary(d.c, binary_out, 2, got_sizes, got, 3), fmi3OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(got_sizes[i], sizes[i]);
    assert_memory_equal(got[i], binaries[i], sizes[i]);
  }
  assert_int_equal(d.f3->SetFloat64(d.c, reals, 2, numbers, 7), fmi3OK);
  assert_int_equal(d.f3->GetFloat64(d.c, reals_out, 2, got_numbers, 7), fmi3OK);
  assert_memory_equal(got_numbers, numbers, sizeof numbers);
  assert_int_equal(d.f3->GetFloat64(d.c, reals_out, 2, got_numbers, 6), fmi3Error);
  assert_int_equal(d.f3->GetBinary(d.c, &parameter, 1, got_sizes, got, 1), fmi3OK);
  assert_int_equal(got_sizes[0], 3);
  assert_memory_equal(got[0], "\xca\xfe\0", 3);
  drive_end(&d, true);
}

// ---- faults
static void faults_come_at_their_time(void** state) {
  static const struct {
    int64_t what;
    int status;
  } cases[] = {{0, 0}, {1, 2}, {2, 3}, {3, 4}, {4, 1}, {5, 5}, {11, 0}, {12, 0}, {16, 0}};
  const fmi3ValueReference what = 7;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    drive d;
    drive_step result = {0};
    drive_make3(&d, "faulty", "a", NULL, DRIVE_PLAIN);
    assert_int_equal(d.f3->SetInt64(d.c, &what, 1, &cases[i].what, 1), fmi3OK);
    drive_init3(&d, 0.0);
    assert_int_equal(drive_step3(&d, 0.0, 0.5, &result), fmi3OK);
    assert_int_equal((int)drive_step3(&d, 0.5, 0.5, &result), cases[i].status);
    check_near(result.t, cases[i].what == 1 ? 0.5 : cases[i].what == 11 ? 0.75 : 1.0, 0.0);
    assert_int_equal(result.is_end, cases[i].what == 16);
    if (cases[i].what == 12) {
      check_contains(d.log, "(null): 50 %d of %s done at %n");
    }
    drive_end(&d, cases[i].status <= 1);
  }
  drive d;
  drive_make3(&d, "faulty", "instantiate_fatal", NULL, DRIVE_PLAIN);
  assert_null(d.c);
  check_contains(d.log, "told to die");
  yoke__fmi_binary_close(&d.binary);
  drive_make3(&d, "faulty", "a", "wrong", DRIVE_PLAIN);
  assert_null(d.c);
  check_contains(d.log, "wrong token");
  yoke__fmi_binary_close(&d.binary);
}

// ---- events
// Runs the stairs to t = 1 in steps of 0.15, whatever the way; x is the integral of the counter.
static void climb(drive* d, drive_way way, int* n_early, int* n_events) {
  double t = 0.0;
  drive_make3(d, "stairs", "a", NULL, way);
  drive_init3(d, 0.0);
  *n_early = *n_events = 0;
  if (way != DRIVE_PLAIN) {
    const drive_event e = drive_event3(d);
    assert_true(e.has_next && !e.is_end);
    check_near(e.t_next, 0.2, 0.0);
    assert_int_equal(d->f3->EnterStepMode(d->c), fmi3OK);
  }
  while (t < 1.0 - 1e-9) {
    drive_step result = {0};
    assert_int_equal(drive_step3(d, t, fmin(0.15, 1.0 - t), &result), fmi3OK);
    *n_early += result.is_early;
    t = result.t;
    if (result.is_event) {
      (*n_events)++;
      assert_int_equal(d->f3->EnterEventMode(d->c), fmi3OK);
      (void)drive_event3(d);
      assert_int_equal(d->f3->EnterStepMode(d->c), fmi3OK);
    }
  }
}

// Steps of height 1 and width 0.2: the integral to t = 1 is 0.2 (0 + 1 + 2 + 3 + 4).
static void stairs_are_climbed_in_every_way(void** state) {
  // without early return only the events at 0.6 and 1 fall on the end of a step
  static const int early[] = {0, 0, 4};
  static const int events[] = {0, 2, 5};
  (void)state;
  for (int way = DRIVE_PLAIN; way <= DRIVE_EARLY; way++) {
    drive d;
    int n_early = 0;
    int n_events = 0;
    climb(&d, (drive_way)way, &n_early, &n_events);
    assert_int_equal(n_early, early[way]);
    assert_int_equal(n_events, events[way]);
    assert_int_equal(drive_int3(&d, 3), 5);
    check_near(drive_real3(&d, 4), 2.0, 1e-14);
    drive_end(&d, true);
  }
}

static void discrete_input_moves_its_output_at_events_only(void** state) {
  const fmi3ValueReference u = 1;
  const double value = 3.0;
  drive d;
  (void)state;
  drive_make3(&d, "stairs", "a", NULL, DRIVE_EARLY);
  drive_init3(&d, 0.0);
  (void)drive_event3(&d);
  assert_int_equal(d.f3->EnterStepMode(d.c), fmi3OK);
  assert_int_equal(d.f3->SetFloat64(d.c, &u, 1, &value, 1), fmi3Error);
  check_contains(d.log, "variable 1 must not be set now");
  assert_int_equal(d.f3->EnterEventMode(d.c), fmi3OK);
  drive_set3(&d, 1, 3.0);
  check_near(drive_real3(&d, 2), 0.0, 0.0);
  (void)drive_event3(&d);
  check_near(drive_real3(&d, 2), 6.0, 0.0);
  drive_end(&d, true);

  // without event mode at once
  drive_make3(&d, "stairs", "a", NULL, DRIVE_PLAIN);
  drive_init3(&d, 0.0);
  drive_set3(&d, 1, 3.0);
  check_near(drive_real3(&d, 2), 6.0, 0.0);
  assert_int_equal(d.f3->EnterEventMode(d.c), fmi3Error);
  drive_end(&d, true);
}

static void stairs_ask_for_the_end(void** state) {
  const fmi3ValueReference last = 6;
  const int32_t two = 2;
  drive_step result = {0};
  drive d;
  (void)state;
  drive_make3(&d, "stairs", "a", NULL, DRIVE_PLAIN);
  assert_int_equal(d.f3->SetInt32(d.c, &last, 1, &two, 1), fmi3OK);
  drive_init3(&d, 0.0);
  assert_int_equal(drive_step3(&d, 0.0, 0.3, &result), fmi3OK);
  assert_false(result.is_end);
  assert_int_equal(drive_step3(&d, 0.3, 0.3, &result), fmi3OK);
  assert_true(result.is_end);
  drive_end(&d, true);
}

// ---- clocks: u = 0.5 per tick, so that every second tick takes the sum to a whole number and rings the alarm
static void clocks_tick(void** state) {
  const fmi3ValueReference tick = 1;
  const fmi3ValueReference alarm = 2;
  const bool is_active = true;
  int n_alarms = 0;
  drive d;
  (void)state;
  drive_make3(&d, "clocks", "a", NULL, DRIVE_EVENTS);
  drive_init3(&d, 0.0);
  (void)drive_event3(&d);
  assert_int_equal(drive_int3(&d, 4), 0);
  for (int k = 1; k <= 10; k++) {
    drive_step result = {0};
    bool rings = false;
    assert_int_equal(d.f3->EnterStepMode(d.c), fmi3OK);
    assert_int_equal(d.f3->SetClock(d.c, &tick, 1, &is_active), fmi3Error);
    assert_int_equal(drive_step3(&d, 0.1 * (k - 1), 0.1, &result), fmi3OK);
    assert_int_equal(d.f3->EnterEventMode(d.c), fmi3OK);
    assert_int_equal(d.f3->SetClock(d.c, &tick, 1, &is_active), fmi3OK);
    drive_set3(&d, 3, 0.5);
    assert_int_equal(d.f3->GetClock(d.c, &alarm, 1, &rings), fmi3OK);
    assert_int_equal(rings, k % 2 == 0);
    n_alarms += rings;
    assert_int_equal(drive_int3(&d, 4), k);
    check_near(drive_real3(&d, 5), 0.5 * k, 0.0);
    assert_int_equal(drive_int3(&d, 6), n_alarms);
    (void)drive_event3(&d);
    // the event is over: the clocks have fallen back
    assert_int_equal(d.f3->GetClock(d.c, &alarm, 1, &rings), fmi3OK);
    assert_false(rings);
  }
  drive_end(&d, true);
}

// ---- arrays
// x' = A x + B u with new sizes: one input, two states, one output, compared with the same Euler step by hand.
static void sizes_are_structural_parameters(void** state) {
  const fmi3ValueReference sizes[] = {1, 2, 3};
  const uint64_t shape[] = {1, 2, 1};
  const fmi3ValueReference a = 7;
  const fmi3ValueReference b = 8;
  const double A[] = {0.0, 1.0, -4.0, -0.5};
  const double B[] = {0.0, 2.0};
  double x[] = {1.0, 1.0};
  drive_step result = {0};
  drive d;
  (void)state;
  drive_make3(&d, "arrays", "a", NULL, DRIVE_PLAIN);
  assert_int_equal(d.f3->SetUInt64(d.c, sizes, 3, shape, 3), fmi3Error);
  assert_int_equal(d.f3->EnterConfigurationMode(d.c), fmi3OK);
  assert_int_equal(d.f3->SetUInt64(d.c, sizes, 3, shape, 3), fmi3OK);
  assert_int_equal(d.f3->ExitConfigurationMode(d.c), fmi3OK);
  assert_int_equal(d.f3->SetFloat64(d.c, &a, 1, A, 4), fmi3OK);
  assert_int_equal(d.f3->SetFloat64(d.c, &a, 1, A, 9), fmi3Error);
  assert_int_equal(d.f3->SetFloat64(d.c, &b, 1, B, 2), fmi3OK);
  drive_init3(&d, 0.0);
  drive_set3(&d, 4, 3.0);
  check_near(drive_real3(&d, 5), 1.0, 0.0);
  for (int k = 0; k < 10; k++) {
    assert_int_equal(drive_step3(&d, 0.125 * k, 0.125, &result), fmi3OK);
    const double dx[] = {x[1], -4.0 * x[0] - 0.5 * x[1] + 6.0};
    x[0] += 0.125 * dx[0];
    x[1] += 0.125 * dx[1];
    check_near(drive_real3(&d, 5), x[0], 1e-15 * 64.0);
  }
  drive_end(&d, true);
}

static void sizes_beyond_the_room_are_refused(void** state) {
  const fmi3ValueReference m = 1;
  const uint64_t nine = 9;
  drive d;
  (void)state;
  drive_make3(&d, "arrays", "a", NULL, DRIVE_PLAIN);
  assert_int_equal(d.f3->EnterConfigurationMode(d.c), fmi3OK);
  assert_int_equal(d.f3->SetUInt64(d.c, &m, 1, &nine, 1), fmi3OK);
  assert_int_equal(d.f3->ExitConfigurationMode(d.c), fmi3OK);
  assert_int_equal(d.f3->EnterInitializationMode(d.c, false, 0.0, 0.0, false, 0.0), fmi3OK);
  assert_int_equal(d.f3->ExitInitializationMode(d.c), fmi3Error);
  check_contains(d.log, "between 1 and 8");
  drive_end(&d, false);
}

// ---- intermediate update
static void intermediate_points_are_told(void** state) {
  drive_step result = {0};
  drive d;
  (void)state;
  drive_make3(&d, "intermediate", "a", NULL, DRIVE_PLAIN);
  drive_init3(&d, 0.0);
  drive_set3(&d, 1, 2.0);
  d.t_stop = 0.5;
  assert_int_equal(drive_step3(&d, 0.0, 1.0, &result), fmi3OK);
  // early return is not allowed here: the wish counts for nothing
  assert_int_equal(d.n_updates, 4);
  assert_false(result.is_early);
  check_near(drive_real3(&d, 2), 2.0, 0.0);
  drive_end(&d, true);

  drive_make3(&d, "intermediate", "a", NULL, DRIVE_EARLY);
  drive_init3(&d, 0.0);
  assert_int_equal(d.f3->EnterStepMode(d.c), fmi3OK);
  drive_set3(&d, 1, 2.0);
  d.t_stop = 0.5;
  assert_int_equal(drive_step3(&d, 0.0, 1.0, &result), fmi3OK);
  assert_int_equal(d.n_updates, 2);
  assert_true(result.is_early);
  check_near(result.t, 0.5, 0.0);
  check_near(drive_real3(&d, 2), 1.0, 0.0);
  drive_end(&d, true);
}

// ---- model exchange
static void exchange_models_work(void** state) {
  drive d;
  double x[2];
  size_t n = 0;
  (void)state;
  drive_make_me3(&d, "ball");
  drive_init3(&d, 0.0);
  (void)drive_event3(&d);
  assert_int_equal(d.f3->GetNumberOfEventIndicators(d.c, &n), fmi3OK);
  assert_int_equal(n, 1);
  assert_int_equal(d.f3->GetNumberOfContinuousStates(d.c, &n), fmi3OK);
  assert_int_equal(n, 2);
  assert_int_equal(d.f3->EnterContinuousTimeMode(d.c), fmi3OK);
  const double falling[] = {-1e-9, -2.0};
  assert_int_equal(d.f3->SetTime(d.c, 0.5), fmi3OK);
  assert_int_equal(d.f3->SetContinuousStates(d.c, falling, 2), fmi3OK);
  assert_int_equal(d.f3->EnterEventMode(d.c), fmi3OK);
  assert_true(drive_event3(&d).have_states_changed);
  assert_int_equal(d.f3->GetContinuousStates(d.c, x, 2), fmi3OK);
  check_near(x[1], 1.4, 1e-15);
  drive_end(&d, true);

  drive_make_me3(&d, "stairs_me");
  drive_init3(&d, 0.3);
  const drive_event e = drive_event3(&d);
  assert_true(e.has_next);
  check_near(e.t_next, 0.4, 1e-15);
  drive_end(&d, true);

  drive_make_me3(&d, "dahlquist");
  drive_init3(&d, 0.0);
  assert_int_equal(d.f3->GetContinuousStateDerivatives(d.c, x, 1), fmi3OK);
  check_near(x[0], -1.0, 0.0);
  drive_end(&d, true);

  drive_make_me3(&d, "sine_me");
  drive_init3(&d, 0.0);
  drive_set3(&d, 1, 2.0);
  check_near(drive_real3(&d, 2), 2.0, 0.0);
  assert_int_equal(d.f3->GetContinuousStateDerivatives(d.c, x, 2), fmi3OK);
  check_near(x[0], 1.0, 0.0);
  check_near(x[1], 2.0, 0.0);
  drive_end(&d, true);
}

static void resources_are_read_by_path(void** state) {
  drive d;
  (void)state;
  drive_make3(&d, "resources", "a", NULL, DRIVE_PLAIN);
  assert_non_null(d.c);
  drive_init3(&d, 0.0);
  check_near(drive_real3(&d, 1), 42.5, 0.0);
  drive_end(&d, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_versions_give_the_same_numbers),
      cmocka_unit_test(adjoint_is_the_transposed_derivative),
      cmocka_unit_test(states_travel_as_bytes),
      cmocka_unit_test(numbers_of_every_width_are_copied),
      cmocka_unit_test(texts_binaries_and_arrays_are_copied),
      cmocka_unit_test(faults_come_at_their_time),
      cmocka_unit_test(stairs_are_climbed_in_every_way),
      cmocka_unit_test(discrete_input_moves_its_output_at_events_only),
      cmocka_unit_test(stairs_ask_for_the_end),
      cmocka_unit_test(clocks_tick),
      cmocka_unit_test(sizes_are_structural_parameters),
      cmocka_unit_test(sizes_beyond_the_room_are_refused),
      cmocka_unit_test(intermediate_points_are_told),
      cmocka_unit_test(exchange_models_work),
      cmocka_unit_test(resources_are_read_by_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
