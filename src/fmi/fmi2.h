// FMI 2.0 (all of 2.0.x): types, status values and functions, for importing and for exporting.
//
// Written from the facts of the standard, Functional Mock-up Interface 2.0.4, sections 2.1, 3.2 and 4.2; the names are
// the standard's. A function is there as its type (fmi2GetRealTYPE), as an entry of YOKE_FMI2_FUNCTIONS and as a member of
// yoke_fmi2. Assumes an ABI in which `int` has 32 bits and enumerations are passed as `int`.
#ifndef YOKE_FMI2_H
#define YOKE_FMI2_H

#include <stddef.h>

#include "fmi/fmi_part.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- values
#define fmi2TypesPlatform "default"
#define fmi2Version       "2.0"
#define fmi2True          1
#define fmi2False         0

typedef void* fmi2Component;             // one instance of the FMU
typedef void* fmi2ComponentEnvironment;  // the importer's own, handed back in callbacks
typedef void* fmi2FMUstate;              // a saved state
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;  // also enumerations
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char* fmi2String;  // UTF-8, NUL-terminated
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;

typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;

typedef enum {
  fmi2DoStepStatus,        // fmi2GetStatus
  fmi2PendingStatus,       // fmi2GetStringStatus
  fmi2LastSuccessfulTime,  // fmi2GetRealStatus
  fmi2Terminated,          // fmi2GetBooleanStatus
} fmi2StatusKind;

typedef struct {
  fmi2Boolean newDiscreteStatesNeeded;
  fmi2Boolean terminateSimulation;
  fmi2Boolean nominalsOfContinuousStatesChanged;
  fmi2Boolean valuesOfContinuousStatesChanged;
  fmi2Boolean nextEventTimeDefined;
  fmi2Real nextEventTime;
} fmi2EventInfo;

// ---- callbacks: what the binary may call in the importer
// message is a printf format with its arguments behind it; "#r12#" in it means the real variable with reference 12
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment environment, fmi2String instance_name,
                                   fmi2Status status, fmi2String category, fmi2String message, ...);
typedef void* (*fmi2CallbackAllocateMemory)(size_t n, size_t size);
typedef void (*fmi2CallbackFreeMemory)(void* block);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);

// Must stay in place until the instance is freed: binaries keep the pointer.
typedef struct {
  fmi2CallbackLogger logger;
  fmi2CallbackAllocateMemory allocateMemory;
  fmi2CallbackFreeMemory freeMemory;
  fmi2StepFinished stepFinished;  // NULL: no asynchronous steps
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

// ---- functions of both interfaces
typedef const char* fmi2GetTypesPlatformTYPE(void);
typedef const char* fmi2GetVersionTYPE(void);
typedef fmi2Status fmi2SetDebugLoggingTYPE(fmi2Component c, fmi2Boolean is_on, size_t n_categories,
                                           const fmi2String categories[]);

// resource_location is a URI ("file:///somewhere/resources")
typedef fmi2Component fmi2InstantiateTYPE(fmi2String name, fmi2Type type, fmi2String guid,
                                          fmi2String resource_location,
                                          const fmi2CallbackFunctions* functions,
                                          fmi2Boolean is_visible, fmi2Boolean is_logging);
typedef void fmi2FreeInstanceTYPE(fmi2Component c);

typedef fmi2Status fmi2SetupExperimentTYPE(fmi2Component c, fmi2Boolean has_tolerance,
                                           fmi2Real tolerance, fmi2Real start_time,
                                           fmi2Boolean has_stop_time, fmi2Real stop_time);
typedef fmi2Status fmi2EnterInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2ExitInitializationModeTYPE(fmi2Component c);
typedef fmi2Status fmi2TerminateTYPE(fmi2Component c);
typedef fmi2Status fmi2ResetTYPE(fmi2Component c);

// texts belong to the binary and live until its next call
#define YOKE_FMI2_ACCESS(type)                                                                     \
  typedef fmi2Status fmi2Get##type##TYPE(fmi2Component c, const fmi2ValueReference references[],   \
                                         size_t n, fmi2##type values[]);                           \
  typedef fmi2Status fmi2Set##type##TYPE(fmi2Component c, const fmi2ValueReference references[],   \
                                         size_t n, const fmi2##type values[]);
YOKE_FMI2_ACCESS(Real)
YOKE_FMI2_ACCESS(Integer)
YOKE_FMI2_ACCESS(Boolean)
YOKE_FMI2_ACCESS(String)

// *state NULL: a new one; else it is written again. Freeing sets it to NULL.
typedef fmi2Status fmi2GetFMUstateTYPE(fmi2Component c, fmi2FMUstate* state);
typedef fmi2Status fmi2SetFMUstateTYPE(fmi2Component c, fmi2FMUstate state);
typedef fmi2Status fmi2FreeFMUstateTYPE(fmi2Component c, fmi2FMUstate* state);
typedef fmi2Status fmi2SerializedFMUstateSizeTYPE(fmi2Component c, fmi2FMUstate state,
                                                  size_t* size);
typedef fmi2Status fmi2SerializeFMUstateTYPE(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[],
                                             size_t size);
typedef fmi2Status fmi2DeSerializeFMUstateTYPE(fmi2Component c, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate* state);

typedef fmi2Status
fmi2GetDirectionalDerivativeTYPE(fmi2Component c, const fmi2ValueReference unknowns[],
                                 size_t n_unknowns, const fmi2ValueReference knowns[],
                                 size_t n_knowns, const fmi2Real seed[], fmi2Real sensitivity[]);

// ---- model exchange
typedef fmi2Status fmi2EnterEventModeTYPE(fmi2Component c);
typedef fmi2Status fmi2NewDiscreteStatesTYPE(fmi2Component c, fmi2EventInfo* info);
typedef fmi2Status fmi2EnterContinuousTimeModeTYPE(fmi2Component c);
typedef fmi2Status fmi2CompletedIntegratorStepTYPE(fmi2Component c, fmi2Boolean is_final,
                                                   fmi2Boolean* is_event_mode_wanted,
                                                   fmi2Boolean* is_end_wanted);
typedef fmi2Status fmi2SetTimeTYPE(fmi2Component c, fmi2Real time);
typedef fmi2Status fmi2SetContinuousStatesTYPE(fmi2Component c, const fmi2Real x[], size_t n);
typedef fmi2Status fmi2GetDerivativesTYPE(fmi2Component c, fmi2Real derivatives[], size_t n);
typedef fmi2Status fmi2GetEventIndicatorsTYPE(fmi2Component c, fmi2Real indicators[], size_t n);
typedef fmi2Status fmi2GetContinuousStatesTYPE(fmi2Component c, fmi2Real x[], size_t n);
typedef fmi2Status fmi2GetNominalsOfContinuousStatesTYPE(fmi2Component c, fmi2Real nominals[],
                                                         size_t n);

// ---- co-simulation
typedef fmi2Status fmi2SetRealInputDerivativesTYPE(fmi2Component c,
                                                   const fmi2ValueReference references[], size_t n,
                                                   const fmi2Integer orders[],
                                                   const fmi2Real values[]);
typedef fmi2Status fmi2GetRealOutputDerivativesTYPE(fmi2Component c,
                                                    const fmi2ValueReference references[], size_t n,
                                                    const fmi2Integer orders[], fmi2Real values[]);
// is_final: no state before `time` will be set again
typedef fmi2Status fmi2DoStepTYPE(fmi2Component c, fmi2Real time, fmi2Real step,
                                  fmi2Boolean is_final);
typedef fmi2Status fmi2CancelStepTYPE(fmi2Component c);
typedef fmi2Status fmi2GetStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2Status* value);
typedef fmi2Status fmi2GetRealStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2Real* value);
typedef fmi2Status fmi2GetIntegerStatusTYPE(fmi2Component c, fmi2StatusKind kind,
                                            fmi2Integer* value);
