// Event mode and clocks of FMI 3.0 against a stand-in for the binary that is stricter than any real one: each call in a
// wrong mode, each variable touched at the wrong time, each step that does not begin where the last one ended is a fault.
#include <float.h>

#include "base/base_message.h"
#include "support/check.h"
#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_events.h"
#include "unit/unit.h"

// ---------------------------------------------------------------------------------------------------------
// the stand-in

// indices in the description; the value reference is 10 + index
enum {
  TIME,
  U,
  D,
  N,
  P,
  Y,
  CLOCK_A,
  CLOCK_B,
  CLOCK_C,
  A_IN,
  A_OUT,
  B_IN,
  B_OUT,
  C_COUNT,
  SIZE,
  WORDS,
  BLOB,
  ALL
};

typedef enum mode { INSTANTIATED, CONFIGURING, INITIALISING, EVENT, STEP, ENDED } mode;

enum { MANY = 4096 };

typedef struct puppet {
  mode mode;
  double t;
  double u, d, p, a_in;
  int32_t n, b_in, b_out, c_count;
  uint64_t size;
  double a_out;
  const char* words;
  const uint8_t* blob;
  size_t blob_size;
  bool is_on[ALL];
  // the script
  bool has_event_mode;
  double early[64];  // state events at these times
  size_t n_early, i_early;
  bool is_early_plain;  // returns there early, but without an event
  bool is_stuck;        // returns early without ever moving
  double times[64];     // time events that it announces
  size_t n_times, i_times;
  bool is_exact;       // takes a time event only at or after its time
  int n_rounds;        // updates that an event needs
  int round;           // of the present event
  double end_at;       // asks to end the run in the first event at or after this time
  double interval[2];  // of the clocks A and B, if asked
  uint64_t counter[2], resolution;
  fmi3IntervalQualifier qualifier[2];
  double shift[2];
  double late;  // error of its own time
  fmi3Status step_status;
  fmi3Status event_status;
  // what happened
  double starts[MANY], lengths[MANY], events[MANY], ticks_a[MANY], ticks_b[MANY];
  size_t n_steps, n_events, n_a, n_b;
  char trace[MANY];
  size_t n_trace;
  double told_interval;
  char fault[128];
} puppet;

// one at a time; the table of functions cannot carry it
static puppet* doll;

static fmi3Status wrong(puppet* p, const char* what) {
  if (p->fault[0] == '\0') {
    (void)snprintf(p->fault, sizeof p->fault, "%s in mode %d at t = %.17g", what, (int)p->mode,
                   p->t);
  }
  return fmi3Error;
}

static void note(puppet* p, char letter) {
  if (p->n_trace + 1 < sizeof p->trace) {
    p->trace[p->n_trace++] = letter;
  }
}

static fmi3Instance puppet_instantiate(fmi3String name, fmi3String token, fmi3String resources,
                                       fmi3Boolean is_visible, fmi3Boolean is_logging,
                                       fmi3Boolean has_event_mode, fmi3Boolean may_return_early,
                                       const fmi3ValueReference variables[], size_t n_variables,
                                       fmi3InstanceEnvironment environment,
                                       fmi3LogMessageCallback log_message,
                                       fmi3IntermediateUpdateCallback update) {
  (void)name, (void)token, (void)resources, (void)is_visible, (void)is_logging, (void)variables;
  (void)n_variables, (void)environment, (void)log_message, (void)update;
  doll->has_event_mode = has_event_mode;
  // an early return nobody can deal with must not be asked for
  return has_event_mode == may_return_early ? doll : NULL;
}

static void puppet_free(fmi3Instance c) {
  (void)c;
}

static fmi3Status puppet_enter_init(fmi3Instance c, fmi3Boolean has_tolerance,
                                    fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop,
                                    fmi3Float64 stop) {
  puppet* p = c;
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  p->mode = INITIALISING;
  p->t = start;
  return fmi3OK;
}

static fmi3Status puppet_exit_init(fmi3Instance c) {
  puppet* p = c;
  if (p->mode != INITIALISING) {
    return wrong(p, "ExitInitializationMode");
  }
  p->mode = p->has_event_mode ? EVENT : STEP;
  p->round = 0;
  return fmi3OK;
}

static fmi3Status puppet_enter_event(fmi3Instance c) {
  puppet* p = c;
  if (p->mode != STEP || !p->has_event_mode) {
    return wrong(p, "EnterEventMode");
  }
  note(p, 'e');
  p->mode = EVENT;
  p->round = 0;
  return p->event_status;
}

// a state event or a time event at the present time is over
static bool take_event(puppet* p) {
  bool is_taken = false;
  while (p->i_early < p->n_early && p->early[p->i_early] <= p->t) {
    p->i_early++;
    is_taken = true;
  }
  const double tolerance = p->is_exact ? 0 : 1e-9;
  while (p->i_times < p->n_times && p->times[p->i_times] <= p->t + tolerance) {
    p->i_times++;
    is_taken = true;
  }
  return is_taken;
}

static fmi3Status puppet_update(fmi3Instance c, fmi3Boolean* is_again, fmi3Boolean* is_end,
                                fmi3Boolean* have_nominals, fmi3Boolean* have_states,
                                fmi3Boolean* has_next, fmi3Float64* next) {
  puppet* p = c;
  if (p->mode != EVENT) {
    return wrong(p, "UpdateDiscreteStates");
  }
  note(p, 'u');
  if (take_event(p) && p->n_events < MANY) {
    p->events[p->n_events++] = p->t;
  }
  memset(p->is_on, 0, sizeof p->is_on);
  *is_again = ++p->round < p->n_rounds;
  *is_end = p->t >= p->end_at;
  *have_nominals = *have_states = false;
  *has_next = p->i_times < p->n_times;
  *next = *has_next ? p->times[p->i_times] : 0;
  return fmi3OK;
}

static fmi3Status puppet_enter_step(fmi3Instance c) {
  puppet* p = c;
  if (p->mode != EVENT || p->round == 0) {
    return wrong(p, "EnterStepMode");
  }
  note(p, 's');
  p->mode = STEP;
  return fmi3OK;
}

static fmi3Status puppet_step(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean is_final,
                              fmi3Boolean* is_event, fmi3Boolean* is_end, fmi3Boolean* is_early,
                              fmi3Float64* last) {
  puppet* p = c;
  (void)is_final;
  const double slack = 1e-12 * (1 + fabs(t));
  if (p->mode != STEP || !(h > 0) || fabs(t - p->t) > slack) {
    return wrong(p, "DoStep");
  }
  if (p->step_status != fmi3OK) {
    return p->step_status;
  }
  if (p->n_steps < MANY) {
    p->starts[p->n_steps] = t;
    p->lengths[p->n_steps] = h;
  }
  p->n_steps++;
  *is_end = false;
  *is_event = *is_early = p->is_stuck;
  *last = p->is_stuck ? t : t + h + p->late;
  p->t = p->is_stuck ? t : t + h;
  if (p->i_early < p->n_early && p->early[p->i_early] <= p->t && !p->is_stuck) {
    *is_event = !p->is_early_plain;
    *is_early = p->early[p->i_early] < p->t;
    p->t = *last = p->early[p->i_early];
    p->i_early += p->is_early_plain;
  }
  return fmi3OK;
}

