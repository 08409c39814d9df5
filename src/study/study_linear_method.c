// The coupling methods of an analysis as cases of stability; see study_linear.h.
//
// Except for the file's own coupling a method gets all that it can use: solvers follow inputs that are no constants, and
// outputs are known at about 20 places inside a step (more of them move no limit of the dual mass oscillator by its
// resolution of 0.05 ms; the model-based corrector, which has limits that they do move, gets every internal step of an
// Euler solver). As the file runs it, inputs are held from call to call, and outputs are known where the units are called.
#include <math.h>

#include "base/base_check.h"
#include "couple/couple_mpsm_mbcorr.h"
#include "study/study_linear.h"
#include "study/study_linear_engine.h"

#define N_INSIDE  20    // places inside a step where outputs are known, about
#define MAX_PARTS 2000  // of a step
#define LARGE     120  // states, outputs and inputs: a radius takes more than some 10 ms from here on
// A coupled system that keeps its energy has a radius of 1 with an exact method, and round-off decides which side of it;
// the more so where it also has a motion without force, whose eigenvalues are defective. So has a method with models that
// keep something for ever.
#define MARGIN           1e-9
#define MARGIN_DEFECTIVE 1e-6
#define MARGIN_RUN       1e-7  // multipliers that are read off a motion

const char* const yoke__linear_method_names[YOKE_LINEAR_N_METHODS + 1] = {
    [YOKE_LINEAR_HOLD] = "hold",         [YOKE_LINEAR_HOLD_1] = "hold-1",
    [YOKE_LINEAR_HOLD_2] = "hold-2",     [YOKE_LINEAR_MEAN] = "mean",
    [YOKE_LINEAR_AUTO] = "auto",         [YOKE_LINEAR_NEPCE] = "nepce",
    [YOKE_LINEAR_MPSM] = "mpsm",         [YOKE_LINEAR_MODIFIED] = "mpsm-modified",
    [YOKE_LINEAR_EDE] = "mpsm-ede",      [YOKE_LINEAR_RAMP] = "mpsm-ramp",
    [YOKE_LINEAR_MBCORR] = "mbcorr",     [YOKE_LINEAR_INTERPOLATE] = "interpolate",
    [YOKE_LINEAR_ENERGY] = "energy",     [YOKE_LINEAR_HINF] = "hinf",
    [YOKE_LINEAR_ADAPTIVE] = "adaptive", [YOKE_LINEAR_FILE] = "file",
    [YOKE_LINEAR_N_METHODS] = NULL,
};

const char* const yoke__linear_method_texts[YOKE_LINEAR_N_METHODS] = {
    [YOKE_LINEAR_HOLD] = "zero-order hold",
    [YOKE_LINEAR_HOLD_1] = "linear extrapolation",
    [YOKE_LINEAR_HOLD_2] = "quadratic extrapolation",
    [YOKE_LINEAR_MEAN] = "zero-order hold with inputs: mean",
    [YOKE_LINEAR_AUTO] = "the default: inputs: mean with quadratic extrapolation",
    [YOKE_LINEAR_NEPCE] = "zero-order hold plus the error of the last step",
    [YOKE_LINEAR_MPSM] = "pre-step stabilisation, exact models",
    [YOKE_LINEAR_MODIFIED] = "the same without its step 3",
    [YOKE_LINEAR_EDE] = "the same with step 1 (ede)",
    [YOKE_LINEAR_RAMP] = "the same with ramps as inputs",
    [YOKE_LINEAR_MBCORR] = "model-based corrector",
    [YOKE_LINEAR_INTERPOLATE] = "ramp to the predicted next sample",
    [YOKE_LINEAR_ENERGY] = "zero-order hold with energy correction",
    [YOKE_LINEAR_HINF] = "designed element (yoke synth)",
    [YOKE_LINEAR_ADAPTIVE] = "prediction by a model learnt during the run",
    [YOKE_LINEAR_FILE] = "the coupling in the system file",
};

static void set_method(yoke_linear_method method, yoke_stability_case* c) {
  switch (method) {
  case YOKE_LINEAR_HOLD:
  case YOKE_LINEAR_MEAN:
    c->method = YOKE_STABILITY_ZOH;
    break;
  case YOKE_LINEAR_HOLD_1:
    c->method = YOKE_STABILITY_FOH;
    break;
  case YOKE_LINEAR_HOLD_2:
  case YOKE_LINEAR_AUTO:
    c->method = YOKE_STABILITY_SOH;
    c->is_choosing = method == YOKE_LINEAR_AUTO;
    break;
  case YOKE_LINEAR_NEPCE:
    c->method = YOKE_STABILITY_NEPCE;
    break;
  case YOKE_LINEAR_MODIFIED:
    c->is_modified = true;
    break;
  case YOKE_LINEAR_EDE:
    c->options.uses_ede = true;
    break;
  case YOKE_LINEAR_RAMP:
    c->options.shape = YOKE_MPSM_RAMP;
    c->options.keeps_ramp_jump = false;
    break;
  case YOKE_LINEAR_MBCORR:
    c->method = YOKE_STABILITY_MBCORR;
    c->options = yoke__mbcorr_options(false);
    break;
  default:
    break;
  }
}

