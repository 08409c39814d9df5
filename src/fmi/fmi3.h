// FMI 3.0 (all of 3.0.x): types, status values and functions, for importing and for exporting.
//
// Written from the facts of the standard, Functional Mock-up Interface 3.0, sections 2.2, 3.2, 4.2 and 5.2; the names are
// the standard's. A function is there as its type (fmi3GetFloat64TYPE), as an entry of YOKE_FMI3_FUNCTIONS and as a member
// of yoke_fmi3. Assumes an ABI in which enumerations are passed as `int`.
#ifndef YOKE_FMI3_H
#define YOKE_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmi/fmi_part.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- values
#define fmi3Version       "3.0"
#define fmi3True          true
#define fmi3False         false
#define fmi3ClockActive   true
#define fmi3ClockInactive false

typedef void* fmi3Instance;             // one instance of the FMU
typedef void* fmi3InstanceEnvironment;  // the importer's own, handed back in callbacks
typedef void* fmi3FMUState;             // a saved state
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;  // also enumerations
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char* fmi3String;  // UTF-8, NUL-terminated
typedef uint8_t fmi3Byte;
typedef const fmi3Byte* fmi3Binary;  // its size travels beside it
typedef bool fmi3Clock;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;

typedef enum {
  fmi3Independent,
  fmi3Constant,
  fmi3Fixed,
  fmi3Tunable,
  fmi3Discrete,
  fmi3Dependent,
} fmi3DependencyKind;

typedef enum {
  fmi3IntervalNotYetKnown,
  fmi3IntervalUnchanged,
  fmi3IntervalChanged,
} fmi3IntervalQualifier;

// ---- callbacks: what the binary may call in the importer
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status,
                                       fmi3String category, fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment,
                                               fmi3Float64 time, fmi3Boolean is_set_wanted,
                                               fmi3Boolean is_get_allowed,
                                               fmi3Boolean is_internal_step_finished,
                                               fmi3Boolean is_early_return_possible,
                                               fmi3Boolean* is_early_return_wanted,
                                               fmi3Float64* early_return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

// ---- functions of all interfaces
typedef const char* fmi3GetVersionTYPE(void);
typedef fmi3Status fmi3SetDebugLoggingTYPE(fmi3Instance c, fmi3Boolean is_on, size_t n_categories,
                                           const fmi3String categories[]);

// resource_path is a path with a separator at its end, or NULL
typedef fmi3Instance fmi3InstantiateModelExchangeTYPE(fmi3String name, fmi3String token,
                                                      fmi3String resource_path,
                                                      fmi3Boolean is_visible,
                                                      fmi3Boolean is_logging,
                                                      fmi3InstanceEnvironment environment,
                                                      fmi3LogMessageCallback log_message);
typedef fmi3Instance fmi3InstantiateCoSimulationTYPE(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3Boolean has_event_mode, fmi3Boolean is_early_return_allowed,
    const fmi3ValueReference intermediate_variables[], size_t n_intermediate_variables,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
    fmi3IntermediateUpdateCallback intermediate_update);
typedef fmi3Instance fmi3InstantiateScheduledExecutionTYPE(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean is_visible,
    fmi3Boolean is_logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log_message,
    fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock_preemption,
    fmi3UnlockPreemptionCallback unlock_preemption);
typedef void fmi3FreeInstanceTYPE(fmi3Instance c);

typedef fmi3Status fmi3EnterInitializationModeTYPE(fmi3Instance c, fmi3Boolean has_tolerance,
                                                   fmi3Float64 tolerance, fmi3Float64 start_time,
                                                   fmi3Boolean has_stop_time,
                                                   fmi3Float64 stop_time);
typedef fmi3Status fmi3ExitInitializationModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3EnterEventModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3TerminateTYPE(fmi3Instance c);
typedef fmi3Status fmi3ResetTYPE(fmi3Instance c);
typedef fmi3Status fmi3EnterConfigurationModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3ExitConfigurationModeTYPE(fmi3Instance c);

