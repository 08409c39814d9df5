// What the files of the SSP export share.
#ifndef YOKE_EXPORT_SSP_PART_H
#define YOKE_EXPORT_SSP_PART_H

#include "base/base_arena.h"
#include "base/base_xml.h"
#include "export/export_ssp.h"

// A unit and its files in the archive.
typedef struct ssp_export_unit {
  const yoke_scenario_unit* source;
  const yoke_unit* unit;
  bool is_flat;        // arrays are single variables in its FMU
  const char* fmu;     // entry of the archive
  const char* values;  // entry of its parameter set; NULL: nothing is set
} ssp_export_unit;

// A connection that the SSD cannot have; the annotation has it.
typedef struct ssp_export_extra {
  struct ssp_export_extra* next;
  const char *from, *to;
  const yoke_scenario_connection* source;
} ssp_export_extra;

typedef struct ssp_export {
  const yoke_export_ssp_job* job;
  yoke_arena arena;
  yoke_messages* messages;
  yoke_sink list;      // of the messages
  yoke_context about;  // what is in hand
  ssp_export_unit* units;
  size_t n_units;
  bool has_arrays;  // connectors with dimensions: SSP 2.0
  bool is_out_of_memory;
  const char** dims;  // names of physical units in use
  size_t n_dims, room_dims;
  ssp_export_extra *extras, *last_extra;
  bool has_list;  // the list of connectors or connections is open: an empty one is no valid SSP
} ssp_export;

// A text put together, in the arena; "" when memory is out.
const char* yoke__ssp_export_text(ssp_export* e, const char* format, ...) YOKE_PRINTF(2, 3);

// The unit with this name; the names were resolved when the system was built.
const ssp_export_unit* yoke__ssp_export_find(const ssp_export* e, const char* name);
// Name of one element of an array, as FMI 2.0 and system files write it.
const char* yoke__ssp_export_element(ssp_export* e, const yoke_variable* v, size_t element);

// Entry of the archive for the file that a setting of the coupling `name` names; NULL: the setting names none.
const char* yoke__ssp_export_coupling_file(ssp_export* e, const char* name,
                                           const yoke_node* coupling, const yoke_node* setting);
// The name of a connection's own coupling.
const char* yoke__ssp_export_connection_name(ssp_export* e, const yoke_scenario_connection* c);
// The name of a bond's own coupling, for the entry of its file.
const char* yoke__ssp_export_bond_name(ssp_export* e, const yoke_scenario_bond* bond);

// One end of a connection: n elements of a variable, from `element` on.
typedef struct ssp_export_end {
  const ssp_export_unit* unit;
  const yoke_variable* variable;
  size_t element, n;
} ssp_export_end;

// False: there is none, which a system that was built does not have.
bool yoke__ssp_export_end(const ssp_export* e, const yoke_scenario_endpoint* endpoint,
                          ssp_export_end* out);
// True if something between two ends (to may be NULL) goes element by element.
bool yoke__ssp_export_is_split(const ssp_export_end* from, const ssp_export_end* to);

// The physical unit of a variable if it can be defined, noted for yoke__ssp_export_put_units; else NULL.
const char* yoke__ssp_export_dim(ssp_export* e, const yoke_variable* v);
// <Units> of all that were noted, behind prefix ("ssd:"); forgets them.
void yoke__ssp_export_put_units(ssp_export* e, const char* prefix, yoke_xml_writer* xml);

// export_ssp_system.c: the SSD.
void yoke__ssp_export_system(ssp_export* e, yoke_xml_writer* xml);
// export_ssp_values.c: the parameter set of a unit. False: nothing is set.
bool yoke__ssp_export_values(ssp_export* e, const ssp_export_unit* unit, yoke_xml_writer* xml);
// export_ssp_annotation.c: YAML, malloc'ed; NULL: memory is out.
char* yoke__ssp_export_annotation(ssp_export* e);

#endif
