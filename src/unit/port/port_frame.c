// Datagrams of signals; see port_frame.h.
#include "unit/port/port_frame.h"

#include <string.h>

#include "base/base_check.h"
#include "base/base_hash.h"

#define CHECK_AT 68

static void put(uint8_t bytes[], size_t at, uint64_t value, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bytes[at + i] = (uint8_t)(value >> (8 * i));
  }
}

static uint64_t take(const uint8_t bytes[], size_t at, size_t n) {
  uint64_t value = 0;
  for (size_t i = 0; i < n; i++) {
    value |= (uint64_t)bytes[at + i] << (8 * i);
  }
  return value;
}

static void put_number(uint8_t bytes[], size_t at, double number) {
  uint64_t bits = 0;
  memcpy(&bits, &number, sizeof bits);
  put(bytes, at, bits, 8);
}

static double take_number(const uint8_t bytes[], size_t at) {
  const uint64_t bits = take(bytes, at, 8);
  double number = 0;
  memcpy(&number, &bits, sizeof number);
  return number;
}

// Of all bytes but the sum itself.
static uint32_t sum_of(const uint8_t bytes[], size_t n) {
  uint64_t hash = yoke__hash_bytes(YOKE_HASH_START, bytes, CHECK_AT);
  hash = yoke__hash_bytes(hash, bytes + YOKE_PORT_HEAD_SIZE, n - YOKE_PORT_HEAD_SIZE);
  return (uint32_t)(hash ^ (hash >> 32));
}

size_t yoke__port_write(const yoke_port_frame* frame, uint8_t bytes[], size_t room) {
  const size_t n = YOKE_PORT_HEAD_SIZE + frame->size;
  if (n > room || n > YOKE_PORT_MAX_SIZE) {
    return 0;
  }
  put(bytes, 0, YOKE_PORT_MAGIC, 4);
  put(bytes, 4, YOKE_PORT_VERSION, 2);
  put(bytes, 6, (uint64_t)frame->kind, 2);
  put(bytes, 8, frame->session, 8);
  put(bytes, 16, frame->sequence, 8);
  put_number(bytes, 24, frame->t);
  put_number(bytes, 32, frame->h);
  put(bytes, 40, frame->sent_ns, 8);
  put(bytes, 48, frame->echo_ns, 8);
  put(bytes, 56, frame->signals, 8);
  put(bytes, 64, frame->size, 4);
  if (frame->size > 0) {
    memcpy(bytes + YOKE_PORT_HEAD_SIZE, frame->values, frame->size);
  }
  put(bytes, CHECK_AT, sum_of(bytes, n), 4);
  return n;
}

static yoke_port_reason judge(const uint8_t bytes[], size_t n) {
  if (n < YOKE_PORT_HEAD_SIZE) {
    return YOKE_PORT_SHORT;
  }
  if (take(bytes, 0, 4) != YOKE_PORT_MAGIC) {
    return YOKE_PORT_STRANGE;
  }
  if (take(bytes, 4, 2) != YOKE_PORT_VERSION) {
    return YOKE_PORT_OTHER_VERSION;
  }
  const uint64_t size = take(bytes, 64, 4), kind = take(bytes, 6, 2);
  if (size != n - YOKE_PORT_HEAD_SIZE || n > YOKE_PORT_MAX_SIZE) {
    return size > n - YOKE_PORT_HEAD_SIZE ? YOKE_PORT_SHORT : YOKE_PORT_LONG;
  }
  if (kind < YOKE_PORT_HELLO || kind >= YOKE_PORT_N_KINDS) {
    return YOKE_PORT_BAD_KIND;
  }
  if (take(bytes, CHECK_AT, 4) != sum_of(bytes, n)) {
    return YOKE_PORT_DAMAGED;
  }
  return yoke__is_finite(take_number(bytes, 24)) && yoke__is_finite(take_number(bytes, 32))
             ? YOKE_PORT_OK
             : YOKE_PORT_NOT_FINITE;
}

yoke_port_reason yoke__port_read(const uint8_t bytes[], size_t n, yoke_port_frame* frame) {
  *frame = (yoke_port_frame){0};
  const yoke_port_reason reason = judge(bytes, n);
  if (reason == YOKE_PORT_OK) {
    *frame = (yoke_port_frame){
        .kind = (yoke_port_kind)take(bytes, 6, 2),
        .session = take(bytes, 8, 8),
        .sequence = take(bytes, 16, 8),
        .t = take_number(bytes, 24),
        .h = take_number(bytes, 32),
        .sent_ns = take(bytes, 40, 8),
        .echo_ns = take(bytes, 48, 8),
        .signals = take(bytes, 56, 8),
        .values = bytes + YOKE_PORT_HEAD_SIZE,
        .size = n - YOKE_PORT_HEAD_SIZE,
    };
  }
  return reason;
}