// n_values counts elements: an array has one reference and many values, row by row. Texts and binaries belong to the
// binary and live until its next call.
#define YOKE_FMI3_ACCESS(type)                                                                     \
  typedef fmi3Status fmi3Get##type##TYPE(fmi3Instance c, const fmi3ValueReference references[],    \
                                         size_t n, fmi3##type values[], size_t n_values);          \
  typedef fmi3Status fmi3Set##type##TYPE(fmi3Instance c, const fmi3ValueReference references[],    \
                                         size_t n, const fmi3##type values[], size_t n_values);
YOKE_FMI3_ACCESS(Float32)
YOKE_FMI3_ACCESS(Float64)
YOKE_FMI3_ACCESS(Int8)
YOKE_FMI3_ACCESS(UInt8)
YOKE_FMI3_ACCESS(Int16)
YOKE_FMI3_ACCESS(UInt16)
YOKE_FMI3_ACCESS(Int32)
YOKE_FMI3_ACCESS(UInt32)
YOKE_FMI3_ACCESS(Int64)
YOKE_FMI3_ACCESS(UInt64)
YOKE_FMI3_ACCESS(Boolean)
YOKE_FMI3_ACCESS(String)
typedef fmi3Status fmi3GetBinaryTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, size_t sizes[], fmi3Binary values[],
                                     size_t n_values);
typedef fmi3Status fmi3SetBinaryTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                     size_t n, const size_t sizes[], const fmi3Binary values[],
                                     size_t n_values);
// clocks are scalars: as many values as references
typedef fmi3Status fmi3GetClockTYPE(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    fmi3Clock values[]);
typedef fmi3Status fmi3SetClockTYPE(fmi3Instance c, const fmi3ValueReference references[], size_t n,
                                    const fmi3Clock values[]);

typedef fmi3Status fmi3GetNumberOfVariableDependenciesTYPE(fmi3Instance c,
                                                           fmi3ValueReference reference, size_t* n);
typedef fmi3Status fmi3GetVariableDependenciesTYPE(fmi3Instance c, fmi3ValueReference dependent,
                                                   size_t dependent_elements[],
                                                   fmi3ValueReference independents[],
                                                   size_t independent_elements[],
                                                   fmi3DependencyKind kinds[], size_t n);

// *state NULL: a new one; else it is written again. Freeing sets it to NULL.
typedef fmi3Status fmi3GetFMUStateTYPE(fmi3Instance c, fmi3FMUState* state);
typedef fmi3Status fmi3SetFMUStateTYPE(fmi3Instance c, fmi3FMUState state);
typedef fmi3Status fmi3FreeFMUStateTYPE(fmi3Instance c, fmi3FMUState* state);
typedef fmi3Status fmi3SerializedFMUStateSizeTYPE(fmi3Instance c, fmi3FMUState state, size_t* size);
typedef fmi3Status fmi3SerializeFMUStateTYPE(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[],
                                             size_t size);
typedef fmi3Status fmi3DeserializeFMUStateTYPE(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                               fmi3FMUState* state);

// directional: seed has the elements of the knowns, sensitivity those of the unknowns; adjoint: the other way round
typedef fmi3Status
fmi3GetDirectionalDerivativeTYPE(fmi3Instance c, const fmi3ValueReference unknowns[],
                                 size_t n_unknowns, const fmi3ValueReference knowns[],
                                 size_t n_knowns, const fmi3Float64 seed[], size_t n_seed,
                                 fmi3Float64 sensitivity[], size_t n_sensitivity);
typedef fmi3Status fmi3GetAdjointDerivativeTYPE(fmi3Instance c, const fmi3ValueReference unknowns[],
                                                size_t n_unknowns,
                                                const fmi3ValueReference knowns[], size_t n_knowns,
                                                const fmi3Float64 seed[], size_t n_seed,
                                                fmi3Float64 sensitivity[], size_t n_sensitivity);

