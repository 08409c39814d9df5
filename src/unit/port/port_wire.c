// Numbers as a foreign machine has them; see port_wire.h.
#include "unit/port/port_wire.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base_check.h"

typedef struct wire_kind {
  size_t size;
  bool is_float;
  int64_t low, high;  // of whole numbers
} wire_kind;

static const wire_kind kinds[YOKE_N_WIRES] = {
    [YOKE_WIRE_F64] = {8, true, 0, 0},
    [YOKE_WIRE_F32] = {4, true, 0, 0},
    [YOKE_WIRE_I8] = {1, false, INT8_MIN, INT8_MAX},
    [YOKE_WIRE_U8] = {1, false, 0, UINT8_MAX},
    [YOKE_WIRE_I16] = {2, false, INT16_MIN, INT16_MAX},
    [YOKE_WIRE_U16] = {2, false, 0, UINT16_MAX},
    [YOKE_WIRE_I32] = {4, false, INT32_MIN, INT32_MAX},
    [YOKE_WIRE_U32] = {4, false, 0, UINT32_MAX},
    [YOKE_WIRE_I64] = {8, false, INT64_MIN, INT64_MAX},
};

size_t yoke__wire_size(const yoke_wire_signal signals[], size_t n) {
  size_t size = 0;
  for (size_t i = 0; i < n; i++) {
    size += kinds[signals[i].as].size;
  }
  return size;
}

// ---- bits

static void put(uint8_t bytes[], uint64_t value, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bytes[i] = (uint8_t)(value >> (8 * i));
  }
}

static uint64_t take(const uint8_t bytes[], size_t n) {
  uint64_t value = 0;
  for (size_t i = 0; i < n; i++) {
    value |= (uint64_t)bytes[i] << (8 * i);
  }
  return value;
}

static void put_float(uint8_t bytes[], double value, size_t n) {
  const float narrow = (float)value;
  uint32_t bits32 = 0;
  uint64_t bits64 = 0;
  memcpy(&bits32, &narrow, sizeof bits32);
  memcpy(&bits64, &value, sizeof bits64);
  put(bytes, n == 4 ? bits32 : bits64, n);
}

static double take_float(const uint8_t bytes[], size_t n) {
  const uint64_t bits64 = take(bytes, n);
  const uint32_t bits32 = (uint32_t)bits64;
  float narrow = 0;
  double value = 0;
  memcpy(&narrow, &bits32, sizeof narrow);
  memcpy(&value, &bits64, sizeof value);
  return n == 4 ? (double)narrow : value;
}

static int64_t take_whole(const wire_kind* kind, const uint8_t bytes[]) {
  const uint64_t bits = take(bytes, kind->size);
  const uint64_t all = 2 * (uint64_t)kind->high + 1;  // every bit set
  // two's complement of any width
  return kind->low < 0 && bits > (uint64_t)kind->high ? -(int64_t)(all - bits) - 1 : (int64_t)bits;
}

// ---- numbers

// As the type allows it; low and high of 64 bits are doubles beside the type's own ends.
static int64_t whole_of(const wire_kind* kind, double value) {
  const double low = (double)kind->low, high = (double)kind->high;
  return !(value > low) ? kind->low : !(value < high) ? kind->high : (int64_t)value;
}

static void pack_real(const yoke_wire_signal* s, double value, uint8_t bytes[],
                      uint64_t* n_clipped) {
  const wire_kind* kind = &kinds[s->as];
  double wanted = (value - s->offset) / s->scale;
  if (isnan(wanted)) {
    *n_clipped += 1;
    wanted = 0;
  }
  if (kind->is_float) {
    const double most = kind->size == 4 ? (double)FLT_MAX : DBL_MAX;
    const double held = fmin(fmax(wanted, -most), most);
    *n_clipped += held != wanted;
    put_float(bytes, held, kind->size);
    return;
  }
  const double rounded = round(wanted);
  const bool is_inside = rounded >= (double)kind->low && rounded <= (double)kind->high &&
                         (s->as != YOKE_WIRE_I64 || rounded < (double)INT64_MAX);
  *n_clipped += !is_inside;
  put(bytes, (uint64_t)whole_of(kind, rounded), kind->size);
}

static void pack_whole(const yoke_wire_signal* s, int64_t value, uint8_t bytes[],
                       uint64_t* n_clipped) {
  const wire_kind* kind = &kinds[s->as];
  const int64_t held = value < kind->low ? kind->low : value > kind->high ? kind->high : value;
  *n_clipped += held != value;
  put(bytes, (uint64_t)held, kind->size);
}

void yoke__wire_pack(const yoke_wire_signal signals[], size_t n, const uint8_t values[],
                     uint8_t bytes[], uint64_t* n_clipped) {
  for (size_t i = 0; i < n; i++, values += 8) {
    double real = 0;
    int64_t whole = 0;
    memcpy(&real, values, sizeof real);
    memcpy(&whole, values, sizeof whole);
    if (signals[i].type == YOKE_REAL) {
      pack_real(&signals[i], real, bytes, n_clipped);
    } else {
      pack_whole(&signals[i], whole, bytes, n_clipped);
    }
    bytes += kinds[signals[i].as].size;
  }
}

static double real_of(const yoke_wire_signal* s, const uint8_t bytes[]) {
  const wire_kind* kind = &kinds[s->as];
  const double wire =
      kind->is_float ? take_float(bytes, kind->size) : (double)take_whole(kind, bytes);
  return wire * s->scale + s->offset;
}

static bool are_finite(const yoke_wire_signal signals[], size_t n, const uint8_t bytes[]) {
  for (size_t i = 0; i < n; i++) {
    if (signals[i].type == YOKE_REAL && !yoke__is_finite(real_of(&signals[i], bytes))) {
      return false;
    }
    bytes += kinds[signals[i].as].size;
  }
  return true;
}

bool yoke__wire_unpack(const yoke_wire_signal signals[], size_t n, const uint8_t bytes[],
                       uint8_t values[]) {
  if (!are_finite(signals, n, bytes)) {
    return false;
  }
  for (size_t i = 0; i < n; i++, values += 8) {
    const wire_kind* kind = &kinds[signals[i].as];
    if (signals[i].type == YOKE_REAL) {
      const double real = real_of(&signals[i], bytes);
      memcpy(values, &real, sizeof real);
    } else {
      const int64_t number = take_whole(kind, bytes);
      const int64_t whole = signals[i].type == YOKE_BOOLEAN ? number != 0 : number;
      memcpy(values, &whole, sizeof whole);
    }
    bytes += kind->size;
  }
  return true;
}