static bool looks_inside(yoke_linear_method method) {
  return method == YOKE_LINEAR_NEPCE || method == YOKE_LINEAR_EDE || method == YOKE_LINEAR_MBCORR;
}

// Places inside a step where outputs are known, so that the parts between them hold whole internal steps of the solvers:
// else a solver would take other steps under one method than under the next.
static size_t places_inside(const yoke_linear_loops* self, bool is_every, double step) {
  // the shortest internal step of explicit Euler decides
  double micro = 0;
  for (size_t i = 0; i < self->n_members; i++) {
    const double own = self->solvers[i].micro_step;
    micro = own > 0 && (micro == 0 || own < micro) ? own : micro;
  }
  const double n = micro > 0 ? floor(step / micro + 0.5) : 0;
  if (n < 1 || n > MAX_PARTS) {
    return N_INSIDE;
  }
  const size_t n_micro = (size_t)n;
  if (is_every) {
    return n_micro;
  }

  // number near 20 that divides the internal steps: 20 .. 40, 10 .. 20
  for (size_t i = 0; i <= N_INSIDE; i++) {
    if (n_micro % (N_INSIDE + i) == 0) {
      return N_INSIDE + i;
    }
    if (i <= N_INSIDE / 2 && n_micro % (N_INSIDE - i) == 0) {
      return N_INSIDE - i;
    }
  }
  return n_micro;
}

// Outputs between the exchanges of a method that uses them.
static void look_inside(const yoke_linear_loops* self, yoke_linear_method method,
                        yoke_stability_case* c) {
  if (looks_inside(method)) {
    // the corrector sums up a mean of what a stiff model answers to each of them, held in between
    const bool is_corrector = method == YOKE_LINEAR_MBCORR;
    c->n_inner = places_inside(self, is_corrector, c->step);
    c->sees_inside = true;
    c->options.between = is_corrector ? YOKE_MPSM_HELD : YOKE_MPSM_MODEL;
  }
}

// The calls of the units, if all have the same number.
static void count_calls(const yoke_linear_loops* self, yoke_stability_case* c) {
  const double call = self->called[0].call_step;
  bool are_same = call > 0 && yoke__is_finite(call);
  for (size_t i = 1; i < self->n_members; i++) {
    are_same = are_same && self->called[i].call_step == call;
  }
  if (are_same) {
    c->n_inner = (size_t)fmin(fmax(floor(c->step / call + 0.5), 1), MAX_PARTS);
    c->sees_stale = c->method == YOKE_STABILITY_NEPCE;
    c->sees_inside = c->sees_stale || (c->options.uses_ede && c->n_inner > 1);
  }
}

static double margin_of(const yoke_linear_loops* self, bool uses_models) {
  // a coupled system that keeps its energy has a radius of 1 with an exact method
  if (self->motion == YOKE_LINEAR_KEEPS) {
    return self->n_free > 1 ? MARGIN_DEFECTIVE : MARGIN;
  }
  return uses_models && self->n_kept > 0 ? MARGIN : 0;
}

static bool is_always_run(yoke_linear_method method) {
  return method == YOKE_LINEAR_INTERPOLATE || method == YOKE_LINEAR_ENERGY ||
         method == YOKE_LINEAR_HINF || method == YOKE_LINEAR_ADAPTIVE;
}

bool yoke__linear_case(const yoke_linear_loops* self, yoke_linear_method method, double step,
                       yoke_stability_case* out) {
  const bool is_file = method == YOKE_LINEAR_FILE;
  const bool has_means = method == YOKE_LINEAR_MEAN || method == YOKE_LINEAR_AUTO;
  if (self->n_members == 0 || (is_file && !self->file.is_known) ||
      (has_means && self->is_singular) || is_always_run(method)) {
    return false;
  }
  *out = yoke__stability_case_default();
  out->units = self->parts;
  out->n_units = self->n_members;
  out->L = self->L;
  out->step = step;
  out->solvers = is_file ? self->called : has_means ? self->once : self->solvers;
  out->through = is_file ? self->through : has_means ? self->D : NULL;
  set_method(is_file ? self->file.method : method, out);
  out->n_free = self->n_free;
  out->margin =
      margin_of(self, out->method == YOKE_STABILITY_MPSM || out->method == YOKE_STABILITY_MBCORR);
  out->is_choosing =
      out->is_choosing || (is_file && self->file.is_auto && out->method == YOKE_STABILITY_SOH);
  if (!is_file) {
    look_inside(self, method, out);
    return true;
  }
  if (out->method == YOKE_STABILITY_MPSM || out->method == YOKE_STABILITY_MBCORR) {
    out->options = self->file.options;
    out->is_modified = self->file.is_modified;
  }
  count_calls(self, out);
  return true;
}