static fmi3Status puppet_terminate(fmi3Instance c) {
  puppet* p = c;
  p->mode = ENDED;
  return fmi3OK;
}

// Which variables may be touched now: discrete inputs at events, clocked ones while their clock is active.
static bool may_touch(const puppet* p, unsigned index, bool is_set) {
  static const int clock_of[ALL] = {[A_IN] = CLOCK_A,
                                    [A_OUT] = CLOCK_A,
                                    [B_IN] = CLOCK_B,
                                    [B_OUT] = CLOCK_B,
                                    [C_COUNT] = CLOCK_C};
  if (index >= ALL || p->mode == ENDED) {
    return false;
  }
  if (p->mode <= INITIALISING) {
    return true;
  }
  if (clock_of[index] != 0) {
    return p->mode == EVENT && p->is_on[clock_of[index]];
  }
  return !is_set || index == U || p->mode == EVENT || !p->has_event_mode;
}

static double* real_at(puppet* p, unsigned index) {
  switch (index) {
  case TIME:
    return &p->t;
  case U:
    return &p->u;
  case D:
    return &p->d;
  case P:
    return &p->p;
  case A_IN:
    return &p->a_in;
  default:
    return &p->a_out;
  }
}

static fmi3Status puppet_set_real(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  const fmi3Float64 values[], size_t n_values) {
  puppet* p = c;
  for (size_t i = 0; i < n; i++) {
    if (n != n_values || !may_touch(p, references[i] - 10, true)) {
      return wrong(p, "SetFloat64");
    }
    *real_at(p, references[i] - 10) = values[i];
  }
  return fmi3OK;
}

static fmi3Status puppet_get_real(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 values[], size_t n_values) {
  puppet* p = c;
  p->a_out = 2 * p->a_in;
  for (size_t i = 0; i < n; i++) {
    const unsigned index = references[i] - 10;
    if (n != n_values || !may_touch(p, index, false)) {
      return wrong(p, "GetFloat64");
    }
    values[i] = index == Y ? p->u + 10 * p->d + 100 * p->n + 1000 * p->p : *real_at(p, index);
  }
  return fmi3OK;
}

static int32_t* whole_at(puppet* p, unsigned index) {
  return index == N ? &p->n : index == B_IN ? &p->b_in : index == B_OUT ? &p->b_out : &p->c_count;
}

static fmi3Status puppet_set_whole(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                   const fmi3Int32 values[], size_t n_values) {
  puppet* p = c;
  for (size_t i = 0; i < n; i++) {
    if (n != n_values || !may_touch(p, references[i] - 10, true)) {
      return wrong(p, "SetInt32");
    }
    *whole_at(p, references[i] - 10) = values[i];
  }
  return fmi3OK;
}

static fmi3Status puppet_get_whole(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                   fmi3Int32 values[], size_t n_values) {
  puppet* p = c;
  for (size_t i = 0; i < n; i++) {
    if (n != n_values || !may_touch(p, references[i] - 10, false)) {
      return wrong(p, "GetInt32");
    }
    values[i] = *whole_at(p, references[i] - 10);
  }
  return fmi3OK;
}

static fmi3Status puppet_get_text(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3String values[], size_t n_values) {
  puppet* p = c;
  if (n != 1 || n_values != 1 || references[0] != 10 + WORDS) {
    return wrong(p, "GetString");
  }
  values[0] = p->words;
  return fmi3OK;
}

static fmi3Status puppet_get_binary(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    size_t sizes[], fmi3Binary values[], size_t n_values) {
  puppet* p = c;
  if (n != 1 || n_values != 1 || references[0] != 10 + BLOB) {
    return wrong(p, "GetBinary");
  }
  sizes[0] = p->blob_size;
  values[0] = p->blob;
  return fmi3OK;
}

static fmi3Status puppet_set_size(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  const fmi3UInt64 values[], size_t n_values) {
  puppet* p = c;
  if (p->mode != CONFIGURING || n != 1 || n_values != 1 || references[0] != 10 + SIZE) {
    return wrong(p, "SetUInt64");
  }
  p->size = values[0];
  return fmi3OK;
}

static fmi3Status puppet_configure(fmi3Instance c) {
  puppet* p = c;
  p->mode = CONFIGURING;
  return fmi3OK;
}

static fmi3Status puppet_end_configuring(fmi3Instance c) {
  puppet* p = c;
  p->mode = INSTANTIATED;
  return fmi3OK;
}

static fmi3Status puppet_set_clock(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                   const fmi3Clock values[]) {
  puppet* p = c;
  for (size_t i = 0; i < n; i++) {
    if (p->mode != EVENT || p->round > 0 || !values[i]) {
      return wrong(p, "SetClock");
    }
    p->is_on[references[i] - 10] = true;
    if (references[i] == 10 + CLOCK_A && p->n_a < MANY) {
      p->ticks_a[p->n_a++] = p->t;
    } else if (references[i] == 10 + CLOCK_B && p->n_b < MANY) {
      p->ticks_b[p->n_b++] = p->t;
      p->b_out++;
    }
  }
  return fmi3OK;
}

// C ticks with each state event
static fmi3Status puppet_get_clock(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                   fmi3Clock values[]) {
  puppet* p = c;
  if (p->mode != EVENT || n != 1 || references[0] != 10 + CLOCK_C) {
    return wrong(p, "GetClock");
  }
  values[0] = p->i_early < p->n_early && p->early[p->i_early] <= p->t;
  p->is_on[CLOCK_C] = values[0];
  p->c_count += values[0];
  return fmi3OK;
}

static fmi3Status puppet_interval(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]) {
  puppet* p = c;
  const size_t clock = references[0] - 10 - CLOCK_A;
  if (n != 1 || clock > 1 || (p->mode != INITIALISING && p->mode != EVENT)) {
    return wrong(p, "GetIntervalDecimal");
  }
  intervals[0] = p->interval[clock];
  qualifiers[0] = p->qualifier[clock];
  return fmi3OK;
}

static fmi3Status puppet_fraction(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                  fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                  fmi3IntervalQualifier qualifiers[]) {
  puppet* p = c;
  const size_t clock = references[0] - 10 - CLOCK_A;
  if (n != 1 || clock > 1) {
    return wrong(p, "GetIntervalFraction");
  }
  counters[0] = p->counter[clock];
  resolutions[0] = p->resolution;
  qualifiers[0] = p->qualifier[clock];
  return fmi3OK;
}

static fmi3Status puppet_shift(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                               fmi3Float64 shifts[]) {
  puppet* p = c;
  if (n != 1 || p->mode != INITIALISING) {
    return wrong(p, "GetShiftDecimal");
  }
  shifts[0] = p->shift[references[0] - 10 - CLOCK_A];
  return fmi3OK;
}

static fmi3Status puppet_tell(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                              const fmi3Float64 intervals[]) {
  puppet* p = c;
  if (n != 1 || references[0] != 10 + CLOCK_A || p->mode != INITIALISING) {
    return wrong(p, "SetIntervalDecimal");
  }
  p->told_interval = intervals[0];
  return fmi3OK;
}

