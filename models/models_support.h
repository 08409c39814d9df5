// What models share whose variables depend on their settings: reading the settings, and one block
// of memory for the description that lives as long as the unit.
//
// Such a unit starts with a yoke_model_head; everything from `image_offset` to the end of its block
// is its changing part (inputs, outputs, states, parameters), which save and restore copy:
//
//   self:         head | fixed members | image: u, y, x, ... |
//   description:  variables | feedthrough | texts            |   (one block, owned by head)
#ifndef YOKE_MODELS_SUPPORT_H
#define YOKE_MODELS_SUPPORT_H

#include "yoke/unit.h"

typedef struct yoke_model_head {
  yoke_unit_info info;  // what describe returns; the model fills flags
  yoke_variable* variables;
  yoke_feedthrough* feedthrough;
  char* texts;  // room for names, used from the front
  size_t texts_used, texts_size;
  size_t image_offset;
} yoke_model_head;

// A zeroed unit of self_size bytes with room for that many variables, feedthrough pairs and bytes
// of names; info.n_variables and n_feedthrough are set. NULL when memory is out or a size is too
// large.
void* yoke__model_make(size_t self_size, size_t image_offset, size_t n_variables,
                       size_t n_feedthrough, size_t texts_size);
// A name printed into the room for names; NULL if it is full.
const char* yoke__model_name(yoke_model_head* head, const char* format, ...) YOKE_PRINTF(2, 3);

// Operations for the table of such a unit.
const yoke_unit_info* yoke__model_describe(const void* self);
yoke_status yoke__model_save(const void* self, void* image, size_t size);
yoke_status yoke__model_restore(void* self, const void* image, size_t size);
void yoke__model_close(void* self);

// The setting of that name, or NULL if it was not given.
const yoke_argument* yoke__model_argument(const yoke_unit_args* args, const char* name);
// Number of elements.
size_t yoke__argument_count(const yoke_argument* argument);
// A whole number between low and high; `fallback` if it was not given. YOKE_BAD_INPUT.
yoke_status yoke__model_integer(const yoke_unit_args* args, const char* name, int64_t fallback,
                                int64_t low, int64_t high, int64_t* value, const yoke_sink* sink);
// Sends the reason and returns YOKE_BAD_INPUT.
yoke_status yoke__model_refuse(const yoke_sink* sink, const char* format, ...) YOKE_PRINTF(2, 3);
// "out of memory" and YOKE_NO_MEMORY.
yoke_status yoke__model_no_memory(const yoke_sink* sink);

// d(unknown)/d(known); false if the pair has no meaning.
typedef bool (*yoke_model_partial)(const void* self, size_t unknown, size_t known, double* partial);
// The operation `derivative` from single partial derivatives. YOKE_BAD_ARG for a pair without
// meaning.
yoke_status yoke__model_derivative(const void* self, yoke_model_partial partial,
                                   const size_t unknowns[], size_t n_unknowns,
                                   const size_t knowns[], size_t n_knowns, const double seed[],
                                   double out[]);

#endif