// ---- by a matrix or by running it

static bool has_matrix(const yoke_linear_loops* self, yoke_linear_method method) {
  yoke_stability_case c;
  return self->general == NULL && yoke__linear_case(self, method, self->step, &c);
}

static yoke_status ask(yoke_linear_loops* self, yoke_linear_method method) {
  yoke_linear_judge* judge = &self->judges[method];
  if (!judge->is_asked) {
    judge->is_asked = true;
    if (self->n_members == 0) {
      judge->why = "there are no loops";
    } else if (!has_matrix(self, method)) {
      const yoke_status status =
          yoke__linear_engine_open(self, method, &judge->engine, &judge->why);
      return status == YOKE_NO_SUPPORT ? YOKE_OK : status;
    }
  }
  return YOKE_OK;
}

yoke_status yoke__linear_radius(yoke_linear_loops* self, yoke_linear_method method, double step,
                                double* radius, double* margin) {
  yoke_stability_case c;
  YOKE_TRY(ask(self, method));
  const yoke_linear_judge* judge = &self->judges[method];
  *margin = margin_of(self, false);
  if (judge->why != NULL) {
    return YOKE_NO_SUPPORT;
  }
  if (judge->engine != NULL) {
    *margin = fmax(*margin, MARGIN_RUN);
    return yoke__linear_engine_radius(judge->engine, step / self->step, radius);
  }
  if (!yoke__linear_case(self, method, step, &c)) {
    return YOKE_NO_SUPPORT;
  }
  *margin = c.margin;
  return yoke__stability_radius(&c, radius);
}

bool yoke__linear_is_slow(const yoke_linear_loops* self, yoke_linear_method method) {
  return self->judges[method].engine != NULL || yoke__linear_is_large(self);
}

typedef struct limit_search {
  yoke_linear_loops* loops;
  yoke_linear_method method;
} limit_search;

static yoke_status is_unstable(const limit_search* s, double step, bool* out) {
  double radius = 0, margin = 0;
  YOKE_TRY(yoke__linear_radius(s->loops, s->method, step, &radius, &margin));

  // NaN counts as unstable
  *out = !(radius < 1 + margin);
  return YOKE_OK;
}

// Halves the first step of the grid until one is stable; then looks between the two.
static yoke_status look_below(const limit_search* s, double* first) {
  // halved until one is stable: the first step of the grid is unstable
  double unstable = *first, stable = 0;
  bool is_beyond = true;
  for (int i = 0; i < 20 && stable == 0; i++) {
    const double step = 0.5 * unstable;
    YOKE_TRY(is_unstable(s, step, &is_beyond));
    *(is_beyond ? &unstable : &stable) = step;
  }

  // to 5 %: below the grid only the order of size is of interest
  for (int i = 0; i < 60 && stable > 0 && unstable - stable > 0.05 * unstable; i++) {
    const double step = 0.5 * (stable + unstable);
    YOKE_TRY(is_unstable(s, step, &is_beyond));
    *(is_beyond ? &unstable : &stable) = step;
  }
  *first = stable > 0 ? unstable : 0;
  return YOKE_OK;
}

// Halves the gap between a stable step and the first unstable one.
static yoke_status look_between(const limit_search* s, double stable, double within,
                                double* first) {
  for (int i = 0; i < 60 && *first - stable > within * (1 + 1e-9); i++) {
    const double step = 0.5 * (stable + *first);
    bool is_beyond = true;
    YOKE_TRY(is_unstable(s, step, &is_beyond));
    *(is_beyond ? first : &stable) = step;
  }
  return YOKE_OK;
}

yoke_status yoke__linear_limit(yoke_linear_loops* self, yoke_linear_method method,
                               const yoke_linear_grid* grid, double* first) {
  const double resolution = grid->resolution;

  // steps of the grid: the first unstable one counts, stability behind it does not
  const size_t n = (size_t)floor(grid->largest / resolution + 1e-9);
  const limit_search s = {self, method};
  *first = (double)INFINITY;
  for (size_t i = 1; i <= n && !yoke__is_finite(*first); i++) {
    bool is_beyond = false;
    YOKE_TRY(is_unstable(&s, (double)i * resolution, &is_beyond));
    if (is_beyond) {
      *first = (double)i * resolution;
    }
  }
  if (*first == resolution) {
    return look_below(&s, first);
  }
  return grid->within > 0 && yoke__is_finite(*first)
             ? look_between(&s, *first - resolution, grid->within, first)
             : YOKE_OK;
}

bool yoke__linear_is_large(const yoke_linear_loops* self) {
  return self->n_x + self->p + self->s > LARGE;
}
