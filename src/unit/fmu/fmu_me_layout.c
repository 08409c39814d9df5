// Model exchange: how many states, which inputs may change when, and the memory for all of it.
//
// Block of a state image:  fmu_solver_state | x | z | u | slopes | nominals | latched values | sides of the indicators | marks of the latches
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/base_status.h"
#include "unit/fmu/fmu_solver.h"
#include "unit/unit.h"

// which inputs go in at any time, and which wait for events
static yoke_status sort_inputs(fmu* f, size_t* latched_size) {
  fmu_solver* s = f->solver;
  const size_t n = f->layout.info.n_variables, n_u = f->layout.n_u;
  s->latches = yoke__arena_array(&f->arena, n + 1, sizeof *s->latches);
  s->latch_of = yoke__arena_array(&f->arena, n + 1, sizeof *s->latch_of);
  s->dense_of = yoke__arena_array(&f->arena, n + 1, sizeof *s->dense_of);
  s->is_continuous = yoke__arena_array(&f->arena, n_u + 1, 1);
  YOKE_TRY(yoke__arena_status(&f->arena));
  size_t dense = 0;
  *latched_size = 0;
  for (size_t i = 0; i < n; i++) {
    const yoke_variable* v = &f->layout.info.variables[i];
    const bool is_real_input = v->type == YOKE_REAL && v->causality == YOKE_INPUT;
    s->dense_of[i] = is_real_input ? dense : YOKE_FMI_NONE;
    if (is_real_input) {
      memset(s->is_continuous + dense, yoke__fmu_is_continuous(f, i), f->layout.slots[i].n);
      dense += f->layout.slots[i].n;
    }
    if ((v->causality == YOKE_INPUT && !yoke__fmu_is_continuous(f, i)) ||
        v->causality == YOKE_TUNABLE) {
      const size_t size = yoke__variable_size(v);
      s->latches[s->n_latches] = (fmu_latch){i, *latched_size, size, s->dense_of[i]};
      s->latch_of[i] = ++s->n_latches;
      *latched_size += (size + 7) / 8 * 8;
    }
  }
  return YOKE_OK;
}

// The continuous inputs: all of them as they are, or a part that is gathered first.
static yoke_status lay_continuous(fmu* f) {
  const size_t n = f->layout.info.n_variables;
  bool* is_wanted = yoke__arena_array(&f->arena, n + 1, sizeof *is_wanted);
  size_t n_all = 0;
  YOKE_TRY_MEMORY(is_wanted);
  bool has_others = false;
  for (size_t i = 0; i < n; i++) {
    is_wanted[i] = yoke__fmu_is_continuous(f, i);
    has_others |= f->solver->dense_of[i] != YOKE_FMI_NONE && !is_wanted[i];
  }
  return yoke__fmu_lay_dense(&f->layout, YOKE_INPUT, has_others ? is_wanted : NULL, &f->arena,
                             &f->solver->continuous, &n_all);
}

// Number of states and indicators. With structural parameters only the instance knows them.
static void count_states(fmu* f) {
  fmu_solver* s = f->solver;
  const yoke_fmi_description* d = f->description;
  s->n_x = 0;
  for (size_t i = 0; i < d->states_derivatives.n; i++) {
    s->n_x += yoke__fmi_size(d, &d->variables[d->states_derivatives.items[i].variable]);
  }
  s->n_z = d->n_event_indicators;
  size_t n = 0;
  if (d->version == 3 && f->f3->GetNumberOfContinuousStates != NULL &&
      f->f3->GetNumberOfContinuousStates(f->instance, &n) == fmi3OK) {
    s->n_x = n;
  }
  if (d->version == 3 && f->f3->GetNumberOfEventIndicators != NULL &&
      f->f3->GetNumberOfEventIndicators(f->instance, &n) == fmi3OK) {
    s->n_z = n;
  }
}

// Everything that a state image must hold, in one block: structure, numbers, bytes.
static yoke_status lay_kept(fmu* f, size_t latched_size) {
  fmu_solver* s = f->solver;
  const size_t n_u = f->layout.n_u;
  const size_t n_head = (sizeof(fmu_solver_state) + 7) / 8;
  const size_t n_numbers = n_head + 2 * s->n_x + s->n_z + (1 + FMU_N_SLOPES) * n_u;
  f->kept_size = (n_numbers * sizeof(double) + latched_size + s->n_z + s->n_latches + 7) / 8 * 8;
  f->kept = yoke__arena_take(&f->arena, f->kept_size);
  YOKE_TRY_MEMORY(f->kept);
  s->now = (fmu_solver_state*)(void*)f->kept;
  s->x = (double*)(void*)f->kept + n_head;
  s->z = s->x + s->n_x;
  s->u = s->z + s->n_z;
  s->slopes = s->u + n_u;
  s->nominals = s->slopes + FMU_N_SLOPES * n_u;
  s->latched = (unsigned char*)(s->nominals + s->n_x);
  s->is_above = s->latched + latched_size;
  s->latch_marks = s->is_above + s->n_z;
  assert(s->latch_marks + s->n_latches <= f->kept + f->kept_size);
  for (size_t i = 0; i < s->n_x; i++) {
    s->nominals[i] = 1;
  }
  // inputs start as the description says
  for (size_t i = 0; i < f->layout.info.n_variables; i++) {
    if (s->dense_of[i] != YOKE_FMI_NONE) {
      yoke__fmi_start_real(&f->description->variables[f->layout.slots[i].variable],
                           s->u + s->dense_of[i], f->layout.slots[i].n);
    }
  }
  return YOKE_OK;
}

