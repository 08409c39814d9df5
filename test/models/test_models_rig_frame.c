// Frames and datagrams of the test rig: round trips at both ends of every range, what is refused, bus load (B-13).
#include "models/rig/rig_frame.h"

#include "models/models_random.h"
#include "support/check.h"

// a whole number of that many bits from stream and index
static int64_t draw(uint64_t stream, uint64_t k, int bits) {
  const double range = ldexp(1.0, bits);
  return (int64_t)(floor(yoke__random_uniform(3, stream, k) * range) - range / 2.0);
}

static yoke_frame through_bytes(yoke_frame frame) {
  yoke_datagram sent = {.sequence = UINT32_MAX, .time_ns = UINT64_MAX}, got;
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  assert_true(yoke__datagram_add(&sent, frame));
  const size_t n = yoke__datagram_write(&sent, bytes, sizeof bytes);
  assert_int_equal(n, 36);
  assert_int_equal(yoke__datagram_read(bytes, n, &got), YOKE_FRAME_OK);
  assert_int_equal(got.sequence, UINT32_MAX);
  assert_true(got.time_ns == UINT64_MAX);
  assert_int_equal(got.n_frames, 1);
  return got.frames[0];
}

static void check_kind(const yoke_frame* frame, uint32_t want_kind, int want_node) {
  uint32_t kind = 0;
  int node = -1;
  assert_int_equal(yoke__frame_judge(frame, &kind, &node), YOKE_FRAME_OK);
  assert_int_equal(kind, want_kind);
  assert_int_equal(node, want_node);
}

// B-13: every frame comes back as it was, the ends of the ranges among them
static void test_round_trip_b13(void** state) {
  (void)state;
  static const int64_t ends[] = {INT32_MIN, INT32_MAX, 0, -1, 1};
  for (uint64_t k = 0; k < 2000; k++) {
    const int node = 1 + (int)(k % 2);
    const bool is_end = k < 5;
    const int32_t last = (int32_t)(is_end ? ends[k] : draw(0, k, 32));
    const int16_t torque = (int16_t)(is_end ? ends[k] / 65536 : draw(1, k, 16));
    const uint16_t word = (uint16_t)draw(2, k, 16);

    yoke_frame frame =
        through_bytes(yoke__frame_command(node, (yoke_frame_command){word, torque, last}));
    check_kind(&frame, YOKE_FRAME_COMMAND, node);
    const yoke_frame_command command = yoke__frame_read_command(&frame);
    assert_true(command.word == word && command.torque == torque && command.target == last);

    frame = through_bytes(yoke__frame_status(node, (yoke_frame_status){word, torque, last}));
    check_kind(&frame, YOKE_FRAME_STATUS, node);
    const yoke_frame_status status = yoke__frame_read_status(&frame);
    assert_true(status.word == word && status.torque == torque && status.speed == last);

    const int32_t current = (int32_t)draw(3, k, 32);
    frame = through_bytes(yoke__frame_slow(node, (yoke_frame_slow){last, current}));
    check_kind(&frame, YOKE_FRAME_SLOW, node);
    const yoke_frame_slow slow = yoke__frame_read_slow(&frame);
    assert_true(slow.position == last && slow.current == current);

    frame = through_bytes(yoke__frame_fault(node, (yoke_frame_fault){word, (uint8_t)k}));
    check_kind(&frame, YOKE_FRAME_FAULT, node);
    const yoke_frame_fault fault = yoke__frame_read_fault(&frame);
    assert_true(fault.code == word && fault.error_register == (uint8_t)k);

    frame = through_bytes(yoke__frame_analog(node, word));
    check_kind(&frame, YOKE_FRAME_ANALOG, node);
    assert_int_equal(yoke__frame_read_analog(&frame), word);
  }
  const yoke_frame sync = through_bytes(yoke__frame_sync());
  check_kind(&sync, YOKE_FRAME_SYNC, 0);
}

// the bytes of one datagram, written down by hand
static void test_layout_is_little_endian(void** state) {
  (void)state;
  static const uint8_t want[36] = {'Y',
                                   'O',
                                   'K',
                                   'E',
                                   1,
                                   0,
                                   1,
                                   0,
                                   2,
                                   1,
                                   0,
                                   0,
                                   0x40,
                                   0x42,
                                   0x0f,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   /* frame */ 0x02,
                                   0x02,
                                   0,
                                   0,
                                   8,
                                   0,
                                   0,
                                   0,
                                   /* data */ 0x0f,
                                   0x90,
                                   0xfe,
                                   0xff,
                                   0x00,
                                   0x24,
                                   0xfa,
                                   0xff};
  yoke_datagram datagram = {.sequence = 0x102, .time_ns = 1000000};
  const yoke_frame_command command = {0x900f, -2, -384000};
  assert_true(yoke__datagram_add(&datagram, yoke__frame_command(2, command)));
  uint8_t bytes[36];
  assert_int_equal(yoke__datagram_write(&datagram, bytes, sizeof bytes), 36);
  assert_memory_equal(bytes, want, sizeof want);
  assert_int_equal(yoke__datagram_write(&datagram, bytes, 35), 0);  // no room
}

