// Documents that describe things, between the files of this folder. All of them are JSON.
#ifndef YOKE_API_DESCRIBE_H
#define YOKE_API_DESCRIBE_H

#include "base/base_json.h"
#include "system/system.h"
#include "unit/circuit/unit_circuit.h"
#include "yoke/yoke.h"

// Words for yoke_causality, yoke_type and yoke_mu_origin.
extern const char* const yoke__causality_words[];
extern const char* const yoke__type_words[];
extern const char* const yoke__mu_words[];

// The settings of the caller, or the defaults. YOKE_BAD_ARG after a message if other arguments are not good, or a text of
// --set is missing.
yoke_status yoke__api_check_settings(const yoke_load_settings** settings, bool is_good);

// Limits of signals that a document lists, besides those that were exceeded.
#define YOKE_MAX_LISTED_LIMITS 1000

// The resolved system; key NULL: as a document of its own.
void yoke__describe_system(const yoke_system* system, const char* key, yoke_json* json);
// Its iteration: nothing for schemes that do not iterate (api_iteration.c).
void yoke__describe_iteration(const yoke_system* system, yoke_json* json);
// An FMU. Its remarks are part of the document; what keeps it from being read goes to the sink.
yoke_status yoke__describe_fmu(const char* path, const yoke_sink* sink, yoke_json* json);
// A netlist with its parameters set; messages likewise.
yoke_status yoke__describe_circuit(const char* path, const yoke_load_settings* settings,
                                   yoke_json* json);

// Parts that several documents have: arrays of texts (n SIZE_MAX: up to a NULL) and of messages, the
// pairs of direct feedthrough, the sizes of a circuit.
void yoke__describe_texts(const char* const texts[], size_t n, const char* key, yoke_json* json);
void yoke__describe_messages(const yoke_messages* messages, yoke_json* json);
void yoke__describe_feedthrough(const yoke_unit_info* info, yoke_json* json);
void yoke__describe_sizes(const yoke_unit_circuit_figures* figures, yoke_json* json);
// Of a unit that is a twin, in the object of the unit (api_describe_twin.c); nothing for others.
void yoke__describe_twin(const yoke_unit* unit, yoke_json* json);
// Hands a document over, or frees it; the status of both.
yoke_status yoke__describe_finish(yoke_json* document, yoke_status status, char** json);

#endif