static yoke_status lay_scratch(fmu* f) {
  fmu_solver* s = f->solver;
  const size_t n_x = s->n_x, n_z = s->n_z, n_u = f->layout.n_u;
  const size_t n_work = s->kind == FMU_FIXED    ? yoke__ode_work_size(s->method, n_x)
                        : s->kind == FMU_DOPRI5 ? YOKE_ODE_PAIR_WORK_SIZE(n_x)
                                                : 0;
  s->x_start = yoke__arena_array(&f->arena, n_x + 1, sizeof(double));
  s->work = yoke__arena_array(&f->arena, n_work + 1, sizeof(double));
  s->u_now = yoke__arena_array(&f->arena, n_u + 1, sizeof(double));
  s->z_low = yoke__arena_array(&f->arena, n_z + 1, sizeof(double));
  s->z_high = yoke__arena_array(&f->arena, n_z + 1, sizeof(double));
  s->slope = yoke__arena_array(&f->arena, n_x + 1, sizeof(double));
  s->pair.slope_end = yoke__arena_array(&f->arena, n_x + 1, sizeof(double));
  s->pair.error = yoke__arena_array(&f->arena, n_x + 1, sizeof(double));
  return yoke__arena_status(&f->arena);
}

// A step alone asks for steps of that length.
static bool is_fixed(const yoke_unit_file_settings* settings) {
  return settings->solver_step > 0 && settings->solver_tolerance <= 0;
}

// The pair of Dormand and Prince, which inputs that change at every step do not disturb, with CVODE in reserve for a model that
// proves to be stiff: where it was built, and where the work of a step need not be bounded.
static yoke_status choose_default(fmu* f) {
  fmu_solver* s = f->solver;
  s->kind = FMU_DOPRI5;
  if (f->file->settings.is_paced) {
    return YOKE_OK;
  }
  YOKE_CATCH(why);
  bool is_absent = false;
  const yoke_status status = yoke__fmu_cvode_load(f, &is_absent, &why.sink);
  if (yoke__status_is_shortage(status)) {
    return status;
  }
  if (status < 0 && !is_absent) {
    char line[sizeof why.text + 80];
    snprintf(line, sizeof line, "a stiff model cannot be handed over to CVODE: %s", why.text);
    yoke__fmu_log_add(&f->log, YOKE_WARNING, NULL, line);
    f->log.last[0] = '\0';  // not the binary's words
  }
  return YOKE_OK;
}

static yoke_status choose_method(fmu* f, const yoke_sink* sink) {
  static const yoke_ode_method offered[] = {YOKE_ODE_EULER, YOKE_ODE_RK4, YOKE_ODE_TRAPEZOIDAL};
  fmu_solver* s = f->solver;
  const yoke_unit_file_settings* settings = &f->file->settings;
  const yoke_fmi_experiment* e = &f->description->experiment;
  const char* name = settings->solver;
  s->tolerance = settings->solver_tolerance > 0         ? settings->solver_tolerance
                 : e->has_tolerance && e->tolerance > 0 ? e->tolerance
                                                        : 1e-6;
  s->kind = FMU_FIXED;
  s->method = YOKE_ODE_RK4;
  if (name == NULL) {
    return is_fixed(settings) || s->n_x == 0 ? YOKE_OK : choose_default(f);
  }
  if (strcmp(name, yoke_solver_text(YOKE_SOLVER_CVODE)) == 0) {
    bool is_absent = false;
    s->kind = FMU_CVODE;
    return s->n_x == 0 ? YOKE_OK : yoke__fmu_cvode_load(f, &is_absent, sink);
  }
  if (strcmp(name, yoke_solver_text(YOKE_SOLVER_DOPRI5)) == 0) {
    s->kind = FMU_DOPRI5;
    return YOKE_OK;
  }
  for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++) {
    if (strcmp(name, yoke__ode_method_names[offered[i]]) == 0) {
      s->method = offered[i];
      return YOKE_OK;
    }
  }
  return yoke_fail(sink, YOKE_BAD_INPUT,
                   "no solver '%.60s': expected dopri5, cvode, rk4, euler or trapezoidal", name);
}

yoke_solver_method yoke__fmu_me_method(const yoke_unit_file_settings* settings,
                                       const fmu_solver* s) {
  static const yoke_solver_method fixed[] = YOKE_ODE_SOLVERS;
  if (s != NULL) {
    return s->cvode != NULL        ? YOKE_SOLVER_CVODE
           : s->kind == FMU_DOPRI5 ? YOKE_SOLVER_DOPRI5
                                   : fixed[s->method];
  }
  const char* name = settings->solver;
  return name != NULL         ? yoke__fmu_solver_method(name, strlen(name))
         : is_fixed(settings) ? YOKE_SOLVER_RK4
         : !settings->is_paced && yoke__fmu_cvode_is_there() ? YOKE_SOLVER_CVODE
                                                             : YOKE_SOLVER_DOPRI5;
}

yoke_status yoke__fmu_me_lay_out(fmu* f, const yoke_sink* sink) {
  fmu_solver* s = f->solver;
  const yoke_fmi_interface* i = f->file->interface_type;
  size_t latched_size = 0;
  count_states(f);
  YOKE_TRY(choose_method(f, sink));
  // without states there is nothing to integrate, and events are found by time steps
  s->kind = s->n_x == 0 ? FMU_FIXED : s->kind;
  s->is_counting_steps =
      f->description->version == 3 ? i->needs_completed_step : !i->completed_step_not_needed;
  s->corrector.max_iterations = 25;  // stiff models start Newton late
  s->h_counted = -1;                 // no step was counted yet
  YOKE_TRY(sort_inputs(f, &latched_size));
  YOKE_TRY(lay_continuous(f));
  YOKE_TRY(yoke__fmu_linear_open(f, s->n_x));
  YOKE_TRY(lay_kept(f, latched_size));
  return lay_scratch(f);
}