static fmi3Status puppet_save(fmi3Instance c, fmi3FMUState* state) {
  if (*state == NULL) {
    *state = malloc(sizeof(puppet));
  }
  memcpy(*state, c, sizeof(puppet));
  return fmi3OK;
}

static fmi3Status puppet_restore(fmi3Instance c, fmi3FMUState state) {
  memcpy(c, state, sizeof(puppet));
  return fmi3OK;
}

static fmi3Status puppet_free_state(fmi3Instance c, fmi3FMUState* state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi3OK;
}

static fmi3Status puppet_state_size(fmi3Instance c, fmi3FMUState state, size_t* size) {
  (void)c, (void)state;
  *size = sizeof(puppet);
  return fmi3OK;
}

static fmi3Status puppet_write(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  (void)c;
  memcpy(bytes, state, sizeof(puppet));
  return size == sizeof(puppet) ? fmi3OK : fmi3Error;
}

static fmi3Status puppet_read(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                              fmi3FMUState* state) {
  (void)c;
  *state = malloc(sizeof(puppet));
  memcpy(*state, bytes, sizeof(puppet));
  return size == sizeof(puppet) ? fmi3OK : fmi3Error;
}

// dy/du = 1, dy/dd = 10, from the side of y
static fmi3Status puppet_adjoint(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n,
                                 const fmi3ValueReference knowns[], size_t n_knowns,
                                 const fmi3Float64 seed[], size_t n_seed, fmi3Float64 out[],
                                 size_t n_out) {
  puppet* p = c;
  if (n != 1 || n_seed != 1 || n_out != n_knowns || unknowns[0] != 10 + Y) {
    return wrong(p, "GetAdjointDerivative");
  }
  for (size_t i = 0; i < n_knowns; i++) {
    out[i] = seed[0] * (knowns[i] == 10 + U ? 1 : 10);
  }
  return fmi3OK;
}

// ---------------------------------------------------------------------------------------------------------
// the rig: the stand-in with a description, as a unit

typedef struct rig {
  puppet doll;
  yoke_fmi3 table;
  yoke_fmi_variable variables[ALL];
  yoke_fmi_clock clocks[3];
  yoke_fmi_clocked clocked[5];
  yoke_fmi_description description;
  fmu_file file;
  yoke_unit_ops ops;
  fmu f;
} rig;

static yoke_fmi_variable describe(const char* name, yoke_fmi_type type,
                                  yoke_fmi_causality causality, yoke_fmi_variability variability,
                                  unsigned index) {
  return (yoke_fmi_variable){.name = name,
                             .description = "",
                             .unit = "",
                             .reference = 10 + index,
                             .type = (uint8_t)type,
                             .causality = (uint8_t)causality,
                             .variability = (uint8_t)variability,
                             .has_clocks = index >= A_IN && index <= C_COUNT};
}

// A rig with the clocks A and B of these kinds and C as a triggered output; the test may change it before start.
static rig* rig_make(yoke_fmi_interval a, yoke_fmi_interval b) {
  rig* r = calloc(1, sizeof *r);
  assert_non_null(r);
  const struct {
    const char* name;
    yoke_fmi_type type;
    yoke_fmi_causality causality;
    yoke_fmi_variability variability;
  } rows[ALL] = {
      [TIME] = {"time", YOKE_FMI_FLOAT64, YOKE_FMI_INDEPENDENT, YOKE_FMI_CONTINUOUS},
      [U] = {"u", YOKE_FMI_FLOAT64, YOKE_FMI_INPUT, YOKE_FMI_CONTINUOUS},
      [D] = {"d", YOKE_FMI_FLOAT64, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE},
      [N] = {"n", YOKE_FMI_INT32, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE},
      [P] = {"p", YOKE_FMI_FLOAT64, YOKE_FMI_PARAMETER, YOKE_FMI_TUNABLE},
      [Y] = {"y", YOKE_FMI_FLOAT64, YOKE_FMI_OUTPUT, YOKE_FMI_CONTINUOUS},
      [CLOCK_A] = {"a", YOKE_FMI_CLOCK, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE},
      [CLOCK_B] = {"b", YOKE_FMI_CLOCK, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE},
      [CLOCK_C] = {"c", YOKE_FMI_CLOCK, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE},
      [A_IN] = {"a_in", YOKE_FMI_FLOAT64, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE},
      [A_OUT] = {"a_out", YOKE_FMI_FLOAT64, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE},
      [B_IN] = {"b_in", YOKE_FMI_INT32, YOKE_FMI_INPUT, YOKE_FMI_DISCRETE},
      [B_OUT] = {"b_out", YOKE_FMI_INT32, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE},
      [C_COUNT] = {"c_count", YOKE_FMI_INT32, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE},
      [SIZE] = {"size", YOKE_FMI_UINT64, YOKE_FMI_STRUCTURAL_PARAMETER, YOKE_FMI_FIXED},
      [WORDS] = {"words", YOKE_FMI_STRING, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE},
      [BLOB] = {"blob", YOKE_FMI_BINARY, YOKE_FMI_OUTPUT, YOKE_FMI_DISCRETE},
  };
  for (unsigned i = 0; i < ALL; i++) {
    r->variables[i] =
        describe(rows[i].name, rows[i].type, rows[i].causality, rows[i].variability, i);
  }
  r->variables[SIZE].start = "3";
  r->variables[BLOB].max_size = 8;
  const double never = strtod("nan", NULL);
  r->clocks[0] = (yoke_fmi_clock){.variable = CLOCK_A, .interval = a, .interval_decimal = never};
  r->clocks[1] = (yoke_fmi_clock){.variable = CLOCK_B, .interval = b, .interval_decimal = never};
  r->clocks[2] = (yoke_fmi_clock){.variable = CLOCK_C, .interval = YOKE_FMI_INTERVAL_TRIGGERED};
  const yoke_fmi_clocked pairs[] = {
      {A_IN, CLOCK_A}, {A_OUT, CLOCK_A}, {B_IN, CLOCK_B}, {B_OUT, CLOCK_B}, {C_COUNT, CLOCK_C}};
  memcpy(r->clocked, pairs, sizeof pairs);
  r->description = (yoke_fmi_description){.version = 3,
                                          .token = "",
                                          .variables = r->variables,
                                          .n_variables = ALL,
                                          .clocks = r->clocks,
                                          .n_clocks = 3,
                                          .clocked = r->clocked,
                                          .n_clocked = 5,
                                          .co_simulation = {.is_given = true,
                                                            .has_event_mode = true,
                                                            .can_get_and_set_state = true,
                                                            .has_adjoint_derivatives = true}};
  r->doll.end_at = HUGE_VAL;
  r->doll.resolution = 1;
  r->table = (yoke_fmi3){
      .InstantiateCoSimulation = puppet_instantiate,
      .FreeInstance = puppet_free,
      .EnterInitializationMode = puppet_enter_init,
      .ExitInitializationMode = puppet_exit_init,
      .EnterEventMode = puppet_enter_event,
      .UpdateDiscreteStates = puppet_update,
      .EnterStepMode = puppet_enter_step,
      .DoStep = puppet_step,
      .Terminate = puppet_terminate,
      .SetFloat64 = puppet_set_real,
      .GetFloat64 = puppet_get_real,
      .SetInt32 = puppet_set_whole,
      .GetInt32 = puppet_get_whole,
      .GetString = puppet_get_text,
      .GetBinary = puppet_get_binary,
      .SetUInt64 = puppet_set_size,
      .EnterConfigurationMode = puppet_configure,
      .ExitConfigurationMode = puppet_end_configuring,
      .SetClock = puppet_set_clock,
      .GetClock = puppet_get_clock,
      .GetIntervalDecimal = puppet_interval,
      .GetIntervalFraction = puppet_fraction,
      .GetShiftDecimal = puppet_shift,
      .SetIntervalDecimal = puppet_tell,
      .GetFMUState = puppet_save,
      .SetFMUState = puppet_restore,
      .FreeFMUState = puppet_free_state,
      .SerializedFMUStateSize = puppet_state_size,
      .SerializeFMUState = puppet_write,
      .DeserializeFMUState = puppet_read,
      .GetAdjointDerivative = puppet_adjoint,
  };
  return r;
}

