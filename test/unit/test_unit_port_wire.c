// Numbers as a foreign machine has them: every type there and back, ends of ranges, what is held back is counted, and what is not finite
// is refused.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_hash.h"
#include "support/check.h"
#include "unit/port/port_signals.h"
#include "unit/port/port_wire.h"

static const size_t sizes[YOKE_N_WIRES] = {8, 4, 1, 1, 2, 2, 4, 4, 8};

// What becomes of one value; -1 in *n_clipped's place is never right.
static uint64_t pack_one(yoke_wire_signal s, const void* value, uint64_t* n_clipped) {
  uint8_t bytes[8] = {0};
  uint64_t bits = 0;
  yoke__wire_pack(&s, 1, value, bytes, n_clipped);
  for (size_t i = 0; i < sizes[s.as]; i++) {
    bits |= (uint64_t)bytes[i] << (8 * i);
  }
  return bits;
}

static void check_real(yoke_wire_type as, double scale, double offset, double value, uint64_t bits,
                       uint64_t n_expected) {
  uint64_t n_clipped = 0;
  const uint64_t got =
      pack_one((yoke_wire_signal){YOKE_REAL, as, scale, offset}, &value, &n_clipped);
  if (got != bits || n_clipped != n_expected) {
    fail_msg("type %d, %g: %llx, %llu clipped", (int)as, value, (unsigned long long)got,
             (unsigned long long)n_clipped);
  }
}

static void test_reals(void** state) {
  (void)state;
  check_real(YOKE_WIRE_I16, 0.001, 0, 0.5, 500, 0);
  check_real(YOKE_WIRE_I16, 0.001, 0, -0.0126, 0x10000 - 13, 0);
  check_real(YOKE_WIRE_I16, 1, 0, 2.5, 3, 0);  // away from 0
  check_real(YOKE_WIRE_I16, 1, 0, -2.5, 0x10000 - 3, 0);
  check_real(YOKE_WIRE_I16, 1, 0, 32767.4, 32767, 0);
  check_real(YOKE_WIRE_I16, 1, 0, 32767.5, 32767, 1);
  check_real(YOKE_WIRE_I16, 1, 0, -1e300, 0x8000, 1);
  check_real(YOKE_WIRE_U8, 0.5, -20, 80, 200, 0);
  check_real(YOKE_WIRE_U8, 0.5, -20, -21, 0, 1);
  check_real(YOKE_WIRE_U8, -1, 0, -7, 7, 0);
  check_real(YOKE_WIRE_I8, 1, 0, -128, 0x80, 0);
  check_real(YOKE_WIRE_U16, 1, 0, 65535, 65535, 0);
  check_real(YOKE_WIRE_I32, 1, 0, (double)INFINITY, INT32_MAX, 1);
  check_real(YOKE_WIRE_U32, 1, 0, 4294967295.0, UINT32_MAX, 0);
  check_real(YOKE_WIRE_I64, 1, 0, 9.3e18, INT64_MAX, 1);
  check_real(YOKE_WIRE_I64, 1, 0, 9223372036854774784.0, INT64_C(9223372036854774784), 0);
  check_real(YOKE_WIRE_I64, 1, 0, -9223372036854775808.0, UINT64_C(1) << 63, 0);
  check_real(YOKE_WIRE_I32, 1, 0, (double)NAN, 0, 1);
  check_real(YOKE_WIRE_F32, 1, 0, 1.5, 0x3fc00000, 0);
  check_real(YOKE_WIRE_F32, 1, 0, 1e39, 0x7f7fffff, 1);
  check_real(YOKE_WIRE_F32, 2, 1, 4, 0x3fc00000, 0);
  check_real(YOKE_WIRE_F64, 1, 0, 1.5, UINT64_C(0x3ff8000000000000), 0);
  check_real(YOKE_WIRE_F64, 1, 0, -(double)INFINITY, UINT64_C(0xffefffffffffffff), 1);
}

