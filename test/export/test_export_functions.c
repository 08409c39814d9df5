// Exported FMUs of every kind have all functions of both standards, since importers bind them all when they load a binary; those
// of other interfaces than co-simulation answer with an error and a message that names them.
#include <dlfcn.h>

#include "exported_netlist.h"

// fmi2Functions.h of FMI 2.0.4
static const char* const names2[] = {
    "GetTypesPlatform",
    "GetVersion",
    "SetDebugLogging",
    "Instantiate",
    "FreeInstance",
    "SetupExperiment",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "Terminate",
    "Reset",
    "GetReal",
    "GetInteger",
    "GetBoolean",
    "GetString",
    "SetReal",
    "SetInteger",
    "SetBoolean",
    "SetString",
    "GetFMUstate",
    "SetFMUstate",
    "FreeFMUstate",
    "SerializedFMUstateSize",
    "SerializeFMUstate",
    "DeSerializeFMUstate",
    "GetDirectionalDerivative",
    "EnterEventMode",
    "NewDiscreteStates",
    "EnterContinuousTimeMode",
    "CompletedIntegratorStep",
    "SetTime",
    "SetContinuousStates",
    "GetDerivatives",
    "GetEventIndicators",
    "GetContinuousStates",
    "GetNominalsOfContinuousStates",
    "SetRealInputDerivatives",
    "GetRealOutputDerivatives",
    "DoStep",
    "CancelStep",
    "GetStatus",
    "GetRealStatus",
    "GetIntegerStatus",
    "GetBooleanStatus",
    "GetStringStatus",
};

// fmi3Functions.h of FMI 3.0
static const char* const names3[] = {
    "GetVersion",
    "SetDebugLogging",
    "InstantiateModelExchange",
    "InstantiateCoSimulation",
    "InstantiateScheduledExecution",
    "FreeInstance",
    "EnterInitializationMode",
    "ExitInitializationMode",
    "EnterEventMode",
    "Terminate",
    "Reset",
    "GetFloat32",
    "GetFloat64",
    "GetInt8",
    "GetUInt8",
    "GetInt16",
    "GetUInt16",
    "GetInt32",
    "GetUInt32",
    "GetInt64",
    "GetUInt64",
    "GetBoolean",
    "GetString",
    "GetBinary",
    "GetClock",
    "SetFloat32",
    "SetFloat64",
    "SetInt8",
    "SetUInt8",
    "SetInt16",
    "SetUInt16",
    "SetInt32",
    "SetUInt32",
    "SetInt64",
    "SetUInt64",
    "SetBoolean",
    "SetString",
    "SetBinary",
    "SetClock",
    "GetNumberOfVariableDependencies",
    "GetVariableDependencies",
    "GetFMUState",
    "SetFMUState",
    "FreeFMUState",
    "SerializedFMUStateSize",
    "SerializeFMUState",
    "DeserializeFMUState",
    "GetDirectionalDerivative",
    "GetAdjointDerivative",
    "EnterConfigurationMode",
    "ExitConfigurationMode",
    "GetIntervalDecimal",
    "GetIntervalFraction",
    "GetShiftDecimal",
    "GetShiftFraction",
    "SetIntervalDecimal",
    "SetIntervalFraction",
    "SetShiftDecimal",
    "SetShiftFraction",
    "EvaluateDiscreteStates",
    "UpdateDiscreteStates",
    "EnterContinuousTimeMode",
    "CompletedIntegratorStep",
    "SetTime",
    "SetContinuousStates",
    "GetContinuousStateDerivatives",
    "GetEventIndicators",
    "GetContinuousStates",
    "GetNominalsOfContinuousStates",
    "GetNumberOfEventIndicators",
    "GetNumberOfContinuousStates",
    "EnterStepMode",
    "GetOutputDerivatives",
    "DoStep",
    "ActivateModelPartition",
};

static void find_all(const exported* e, const char* what) {
  const char* const* names = e->job.fmi == 2 ? names2 : names3;
  const size_t n = e->job.fmi == 2 ? YOKE_COUNT(names2) : YOKE_COUNT(names3);
  char missing[8192] = "";
  size_t n_missing = 0;
  for (size_t i = 0; i < n; i++) {
    char name[100];
    snprintf(name, sizeof name, "fmi%d%s", e->job.fmi, names[i]);
    if (dlsym(e->binary->library, name) == NULL) {
      const size_t used = strlen(missing);
      snprintf(missing + used, sizeof missing - used, " %s", name);
      n_missing++;
    }
  }
  if (n_missing > 0) {
    fail_msg("%s, FMI %d: %zu of %zu functions are missing:%s", what, e->job.fmi, n_missing, n,
             missing);
  }
}