// creates the unit as unit_fmu.c does
static yoke_status rig_create(rig* r, const yoke_unit_args* args, const yoke_sink* sink) {
  fmu* f = &r->f;
  doll = &r->doll;
  r->file.description = f->description = &r->description;
  r->file.interface_type = &r->description.co_simulation;
  f->file = &r->file;
  f->f3 = &r->table;
  f->version = &yoke__fmu_version3;
  f->name = "unit";
  f->args = args;
  r->ops = (yoke_unit_ops){.exit_init = yoke__fmu_exit_init};
  yoke__fmu_fill_states(true, &r->ops);
  yoke__fmu_fill_cs3(&r->file, &r->ops);
  check_ok(yoke__fmu_lay_out(f->description, args, &f->arena, &f->layout, sink));
  const yoke_status status = f->version->instantiate(f);
  if (status < 0) {
    return yoke_fail(sink, status, "%s", f->message);
  }
  return yoke__fmu_open_cs3(f, sink);
}

static size_t place(const rig* r, const char* name) {
  for (size_t i = 0; i < r->f.layout.info.n_variables; i++) {
    if (strcmp(r->f.layout.info.variables[i].name, name) == 0) {
      return i;
    }
  }
  fail_msg("no variable '%s'", name);
  return 0;
}

static void set_whole(rig* r, const char* name, int64_t value) {
  const size_t i = place(r, name);
  check_ok(r->f.version->set(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], &value));
}

static void set_real(rig* r, const char* name, double value) {
  const size_t i = place(r, name);
  check_ok(r->f.version->set(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], &value));
}

static int64_t get_whole(rig* r, const char* name) {
  const size_t i = place(r, name);
  int64_t value = -1;
  check_ok(r->f.version->get(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], &value));
  return value;
}

static double get_real(rig* r, const char* name) {
  const size_t i = place(r, name);
  double value = -1;
  check_ok(r->f.version->get(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], &value));
  return value;
}

// u, d, a_in; the order of the variables
static void set_inputs(rig* r, double u, double d, double a_in) {
  const double all[] = {u, d, a_in};
  check_ok(r->ops.set_inputs(&r->f, all, 3));
}

// y, a_out
static void get_outputs(rig* r, double* y, double* a_out) {
  double all[2] = {-1, -1};
  check_ok(r->ops.get_outputs(&r->f, all, 2));
  *y = all[0];
  *a_out = all[1];
}

static void check_faultless(const rig* r) {
  if (r->doll.fault[0] != '\0') {
    fail_msg("the binary was called wrongly: %s", r->doll.fault);
  }
}

static void rig_start(rig* r, double t_start) {
  YOKE_CATCH(err);
  if (rig_create(r, NULL, &err.sink) < 0) {
    fail_msg("create: %s", err.text);
  }
  check_ok(yoke__fmu_enter_init(&r->f, t_start, t_start + 1e6, &err.sink));
  set_inputs(r, 0, 0, 0);
  const yoke_status status = r->ops.exit_init(&r->f);
  if (status < 0) {
    fail_msg("exit_init: %s; %s", r->f.message, r->doll.fault);
  }
  // what the start needed is not of interest
  r->doll.n_trace = 0;
}

static uint32_t step(rig* r, double t, double h) {
  yoke_step_result result = {.t_reached = t + h};
  if (r->ops.step(&r->f, t, h, &result) < 0) {
    fail_msg("step at %.17g: %s; %s", t, result.message, r->doll.fault);
  }
  check_faultless(r);
  return result.flags;
}

static void rig_free(rig* r) {
  check_faultless(r);
  yoke__fmu_free_saved(&r->f);
  yoke__arena_free(&r->f.arena);
  free(r);
}

static rig* simple(double t_start) {
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  rig_start(r, t_start);
  return r;
}

static void check_trace(rig* r, const char* expected) {
  r->doll.trace[r->doll.n_trace] = '\0';
  assert_string_equal(r->doll.trace, expected);
  r->doll.n_trace = 0;
}

// every stretch begins where the one before ended, the whole leads from t_start to t_end
static void check_stretches(const puppet* p, double t_start, double t_end) {
  double t = t_start;
  for (size_t i = 0; i < p->n_steps; i++) {
    check_near(p->starts[i], t, 4 * DBL_EPSILON * fabs(t));
    t = p->starts[i] + p->lengths[i];
    if (i + 1 < p->n_steps && p->starts[i + 1] < t) {
      t = p->starts[i + 1];  // an early return
    }
  }
  check_near(t, t_end, 4 * DBL_EPSILON * fabs(t_end));
}

// ---------------------------------------------------------------------------------------------------------
// events inside a step

static void test_early_returns_are_handled_inside(void** state) {
  (void)state;
  rig* r = simple(0);
  const double at[] = {0.25, 1.0 / 3.0, 0.7, 1.0};
  memcpy(r->doll.early, at, sizeof at);
  r->doll.n_early = 4;
  for (int k = 0; k < 5; k++) {
    const uint32_t flags = step(r, 0.3 * k, 0.3);
    assert_int_equal(flags, k < 4 ? YOKE_STEP_EVENT_NEEDED : 0);
  }
  check_trace(r, "euseuseuseus");
  assert_int_equal(r->doll.n_events, 4);
  for (size_t i = 0; i < 4; i++) {
    check_near(r->doll.events[i], at[i], 0);
  }
  assert_int_equal(r->doll.n_steps, 9);
  check_stretches(&r->doll, 0, 1.5);
  rig_free(r);
}

// several in one step, and one exactly at its end
static void test_many_events_in_one_step(void** state) {
  (void)state;
  rig* r = simple(1e6);
  for (size_t i = 0; i < 10; i++) {
    r->doll.early[i] = 1e6 + 0.125 * (double)(i + 1);
  }
  r->doll.n_early = 10;
  assert_int_equal(step(r, 1e6, 1.25), YOKE_STEP_EVENT_NEEDED);
  assert_int_equal(r->doll.n_events, 10);
  assert_int_equal(r->doll.n_steps, 10);
  check_near(r->f.drift, 0, 0);
  rig_free(r);
}

