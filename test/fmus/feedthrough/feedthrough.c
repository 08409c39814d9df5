// One input, output and parameter of every type, arrays behind the scalars; outputs copy inputs, the real one with the
// tunable parameter `bias` added. References: inputs 1 to 20, outputs 101 to 120, parameters 201 to 220, bias 300.
#include "skeleton.h"

#include <stdio.h>
#include <string.h>

// one set of values per causality, so that copying is one assignment
typedef struct set {
  double real;
  float float32;
  int8_t int8;
  uint8_t uint8;
  int16_t int16;
  uint16_t uint16;
  int32_t int32;
  uint32_t uint32;
  int64_t int64;
  uint64_t uint64;
  bool boolean;
  int64_t option;
  fmu_text text;
  fmu_binary binary;
  double reals[6];  // 2 x 3
  int32_t integers[3];
  bool booleans[2];
  fmu_text texts[2];
  fmu_binary binaries[2];
  int64_t options[2];
} set;

typedef struct values {
  set in, out, parameter;
  double bias;  // tunable
} values;

// the rows of one set: reference of the first, access, where the set lies in the values
#define ROWS(first, access, base)                                                                  \
  {(first) + 0, REAL, access, (base) + offsetof(set, real), 1},                                    \
      {(first) + 1, FLOAT32, access, (base) + offsetof(set, float32), 1},                          \
      {(first) + 2, INT8, access, (base) + offsetof(set, int8), 1},                                \
      {(first) + 3, UINT8, access, (base) + offsetof(set, uint8), 1},                              \
      {(first) + 4, INT16, access, (base) + offsetof(set, int16), 1},                              \
      {(first) + 5, UINT16, access, (base) + offsetof(set, uint16), 1},                            \
      {(first) + 6, INT32, access, (base) + offsetof(set, int32), 1},                              \
      {(first) + 7, UINT32, access, (base) + offsetof(set, uint32), 1},                            \
      {(first) + 8, INT64, access, (base) + offsetof(set, int64), 1},                              \
      {(first) + 9, UINT64, access, (base) + offsetof(set, uint64), 1},                            \
      {(first) + 10, BOOLEAN, access, (base) + offsetof(set, boolean), 1},                         \
      {(first) + 11, TEXT, access, (base) + offsetof(set, text), 1},                               \
      {(first) + 12, BINARY, access, (base) + offsetof(set, binary), 1},                           \
      {(first) + 13, ENUM, access, (base) + offsetof(set, option), 1},                             \
      {(first) + 14, REAL, access, (base) + offsetof(set, reals), 6},                              \
      {(first) + 15, INT32, access, (base) + offsetof(set, integers), 3},                          \
      {(first) + 16, BOOLEAN, access, (base) + offsetof(set, booleans), 2},                        \
      {(first) + 17, TEXT, access, (base) + offsetof(set, texts), 2},                              \
      {(first) + 18, BINARY, access, (base) + offsetof(set, binaries), 2}, {                       \
    (first) + 19, ENUM, access, (base) + offsetof(set, options), 2                                 \
  }

static const fmu_variable variables[] = {
    // continuous inputs first: they may be set when discrete ones may not
    {1, REAL, INPUT, offsetof(values, in.real), 1},
    {2, FLOAT32, INPUT, offsetof(values, in.float32), 1},
    {15, REAL, INPUT, offsetof(values, in.reals), 6},
    ROWS(1, DISCRETE, offsetof(values, in)),
    ROWS(101, READ, offsetof(values, out)),
    ROWS(201, START, offsetof(values, parameter)),
    {300, REAL, TUNE, offsetof(values, bias), 1},
};

static void start(fmu* m) {
  values* v = m->values;
  v->in.option = v->in.options[0] = v->in.options[1] = 1;
  v->parameter = v->in;
  v->parameter.real = 1.5;
  v->parameter.int32 = 7;
  v->parameter.boolean = true;
  v->parameter.option = 4;
  (void)snprintf(v->parameter.text.at, sizeof v->parameter.text.at, "a parameter");
  v->parameter.binary = (fmu_binary){.size = 3, .at = {0xca, 0xfe, 0x00}};
}

static void outputs(fmu* m) {
  values* v = m->values;
  v->out = v->in;
  v->out.real += v->bias;
}

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)m, (void)t, (void)h, (void)result;
  return FMU_OK;
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-feedthrough",
    .variables = variables,
    .n_variables = sizeof variables / sizeof *variables,
    .size = sizeof(values),
    .start = start,
    .outputs = outputs,
    .step = step,
};
