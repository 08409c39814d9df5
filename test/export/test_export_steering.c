// The steering SE-1 as FMUs made by the export, cut at the tie rod (HI-11): table 10.5 of the HINF
// specification within the same tolerance as the native units. The table is of fresh exchange, for
// which FMUs need event mode.
#include <stdio.h>
#include <stdlib.h>

#include "exported.h"
#include "support/steering_run.h"

static steering_signals whole[3], got;

static int prepare(void** state) {
  (void)state;
  for (steering_manoeuvre m = STEERING_M0; m <= STEERING_M2; m++) {
    steering_run(&STEERING_WHOLE, m, &(steering_options){0}, &whole[m]);
  }
  return 0;
}

typedef struct both {
  exported epas, chassis;
  char units[9000];
  steering_cut cut;
} both;

static void open_both(both* b, int fmi, bool has_event_mode) {
  exported_open_as(&b->epas, "steering.epas", "", fmi, has_event_mode);
  exported_open_as(&b->chassis, "steering.chassis", "", fmi, has_event_mode);
  snprintf(b->units, sizeof b->units, "  epas: {fmu: %s}\n  car: {fmu: %s}\n", b->epas.path,
           b->chassis.path);
  b->cut = STEERING_FORCE_TO_RACK;
  b->cut.units = b->units;
}

static void close_both(both* b) {
  exported_close(&b->epas);
  exported_close(&b->chassis);
}

// Fresh exchange, by FMUs of FMI 3.0 with event mode: the table.
static void test_HI_11_table(void** state) {
  (void)state;
  static both b;
  size_t n_bad = 0;
  open_both(&b, 3, true);
  steering_elements_make();
  for (size_t i = 0; i < steering_n_rows; i++) {
    const steering_row* r = &steering_rows[i];
    n_bad += !steering_check_row(r, &b.cut, false, &whole[r->manoeuvre], &got);
  }
  steering_elements_remove();
  close_both(&b);
  assert_int_equal(n_bad, 0);
}

// The same bits as the native units, in fresh exchange and in that which all FMUs allow.
static void check_bits(int fmi, bool is_stale) {
  static both b;
  static steering_signals native;
  const steering_options options = {.keys = "exchange: 0.005, coupling: {method: hold, order: 1}",
                                    .is_stale = is_stale};
  open_both(&b, fmi, !is_stale);
  steering_run(&STEERING_FORCE_TO_RACK, STEERING_M0, &options, &native);
  steering_run(&b.cut, STEERING_M0, &options, &got);
  close_both(&b);
  assert_int_equal(got.n, native.n);
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    assert_memory_equal(got.x[i], native.x[i], native.n * sizeof(double));
  }
}

static void test_bits_fresh(void** state) {
  (void)state;
  check_bits(3, false);
}

static void test_bits_stale(void** state) {
  (void)state;
  check_bits(2, true);
  check_bits(3, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_HI_11_table),
      cmocka_unit_test(test_bits_fresh),
      cmocka_unit_test(test_bits_stale),
  };
  return cmocka_run_group_tests(tests, prepare, NULL);
}
