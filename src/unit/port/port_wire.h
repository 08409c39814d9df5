// Numbers as a foreign machine has them: little endian, packed without padding, reals scaled.
//
//   on the wire = round((value - offset) / scale), held in the range of its type;   value = on the wire * scale + offset
//
// Floating point is not rounded to whole numbers.
#ifndef YOKE_UNIT_PORT_WIRE_H
#define YOKE_UNIT_PORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/unit.h"

typedef enum yoke_wire_type {
  YOKE_WIRE_F64,
  YOKE_WIRE_F32,
  YOKE_WIRE_I8,
  YOKE_WIRE_U8,
  YOKE_WIRE_I16,
  YOKE_WIRE_U16,
  YOKE_WIRE_I32,
  YOKE_WIRE_U32,
  YOKE_WIRE_I64,
  YOKE_N_WIRES,
} yoke_wire_type;

// One number. scale and offset are for reals.
typedef struct yoke_wire_signal {
  yoke_type type;  // real, integer or boolean
  yoke_wire_type as;
  double scale, offset;
} yoke_wire_signal;

// Bytes of all of them.
size_t yoke__wire_size(const yoke_wire_signal signals[], size_t n);
// values: 8 bytes each, doubles and int64_t. What had to be held in the range of its type is counted; what is not a number goes as 0
// and is counted, too.
void yoke__wire_pack(const yoke_wire_signal signals[], size_t n, const uint8_t values[],
                     uint8_t bytes[], uint64_t* n_clipped);
// False: one of them is not finite; values are as before then. Booleans: everything but 0 is 1.
bool yoke__wire_unpack(const yoke_wire_signal signals[], size_t n, const uint8_t bytes[],
                       uint8_t values[]);

#endif
