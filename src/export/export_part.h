// What the files of this folder share: a unit as FMI will show it.
#ifndef YOKE_EXPORT_PART_H
#define YOKE_EXPORT_PART_H

#include <stdint.h>

#include "base/base_temp.h"
#include "base/base_xml.h"
#include "export/export_circuit.h"
#include "export/export_fmu.h"
#include "export/export_states.h"
#include "unit/unit_library.h"

#define YOKE_EXPORT_MAX_IDENTIFIER 200

typedef enum yoke_export_initial {
  YOKE_EXPORT_NO_INITIAL,  // inputs
  YOKE_EXPORT_EXACT,       // the start value is the value at the start
  YOKE_EXPORT_APPROX,      // the unit changes it during its initialisation
  YOKE_EXPORT_CALCULATED,  // no start value
} yoke_export_initial;

// One variable of the unit.
typedef struct yoke_export_variable {
  const yoke_variable* variable;
  size_t n;           // elements
  const void* value;  // n elements in storage form: its start value
  bool is_set;        // it is not what the model has by itself
  yoke_export_initial initial;
  uint32_t reference;  // of its first element
  uint32_t row;        // its first entry in the list of variables, from 1 (FMI 2.0)
  size_t type;         // enumeration: 1 + index of its type definition; 0: none
  bool is_state;       // its derivative is a variable, too
} yoke_export_variable;

// A netlist on its way into an FMU.
typedef struct yoke_export_netlist {
  bool is_there;
  yoke_unit_file_settings settings;  // as the unit was opened with, the path in a folder of its own
  char* text;
  size_t size;
  yoke_temp* folder;
  char path[4096];
  yoke_export_circuit* file;
} yoke_export_netlist;

// Everything the description says.
typedef struct yoke_export_model {
  const yoke_export_job* job;
  const yoke_unit_ops*
      ops;  // what the FMU runs: job->ops, of a netlist that of export_circuit.h, or that of library
  yoke_export_netlist netlist;
  yoke_shared_library* library;  // that holds ops; NULL: none
  yoke_arena arena;
  yoke_arena unit_arena;
  yoke_unit unit;  // an instance of its own
  char identifier[YOKE_EXPORT_MAX_IDENTIFIER];
  yoke_export_variable* variables;
  size_t n_variables;
  const yoke_feedthrough* feedthrough;  // sorted, no pair twice
  size_t n_feedthrough;
  const char* const* source_files;  // names of C files below sources/
  size_t n_source_files;
  size_t n_elements;          // of all variables
  yoke_export_states states;  // listed with their derivatives
  const char** rate_dims;     // dimension of each derivative, or NULL
  bool has_state;             // can be saved
  bool has_derivative;        // of all outputs by all inputs
} yoke_export_model;

// Makes the instance, takes the values over, tries the initialisation.
yoke_status yoke__export_model_open(const yoke_export_job* job, yoke_export_model* model,
                                    const yoke_sink* sink);
void yoke__export_model_close(yoke_export_model* model);

// modelDescription.xml of job->fmi with this token; has_failed of the writer if memory is out.
void yoke__export_describe(const yoke_export_model* model, const char* token, yoke_xml_writer* xml);
// sources/buildDescription.xml of FMI 3.0.
void yoke__export_describe_build(const yoke_export_model* model, yoke_xml_writer* xml);
// <UnitDefinitions>, if there are any.
void yoke__export_units(const yoke_export_model* model, yoke_xml_writer* xml);

// "u", "u[3]" or "a[1,2]": the name of one element in FMI 2.0.
void yoke__export_element_name(const yoke_export_variable* v, size_t element, char* to,
                               size_t size);

#endif