// A native model, a netlist and a twin of one.
static void test_all_are_there(void** state) {
  (void)state;
  char path[4000];
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    exported_open(&e, "gain", "", fmi);
    find_all(&e, "a model");
    exported_close(&e);
    scenario_path("twin-circuit/circuit.cir", path, sizeof path);
    open_netlist(&e, "circuit", path, "", 1e-3, fmi);
    find_all(&e, "a netlist");
    exported_close(&e);
    open_netlist(&e, "twin", path, ", sensors: {t(n2): {sigma: 0.5}}", 1e-3, fmi);
    find_all(&e, "a twin");
    exported_close(&e);
  }
}

// An error, and a message that names the function where there is an instance to send it.
static void expect_refusal(fmu_instance* f, const void* c, int status, const char* function) {
  char text[200];
  snprintf(text, sizeof text, "%s: not supported", function);
  if (status != FMU_ERROR || (c != NULL && strstr(f->log, text) == NULL)) {
    fail_msg("%s: status %d, expected %d with '%s'; messages: %s", function, status, FMU_ERROR,
             text, f->log);
  }
  f->log[0] = '\0';
}

#define REFUSED2(name, arguments) expect_refusal(f, c, (int)f2->name arguments, "fmi2" #name)
#define REFUSED3(name, arguments) expect_refusal(f, c, (int)f3->name arguments, "fmi3" #name)

static void call_model_exchange_2(fmu_instance* f, void* c) {
  const yoke_fmi2* f2 = &f->from->binary->f2;
  double x[1] = {1};
  fmi2EventInfo info;
  fmi2Boolean is_event = fmi2True, is_end = fmi2True;
  REFUSED2(EnterEventMode, (c));
  REFUSED2(NewDiscreteStates, (c, &info));
  REFUSED2(EnterContinuousTimeMode, (c));
  REFUSED2(CompletedIntegratorStep, (c, fmi2True, &is_event, &is_end));
  assert_false(is_event || is_end || info.newDiscreteStatesNeeded);
  REFUSED2(SetTime, (c, 1));
  REFUSED2(SetContinuousStates, (c, x, 1));
  REFUSED2(GetDerivatives, (c, x, 1));
  REFUSED2(GetEventIndicators, (c, x, 1));
  REFUSED2(GetContinuousStates, (c, x, 1));
  REFUSED2(GetNominalsOfContinuousStates, (c, x, 1));
}

static void call_other_interfaces_3(fmu_instance* f, void* c) {
  const yoke_fmi3* f3 = &f->from->binary->f3;
  double x[1] = {1};
  size_t n_indicators = 7, n_states = 7;
  bool is_event = true, is_end = true;
  REFUSED3(EnterContinuousTimeMode, (c));
  REFUSED3(CompletedIntegratorStep, (c, true, &is_event, &is_end));
  assert_false(is_event || is_end);
  REFUSED3(SetTime, (c, 1));
  REFUSED3(SetContinuousStates, (c, x, 1));
  REFUSED3(GetContinuousStateDerivatives, (c, x, 1));
  REFUSED3(GetEventIndicators, (c, x, 1));
  REFUSED3(GetContinuousStates, (c, x, 1));
  REFUSED3(GetNominalsOfContinuousStates, (c, x, 1));
  REFUSED3(GetNumberOfEventIndicators, (c, &n_indicators));
  REFUSED3(GetNumberOfContinuousStates, (c, &n_states));
  assert_int_equal(n_indicators + n_states, 0);
  REFUSED3(ActivateModelPartition, (c, 0, 1));
}

// The instance goes on as if nothing had been called.
static void test_other_interfaces(void** state) {
  (void)state;
  for (int fmi = 2; fmi <= 3; fmi++) {
    exported e;
    fmu_instance f;
    void (*call)(fmu_instance*, void*) = fmi == 2 ? call_model_exchange_2 : call_other_interfaces_3;
    exported_open(&e, "gain", "", fmi);
    fmu_open(&f, &e);
    assert_int_equal(fmu_enter(&f, 0), FMU_OK);
    assert_int_equal(fmu_exit(&f), FMU_OK);
    call(&f, f.c);
    call(&f, NULL);
    assert_int_equal(fmu_step(&f, 0, 0.1), FMU_OK);
    assert_int_equal(fmu_terminate(&f), FMU_OK);
    fmu_close(&f);
    exported_close(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_are_there),
      cmocka_unit_test(test_other_interfaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