static void test_integers(void** state) {
  (void)state;
  static const struct {
    yoke_wire_type as;
    int64_t value;
    uint64_t bits, n_clipped;
  } cases[] = {
      {YOKE_WIRE_I8, -128, 0x80, 0},
      {YOKE_WIRE_I8, 128, 0x7f, 1},
      {YOKE_WIRE_U8, -1, 0, 1},
      {YOKE_WIRE_U8, 300, 255, 1},
      {YOKE_WIRE_U32, 1, 1, 0},
      {YOKE_WIRE_I64, INT64_MIN, UINT64_C(1) << 63, 0},
      {YOKE_WIRE_I64, INT64_MAX, INT64_MAX, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t n_clipped = 0;
    const yoke_wire_signal s = {YOKE_INTEGER, cases[i].as, 1, 0};
    assert_true(pack_one(s, &cases[i].value, &n_clipped) == cases[i].bits);
    assert_true(n_clipped == cases[i].n_clipped);
  }
}

// All types behind each other, without padding: what comes back is what went out.
static void test_there_and_back(void** state) {
  (void)state;
  static const double reals[YOKE_N_WIRES] = {1.0 / 3, 0.5,  -100, 250,  -30000,
                                             60000,   -2e9, 4e9,  -4e15};
  yoke_wire_signal signals[2 * YOKE_N_WIRES];
  uint8_t values[8 * 2 * YOKE_N_WIRES], back[8 * 2 * YOKE_N_WIRES], bytes[100];
  for (size_t i = 0; i < YOKE_N_WIRES; i++) {
    const yoke_wire_type as = (yoke_wire_type)i;
    const int64_t whole = (int64_t)reals[i];
    const bool is_float = as == YOKE_WIRE_F64 || as == YOKE_WIRE_F32;
    signals[i] = (yoke_wire_signal){YOKE_REAL, as, 0.25, 3};
    const double scaled = 0.25 * reals[i] + 3;
    memcpy(values + 8 * i, &scaled, 8);
    signals[YOKE_N_WIRES + i] =
        (yoke_wire_signal){YOKE_INTEGER, is_float ? YOKE_WIRE_I8 : as, 1, 0};
    memcpy(values + 8 * (YOKE_N_WIRES + i), &whole, 8);
  }
  const size_t n = sizeof signals / sizeof *signals, half = sizeof values / 2;
  assert_int_equal(yoke__wire_size(signals, n), 34 + 24);
  uint64_t n_clipped = 0;
  memset(bytes, 0xaa, sizeof bytes);
  yoke__wire_pack(signals, n, values, bytes, &n_clipped);
  assert_true(n_clipped == 0 && bytes[34 + 24] == 0xaa);
  assert_true(yoke__wire_unpack(signals, n, bytes, back));
  for (size_t i = 0; i < YOKE_N_WIRES; i++) {
    double want = 0, got = 0;
    memcpy(&want, values + 8 * i, 8);
    memcpy(&got, back + 8 * i, 8);
    check_near(got, want, 1e-15 * fabs(want));
  }
  assert_memory_equal(back + half, values + half, half);
}

static void test_not_finite_is_refused(void** state) {
  (void)state;
  static const yoke_wire_signal signals[] = {{YOKE_INTEGER, YOKE_WIRE_U8, 1, 0},
                                             {YOKE_REAL, YOKE_WIRE_F32, 1, 0},
                                             {YOKE_REAL, YOKE_WIRE_F64, 1e10, 0}};
  static const float narrow[] = {0, (float)INFINITY, (float)NAN, 0};
  static const double wide[] = {(double)NAN, 0, 0, 1e300};  // the last one by its scale
  for (size_t i = 0; i < 4; i++) {
    uint8_t bytes[13] = {7}, values[24] = {1, 2, 3};
    memcpy(bytes + 1, &narrow[i], 4);
    memcpy(bytes + 5, &wide[i], 8);
    assert_false(yoke__wire_unpack(signals, 3, bytes, values));
    assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3);
  }
  // everything but 0 is true
  static const yoke_wire_signal boolean = {YOKE_BOOLEAN, YOKE_WIRE_U8, 1, 0};
  int64_t value = 9;
  assert_true(yoke__wire_unpack(&boolean, 1, (const uint8_t*)"\x05", (uint8_t*)&value));
  assert_int_equal(value, 1);
}

// The fingerprint that docs/port.md describes, step by step.
static void test_fingerprint_knows_how_signals_travel(void** state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_port_signal inputs[] = {{"torque", "N.m", {YOKE_REAL, YOKE_WIRE_I16, 0.001, 0}, 0, false}};
  const yoke_port_signal outputs[] = {{"omega", NULL, {YOKE_REAL, YOKE_WIRE_F32, 1, 0}, 0, false}};
  const yoke_port_signals* a = yoke__port_signals_make(inputs, 1, outputs, 1, &arena);
  inputs[0].wire.scale = 0.01;
  const yoke_port_signals* b = yoke__port_signals_make(inputs, 1, outputs, 1, &arena);
  assert_non_null(a);
  assert_non_null(b);
  assert_true(a->sent_size == 2 && a->received_size == 4 && a->info.n_variables == 2);
  assert_int_equal(a->info.variables[1].causality, YOKE_OUTPUT);
  assert_true(yoke__port_signals_hash(a, YOKE_HASH_START) !=
              yoke__port_signals_hash(b, YOKE_HASH_START));
  yoke__arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reals),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_not_finite_is_refused),
      cmocka_unit_test(test_fingerprint_knows_how_signals_travel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