// B-13: 111 and 135 bits for eight bytes, 47 and 55 for SYNC, 595 and 865 per cycle
static void test_bus_load_b13(void** state) {
  (void)state;
  assert_int_equal(yoke__frame_bits(8), 111);
  assert_int_equal(yoke__frame_bits_worst(8), 135);
  assert_int_equal(yoke__frame_bits(0), 47);
  assert_int_equal(yoke__frame_bits_worst(0), 55);
  assert_int_equal(yoke__frame_bits_worst(0) + 4 * yoke__frame_bits_worst(8), 595);
  assert_int_equal(yoke__frame_bits_worst(0) + 6 * yoke__frame_bits_worst(8), 865);
}

// physical values meet the resolution of the frame: half a step at most, held at the ends
static void test_scaling(void** state) {
  (void)state;
  assert_int_equal(yoke__frame_scale16(0.2, 0.428166e-3), 467);
  assert_int_equal(yoke__frame_scale16(-0.2, 0.428166e-3), -467);
  assert_int_equal(yoke__frame_scale16(1e9, 1e-3), INT16_MAX);
  assert_int_equal(yoke__frame_scale16(-1e9, 1e-3), INT16_MIN);
  assert_int_equal(yoke__frame_scale32((double)INFINITY, 1.0), INT32_MAX);
  assert_int_equal(yoke__frame_scale32((double)NAN, 1.0), 0);
  for (uint64_t k = 0; k < 1000; k++) {
    const double value = 500.0 * (yoke__random_uniform(1, 0, k) - 0.5);
    const double unit = 1e-3;
    check_near(yoke__frame_scale32(value, unit) * unit, value, 0.5 * unit * (1 + 1e-9));
  }
}

static yoke_frame_reason read_changed(size_t at, uint8_t value, size_t n) {
  yoke_datagram datagram = {.sequence = 1}, got;
  (void)yoke__datagram_add(&datagram, yoke__frame_sync());
  (void)yoke__datagram_add(&datagram, yoke__frame_fault(1, (yoke_frame_fault){0x7305, 1}));
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE + 1] = {0};
  assert_int_equal(yoke__datagram_write(&datagram, bytes, sizeof bytes), 52);
  bytes[at] = value;
  const yoke_frame_reason reason = yoke__datagram_read(bytes, n, &got);
  assert_true(reason == YOKE_FRAME_OK || got.n_frames == 0);
  assert_true(yoke__frame_reason_text(reason)[0] != '\0');
  return reason;
}

static void test_refusals_have_a_reason(void** state) {
  (void)state;
  assert_int_equal(read_changed(8, 9, 52), YOKE_FRAME_OK);
  assert_int_equal(read_changed(8, 9, 51), YOKE_FRAME_SHORT);
  assert_int_equal(read_changed(8, 9, 19), YOKE_FRAME_SHORT);
  assert_int_equal(read_changed(8, 9, 0), YOKE_FRAME_SHORT);
  assert_int_equal(read_changed(8, 9, 53), YOKE_FRAME_LONG);
  assert_int_equal(read_changed(0, 'y', 52), YOKE_FRAME_MAGIC);
  assert_int_equal(read_changed(4, 2, 52), YOKE_FRAME_VERSION);
  assert_int_equal(read_changed(6, 3, 52), YOKE_FRAME_SHORT);
  assert_int_equal(read_changed(6, 1, 52), YOKE_FRAME_LONG);
  assert_int_equal(read_changed(7, 1, 52), YOKE_FRAME_COUNT);
  assert_int_equal(read_changed(36, 0x83, 52), YOKE_FRAME_ID);   // node 3
  assert_int_equal(read_changed(39, 0x01, 52), YOKE_FRAME_ID);   // 29-bit identifier
  assert_int_equal(read_changed(40, 4, 52), YOKE_FRAME_SIZE);    // of the fault
  assert_int_equal(read_changed(24, 1, 52), YOKE_FRAME_SIZE);    // of SYNC
  assert_int_equal(read_changed(40, 255, 52), YOKE_FRAME_SIZE);  // more than a frame has
  assert_int_equal(read_changed(41, 1, 52), YOKE_FRAME_PAD);     // padding
  assert_int_equal(read_changed(51, 1, 52), YOKE_FRAME_PAD);     // behind the data
  assert_string_equal(yoke__frame_reason_text(YOKE_FRAME_N_REASONS), "");
}

static void test_datagram_has_an_end(void** state) {
  (void)state;
  yoke_datagram datagram = {0};
  for (int i = 0; i < YOKE_DATAGRAM_MAX_FRAMES; i++) {
    assert_true(yoke__datagram_add(&datagram, yoke__frame_sync()));
  }
  assert_false(yoke__datagram_add(&datagram, yoke__frame_sync()));
  uint8_t bytes[YOKE_DATAGRAM_MAX_SIZE];
  assert_int_equal(yoke__datagram_write(&datagram, bytes, sizeof bytes), YOKE_DATAGRAM_MAX_SIZE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip_b13),         cmocka_unit_test(test_layout_is_little_endian),
      cmocka_unit_test(test_bus_load_b13),           cmocka_unit_test(test_scaling),
      cmocka_unit_test(test_refusals_have_a_reason), cmocka_unit_test(test_datagram_has_an_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
