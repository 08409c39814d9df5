// Units for tests of bonds: three inputs of one dimension, three outputs of another, a swinging output if wanted.
#ifndef YOKE_TEST_PORT_UNITS_H
#define YOKE_TEST_PORT_UNITS_H

#include "system/system_fixture.h"

typedef struct port {
  double u[3], y[3];
} port;

static inline yoke_status port_refresh(void* self, double t) {
  (void)self;
  (void)t;
  return YOKE_OK;
}

static inline yoke_status port_step(void* self, double t, double h, yoke_step_result* result) {
  (void)self;
  (void)t;
  (void)h;
  (void)result;
  return YOKE_OK;
}

#define PORT_VARIABLE(name_, member_, dim_, causality_)                                            \
  {                                                                                                \
    .name = (name_), .dim = (dim_), .type = YOKE_REAL, .causality = (causality_),                  \
    .flags = YOKE_VARIABLE_HAS_START, .offset = offsetof(port, member_)                            \
  }

// my.<id>: inputs u1 to u3 in `in`, outputs y1 to y3 in `out`; the first n_df outputs follow their input at once
#define PORT(id, in, out, flags_, n_df)                                                            \
  static const yoke_variable id##_variables[] = {                                                  \
      PORT_VARIABLE("u1", u[0], in, YOKE_INPUT),   PORT_VARIABLE("u2", u[1], in, YOKE_INPUT),      \
      PORT_VARIABLE("u3", u[2], in, YOKE_INPUT),   PORT_VARIABLE("y1", y[0], out, YOKE_OUTPUT),    \
      PORT_VARIABLE("y2", y[1], out, YOKE_OUTPUT), PORT_VARIABLE("y3", y[2], out, YOKE_OUTPUT)};   \
  static const yoke_unit_info id##_info = {.variables = id##_variables,                            \
                                           .n_variables = 6,                                       \
                                           .feedthrough = port_feedthrough,                        \
                                           .n_feedthrough = (n_df),                                \
                                           .flags = YOKE_UNIT_FLAT | (flags_),                     \
                                           .self_size = sizeof(port)};                             \
  static const yoke_unit_ops id = {YOKE_UNIT_HEAD, .name = "my." #id, .info = &id##_info,          \
                                   .step = port_step, .refresh = port_refresh}

static const yoke_feedthrough port_feedthrough[] = {{3, 0}, {4, 1}, {5, 2}};

#endif