static void test_an_early_return_without_event_goes_on(void** state) {
  (void)state;
  rig* r = simple(0);
  r->doll.early[0] = 0.5;
  r->doll.n_early = 1;
  r->doll.is_early_plain = true;
  assert_int_equal(step(r, 0, 1), 0);
  check_trace(r, "");
  assert_int_equal(r->doll.n_steps, 2);
  check_near(r->doll.starts[1], 0.5, 0);
  check_near(r->doll.lengths[1], 0.5, 0);
  rig_free(r);
}

static void test_announced_times_are_hit_exactly(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  const double at[] = {0.5, 0.501, 2.0, 2.1};
  memcpy(r->doll.times, at, sizeof at);
  r->doll.n_times = 4;
  r->doll.is_exact = true;
  rig_start(r, 0);
  for (int k = 0; k < 6; k++) {
    const uint32_t flags = step(r, 0.4 * k, 0.4);
    // steps from 0.4, from 1.6 (event at its end, 2.0) and from 2.0
    assert_int_equal(flags, k == 1 || k == 4 || k == 5 ? YOKE_STEP_EVENT_NEEDED : 0);
  }
  assert_int_equal(r->doll.n_events, 4);
  for (size_t i = 0; i < 4; i++) {
    check_near(r->doll.events[i], at[i], 0);
  }
  check_stretches(&r->doll, 0, 2.4);
  rig_free(r);
}

// 3 * 0.1 is a rounding above 0.3: the event belongs to the end of the step, and nobody takes a step of 5e-17 s
static void test_rounding_makes_no_steps(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  for (size_t i = 0; i < 33; i++) {
    r->doll.times[i] = 0.3 * (double)(i + 1);
  }
  r->doll.n_times = 33;
  rig_start(r, 0);
  size_t n_flags = 0;
  for (int k = 0; k < 100; k++) {
    const double t = (double)k / 10.0;
    n_flags += step(r, t, 0.1) == YOKE_STEP_EVENT_NEEDED;
  }
  assert_int_equal(r->doll.n_steps, 100);
  assert_int_equal(r->doll.n_events, 33);
  assert_int_equal(n_flags, 33);
  rig_free(r);
}

// The same with a binary that takes an event only at or after its time: it is offered once at the end of the step, not
// taken, and then at its own time.
static void test_an_event_offered_too_early_is_offered_again(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  const double at = nextafter(1.0, 2.0);
  r->doll.times[0] = at;
  r->doll.n_times = 1;
  r->doll.is_exact = true;
  rig_start(r, 0);
  step(r, 0, 1);
  assert_int_equal(r->doll.n_events, 0);
  step(r, 1, 1);
  assert_int_equal(r->doll.n_events, 1);
  check_near(r->doll.events[0], at, 0);
  assert_int_equal(r->doll.n_steps, 3);
  step(r, 2, 1);
  assert_int_equal(r->doll.n_steps, 4);
  rig_free(r);
}

static void test_an_event_takes_the_rounds_it_needs(void** state) {
  (void)state;
  rig* r = simple(0);
  r->doll.early[0] = 0.5;
  r->doll.n_early = 1;
  r->doll.n_rounds = 3;
  step(r, 0, 1);
  check_trace(r, "euuus");
  rig_free(r);
}

static void check_failure(rig* r, double t, double h, const char* part) {
  yoke_step_result result = {.t_reached = t + h};
  assert_int_equal(r->ops.step(&r->f, t, h, &result), YOKE_UNIT_FAILED);
  assert_non_null(result.message);
  check_contains(result.message, part);
  assert_int_equal(r->f.phase, FMU_FAILED);
}

static void test_what_never_settles_fails(void** state) {
  (void)state;
  rig* r = simple(0);
  r->doll.early[0] = 0.5;
  r->doll.n_early = 1;
  r->doll.n_rounds = 1000;
  check_failure(r, 0, 1, "the event at t = 0.5 s does not settle: 100 updates");
  rig_free(r);

  r = simple(0);
  r->doll.is_stuck = true;
  check_failure(r, 0, 1, "more than 10000 events in one step at t = 0 s");
  rig_free(r);
}

static void test_a_return_outside_of_the_step_fails(void** state) {
  (void)state;
  rig* r = simple(5);
  r->doll.early[0] = 4.9;  // before the step
  r->doll.n_early = 1;
  check_failure(r, 5, 1, "returned early at t = 4.9 s, outside of its step from 5 to 6 s");
  rig_free(r);
}

// ---------------------------------------------------------------------------------------------------------
// inputs

static void test_discrete_inputs_wait_for_an_event(void** state) {
  (void)state;
  rig* r = simple(0);
  double y = 0, a_out = 0;
  // a continuous input makes no event
  set_inputs(r, 0.5, 0, 0);
  assert_int_equal(step(r, 0, 1), 0);
  check_trace(r, "");

  // a discrete one does, once
  set_inputs(r, 0.5, 2, 0);
  assert_int_equal(step(r, 1, 1), YOKE_STEP_EVENT_NEEDED);
  check_trace(r, "eus");
  set_inputs(r, 0.5, 2, 0);
  assert_int_equal(step(r, 2, 1), 0);
  check_trace(r, "");

  // all that changes at one point is one event
  set_inputs(r, 0.5, 3, 0);
  set_whole(r, "n", 4);
  set_real(r, "p", 5);
  assert_int_equal(get_whole(r, "n"), 4);
  check_near(get_real(r, "p"), 5, 0);
  assert_int_equal(step(r, 3, 1), YOKE_STEP_EVENT_NEEDED);
  check_trace(r, "eus");
  get_outputs(r, &y, &a_out);
  check_near(y, 0.5 + 30 + 400 + 5000, 0);
  assert_int_equal(get_whole(r, "n"), 4);

  // the same variable again
  set_whole(r, "n", 5);
  assert_int_equal(step(r, 4, 1), YOKE_STEP_EVENT_NEEDED);
  assert_int_equal(r->doll.n, 5);
  set_whole(r, "n", 4);

  // one by one works too
  set_real(r, "d", 7);
  assert_int_equal(step(r, 5, 1), YOKE_STEP_EVENT_NEEDED);
  check_near(get_real(r, "y"), 0.5 + 70 + 400 + 5000, 0);
  rig_free(r);
}

// outputs with new inputs at once; the update of the discrete states waits for the step
static void test_refresh_moves_no_state(void** state) {
  (void)state;
  rig* r = simple(0);
  double y = 0, a_out = 0;
  step(r, 0, 1);
  set_inputs(r, 0.25, 0, 0);
  check_ok(r->ops.refresh(&r->f, 1));
  get_outputs(r, &y, &a_out);
  check_near(y, 0.25, 0);
  check_trace(r, "e");
  // again, with a discrete input
  set_inputs(r, 0.25, 1, 0);
  set_whole(r, "n", 2);
  check_ok(r->ops.refresh(&r->f, 1));
  get_outputs(r, &y, &a_out);
  check_near(y, 0.25 + 10 + 200, 0);
  check_trace(r, "");
  set_inputs(r, 0.25, 1, 0);
  assert_int_equal(step(r, 1, 1), YOKE_STEP_EVENT_NEEDED);
  check_trace(r, "us");
  // a look alone is no jump
  set_inputs(r, 0.5, 1, 0);
  check_ok(r->ops.refresh(&r->f, 2));
  assert_int_equal(step(r, 2, 1), 0);
  check_trace(r, "eus");
  rig_free(r);
}

