// Two reals, an integer, a boolean and a text of the last step's inputs, and as many outputs that tests leave unconnected. Its
// functions do what every FMU has to: they look whether they may be called now, and whether they know each reference. It counts
// what is asked of it: calls that get or set, values, texts copied.
// References: inputs 1 to 5, outputs 11 to 15, spare outputs 21 to 25, counters 31 to 34, parameter 41.
#include "skeleton.h"

#include <string.h>

#if FMI_VERSION == 2
#include "fmi/fmi2.h"
#else
#include "fmi/fmi3.h"
#endif

enum { CALLS, VALUES, TEXTS, SPARE };

typedef struct values {
  double reals[3][2];  // by set: inputs, outputs, spare outputs
  int32_t integers[3];
  bool booleans[3];
  char texts[3][64];
  int32_t counters[4];  // calls, values, texts, values of spare outputs
  bool is_restless;     // the text changes in every step
} values;

// what the skeleton's own functions look after: nothing of it in a step
static const fmu_variable variables[] = {
    {41, BOOLEAN, START, offsetof(values, is_restless), 1},
};

static int step(fmu* m, double t, double h, fmu_step* result) {
  (void)m, (void)t, (void)h, (void)result;
  return FMU_ERROR;  // the one below is called instead
}

const fmu_model fmu_this_model = {
    .token = "yoke-test-echo",
    .variables = variables,
    .n_variables = 1,
    .size = sizeof(values),
    .step = step,
};

#define STRONG __attribute__((visibility("default")))

static void copy_text(values* v, char to[64], const char* from) {
  const size_t n = strlen(from) < 63 ? strlen(from) : 63;
  memcpy(to, from, n);
  to[n] = '\0';
  v->counters[TEXTS]++;
}

// NULL: not now, or not these
static values* count(fmu* m, const uint32_t references[], size_t n, const char* function) {
  values* v = m->values;
  if (!fmu_is_in(m, INSTANTIATED | INITIALISATION | STEP | TERMINATED, function)) {
    return NULL;
  }
  v->counters[CALLS]++;
  v->counters[VALUES] += (int32_t)n;
  for (size_t i = 0; i < n; i++) {
    if (references[i] > 41 || references[i] % 10 > 5) {
      fmu_log(m, FMU_ERROR, "logStatusError", "%s: no variable has the reference %u", function,
              (unsigned)references[i]);
      return NULL;
    }
    v->counters[SPARE] += references[i] > 20 && references[i] < 30;
  }
  return v;
}

static double* real_at(fmu* m, uint32_t reference) {
  values* v = m->values;
  return reference == 0 ? &m->time : &v->reals[reference / 10][reference % 10 - 1];
}

static int32_t* integer_at(values* v, uint32_t reference) {
  return reference > 30 ? &v->counters[reference - 31] : &v->integers[reference / 10];
}

static bool* boolean_at(values* v, uint32_t reference) {
  return reference > 40 ? &v->is_restless : &v->booleans[reference / 10];
}

static void advance(fmu* m, double t, double h) {
  values* v = m->values;
  for (size_t i = 1; i < 3; i++) {
    memcpy(v->reals[i], v->reals[0], sizeof v->reals[0]);
    v->integers[i] = v->integers[0] + 1;
    v->booleans[i] = !v->booleans[0];
  }
  if (v->is_restless) {
    char* text = v->texts[0];
    text[0] = text[0] >= 'a' && text[0] < 'z' ? (char)(text[0] + 1) : 'a';
  }
  m->time = t + h;
}

// a text is copied when it is asked for
static const char* show_text(values* v, uint32_t reference) {
  copy_text(v, v->texts[reference / 10], v->texts[0]);
  return v->texts[reference / 10];
}