// ---- clocks and events
typedef fmi3Status fmi3GetIntervalDecimalTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                              size_t n, fmi3Float64 intervals[],
                                              fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetIntervalFractionTYPE(fmi3Instance c,
                                               const fmi3ValueReference references[], size_t n,
                                               fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                               fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetShiftDecimalTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                           size_t n, fmi3Float64 shifts[]);
typedef fmi3Status fmi3GetShiftFractionTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                            size_t n, fmi3UInt64 counters[],
                                            fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetIntervalDecimalTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                              size_t n, const fmi3Float64 intervals[]);
typedef fmi3Status fmi3SetIntervalFractionTYPE(fmi3Instance c,
                                               const fmi3ValueReference references[], size_t n,
                                               const fmi3UInt64 counters[],
                                               const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetShiftDecimalTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                           size_t n, const fmi3Float64 shifts[]);
typedef fmi3Status fmi3SetShiftFractionTYPE(fmi3Instance c, const fmi3ValueReference references[],
                                            size_t n, const fmi3UInt64 counters[],
                                            const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3EvaluateDiscreteStatesTYPE(fmi3Instance c);
typedef fmi3Status fmi3UpdateDiscreteStatesTYPE(fmi3Instance c, fmi3Boolean* is_update_needed,
                                                fmi3Boolean* is_end_wanted,
                                                fmi3Boolean* have_nominals_changed,
                                                fmi3Boolean* have_states_changed,
                                                fmi3Boolean* has_next_event,
                                                fmi3Float64* next_event_time);

// ---- model exchange
typedef fmi3Status fmi3EnterContinuousTimeModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3CompletedIntegratorStepTYPE(fmi3Instance c, fmi3Boolean is_final,
                                                   fmi3Boolean* is_event_mode_wanted,
                                                   fmi3Boolean* is_end_wanted);
typedef fmi3Status fmi3SetTimeTYPE(fmi3Instance c, fmi3Float64 time);
typedef fmi3Status fmi3SetContinuousStatesTYPE(fmi3Instance c, const fmi3Float64 x[], size_t n);
typedef fmi3Status fmi3GetContinuousStateDerivativesTYPE(fmi3Instance c, fmi3Float64 derivatives[],
                                                         size_t n);
typedef fmi3Status fmi3GetEventIndicatorsTYPE(fmi3Instance c, fmi3Float64 indicators[], size_t n);
typedef fmi3Status fmi3GetContinuousStatesTYPE(fmi3Instance c, fmi3Float64 x[], size_t n);
typedef fmi3Status fmi3GetNominalsOfContinuousStatesTYPE(fmi3Instance c, fmi3Float64 nominals[],
                                                         size_t n);
typedef fmi3Status fmi3GetNumberOfEventIndicatorsTYPE(fmi3Instance c, size_t* n);
typedef fmi3Status fmi3GetNumberOfContinuousStatesTYPE(fmi3Instance c, size_t* n);

// ---- co-simulation
typedef fmi3Status fmi3EnterStepModeTYPE(fmi3Instance c);
typedef fmi3Status fmi3GetOutputDerivativesTYPE(fmi3Instance c,
                                                const fmi3ValueReference references[], size_t n,
                                                const fmi3Int32 orders[], fmi3Float64 values[],
                                                size_t n_values);
// is_final: no state before `time` will be set again
typedef fmi3Status fmi3DoStepTYPE(fmi3Instance c, fmi3Float64 time, fmi3Float64 step,
                                  fmi3Boolean is_final, fmi3Boolean* is_event_handling_needed,
                                  fmi3Boolean* is_end_wanted, fmi3Boolean* is_early_return,
                                  fmi3Float64* last_successful_time);

// ---- scheduled execution
typedef fmi3Status fmi3ActivateModelPartitionTYPE(fmi3Instance c, fmi3ValueReference clock,
                                                  fmi3Float64 time);

// Every function: X(name without fmi3, what needs it).
#define YOKE_FMI3_FUNCTIONS(X)                                                                     \
  X(GetVersion, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                               \
  X(SetDebugLogging, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                          \
  X(InstantiateModelExchange, YOKE_FMI_ME)                                                         \
  X(InstantiateCoSimulation, YOKE_FMI_CS)                                                          \
  X(InstantiateScheduledExecution, YOKE_FMI_SE)                                                    \
  X(FreeInstance, YOKE_FMI_COMMON)                                                                 \
  X(EnterInitializationMode, YOKE_FMI_COMMON)                                                      \
  X(ExitInitializationMode, YOKE_FMI_COMMON)                                                       \
  X(EnterEventMode, YOKE_FMI_ME)                                                                   \
  X(Terminate, YOKE_FMI_COMMON)                                                                    \
  X(Reset, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                                    \
  X(EnterConfigurationMode, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                   \
  X(ExitConfigurationMode, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                    \
  X(GetFloat32, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(GetFloat64, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(GetInt8, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                    \
  X(GetUInt8, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(GetInt16, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(GetUInt16, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(GetInt32, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(GetUInt32, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(GetInt64, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(GetUInt64, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(GetBoolean, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(GetString, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(GetBinary, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(GetClock, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(SetFloat32, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(SetFloat64, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(SetInt8, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                    \
  X(SetUInt8, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(SetInt16, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(SetUInt16, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(SetInt32, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(SetUInt32, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(SetInt64, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(SetUInt64, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(SetBoolean, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                 \
  X(SetString, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(SetBinary, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                  \
  X(SetClock, YOKE_FMI_COMMON | YOKE_FMI_ACCESS)                                                   \
  X(GetNumberOfVariableDependencies, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                          \
  X(GetVariableDependencies, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                  \
  X(GetFMUState, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                              \
  X(SetFMUState, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                              \
  X(FreeFMUState, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                             \
  X(SerializedFMUStateSize, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                   \
  X(SerializeFMUState, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                        \
  X(DeserializeFMUState, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                      \
  X(GetDirectionalDerivative, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                 \
  X(GetAdjointDerivative, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                     \
  X(GetIntervalDecimal, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                       \
  X(GetIntervalFraction, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                      \
  X(GetShiftDecimal, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                          \
  X(GetShiftFraction, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                         \
  X(SetIntervalDecimal, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                       \
  X(SetIntervalFraction, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                      \
  X(SetShiftDecimal, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                          \
  X(SetShiftFraction, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                         \
  X(EvaluateDiscreteStates, YOKE_FMI_COMMON | YOKE_FMI_OPTIONAL)                                   \
  X(UpdateDiscreteStates, YOKE_FMI_ME)                                                             \
  X(EnterContinuousTimeMode, YOKE_FMI_ME)                                                          \
  X(CompletedIntegratorStep, YOKE_FMI_ME)                                                          \
  X(SetTime, YOKE_FMI_ME)                                                                          \
  X(SetContinuousStates, YOKE_FMI_ME)                                                              \
  X(GetContinuousStateDerivatives, YOKE_FMI_ME)                                                    \
  X(GetEventIndicators, YOKE_FMI_ME)                                                               \
  X(GetContinuousStates, YOKE_FMI_ME)                                                              \
  X(GetNominalsOfContinuousStates, YOKE_FMI_ME | YOKE_FMI_OPTIONAL)                                \
  X(GetNumberOfEventIndicators, YOKE_FMI_ME | YOKE_FMI_OPTIONAL)                                   \
  X(GetNumberOfContinuousStates, YOKE_FMI_ME | YOKE_FMI_OPTIONAL)                                  \
  X(EnterStepMode, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                                \
  X(GetOutputDerivatives, YOKE_FMI_CS | YOKE_FMI_OPTIONAL)                                         \
  X(DoStep, YOKE_FMI_CS)                                                                           \
  X(ActivateModelPartition, YOKE_FMI_SE)

// The functions of one binary.
typedef struct yoke_fmi3 {
#define YOKE_FMI3_MEMBER(name, needed_for) fmi3##name##TYPE*(name);
  YOKE_FMI3_FUNCTIONS(YOKE_FMI3_MEMBER)
#undef YOKE_FMI3_MEMBER
} yoke_fmi3;

#ifdef __cplusplus
}
#endif
#endif