// without event mode nothing of all this is called
static void test_event_mode_off(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  r->file.settings.is_event_mode_off = true;
  r->doll.early[0] = 0.5;
  r->doll.n_early = 1;
  r->doll.is_early_plain = true;  // early although it must not
  YOKE_CATCH(err);
  check_ok(rig_create(r, NULL, &err.sink));
  assert_null(r->ops.refresh);
  check_ok(yoke__fmu_enter_init(&r->f, 0, 10, &err.sink));
  check_ok(r->ops.exit_init(&r->f));
  assert_false(r->doll.has_event_mode);
  const double d = 3;
  const size_t i = place(r, "d");
  check_ok(r->f.version->set(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], &d));
  assert_int_equal(step(r, 0, 1), 0);
  check_trace(r, "");
  assert_int_equal(r->doll.n_steps, 2);
  check_near(r->doll.d, 3, 0);
  rig_free(r);
}

// ---------------------------------------------------------------------------------------------------------
// clocks

static void test_periodic_clock_does_not_drift(void** state) {
  (void)state;
  // 0.1 s against steps of 0.03 s, from t = 1e3
  rig* r = rig_make(YOKE_FMI_INTERVAL_CONSTANT, YOKE_FMI_INTERVAL_TRIGGERED);
  r->clocks[0].interval_decimal = 0.1;
  r->clocks[0].shift_decimal = 0.05;
  rig_start(r, 1000);
  for (int k = 0; k < 3000; k++) {
    step(r, 1000 + 0.03 * k, 0.03);
  }
  // ticks at 1000.05, 1000.15, ... 1089.95 before the end at 1090
  assert_int_equal(r->doll.n_a, 900);
  for (size_t i = 0; i < r->doll.n_a; i++) {
    check_near(r->doll.ticks_a[i], 1000 + (0.05 + 0.1 * (double)i), 4 * DBL_EPSILON * 1100);
  }
  rig_free(r);

  // thirds of a second as a fraction; each third tick is a whole number to the last bit
  r = rig_make(YOKE_FMI_INTERVAL_FIXED, YOKE_FMI_INTERVAL_TRIGGERED);
  r->clocks[0] = (yoke_fmi_clock){.variable = CLOCK_A,
                                  .interval = YOKE_FMI_INTERVAL_FIXED,
                                  .interval_decimal = 0.333,
                                  .has_counter = true,
                                  .interval_counter = 1,
                                  .shift_counter = 1,
                                  .resolution = 3};
  rig_start(r, 0);
  check_near(r->doll.told_interval, 0.333, 0);
  for (int k = 0; k < 1000; k++) {
    step(r, k, 1);
  }
  assert_int_equal(r->doll.n_a, 3000);
  for (size_t i = 0; i < 1000; i++) {
    check_near(r->doll.ticks_a[3 * i + 2], (double)(i + 1), 0);
  }
  rig_free(r);
}

// a clock that ticks at the start ticks at the end of initialisation, and at the end of the steps that reach it
static void test_clocked_variables(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_CONSTANT, YOKE_FMI_INTERVAL_TRIGGERED);
  r->clocks[0].interval_decimal = 0.5;
  rig_start(r, 0);
  double y = 0, a_out = 0;
  assert_int_equal(r->doll.n_a, 1);
  set_inputs(r, 0, 0, 3);
  // between ticks the clocked input waits and the clocked output stays
  assert_int_equal(step(r, 0, 0.25), 0);
  get_outputs(r, &y, &a_out);
  check_near(a_out, 0, 0);
  check_near(r->doll.a_in, 0, 0);
  set_inputs(r, 0, 0, 4);
  assert_int_equal(step(r, 0.25, 0.25), YOKE_STEP_EVENT_NEEDED);
  get_outputs(r, &y, &a_out);
  check_near(a_out, 8, 0);
  check_near(get_real(r, "a_out"), 8, 0);
  set_inputs(r, 0, 0, 5);
  step(r, 0.5, 0.25);
  get_outputs(r, &y, &a_out);
  check_near(a_out, 8, 0);
  check_near(get_real(r, "a_in"), 5, 0);
  rig_free(r);
}

static void test_triggered_clock_follows_its_boolean(void** state) {
  (void)state;
  rig* r = simple(0);
  set_whole(r, "b_in", 7);
  step(r, 0, 1);
  assert_int_equal(r->doll.n_b, 0);
  assert_int_equal(r->doll.b_in, 0);  // still waits
  set_whole(r, "b", 1);
  assert_int_equal(step(r, 1, 1), YOKE_STEP_EVENT_NEEDED);
  assert_int_equal(r->doll.b_in, 7);
  assert_int_equal(get_whole(r, "b_out"), 1);
  // the level stays: a tick at each step
  step(r, 2, 1);
  set_whole(r, "b", 0);
  assert_int_equal(step(r, 3, 1), 0);
  assert_int_equal(r->doll.n_b, 2);
  check_near(r->doll.ticks_b[0], 1, 0);
  check_near(r->doll.ticks_b[1], 2, 0);
  assert_int_equal(get_whole(r, "b_out"), 2);
  rig_free(r);
}

static void test_output_clock_shows_in_its_step(void** state) {
  (void)state;
  rig* r = simple(0);
  r->doll.early[0] = 1.5;
  r->doll.n_early = 1;
  for (int k = 0; k < 4; k++) {
    step(r, k, 1);
    assert_int_equal(get_whole(r, "c"), k == 1);
    assert_int_equal(get_whole(r, "c_count"), k >= 1);
  }
  const int64_t one = 1;
  const size_t i = place(r, "c");
  assert_int_equal(
      r->f.version->set(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], &one),
      YOKE_NO_SUPPORT);
  check_contains(r->f.message, "clock 'c' ticks by itself");
  rig_free(r);
}

static void test_countdown_and_changing_clocks(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_COUNTDOWN, YOKE_FMI_INTERVAL_CHANGING);
  r->clocks[1].supports_fraction = true;
  r->doll.qualifier[0] = fmi3IntervalNotYetKnown;
  r->doll.qualifier[1] = fmi3IntervalChanged;
  r->doll.counter[1] = 1;
  r->doll.resolution = 10;
  rig_start(r, 0);
  // B after 0.1 s, then every 0.2 s: 0.1, 0.3, 0.5, ...; A is not known yet
  r->doll.counter[1] = 2;
  step(r, 0, 0.45);
  assert_int_equal(r->doll.n_a, 0);
  assert_int_equal(r->doll.n_b, 2);
  check_near(r->doll.ticks_b[0], 0.1, 0);
  check_near(r->doll.ticks_b[1], 0.3, 0);
  // the event at 0.5 starts the countdown of 0.03 s; nobody sets it again
  r->doll.qualifier[0] = fmi3IntervalChanged;
  r->doll.interval[0] = 0.03;
  step(r, 0.45, 0.06);
  r->doll.qualifier[0] = fmi3IntervalUnchanged;
  step(r, 0.51, 0.99);
  assert_int_equal(r->doll.n_a, 1);
  check_near(r->doll.ticks_a[0], 0.53, 2 * DBL_EPSILON);
  assert_int_equal(r->doll.n_b, 8);
  for (size_t i = 0; i < 8; i++) {
    check_near(r->doll.ticks_b[i], (double)(1 + 2 * i) / 10, DBL_EPSILON);
  }
  rig_free(r);
}

