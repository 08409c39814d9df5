// Co-simulation of FMI 1.0 in terms of FMI 2.0: most calls have the same arguments, so the table of FMI 2.0 is
// filled with them and everything else goes its way. What differs:
//   - instantiate, initialise, terminate and free have other names and arguments; there is no initialisation mode, so
//     the unit is initialised where the mode would begin, and values are set before or after that;
//   - a boolean is one byte;
//   - messages carry no environment, so those of a running instance cannot be distinguished and are dropped; those of
//     instantiating are kept;
//   - no saved states, no directional derivatives.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/fmu/fmu.h"

// the instance that is being made in this thread
static _Thread_local fmu* in_making;

static void take_message(fmi1Component c, fmi1String name, fmi1Status status, fmi1String category,
                         fmi1String message, ...) {
  (void)c;
  (void)name;
  if (in_making == NULL || message == NULL) {
    return;
  }
  char text[1024];
  va_list args;
  va_start(args, message);
  vsnprintf(text, sizeof text, message, args);
  va_end(args);
  yoke__fmu_log_add(&in_making->log,
                    status == fmi1OK        ? YOKE_NOTE
                    : status == fmi1Warning ? YOKE_WARNING
                                            : YOKE_ERROR,
                    category, text);
}

// the calls that are the same in both versions
static void fill_table(const yoke_fmi1* from, yoke_fmi2* to) {
  *to = (yoke_fmi2){
      .GetReal = (fmi2GetRealTYPE*)from->GetReal,
      .SetReal = (fmi2SetRealTYPE*)from->SetReal,
      .GetInteger = (fmi2GetIntegerTYPE*)from->GetInteger,
      .SetInteger = (fmi2SetIntegerTYPE*)from->SetInteger,
      .GetString = (fmi2GetStringTYPE*)from->GetString,
      .SetString = (fmi2SetStringTYPE*)from->SetString,
      .SetRealInputDerivatives = (fmi2SetRealInputDerivativesTYPE*)from->SetRealInputDerivatives,
      .GetRealOutputDerivatives = (fmi2GetRealOutputDerivativesTYPE*)from->GetRealOutputDerivatives,
      .GetStatus = (fmi2GetStatusTYPE*)from->GetStatus,
      .GetRealStatus = (fmi2GetRealStatusTYPE*)from->GetRealStatus,
  };
}

static yoke_status instantiate(fmu* f) {
  const yoke_fmi1* f1 = &f->binary->f1;
  char uri[sizeof f->resources + 8];
  // the folder of the FMU, of which resources/ is a part
  snprintf(uri, sizeof uri, "file://%s", f->file->package->directory);
  fill_table(f1, &f->binary->f2);
  const fmi1CallbackFunctions callbacks = {take_message, calloc, free, NULL};
  in_making = f;
  f->instance = f1->InstantiateSlave(f->name, f->description->token, uri,
                                     "application/x-fmu-sharedlibrary", 0, fmi1False, fmi1False,
                                     callbacks, f->log.is_verbose ? fmi1True : fmi1False);
  in_making = NULL;
  if (f->instance == NULL) {
    snprintf(f->message, sizeof f->message, "fmiInstantiateSlave failed%s%.400s",
             f->log.last[0] == '\0' ? "" : ": ", f->log.last);
    return YOKE_UNIT_FAILED;
  }
  return YOKE_OK;
}

static void free_instance(fmu* f) {
  f->binary->f1.FreeSlaveInstance(f->instance);
}

static yoke_status enter_init(fmu* f, double t_start, double t_stop) {
  return yoke__fmu_check(
      f, (int)f->binary->f1.InitializeSlave(f->instance, t_start, fmi1False, t_stop),
      "fmiInitializeSlave");
}

static yoke_status exit_init(fmu* f) {
  (void)f;
  return YOKE_OK;
}

static yoke_status terminate(fmu* f) {
  return yoke__fmu_check(f, (int)f->binary->f1.TerminateSlave(f->instance), "fmiTerminateSlave");
}

static yoke_status set(fmu* f, const fmu_slot* slot, const yoke_variable* v, const void* storage) {
  if (slot->type != YOKE_FMI_BOOLEAN) {
    return yoke__fmu_version2.set(f, slot, v, storage);
  }
  int64_t whole = 0;
  memcpy(&whole, storage, sizeof whole);
  const fmi1Boolean flag = whole != 0 ? fmi1True : fmi1False;
  return yoke__fmu_check(f, (int)f->binary->f1.SetBoolean(f->instance, &slot->reference, 1, &flag),
                         "fmiSetBoolean");
}

static yoke_status get(fmu* f, const fmu_slot* slot, const yoke_variable* v, void* storage) {
  if (slot->type != YOKE_FMI_BOOLEAN) {
    return yoke__fmu_version2.get(f, slot, v, storage);
  }
  fmi1Boolean flag = fmi1False;
  YOKE_TRY(yoke__fmu_check(
      f, (int)f->binary->f1.GetBoolean(f->instance, &slot->reference, 1, &flag), "fmiGetBoolean"));
  const int64_t whole = flag != 0;
  memcpy(storage, &whole, sizeof whole);
  return YOKE_OK;
}

static yoke_status set_reals(fmu* f, const fmu_dense* dense, const double numbers[]) {
  return yoke__fmu_version2.set_reals(f, dense, numbers);
}

static yoke_status get_reals(fmu* f, const fmu_dense* dense, double numbers[]) {
  return yoke__fmu_version2.get_reals(f, dense, numbers);
}

const fmu_version yoke__fmu_version1 = {
    .instantiate = instantiate,
    .free_instance = free_instance,
    .set = set,
    .get = get,
    .set_reals = set_reals,
    .get_reals = get_reals,
    .enter_init = enter_init,
    .exit_init = exit_init,
    .terminate = terminate,
};

// newStep is true in every step that is not a repetition, and Yoke repeats none of FMI 1.0
static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  fmu* f = self;
  const uint64_t mode = yoke__os_float_mode();
  const fmi1Status status = f->binary->f1.DoStep(f->instance, t, h, fmi1True);
  yoke__fmu_guard(mode);
  f->t_end = t + h;
  return status == fmi1OK ? YOKE_OK : yoke__fmu_judge_cs2(f, t, (fmi2Status)status, result);
}

void yoke__fmu_fill_cs1(const fmu_file* file, yoke_unit_ops* ops) {
  yoke__fmu_fill_cs2(file, ops);
  ops->step = step;
  ops->advance = NULL;
}
