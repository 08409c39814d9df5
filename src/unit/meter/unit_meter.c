// A meter between two units: the total energy residual (TER) of a power bond, on line.
//
//   dP = effort_in . flow_out - flow_in . effort_out
//   ter = sum h |dP|,  dE = sum h dP,  throughput = sum h |effort_in . flow_in|,
//   rter = ter / max(throughput, floor), and ter and rter over the last `window` seconds
//
// effort_in: as its receiver got it (delay and hold included), effort_out: as its sender gave it;
// the flows likewise. A step of length h accounts h times the inputs it was given, those of its
// start; so the meter's step must be small enough to see every change of the four signals.
// Intervals with a value that is not finite are counted in n_bad and left out. No feedthrough.
// The arithmetic is energy_ter.c's. Inputs in SI units. Source: energy_ter.h. Page: docs/meter.md, "Equation".
#include "unit/meter/unit_meter.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base_check.h"
#include "energy/energy_ter.h"
#include "energy/energy_window.h"
#include "models/models_support.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_SIZE     10000

typedef struct meter {
  yoke_model_head head;
  size_t n;
  double window, floor;  // the image starts here
  double ter, dP, dE, throughput, rter, ter_window, rter_window, flow_part, effort_part;
  int64_t n_bad;
  yoke_ter sums;
  yoke_window recent;
  double inputs[];  // effort_in, effort_out, flow_in, flow_out: n each
} meter;

enum { EFFORT_IN, EFFORT_OUT, FLOW_IN, FLOW_OUT, N_INPUTS };
enum { WINDOW_TER, WINDOW_THROUGHPUT };  // numbers of the window that are in use

static const yoke_variable structure[] = {
    {.name = "n",
     .text = "components of the bond",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 1.0},
};

// Sizes and offsets of the inputs are filled in by describe. Any bond may be measured, so the inputs
// have no dimension; their products must be watts.
#define REAL(member_, dim_, text_, causality_, start_)                                             \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL,                           \
    .causality = (causality_), .start = (start_), .offset = offsetof(meter, member_)               \
  }
static const yoke_variable variables[] = {
    [EFFORT_IN] = {.name = "effort_in",
                   .text = "effort as its receiver got it, SI units",
                   .causality = YOKE_INPUT},
    [EFFORT_OUT] = {.name = "effort_out",
                    .text = "effort as its sender gave it, SI units",
                    .causality = YOKE_INPUT},
    [FLOW_IN] = {.name = "flow_in",
                 .text = "flow as its receiver got it, SI units",
                 .causality = YOKE_INPUT},
    [FLOW_OUT] = {.name = "flow_out",
                  .text = "flow as its sender gave it, SI units",
                  .causality = YOKE_INPUT},
    REAL(ter, "J", "total energy residual", YOKE_OUTPUT, 0.0),
    REAL(dP, "W", "residual power of the last interval", YOKE_OUTPUT, 0.0),
    REAL(dE, "J", "residual energy, signed", YOKE_OUTPUT, 0.0),
    REAL(throughput, "J", "transferred energy, both directions summed", YOKE_OUTPUT, 0.0),
    REAL(rter, "1", "ter over throughput", YOKE_OUTPUT, 0.0),
    REAL(ter_window, "J", "ter of the last window", YOKE_OUTPUT, 0.0),
    REAL(rter_window, "1", "ter over throughput of the last window", YOKE_OUTPUT, 0.0),
    REAL(flow_part, "J", "part of the flow's defect", YOKE_OUTPUT, 0.0),
    REAL(effort_part, "J", "part of the effort's defect", YOKE_OUTPUT, 0.0),
    {.name = "n_bad",
     .dim = "1",
     .text = "intervals left out because a value was not finite",
     .type = YOKE_INTEGER,
     .causality = YOKE_OUTPUT,
     .offset = offsetof(meter, n_bad)},
    REAL(window, "s", "length of the window", YOKE_PARAMETER, 1.0),
    REAL(floor, "J", "smallest throughput used as a divisor", YOKE_PARAMETER, 1e-9),
};

static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  int64_t count = 0;
  YOKE_TRY(yoke__model_integer(args, "n", 1, 1, MAX_SIZE, &count, sink));
  const size_t n = (size_t)count, size = sizeof(meter) + N_INPUTS * n * sizeof(double);
  meter* m = yoke__model_make(size, offsetof(meter, window), COUNT(variables), 0, 0);
  if (m == NULL) {
    return yoke__model_no_memory(sink);
  }
  m->n = n;
  m->window = 1.0;
  m->floor = 1e-9;
  memcpy(m->head.variables, variables, sizeof variables);
  for (size_t i = 0; i < N_INPUTS; i++) {
    m->head.variables[i].n_rows = n;
    m->head.variables[i].offset = offsetof(meter, inputs) + i * n * sizeof(double);
  }
  *self = m;
  return YOKE_OK;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  meter* m = self;
  (void)t_start;
  (void)t_stop;
  if (!(m->window > 0.0 && yoke__is_finite(m->window) && m->floor > 0.0 &&
        yoke__is_finite(m->floor))) {
    return yoke__model_refuse(sink, "window and floor must be above 0");
  }
  m->sums = (yoke_ter){0};
  yoke__window_start(&m->recent, m->window);
  return YOKE_OK;
}

// Outputs from the sums; the inputs have no say.
static yoke_status refresh(void* self, double t) {
  meter* m = self;
  (void)t;
  m->ter = yoke__ter_total(&m->sums);
  m->dP = m->sums.power;
  m->dE = yoke__sum_value(&m->sums.net);
  m->throughput = yoke__ter_throughput(&m->sums);
  m->rter = m->ter / fmax(m->throughput, m->floor);
  m->ter_window = m->recent.sums[WINDOW_TER];
  m->rter_window = m->ter_window / fmax(m->recent.sums[WINDOW_THROUGHPUT], m->floor);
  m->flow_part = m->sums.flow;
  m->effort_part = m->sums.effort;
  m->n_bad = (int64_t)m->sums.n_bad;
  return YOKE_OK;
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  meter* m = self;
  (void)result;
  const yoke_ter_sample sample = {.e_in = m->inputs + EFFORT_IN * m->n,
                                  .f_out = m->inputs + FLOW_OUT * m->n,
                                  .f_in = m->inputs + FLOW_IN * m->n,
                                  .e_out = m->inputs + EFFORT_OUT * m->n};
  const uint64_t n_bad = m->sums.n_bad;
  yoke__ter_add(&m->sums, h, m->n, &sample);

  // an interval that was left out still passes through the window
  double energy[YOKE_WINDOW_NUMBERS] = {0.0};
  if (m->sums.n_bad == n_bad) {
    energy[WINDOW_TER] = h * fabs(m->sums.power);
    energy[WINDOW_THROUGHPUT] = h * fabs(m->sums.passed);
  }
  yoke__window_add(&m->recent, h, energy);
  return refresh(m, t + h);
}

const yoke_unit_ops yoke__unit_meter = {
    .name = "meter",
    .text = "total energy residual of a power bond",
    .structure = structure,
    .n_structure = COUNT(structure),
    .create = create,
    .describe = yoke__model_describe,
    .enter_init = enter_init,
    .step = step,
    .refresh = refresh,
    .save = yoke__model_save,
    .restore = yoke__model_restore,
    .close = yoke__model_close,
};