// a changing clock that always says 1/3: it counts from its own ticks, not from the steps that reach them
static void test_changing_clock_does_not_drift(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_CHANGING, YOKE_FMI_INTERVAL_TRIGGERED);
  r->clocks[0].supports_fraction = true;
  r->doll.qualifier[0] = fmi3IntervalChanged;
  r->doll.counter[0] = 1;
  r->doll.resolution = 3;
  rig_start(r, 0);
  // steps of a third that is a rounding off: ticks belong to their ends
  const double h = nextafter(1.0 / 3.0, 1);
  for (int k = 0; k < 3000; k++) {
    step(r, k * h, h);
  }
  assert_int_equal(r->doll.n_a, 3000);
  assert_int_equal(r->doll.n_steps, 3000);
  const fmu_tick* tick = r->f.events->ticks;
  assert_true(tick->is_known && tick->is_fraction);
  check_near(tick->origin, 0, 0);
  assert_int_equal(tick->counter, 3001);
  rig_free(r);
}

static void test_tunable_clock_starts_anew_when_it_changes(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_TUNABLE, YOKE_FMI_INTERVAL_TRIGGERED);
  r->doll.qualifier[0] = fmi3IntervalUnchanged;
  r->doll.interval[0] = 0.5;
  r->doll.shift[0] = 0.25;
  rig_start(r, 0);
  step(r, 0, 1);  // 0.25, 0.75
  assert_int_equal(r->doll.n_a, 2);
  // a new parameter at t = 1: the next tick comes 0.2 s after the event
  r->doll.qualifier[0] = fmi3IntervalChanged;
  r->doll.interval[0] = 0.2;
  set_real(r, "p", 1);
  step(r, 1, 0.1);
  r->doll.qualifier[0] = fmi3IntervalUnchanged;
  step(r, 1.1, 0.65);  // 1.2, 1.4, 1.6
  assert_int_equal(r->doll.n_a, 5);
  const double at[] = {0.25, 0.75, 1.2, 1.4, 1.6};
  for (size_t i = 0; i < 5; i++) {
    check_near(r->doll.ticks_a[i], at[i], 4 * DBL_EPSILON);
  }
  rig_free(r);
}

static void test_impossible_intervals_are_refused(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_CALCULATED, YOKE_FMI_INTERVAL_TRIGGERED);
  YOKE_CATCH(err);
  check_ok(rig_create(r, NULL, &err.sink));
  check_ok(yoke__fmu_enter_init(&r->f, 0, 1, &err.sink));
  r->doll.qualifier[0] = fmi3IntervalChanged;
  assert_int_equal(r->ops.exit_init(&r->f), YOKE_UNIT_FAILED);
  check_contains(r->f.message, "clock 'a' has the interval 0 s");
  rig_free(r);
}

// ---------------------------------------------------------------------------------------------------------
// states, ends, failures

// what the unit remembers goes with the state of the binary: the same ticks, events and outputs a second time
static void test_restore_brings_back_clocks_and_inputs(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_CONSTANT, YOKE_FMI_INTERVAL_TRIGGERED);
  r->clocks[0].interval_decimal = 0.4;
  r->doll.times[0] = 1.3;
  r->doll.n_times = 1;
  rig_start(r, 0);
  step(r, 0, 1);
  set_whole(r, "n", 9);  // waits
  set_inputs(r, 1, 2, 3);
  unsigned char image[2 * sizeof(void*)] = {0};
  check_ok(r->ops.save(&r->f, image, sizeof image));

  size_t size = 0;
  assert_int_equal(r->ops.serialise(&r->f, NULL, &size), YOKE_FULL);
  unsigned char* bytes = malloc(size);
  check_ok(r->ops.serialise(&r->f, bytes, &size));

  step(r, 1, 1);
  const double y = get_real(r, "y"), a_out = get_real(r, "a_out");
  const size_t n_a = r->doll.n_a, n_steps = r->doll.n_steps;
  const double last = r->doll.ticks_a[n_a - 1];
  assert_int_equal(n_a, 6);  // 0, 0.4, 0.8, 1.2, 1.6, 2.0
  for (int way = 0; way < 2; way++) {
    check_ok(way == 0 ? r->ops.restore(&r->f, image, sizeof image)
                      : r->ops.deserialise(&r->f, bytes, size));
    assert_int_equal(r->doll.n_a, 3);
    step(r, 1, 1);
    check_near(get_real(r, "y"), y, 0);
    check_near(get_real(r, "a_out"), a_out, 0);
    assert_int_equal(r->doll.n_a, n_a);
    assert_int_equal(r->doll.n_steps, n_steps);
    check_near(r->doll.ticks_a[n_a - 1], last, 0);
  }
  check_near(y, 1 + 20 + 900, 0);
  assert_int_equal(r->ops.deserialise(&r->f, bytes, 3), YOKE_BAD_INPUT);
  free(bytes);
  rig_free(r);
}

static void test_the_binary_may_end_the_run(void** state) {
  (void)state;
  rig* r = simple(0);
  r->doll.early[0] = 0.5;
  r->doll.n_early = 1;
  r->doll.end_at = 0.5;
  assert_int_equal(step(r, 0, 1), YOKE_STEP_EVENT_NEEDED | YOKE_STEP_END_WANTED);
  rig_free(r);

  // at the start already
  r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  r->doll.end_at = 0;
  rig_start(r, 0);
  assert_int_equal(step(r, 0, 1), YOKE_STEP_END_WANTED);
  assert_int_equal(r->doll.n_steps, 0);
  rig_free(r);
}

static void test_outcomes_of_a_step(void** state) {
  (void)state;
  for (int has_events = 0; has_events < 2; has_events++) {
    for (fmi3Status status = fmi3Discard; status <= fmi3Fatal; status++) {
      rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
      r->file.settings.is_event_mode_off = has_events == 0;
      rig_start(r, 0);
      r->doll.step_status = status;
      yoke_step_result result = {.t_reached = 1};
      const yoke_status outcome = r->ops.step(&r->f, 0, 1, &result);
      if (status == fmi3Discard) {
        check_ok(outcome);
        assert_int_equal(result.flags, YOKE_STEP_DISCARDED);
        check_near(result.t_reached, 0, 0);
        assert_int_equal(r->f.phase, FMU_RUNNING);
      } else {
        assert_int_equal(outcome, YOKE_UNIT_FAILED);
        check_contains(result.message, status == fmi3Error ? "fmi3DoStep returned error"
                                                           : "fmi3DoStep returned fatal");
        assert_int_equal(r->f.phase, status == fmi3Error ? FMU_FAILED : FMU_DEAD);
      }
      rig_free(r);
    }
  }
}

