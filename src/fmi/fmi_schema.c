// The elements of modelDescription.xml in FMI 1.0, 2.0 and 3.0 with their attributes: what is not in this table is
// unknown, and is noted and ignored. Facts: the schema files of the three standards.
#include "base/base_check.h"
#include "fmi/fmi_reader.h"

#define V1  YOKE_FMI_V1
#define V2  YOKE_FMI_V2
#define V3  YOKE_FMI_V3
#define V12 (V1 | V2)
#define V23 (V2 | V3)
#define ALL (V1 | V2 | V3)

// groups of attributes
#define ABOUT                                                                                      \
  "fmiVersion modelName description author version copyright license generationTool "              \
  "generationDateAndTime variableNamingConvention "
#define REAL    "quantity unit displayUnit relativeQuantity unbounded min max nominal "
#define INTEGER "quantity min max "
#define CLOCK                                                                                      \
  "canBeDeactivated priority intervalVariability intervalDecimal shiftDecimal supportsFraction "   \
  "resolution intervalCounter shiftCounter "
#define INTERFACE_2                                                                                \
  "modelIdentifier needsExecutionTool canBeInstantiatedOnlyOncePerProcess "                        \
  "canNotUseMemoryManagementFunctions canGetAndSetFMUstate canSerializeFMUstate "                  \
  "providesDirectionalDerivative "
#define INTERFACE_3                                                                                \
  "modelIdentifier needsExecutionTool canBeInstantiatedOnlyOncePerProcess canGetAndSetFMUState "   \
  "canSerializeFMUState providesDirectionalDerivatives providesAdjointDerivatives "                \
  "providesPerElementDependencies "
#define VARIABLE_3                                                                                 \
  "name valueReference description causality variability initial "                                 \
  "canHandleMultipleSetPerTimeInstant intermediateUpdate previous clocks declaredType "
#define UNKNOWN_3 "valueReference dependencies dependenciesKind"

// a list of the structure in FMI 2.0, an entry of it in FMI 3.0
#define LIST_2(name, kind)                                                                         \
  { YOKE_FMI_IN_STRUCTURE, V2, name, YOKE_FMI_IN_UNKNOWNS, kind, "", yoke__fmi_open_unknowns, NULL }
#define ENTRY_3(name, kind)                                                                        \
  {                                                                                                \
    YOKE_FMI_IN_STRUCTURE, V3, name, YOKE_FMI_IN_UNKNOWN, kind, UNKNOWN_3, yoke__fmi_open_unknown, \
        NULL                                                                                       \
  }
#define TYPE_1(name, type, attributes)                                                             \
  {                                                                                                \
    YOKE_FMI_IN_SIMPLE_TYPE, V1, name, YOKE_FMI_IN_TYPE, YOKE_FMI_##type, attributes,              \
        yoke__fmi_open_type, yoke__fmi_close_type                                                  \
  }
#define TYPE_2(name, type, attributes)                                                             \
  {                                                                                                \
    YOKE_FMI_IN_SIMPLE_TYPE, V2, name, YOKE_FMI_IN_TYPE, YOKE_FMI_##type, attributes,              \
        yoke__fmi_open_type, yoke__fmi_close_type                                                  \
  }
#define TYPE_3(name, type, attributes)                                                             \
  {                                                                                                \
    YOKE_FMI_IN_TYPES, V3, name, YOKE_FMI_IN_TYPE, YOKE_FMI_##type,                                \
        "name description " attributes, yoke__fmi_open_type, yoke__fmi_close_type                  \
  }
#define SCALAR(name, type, attributes)                                                             \
  {                                                                                                \
    YOKE_FMI_IN_SCALAR, V12, name, YOKE_FMI_IN_NOTHING, YOKE_FMI_##type, attributes,               \
        yoke__fmi_open_scalar_type, NULL                                                           \
  }
#define VARIABLE(name, type, attributes)                                                           \
  {                                                                                                \
    YOKE_FMI_IN_VARIABLES, V3, name, YOKE_FMI_IN_VARIABLE, YOKE_FMI_##type, VARIABLE_3 attributes, \
        yoke__fmi_open_variable, yoke__fmi_close_variable                                          \
  }
