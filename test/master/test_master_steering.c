// The steering surrogate SE-1 cut in every way, by the engine with fresh exchange (HI-11): table 10.5 of the HINF specification,
// the causality of both mechanical cuts and the controller cut.
#define _POSIX_C_SOURCE 200809L  // mkdtemp
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/check.h"
#include "support/steering_run.h"

static steering_signals whole[3], got;

// The published figures are those of both parts stepped every 0.1 ms with the force of the old states.
static int prepare(void** state) {
  (void)state;
  for (steering_manoeuvre m = STEERING_M0; m <= STEERING_M2; m++) {
    steering_run(&STEERING_WHOLE, m, "", "", &whole[m]);
  }
  return 0;
}

static double largest(const steering_signals* s, size_t signal) {
  double size = 0;
  for (size_t k = 0; k < s->n; k++) {
    size = fmax(size, fabs(s->x[signal][k]));
  }
  return size;
}

// Spec 10.4: all printed digits.
static void test_HI_11_peaks(void** state) {
  (void)state;
  static const struct {
    double peak, half_digit;
  } want[] = {{0.915, 5e-4}, {0.0504, 5e-5}, {0.260, 5e-4}, {0.198, 5e-4}, {1422, 0.5}};
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    check_near(largest(&whole[STEERING_M0], i), want[i].peak, want[i].half_digit);
  }
}

// Cut and exchanged at every internal step it is the whole: the same operations in the same order.
static void test_HI_11_cut_is_whole(void** state) {
  (void)state;
  double errors[STEERING_SIGNALS];
  steering_run(&STEERING_FORCE_TO_RACK, STEERING_M0, "exchange: 1e-4, coupling: {method: hold}", "",
               &got);
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    for (size_t k = 0; k < got.n; k++) {
      if (got.x[i][k] != whole[STEERING_M0].x[i][k]) {
        fail_msg("signal %zu, sample %zu: %.17g, whole %.17g", i, k, got.x[i][k],
                 whole[STEERING_M0].x[i][k]);
      }
    }
  }
  steering_errors(&got, &whole[STEERING_M0], errors);
  check_near(errors[0], 0, 0);
}

// ---- table 10.5

typedef enum method { ZOH, FOH, SOH, T, L, N_METHODS } method;
static const char* const method_names[] = {"ZOH", "FOH", "SOH", "T", "L"};

typedef struct row {
  steering_manoeuvre manoeuvre;
  int interval_ms;
  method method;
  double errors[STEERING_SIGNALS];  // of the first one 0: diverges; of others 0: not published
} row;

#define DIVERGES                                                                                   \
  { 0 }
static const row rows[] = {
    {STEERING_M0, 5, ZOH, {.0126, .0142, .0163, .0163, .0167}},
    {STEERING_M0, 5, FOH, {.0003, .0005, .0004, .0004, .0006}},
    {STEERING_M0, 5, SOH, DIVERGES},
    {STEERING_M0, 5, T, {.0093, .0115, .0122, .0118, .0127}},
    {STEERING_M0, 5, L, {.0015, .0016, .0017, .0017, .0020}},
    {STEERING_M0, 10, ZOH, {.0262, .0282, .0309, .0311, .0316}},
    {STEERING_M0, 10, FOH, {.0011, .0016, .0014, .0013, .0017}},
    {STEERING_M0, 10, SOH, DIVERGES},
    {STEERING_M0, 10, T, {.0098, .0143, .0114, .0110, .0118}},
    {STEERING_M0, 10, L, {.0060, .0062, .0077, .0075, .0080}},
    {STEERING_M0, 15, ZOH, {.0414, .0434, .0469, .0472, .0480}},
    {STEERING_M0, 15, FOH, {.0023, .0060, .0029, .0028, .0060}},
    {STEERING_M0, 15, SOH, DIVERGES},
    {STEERING_M0, 15, T, {.0128, .0179, .0134, .0129, .0138}},
    {STEERING_M0, 15, L, {.0118, .0242, .0153, .0149, .0684}},
    {STEERING_M0, 20, ZOH, {.0580, .0599, .0643, .0646, .0657}},
    {STEERING_M0, 20, FOH, DIVERGES},
    {STEERING_M0, 20, SOH, DIVERGES},
    {STEERING_M0, 20, T, {.0181, .0229, .0184, .0178, .0189}},
    {STEERING_M0, 20, L, {.0164, .0172, .0197, .0191, .0204}},
    {STEERING_M1, 10, ZOH, {.0178, .0173, .0183, .0177, .0186}},
    {STEERING_M1, 10, FOH, {.0006, .0009, .0006, .0006, .0008}},
    {STEERING_M1, 10, T, {.0082, .0097, .0060, .0057, .0062}},
    {STEERING_M1, 10, L, {.0055, .0042, .0041, .0040, .0043}},
    {STEERING_M1, 20, ZOH, {.0383, .0353, .0372, .0362, .0378}},
    {STEERING_M1, 20, FOH, DIVERGES},
    {STEERING_M1, 20, T, {.0106, .0133, .0085, .0082, .0088}},
    {STEERING_M1, 20, L, {.0137, .0110, .0102, .0097, .0106}},
    {STEERING_M2, 10, ZOH, {.0135, .0163, .0166, .0183, .0164}},
    {STEERING_M2, 10, FOH, {.0006, .0018, .0009, .0011, .0015}},
    {STEERING_M2, 10, T, {.0055, .0095, .0060, .0066, .0062}},
    {STEERING_M2, 10, L, {.0035, .0039, .0044, .0051, .0050}},
    {STEERING_M2, 15, FOH, {.0013, .0103, .0019, .0024, .0090}},
    {STEERING_M2, 15, T, {.0076, .0123, .0071, .0080, .0073}},
    {STEERING_M2, 15, L, {-1, .2924, -1, -1, .8577}},
    {STEERING_M2, 20, ZOH, {.0294, .0335, .0343, .0379, .0338}},
    {STEERING_M2, 20, FOH, DIVERGES},
    {STEERING_M2, 20, T, {.0101, .0162, .0099, .0112, .0103}},
    {STEERING_M2, 20, L, {.0092, .0109, .0110, .0128, .0125}},
};