typedef fmi2Status fmi2GetBooleanStatusTYPE(fmi2Component c, fmi2StatusKind kind,
                                            fmi2Boolean* value);
typedef fmi2Status fmi2GetStringStatusTYPE(fmi2Component c, fmi2StatusKind kind, fmi2String* value);

// Every function: X(name without fmi2, what needs it).
#define YOKE_FMI2_FUNCTIONS(X)                                                                     \
  X(GetTypesPlatform, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                         \
  X(GetVersion, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                               \
  X(SetDebugLogging, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                          \
  X(Instantiate, YOKE_FMI_COMMON)                                                                  \
  X(FreeInstance, YOKE_FMI_COMMON)                                                                 \
  X(SetupExperiment, YOKE_FMI_COMMON)                                                              \
  X(EnterInitializationMode, YOKE_FMI_COMMON)                                                      \
  X(ExitInitializationMode, YOKE_FMI_COMMON)                                                       \
  X(Terminate, YOKE_FMI_COMMON)                                                                    \
  X(Reset, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                                    \
  X(GetReal, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                    \
  X(GetInteger, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(GetBoolean, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(GetString, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(SetReal, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                    \
  X(SetInteger, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(SetBoolean, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(SetString, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(GetFMUstate, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                              \
  X(SetFMUstate, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                              \
  X(FreeFMUstate, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                             \
  X(SerializedFMUstateSize, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                   \
  X(SerializeFMUstate, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                        \
  X(DeSerializeFMUstate, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                      \
  X(GetDirectionalDerivative, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                 \
  X(EnterEventMode, YOKE_FMI_ME)                                                                   \
  X(NewDiscreteStates, YOKE_FMI_ME)                                                                \
  X(EnterContinuousTimeMode, YOKE_FMI_ME)                                                          \
  X(CompletedIntegratorStep, YOKE_FMI_ME)                                                          \
  X(SetTime, YOKE_FMI_ME)                                                                          \
  X(SetContinuousStates, YOKE_FMI_ME)                                                              \
  X(GetDerivatives, YOKE_FMI_ME)                                                                   \
  X(GetEventIndicators, YOKE_FMI_ME)                                                               \
  X(GetContinuousStates, YOKE_FMI_ME)                                                              \
  X(GetNominalsOfContinuousStates, YOKE_FMI_ME | YOKE_FMI_OPTIONAL)                                \
  X(SetRealInputDerivatives, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                      \
  X(GetRealOutputDerivatives, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                     \
  X(DoStep, YOKE_FMI_CS)                                                                           \
  X(CancelStep, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                                   \
  X(GetStatus, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                                    \
  X(GetRealStatus, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                                \
  X(GetIntegerStatus, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                             \
  X(GetBooleanStatus, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                             \
  X(GetStringStatus, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)

// The functions of one binary.
typedef struct yoke_fmi2 {
#define YOKE_FMI2_MEMBER(name, needed_for) fmi2##name##TYPE*(name);
  YOKE_FMI2_FUNCTIONS(YOKE_FMI2_MEMBER)
#undef YOKE_FMI2_MEMBER
} yoke_fmi2;

#ifdef __cplusplus
}
#endif
#endif