#define PLAIN(parent, versions, name, inside, attributes)                                          \
  { YOKE_FMI_IN_##parent, versions, name, YOKE_FMI_IN_##inside, 0, attributes, NULL, NULL }
#define READ(parent, versions, name, inside, attributes, open)                                     \
  {                                                                                                \
    YOKE_FMI_IN_##parent, versions, name, YOKE_FMI_IN_##inside, 0, attributes, yoke__fmi_##open,   \
        NULL                                                                                       \
  }

// clang-format off
const yoke_fmi_element yoke__fmi_elements[] = {
    READ(FILE, ALL, "fmiModelDescription", ROOT,
         ABOUT "guid instantiationToken modelIdentifier numberOfContinuousStates numberOfEventIndicators", open_root),

    // interfaces
    READ(ROOT, V1, "Implementation", IMPLEMENTATION, "", open_implementation),
    PLAIN(IMPLEMENTATION, V1, "CoSimulation_StandAlone", STAND_ALONE, ""),
    {YOKE_FMI_IN_IMPLEMENTATION, V1, "CoSimulation_Tool", YOKE_FMI_IN_STAND_ALONE, 1, "", yoke__fmi_open_implementation, NULL},
    READ(STAND_ALONE, V1, "Capabilities", NOTHING,
         "canHandleVariableCommunicationStepSize canHandleEvents canRejectSteps canInterpolateInputs maxOutputDerivativeOrder "
         "canRunAsynchronuously canSignalEvents canBeInstantiatedOnlyOncePerProcess canNotUseMemoryManagementFunctions",
         open_capabilities),
    PLAIN(STAND_ALONE, V1, "Model", SKIPPED, "entryPoint manualStart type"),
    {YOKE_FMI_IN_ROOT, V2, "ModelExchange", YOKE_FMI_IN_INTERFACE, 1,
     INTERFACE_2 "completedIntegratorStepNotNeeded", yoke__fmi_open_interface, yoke__fmi_close_interface},
    {YOKE_FMI_IN_ROOT, V2, "CoSimulation", YOKE_FMI_IN_INTERFACE, 0,
     INTERFACE_2 "canHandleVariableCommunicationStepSize canInterpolateInputs maxOutputDerivativeOrder canRunAsynchronuously",
     yoke__fmi_open_interface, yoke__fmi_close_interface},
    {YOKE_FMI_IN_ROOT, V3, "ModelExchange", YOKE_FMI_IN_INTERFACE, 1,
     INTERFACE_3 "needsCompletedIntegratorStep providesEvaluateDiscreteStates", yoke__fmi_open_interface,
     yoke__fmi_close_interface},
    {YOKE_FMI_IN_ROOT, V3, "CoSimulation", YOKE_FMI_IN_INTERFACE, 0,
     INTERFACE_3 "canHandleVariableCommunicationStepSize fixedInternalStepSize maxOutputDerivativeOrder "
     "recommendedIntermediateInputSmoothness providesIntermediateUpdate mightReturnEarlyFromDoStep "
     "canReturnEarlyAfterIntermediateUpdate hasEventMode providesEvaluateDiscreteStates",
     yoke__fmi_open_interface, yoke__fmi_close_interface},
    {YOKE_FMI_IN_ROOT, V3, "ScheduledExecution", YOKE_FMI_IN_INTERFACE, 2, INTERFACE_3, yoke__fmi_open_interface,
     yoke__fmi_close_interface},
    PLAIN(INTERFACE, V3, "Annotations", SKIPPED, ""),
    PLAIN(INTERFACE, V2, "SourceFiles", SOURCES, ""),
    READ(SOURCES, V2, "File", NOTHING, "name", open_file),

    // units
    PLAIN(ROOT, ALL, "UnitDefinitions", UNITS, ""),
    READ(UNITS, V1, "BaseUnit", UNIT, "unit", open_unit),
    PLAIN(UNIT, V1, "DisplayUnitDefinition", NOTHING, "displayUnit gain offset"),
    READ(UNITS, V23, "Unit", UNIT, "name", open_unit),
    READ(UNIT, V23, "BaseUnit", NOTHING, "kg m s A K mol cd rad factor offset", open_base_unit),
    PLAIN(UNIT, V2, "DisplayUnit", NOTHING, "name factor offset"),
    PLAIN(UNIT, V3, "DisplayUnit", DISPLAY_UNIT, "name factor offset inverse"),
    PLAIN(UNIT, V3, "Annotations", SKIPPED, ""),
    PLAIN(DISPLAY_UNIT, V3, "Annotations", SKIPPED, ""),

    // types
    PLAIN(ROOT, ALL, "TypeDefinitions", TYPES, ""),
    READ(TYPES, V1, "Type", SIMPLE_TYPE, "name description", open_simple_type),
    READ(TYPES, V2, "SimpleType", SIMPLE_TYPE, "name description", open_simple_type),
    TYPE_1("RealType", FLOAT64, REAL),
    TYPE_1("IntegerType", INT32, INTEGER),
    TYPE_1("BooleanType", BOOLEAN, ""),
    TYPE_1("StringType", STRING, ""),
    TYPE_1("EnumerationType", ENUMERATION, INTEGER),
    TYPE_2("Real", FLOAT64, REAL),
    TYPE_2("Integer", INT32, INTEGER),
    TYPE_2("Boolean", BOOLEAN, ""),
    TYPE_2("String", STRING, ""),
    TYPE_2("Enumeration", ENUMERATION, "quantity"),
    TYPE_3("Float64Type", FLOAT64, REAL),
    TYPE_3("Float32Type", FLOAT32, REAL),
    TYPE_3("Int8Type", INT8, INTEGER),
    TYPE_3("UInt8Type", UINT8, INTEGER),
    TYPE_3("Int16Type", INT16, INTEGER),
    TYPE_3("UInt16Type", UINT16, INTEGER),
    TYPE_3("Int32Type", INT32, INTEGER),
    TYPE_3("UInt32Type", UINT32, INTEGER),
    TYPE_3("Int64Type", INT64, INTEGER),
    TYPE_3("UInt64Type", UINT64, INTEGER),
    TYPE_3("BooleanType", BOOLEAN, ""),
    TYPE_3("StringType", STRING, ""),
    TYPE_3("BinaryType", BINARY, "mimeType maxSize"),
    TYPE_3("EnumerationType", ENUMERATION, INTEGER),
    TYPE_3("ClockType", CLOCK, CLOCK),
    READ(TYPE, V1, "Item", NOTHING, "name description", open_item),
    READ(TYPE, V23, "Item", SKIPPED, "name value description", open_item),
    PLAIN(TYPE, V3, "Annotations", SKIPPED, ""),

    // log categories, experiment, what tools add
    PLAIN(ROOT, V23, "LogCategories", CATEGORIES, ""),
    READ(CATEGORIES, V23, "Category", SKIPPED, "name description", open_category),
    READ(ROOT, V1, "DefaultExperiment", NOTHING, "startTime stopTime tolerance", open_experiment),
    READ(ROOT, V23, "DefaultExperiment", EXPERIMENT, "startTime stopTime tolerance stepSize", open_experiment),
    PLAIN(EXPERIMENT, V3, "Annotations", SKIPPED, ""),
    PLAIN(ROOT, V1, "VendorAnnotations", SKIPPED, ""),
    PLAIN(ROOT, V2, "VendorAnnotations", ANNOTATIONS, ""),
    PLAIN(ROOT, V3, "Annotations", ANNOTATIONS, ""),
    PLAIN(ANNOTATIONS, V2, "Tool", ANNOTATION, ""),
    PLAIN(ANNOTATIONS, V3, "Annotation", ANNOTATION, ""),
    {YOKE_FMI_IN_ANNOTATION, V23, "YokeUnit", YOKE_FMI_IN_OWN, 0,
     "linear sampled solver solverVariable stepsVariable internalStep", yoke__fmi_open_own, yoke__fmi_close_own},
    READ(OWN, V23, "Nonlinear", SKIPPED, "name", open_nonlinear),

    // variables of FMI 1.0 and 2.0
    READ(ROOT, ALL, "ModelVariables", VARIABLES, "", open_variables),
    {YOKE_FMI_IN_VARIABLES, V1, "ScalarVariable", YOKE_FMI_IN_SCALAR, 0,
     "name valueReference description variability causality alias", yoke__fmi_open_scalar, yoke__fmi_close_variable},
    {YOKE_FMI_IN_VARIABLES, V2, "ScalarVariable", YOKE_FMI_IN_SCALAR, 0,
     "name valueReference description causality variability initial canHandleMultipleSetPerTimeInstant previous",
     yoke__fmi_open_scalar, yoke__fmi_close_variable},
    SCALAR("Real", FLOAT64, "declaredType start fixed derivative reinit " REAL),
    SCALAR("Integer", INT32, "declaredType start fixed " INTEGER),
    SCALAR("Boolean", BOOLEAN, "declaredType start fixed "),
    SCALAR("String", STRING, "declaredType start fixed "),
    SCALAR("Enumeration", ENUMERATION, "declaredType start fixed " INTEGER),
    READ(SCALAR, V1, "DirectDependency", DEPENDENCY, "", open_dependency),
    {YOKE_FMI_IN_DEPENDENCY, V1, "Name", YOKE_FMI_IN_NOTHING, 0, "", yoke__fmi_open_dependency_name,
     yoke__fmi_close_dependency_name},
    PLAIN(SCALAR, V2, "Annotations", SKIPPED, ""),

    // variables of FMI 3.0
    VARIABLE("Float64", FLOAT64, REAL "start derivative reinit"),
    VARIABLE("Float32", FLOAT32, REAL "start derivative reinit"),
    VARIABLE("Int8", INT8, INTEGER "start"),
    VARIABLE("UInt8", UINT8, INTEGER "start"),
    VARIABLE("Int16", INT16, INTEGER "start"),
    VARIABLE("UInt16", UINT16, INTEGER "start"),
    VARIABLE("Int32", INT32, INTEGER "start"),
    VARIABLE("UInt32", UINT32, INTEGER "start"),
    VARIABLE("Int64", INT64, INTEGER "start"),
    VARIABLE("UInt64", UINT64, INTEGER "start"),
    VARIABLE("Boolean", BOOLEAN, "start"),
    VARIABLE("String", STRING, "start"),
    VARIABLE("Binary", BINARY, "mimeType maxSize start"),
    VARIABLE("Enumeration", ENUMERATION, INTEGER "start"),
    VARIABLE("Clock", CLOCK, CLOCK),
    READ(VARIABLE, V3, "Dimension", NOTHING, "start valueReference", open_dimension),
    READ(VARIABLE, V3, "Start", NOTHING, "value", open_start),
    READ(VARIABLE, V3, "Alias", SKIPPED, "name description displayUnit", open_alias),
    PLAIN(VARIABLE, V3, "Annotations", SKIPPED, ""),

    // structure
    PLAIN(ROOT, V23, "ModelStructure", STRUCTURE, ""),
    LIST_2("Outputs", YOKE_FMI_OUTPUTS),
    LIST_2("Derivatives", YOKE_FMI_DERIVATIVES),
    LIST_2("InitialUnknowns", YOKE_FMI_INITIAL_UNKNOWNS),
    READ(UNKNOWNS, V2, "Unknown", NOTHING, "index dependencies dependenciesKind", open_unknown),
    ENTRY_3("Output", YOKE_FMI_OUTPUTS),
    ENTRY_3("ContinuousStateDerivative", YOKE_FMI_DERIVATIVES),
    ENTRY_3("InitialUnknown", YOKE_FMI_INITIAL_UNKNOWNS),
    ENTRY_3("EventIndicator", YOKE_FMI_EVENT_INDICATORS),
    ENTRY_3("ClockedState", YOKE_FMI_CLOCKED_STATES),
    PLAIN(UNKNOWN, V3, "Annotations", SKIPPED, ""),
};
// clang-format on

const size_t yoke__fmi_n_elements = YOKE_COUNT(yoke__fmi_elements);
_Static_assert(YOKE_COUNT(yoke__fmi_elements) <= YOKE_FMI_MAX_ELEMENTS, "room in the reader");