static char folder[] = "/tmp/yoke-test-steering-XXXXXX";

static void element_path(char path[128], method by, int interval_ms) {
  snprintf(path, 128, "%s/%s_%d.json", folder, method_names[by], interval_ms);
}

static void couple(const row* r, char keys[256]) {
  const double interval = r->interval_ms * 1e-3;
  char path[128];
  if (r->method == T || r->method == L) {
    element_path(path, r->method, r->interval_ms);
    snprintf(keys, 256, "exchange: %g, coupling: {method: hinf, element: %s}", interval, path);
  } else {
    snprintf(keys, 256, "exchange: %g, coupling: {method: hold, order: %d}", interval,
             (int)r->method);
  }
}

// HI-11: 5 % or 0.0005.
static bool is_close(double got_error, double want) {
  return want < 0 || fabs(got_error - want) <= fmax(0.05 * want, 5e-4);
}

static bool check_row(const row* r) {
  char keys[256];
  double errors[STEERING_SIGNALS];
  couple(r, keys);
  steering_run(&STEERING_FORCE_TO_RACK, r->manoeuvre, keys, "", &got);
  steering_errors(&got, &whole[r->manoeuvre], errors);
  const bool diverges = r->errors[0] == 0;
  bool is_good = !diverges || got.is_lost || errors[1] > 1;
  for (size_t i = 0; i < STEERING_SIGNALS && !diverges; i++) {
    is_good = is_good && is_close(errors[i], r->errors[i]);
  }
  print_message("M%d %2d ms %-3s %.4f %.4f %.4f %.4f %.4f%s\n", (int)r->manoeuvre, r->interval_ms,
                method_names[r->method], errors[0], errors[1], errors[2], errors[3], errors[4],
                is_good ? "" : "  <- not as published");
  return is_good;
}

static void test_HI_11_table(void** state) {
  (void)state;
  char path[128];
  assert_non_null(mkdtemp(folder));
  for (int ms = 5; ms <= 20; ms += 5) {
    for (method by = T; by <= L; by++) {
      element_path(path, by, ms);
      steering_write_element(path, by == T ? 'T' : 'L', ms * 1e-3);
    }
  }
  size_t n_bad = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    n_bad += !check_row(&rows[i]);
  }
  for (int ms = 5; ms <= 20; ms += 5) {
    for (method by = T; by <= L; by++) {
      element_path(path, by, ms);
      unlink(path);
    }
  }
  rmdir(folder);
  assert_int_equal(n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_11_peaks),
      cmocka_unit_test(test_HI_11_cut_is_whole),
      cmocka_unit_test(test_HI_11_table),
  };
  return cmocka_run_group_tests(tests, prepare, NULL);
}