// the same bodies for both versions; FMI 3.0 says how many values there are
#if FMI_VERSION == 2
#define CALL(name) fmi2##name
#define INSTANCE   fmi2Component c
#define REFERENCES const fmi2ValueReference references[], size_t n
#define SIZE
#define STATUS      fmi2Status
#define IS_OK       fmi2OK
#define IS_ERROR    fmi2Error
#define TEXT_TYPE   fmi2String
#define GET_REAL    fmi2GetReal
#define SET_REAL    fmi2SetReal
#define GET_INTEGER fmi2GetInteger
#define SET_INTEGER fmi2SetInteger
typedef fmi2Integer integer_value;
typedef fmi2Boolean boolean_value;
STRONG fmi2GetRealTYPE fmi2GetReal;
STRONG fmi2SetRealTYPE fmi2SetReal;
STRONG fmi2GetIntegerTYPE fmi2GetInteger;
STRONG fmi2SetIntegerTYPE fmi2SetInteger;
STRONG fmi2GetBooleanTYPE fmi2GetBoolean;
STRONG fmi2SetBooleanTYPE fmi2SetBoolean;
STRONG fmi2GetStringTYPE fmi2GetString;
STRONG fmi2SetStringTYPE fmi2SetString;
STRONG fmi2DoStepTYPE fmi2DoStep;
#else
#define CALL(name)  fmi3##name
#define INSTANCE    fmi3Instance c
#define REFERENCES  const fmi3ValueReference references[], size_t n
#define SIZE        , size_t n_numbers __attribute__((unused))
#define STATUS      fmi3Status
#define IS_OK       fmi3OK
#define IS_ERROR    fmi3Error
#define TEXT_TYPE   fmi3String
#define GET_REAL    fmi3GetFloat64
#define SET_REAL    fmi3SetFloat64
#define GET_INTEGER fmi3GetInt32
#define SET_INTEGER fmi3SetInt32
typedef fmi3Int32 integer_value;
typedef fmi3Boolean boolean_value;
STRONG fmi3GetFloat64TYPE fmi3GetFloat64;
STRONG fmi3SetFloat64TYPE fmi3SetFloat64;
STRONG fmi3GetInt32TYPE fmi3GetInt32;
STRONG fmi3SetInt32TYPE fmi3SetInt32;
STRONG fmi3GetBooleanTYPE fmi3GetBoolean;
STRONG fmi3SetBooleanTYPE fmi3SetBoolean;
STRONG fmi3GetStringTYPE fmi3GetString;
STRONG fmi3SetStringTYPE fmi3SetString;
STRONG fmi3DoStepTYPE fmi3DoStep;
#endif

// function, type of its values, what one value is, and which way it goes
#define ACCESS(function, type, body)                                                               \
  STATUS function(INSTANCE, REFERENCES, type numbers[] SIZE) {                                     \
    values* v = count(c, references, n, #function);                                                \
    for (size_t i = 0; v != NULL && i < n; i++) {                                                  \
      body;                                                                                        \
    }                                                                                              \
    return v == NULL ? IS_ERROR : IS_OK;                                                           \
  }
ACCESS(GET_REAL, double, numbers[i] = *real_at(c, references[i]))
ACCESS(SET_REAL, const double, *real_at(c, references[i]) = numbers[i])
ACCESS(GET_INTEGER, integer_value, numbers[i] = *integer_at(v, references[i]))
ACCESS(SET_INTEGER, const integer_value, *integer_at(v, references[i]) = numbers[i])
ACCESS(CALL(GetBoolean), boolean_value, numbers[i] = *boolean_at(v, references[i]))
ACCESS(CALL(SetBoolean), const boolean_value, *boolean_at(v, references[i]) = numbers[i] != 0)
ACCESS(CALL(GetString), TEXT_TYPE, numbers[i] = show_text(v, references[i]))
ACCESS(CALL(SetString), const TEXT_TYPE, copy_text(v, v->texts[0], numbers[i]))

#if FMI_VERSION == 2
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real h, fmi2Boolean is_final) {
  (void)is_final;
  if (!fmu_is_in(c, STEP, "fmi2DoStep")) {
    return fmi2Error;
  }
  advance(c, time, h);
  return fmi2OK;
}
#else
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 h, fmi3Boolean is_final,
                      fmi3Boolean* is_event_handling_needed, fmi3Boolean* is_end_wanted,
                      fmi3Boolean* is_early_return, fmi3Float64* last_successful_time) {
  (void)is_final;
  if (!fmu_is_in(c, STEP, "fmi3DoStep")) {
    return fmi3Error;
  }
  advance(c, time, h);
  *is_event_handling_needed = *is_end_wanted = *is_early_return = fmi3False;
  *last_successful_time = time + h;
  return fmi3OK;
}
#endif