static void test_failures_in_event_mode_name_the_call(void** state) {
  (void)state;
  rig* r = simple(0);
  r->doll.early[0] = 0.5;
  r->doll.n_early = 1;
  r->doll.event_status = fmi3Error;
  check_failure(r, 0, 1, "fmi3EnterEventMode returned error");
  rig_free(r);
}

static void test_drift_is_noted(void** state) {
  (void)state;
  for (int has_events = 0; has_events < 2; has_events++) {
    rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
    r->file.settings.is_event_mode_off = has_events == 0;
    rig_start(r, 0);
    step(r, 0, 1);
    check_near(r->f.drift, 0, 0);
    r->doll.late = -1e-3;
    step(r, 1, 1);
    r->doll.late = 0;
    step(r, 2, 1);
    check_near(r->f.drift, -1e-3, 1e-15);
    check_near(r->f.drift_at, 2, 0);
    rig_free(r);
  }
}

static void test_a_binary_without_the_functions_is_refused(void** state) {
  (void)state;
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  YOKE_CATCH(err);
  r->table.EnterStepMode = NULL;
  assert_int_equal(rig_create(r, NULL, &err.sink), YOKE_NO_SUPPORT);
  check_contains(err.text, "the binary lacks fmi3EnterStepMode");
  rig_free(r);
}

// ---------------------------------------------------------------------------------------------------------
// other calls

static void test_structural_parameters_through_configuration_mode(void** state) {
  (void)state;
  for (int64_t size = 3; size <= 4; size++) {
    rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
    const yoke_argument argument = {"size", YOKE_INTEGER, 1, 1, &size};
    const yoke_unit_args args = {.name = "unit", .arguments = &argument, .n_arguments = 1};
    YOKE_CATCH(err);
    check_ok(rig_create(r, &args, &err.sink));
    // the value it starts with needs no call
    assert_int_equal(r->doll.size, size == 3 ? 0 : 4);
    assert_int_equal(r->doll.mode, INSTANTIATED);
    rig_free(r);
  }
  rig* r = rig_make(YOKE_FMI_INTERVAL_TRIGGERED, YOKE_FMI_INTERVAL_TRIGGERED);
  const int64_t size = 5;
  const yoke_argument argument = {"size", YOKE_INTEGER, 1, 1, &size};
  const yoke_unit_args args = {.name = "unit", .arguments = &argument, .n_arguments = 1};
  YOKE_CATCH(err);
  r->table.EnterConfigurationMode = NULL;
  assert_int_equal(rig_create(r, &args, &err.sink), YOKE_NO_SUPPORT);
  check_contains(err.text, "'size' cannot be changed: the binary has no configuration mode");
  rig_free(r);
}

static void get_bytes(rig* r, const char* name, void* to) {
  const size_t i = place(r, name);
  check_ok(r->f.version->get(&r->f, &r->f.layout.slots[i], &r->f.layout.info.variables[i], to));
}

// what is longer than its room is cut between characters and counted
static void test_long_texts_and_binaries_are_cut(void** state) {
  (void)state;
  rig* r = simple(0);
  char text[2 * FMU_TEXT_SIZE], got[FMU_TEXT_SIZE];
  memset(text, 'a', sizeof text);
  text[sizeof text - 1] = '\0';
  r->doll.words = text;
  get_bytes(r, "words", got);
  assert_int_equal(strlen(got), FMU_TEXT_SIZE - 1);
  assert_int_equal(r->f.n_cut, 1);
  // the last byte that would fit is the first of a euro sign
  memcpy(text + FMU_TEXT_SIZE - 2, "\xe2\x82\xac", 3);
  get_bytes(r, "words", got);
  assert_int_equal(strlen(got), FMU_TEXT_SIZE - 2);
  assert_int_equal(r->f.n_cut, 2);
  r->doll.words = NULL;
  get_bytes(r, "words", got);
  assert_string_equal(got, "");
  assert_int_equal(r->f.n_cut, 2);

  struct {
    uint64_t n;
    unsigned char bytes[8];
  } blob;
  r->doll.blob = (const uint8_t*)"0123456789";
  r->doll.blob_size = 10;
  get_bytes(r, "blob", &blob);
  assert_int_equal(blob.n, 8);
  assert_memory_equal(blob.bytes, "01234567", 8);
  assert_int_equal(r->f.n_cut, 3);
  // what was there before does not shine through
  r->doll.blob_size = 1;
  get_bytes(r, "blob", &blob);
  assert_int_equal(blob.n, 1);
  assert_memory_equal(blob.bytes, "0\0\0\0\0\0\0\0", 8);
  r->doll.blob = NULL;
  get_bytes(r, "blob", &blob);
  assert_int_equal(blob.n, 0);
  rig_free(r);
}

static void test_adjoint_derivatives_serve_too(void** state) {
  (void)state;
  rig* r = simple(0);
  const uint32_t unknowns[] = {10 + Y}, knowns[] = {10 + U, 10 + D};
  const double seed[] = {3, 0.5};
  double out[1] = {0};
  check_ok(r->f.version->directional(&r->f, unknowns, 1, knowns, 2, seed, out));
  check_near(out[0], 3 + 5, 0);
  rig_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_early_returns_are_handled_inside),
      cmocka_unit_test(test_many_events_in_one_step),
      cmocka_unit_test(test_an_early_return_without_event_goes_on),
      cmocka_unit_test(test_announced_times_are_hit_exactly),
      cmocka_unit_test(test_rounding_makes_no_steps),
      cmocka_unit_test(test_an_event_offered_too_early_is_offered_again),
      cmocka_unit_test(test_an_event_takes_the_rounds_it_needs),
      cmocka_unit_test(test_what_never_settles_fails),
      cmocka_unit_test(test_a_return_outside_of_the_step_fails),
      cmocka_unit_test(test_discrete_inputs_wait_for_an_event),
      cmocka_unit_test(test_refresh_moves_no_state),
      cmocka_unit_test(test_event_mode_off),
      cmocka_unit_test(test_periodic_clock_does_not_drift),
      cmocka_unit_test(test_clocked_variables),
      cmocka_unit_test(test_triggered_clock_follows_its_boolean),
      cmocka_unit_test(test_output_clock_shows_in_its_step),
      cmocka_unit_test(test_countdown_and_changing_clocks),
      cmocka_unit_test(test_changing_clock_does_not_drift),
      cmocka_unit_test(test_tunable_clock_starts_anew_when_it_changes),
      cmocka_unit_test(test_impossible_intervals_are_refused),
      cmocka_unit_test(test_restore_brings_back_clocks_and_inputs),
      cmocka_unit_test(test_the_binary_may_end_the_run),
      cmocka_unit_test(test_outcomes_of_a_step),
      cmocka_unit_test(test_failures_in_event_mode_name_the_call),
      cmocka_unit_test(test_drift_is_noted),
      cmocka_unit_test(test_a_binary_without_the_functions_is_refused),
      cmocka_unit_test(test_structural_parameters_through_configuration_mode),
      cmocka_unit_test(test_long_texts_and_binaries_are_cut),
      cmocka_unit_test(test_adjoint_derivatives_serve_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
