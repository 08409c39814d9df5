// FMI 1.0 for co-simulation: types, status values and functions, for importing.
//
// Written from the facts of the standard, Functional Mock-up Interface for Co-Simulation 1.0 (2010). The names are the
// standard's with "fmi1" for its "fmi", so that all versions can be used in one file. Symbols of a binary carry the model
// identifier in front: lag_fmiDoStep.
#ifndef YOKE_FMI1_H
#define YOKE_FMI1_H

#include <stddef.h>

#include "fmi/fmi_part.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- values
#define fmi1TypesPlatform "standard32"
#define fmi1Version       "1.0"
#define fmi1True          1
#define fmi1False         0

typedef void* fmi1Component;
typedef unsigned int fmi1ValueReference;
typedef double fmi1Real;
typedef int fmi1Integer;
typedef char fmi1Boolean;  // one byte, unlike FMI 2.0
typedef const char* fmi1String;

typedef enum { fmi1OK, fmi1Warning, fmi1Discard, fmi1Error, fmi1Fatal, fmi1Pending } fmi1Status;

typedef enum { fmi1DoStepStatus, fmi1PendingStatus, fmi1LastSuccessfulTime } fmi1StatusKind;

// ---- callbacks; the first argument is the instance, there is no environment
typedef void (*fmi1CallbackLogger)(fmi1Component c, fmi1String instance_name, fmi1Status status,
                                   fmi1String category, fmi1String message, ...);
typedef void* (*fmi1CallbackAllocateMemory)(size_t n, size_t size);
typedef void (*fmi1CallbackFreeMemory)(void* block);
typedef void (*fmi1StepFinished)(fmi1Component c, fmi1Status status);

typedef struct {
  fmi1CallbackLogger logger;
  fmi1CallbackAllocateMemory allocateMemory;
  fmi1CallbackFreeMemory freeMemory;
  fmi1StepFinished stepFinished;
} fmi1CallbackFunctions;

// ---- functions
typedef const char* fmi1GetTypesPlatformTYPE(void);
typedef const char* fmi1GetVersionTYPE(void);
typedef fmi1Status fmi1SetDebugLoggingTYPE(fmi1Component c, fmi1Boolean is_on);

// location is the URI of the unpacked FMU; the callbacks are passed by value
typedef fmi1Component fmi1InstantiateSlaveTYPE(fmi1String name, fmi1String guid,
                                               fmi1String location, fmi1String mime_type,
                                               fmi1Real timeout, fmi1Boolean is_visible,
                                               fmi1Boolean is_interactive,
                                               fmi1CallbackFunctions functions,
                                               fmi1Boolean is_logging);
typedef fmi1Status fmi1InitializeSlaveTYPE(fmi1Component c, fmi1Real start_time,
                                           fmi1Boolean has_stop_time, fmi1Real stop_time);
typedef fmi1Status fmi1TerminateSlaveTYPE(fmi1Component c);
typedef fmi1Status fmi1ResetSlaveTYPE(fmi1Component c);
typedef void fmi1FreeSlaveInstanceTYPE(fmi1Component c);

#define YOKE_FMI1_ACCESS(type)                                                                     \
  typedef fmi1Status fmi1Get##type##TYPE(fmi1Component c, const fmi1ValueReference references[],   \
                                         size_t n, fmi1##type values[]);                           \
  typedef fmi1Status fmi1Set##type##TYPE(fmi1Component c, const fmi1ValueReference references[],   \
                                         size_t n, const fmi1##type values[]);
YOKE_FMI1_ACCESS(Real)
YOKE_FMI1_ACCESS(Integer)
YOKE_FMI1_ACCESS(Boolean)
YOKE_FMI1_ACCESS(String)

typedef fmi1Status fmi1SetRealInputDerivativesTYPE(fmi1Component c,
                                                   const fmi1ValueReference references[], size_t n,
                                                   const fmi1Integer orders[],
                                                   const fmi1Real values[]);
typedef fmi1Status fmi1GetRealOutputDerivativesTYPE(fmi1Component c,
                                                    const fmi1ValueReference references[], size_t n,
                                                    const fmi1Integer orders[], fmi1Real values[]);
// is_new: the last step was accepted
typedef fmi1Status fmi1DoStepTYPE(fmi1Component c, fmi1Real time, fmi1Real step,
                                  fmi1Boolean is_new);
typedef fmi1Status fmi1CancelStepTYPE(fmi1Component c);
typedef fmi1Status fmi1GetStatusTYPE(fmi1Component c, fmi1StatusKind kind, fmi1Status* value);
typedef fmi1Status fmi1GetRealStatusTYPE(fmi1Component c, fmi1StatusKind kind, fmi1Real* value);
typedef fmi1Status fmi1GetIntegerStatusTYPE(fmi1Component c, fmi1StatusKind kind,
                                            fmi1Integer* value);
typedef fmi1Status fmi1GetBooleanStatusTYPE(fmi1Component c, fmi1StatusKind kind,
                                            fmi1Boolean* value);
typedef fmi1Status fmi1GetStringStatusTYPE(fmi1Component c, fmi1StatusKind kind, fmi1String* value);

// Every function: X(name without fmi, what needs it).
#define YOKE_FMI1_FUNCTIONS(X)                                                                     \
  X(GetTypesPlatform, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                             \
  X(GetVersion, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                                   \
  X(SetDebugLogging, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                              \
  X(InstantiateSlave, YOKE_FMI_CS)                                                                 \
  X(InitializeSlave, YOKE_FMI_CS)                                                                  \
  X(TerminateSlave, YOKE_FMI_CS)                                                                   \
  X(ResetSlave, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                                   \
  X(FreeSlaveInstance, YOKE_FMI_CS)                                                                \
  X(GetReal, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                        \
  X(GetInteger, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                     \
  X(GetBoolean, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                     \
  X(GetString, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                      \
  X(SetReal, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                        \
  X(SetInteger, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                     \
  X(SetBoolean, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                     \
  X(SetString, YOKE_FMI_CS | YOKE_FMI_ACCESS)                                                      \
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
typedef struct yoke_fmi1 {
#define YOKE_FMI1_MEMBER(name, needed_for) fmi1##name##TYPE*(name);
  YOKE_FMI1_FUNCTIONS(YOKE_FMI1_MEMBER)
#undef YOKE_FMI1_MEMBER
} yoke_fmi1;

#ifdef __cplusplus
}
#endif
#endif
